"""The stage: an application is started and looked at, several times; what changed meanwhile is noise.

Nobody saves anything: what all work begins with is done, the page is scrolled, the first page is opened
again, and then some of its links, others in each recording. What opening most pages changes is noise, and
what opening one adds for the first time alone. Links that may do work instead are left out (`_Visit`). In
every second recording another application is in front at first, so that what is written when a page is opened
for the first time is seen as well.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from taskloom.environments.agents.recorded_agent import WorkedExampleAgent
from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentFailureError
from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.environments.starting_place import START_PAGE, TASK_BAR_BUTTON
from taskloom.resources.applications import Application, WorkedStep
from taskloom.resources.noise import NoisePlace
from taskloom.resources.record import Record
from taskloom.resources.whole_files import write_whole
from taskloom.synthesis.noise.places import Look, looking_places, noise_places, places_of
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    Observation,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import fill_step

KEPT = "noise.json"
"""File beside an installed application, and in the catalogue that ships."""
_WAY = "5"
"""Way of measuring; what was measured in another one is measured again."""
_LONGEST_WAIT = 5.0
_DOWN = -5
_LINKS = 8
"""Links that are opened in each recording."""
_LEAST_EXAMPLES = 2
_NUMBER = re.compile(r"\d+")
_RECORDS = TypeAdapter(tuple[ApplicationNoise, ...])


class NoiseSettings(Record):
    """How long applications are watched."""

    recordings: int = Field(default=2, ge=0)
    """Idle recordings of each application and version, in its worlds by turns; with 0, nothing is measured;
    what others measured counts. What has another name at each start needs two to be told."""
    seconds: float = Field(default=3.0, ge=0)
    """How long each of them lasts at least; what an application does more seldom is not seen."""


async def measure_noise(
    entries: Sequence[Application],
    environment: Environment,
    settings: NoiseSettings,
    provenance: Provenance,
    other: Application | None = None,
) -> ApplicationNoise:
    """What an application changes by itself, by its `entries` in some worlds; `other` is another one of the
    same platform.

    Raises:
        EnvironmentFailureError: it cannot be started, or the environment broke.
    """
    application = entries[0]
    recordings = [
        await _idle(
            entries[number % len(entries)], environment, settings, number, other if number % 2 else None
        )
        for number in range(settings.recordings)
    ]
    by_itself = noise_places([(item.start, item.looked) for item in recordings])
    looking = looking_places([look for item in recordings for look in item.looks])
    return ApplicationNoise(
        noise_id=noise_id(entries),
        application=application.name,
        version=application.version,
        world=_worlds(entries),
        places=tuple(dict.fromkeys((*by_itself, *looking))),
        recordings=settings.recordings,
        seconds=settings.seconds,
        provenance=provenance,
    )


def noise_id(entries: Sequence[Application]) -> str:
    """Under which id it is kept what was measured of this version in the worlds of these entries."""
    return "/".join((entries[0].name, entries[0].version, _worlds(entries), _WAY))


def is_measured(entries: Sequence[Application], measured: Iterable[ApplicationNoise]) -> bool:
    """Whether this version was measured, in the way it is now, in the worlds of these entries."""
    known = _measured_of(entries[0], measured)
    return {item.world for item in entries} <= {world for item in known for world in item.world.split(",")}


def _measured_of(application: Application, measured: Iterable[ApplicationNoise]) -> list[ApplicationNoise]:
    version = application.name, application.version
    now = filter(_is_measured_as_now, measured)
    return [item for item in now if (item.application, item.version) == version]


def _is_measured_as_now(noise: ApplicationNoise) -> bool:
    return noise.noise_id.endswith(f"/{_WAY}")


def _worlds(entries: Sequence[Application]) -> str:
    return ",".join(dict.fromkeys(item.world for item in entries))


def read_kept(folder: Traversable) -> tuple[ApplicationNoise, ...]:
    """What was measured, as this folder has it: of the application that is installed there, or of those of a
    catalogue; nothing where nobody has, or it is unreadable."""
    try:
        return _RECORDS.validate_json((folder / KEPT).read_bytes())
    except (OSError, ValidationError):
        return ()


def keep(installed: Path, measured: Iterable[ApplicationNoise]) -> None:
    """Keep what was measured, in the way it is now, in the folder of the application, if it has one."""
    if installed.is_dir():
        write_whole(installed / KEPT, _RECORDS.dump_json(tuple(filter(_is_measured_as_now, measured))))


def with_noise(application: Application, measured: Iterable[ApplicationNoise]) -> Application:
    """The entry with what was measured of its version, in whatever world and in the way it is now."""
    places = [place for item in _measured_of(application, measured) for place in item.places]
    return application.model_copy(update={"noise": tuple(dict.fromkeys(places))})


@dataclass(slots=True)
class _Recording:
    start: Evidence
    looked: Evidence
    looks: list[Look]
    """What came of opening links, in order."""


async def _idle(
    application: Application,
    environment: Environment,
    settings: NoiseSettings,
    number: int,
    other: Application | None,
) -> _Recording:
    """Watches an application, and opens every so many of its links from the `number`-th on."""
    visit = _Visit(environment, application, other)
    start = await visit.begin()
    for distance in (_DOWN, -_DOWN):
        await visit.act(WheelMouseInput(wheel_distance=distance))
    await visit.first_page()
    waited = 0.0
    while (left := settings.seconds - max(waited, time.monotonic() - visit.began)) > 0:
        seconds = min(left, _LONGEST_WAIT)
        await visit.act(WaitInput(seconds=seconds))
        if environment.simulated:  # no clock runs there but that of the actions
            waited += seconds
    looked = await environment.evidence()
    looks = await visit.looks(lambda names: _some(names[number :: settings.recordings]))
    start, looked = (_kept(state, visit.other, own=False) for state in (start, looked))
    return _Recording(start, looked, looks)


@dataclass(frozen=True, slots=True)
class _Opened:
    places: frozenset[NoisePlace]
    """What that added or changed in the application's own data."""
    address: str
    shown: Counter[str]


class _Visit:
    def __init__(self, environment: Environment, application: Application, other: Application | None) -> None:
        self._environment, self._application = environment, application
        self.other = other
        """Another application, in front at first; none where the two do not start together."""
        self.began = 0.0
        """When it was started, by the monotonic clock."""
        self._seen: Observation

    async def begin(self) -> Evidence:
        """Start anew, do what all work begins with, and tell the state before that."""
        application = self._application
        try:
            self._seen = await self._environment.reset(
                [application] if self.other is None else [self.other, application]
            )
        except EnvironmentFailureError:
            if self.other is None:
                raise
            self.other = None
            return await self.begin()
        self.began = time.monotonic()
        start = await self._environment.evidence()
        if self.other is not None:
            self._seen = await self._environment.bring_to_front(application.name)
        self._seen = await _opened(self._environment, opening_steps(application), self._seen)
        return start

    async def act(self, action: Action) -> None:
        try:
            self._seen = await self._environment.act(action)
        except ActionInvalidError:
            self._seen = await self._environment.observe()

    async def first_page(self) -> None:
        if label := _start_page(self._seen):
            await self.act(ClickInput(control_label=label))

    async def looks(self, chosen: Callable[[Sequence[str]], Sequence[str]]) -> list[Look]:
        """What comes of opening those of its links that are `chosen`; none of what may have been work. Where
        nothing puts an application back that people use, no link is opened: it might do work."""
        launch = self._application.launch
        if not _start_page(self._seen) or (launch.address and not launch.reset_command):
            return []
        self._first, self._steady = self._seen.url, _shown(self._seen)
        await self.first_page()
        self._remember()
        counts = Counter(item.text for item in self._seen.controls if _is_link(item))
        unique = [name for name, count in counts.items() if name and count == 1]
        found = [await self._look(name) for name in chosen(unique)]
        return [look for look in found if look is not None]

    def _remember(self) -> None:
        shown = _shown(self._seen)
        self._steady, self._total = self._steady & shown, shown.total()

    async def _look(self, name: str) -> Look | None:
        first = await self._open(name)
        if first is None or not first.places:
            return None if first is None else Look(name, frozenset())
        again = await self._open(name)
        if again is None or (again.address, again.shown) != (first.address, first.shown):
            return None
        return Look(name, first.places, again.places)

    async def _open(self, name: str) -> _Opened | None:
        """Opens the link of this name and the first page again, which then is as it was; else the application
        is started anew. None also where it leads to no page that is only looked at."""
        links = [item.label for item in self._seen.controls if _is_link(item) and item.text == name]
        if not links:
            return None
        before = await self._environment.evidence()
        await self.act(ClickInput(control_label=links[0]))
        page = self._seen
        await self.first_page()
        shown = _shown(self._seen)
        if not self._steady <= shown or shown.total() != self._total:
            await self.begin()
            await self.first_page()
            self._remember()
            return None
        asks = any(item.focused and item.control_type == "Edit" for item in page.controls)
        if asks or page.url.rstrip("#") == self._first.rstrip("#"):
            return None
        after = await self._environment.evidence()
        own = (_kept(state, self._application, own=True) for state in (before, after))
        return _Opened(places_of(*own), page.url, _shown(page))


def _is_link(control: Control) -> bool:
    return control.control_type == "Hyperlink" and not control.disabled


def _some(names: Sequence[str]) -> tuple[str, ...]:
    """At most so many as are opened, from everywhere among them."""
    return tuple(dict.fromkeys(names[index * len(names) // _LINKS] for index in range(_LINKS) if names))


def _shown(seen: Observation) -> Counter[str]:
    """The texts that an application shows, without their numbers: what counts or tells the time goes on."""
    texts = (item.text for item in seen.controls if item.control_type != TASK_BAR_BUTTON)
    return Counter(_NUMBER.sub("0", text) for text in texts)


def _kept(evidence: Evidence, application: Application | None, *, own: bool) -> Evidence:
    """The evidence with nothing but what an application keeps for itself, or without that."""

    def is_meant(path: str) -> bool:
        name = application.name if application is not None else ""
        return bool(name and f"{path}/".startswith(f"{APPLICATIONS_FOLDER}/{name}/")) is own

    files = tuple(item for item in evidence.files if is_meant(item.path))
    folders = tuple(filter(is_meant, evidence.directories))
    return evidence.model_copy(update={"files": files, "directories": folders})


def opening_steps(application: Application) -> tuple[WorkedStep, ...]:
    """What the worked examples of an entry all begin with, whatever they are about, such as signing in."""
    examples = [
        [fill_step(step, values) for step in item.worked_example]
        for item in application.example_subtasks
        for values in item.parameter_sets
        if item.worked_example
    ]
    if sum(bool(item.worked_example) for item in application.example_subtasks) < _LEAST_EXAMPLES:
        return ()
    alike = takewhile(lambda steps: all(step == steps[0] for step in steps), zip(*examples, strict=False))
    return tuple(steps[0] for steps in alike)


async def _opened(environment: Environment, steps: Sequence[WorkedStep], seen: Observation) -> Observation:
    agent = WorkedExampleAgent(steps, {})
    while True:
        decision = await agent.decide("", seen, ())
        if decision.action is None:
            return seen
        try:
            seen = await environment.act(decision.action)
        except ActionInvalidError:
            return seen


def _start_page(seen: Observation) -> str:
    wanted = (TASK_BAR_BUTTON, START_PAGE)
    return next((item.label for item in seen.controls if (item.control_type, item.text) == wanted), "")
