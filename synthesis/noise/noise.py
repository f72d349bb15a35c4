"""The stage: an application is started and looked at several times; what changes meanwhile is noise.

Nothing is saved: the steps with which all work begins are performed, the page is scrolled, the first page is
opened again, and then some of its links, different ones in each recording. Noise is what opening most pages
changes, and what opening a page adds only the first time. Links that may do work are left out (`_Visit`). In
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

NOISE_FILE = "noise.json"
"""The file's name beside an installed application, and in the catalogue."""
_METHOD = "5"
"""Version of the method; measurements made with another one are repeated."""
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
    """Idle recordings of each application version, in its worlds in turn. With 0 nothing is measured, and
    existing measurements apply. Names that differ at each start are recognised only with two or more."""
    seconds: float = Field(default=3.0, ge=0)
    """Shortest duration of each recording; less frequent changes are missed."""


async def measure_noise(
    entries: Sequence[Application],
    environment: Environment,
    settings: NoiseSettings,
    provenance: Provenance,
    other: Application | None = None,
) -> ApplicationNoise:
    """What an application changes by itself, measured with its `entries` for some worlds; `other` is another
    application of the same platform.

    Raises:
        EnvironmentFailureError: it cannot be started, or the environment broke.
    """
    application = entries[0]
    recordings = [
        await _record_idle(
            entries[number % len(entries)], environment, settings, number, other if number % 2 else None
        )
        for number in range(settings.recordings)
    ]
    by_itself = noise_places([(item.start, item.end) for item in recordings])
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
    """The id of the measurements of this version in the worlds of these entries."""
    return "/".join((entries[0].name, entries[0].version, _worlds(entries), _METHOD))


def is_measured(entries: Sequence[Application], measured: Iterable[ApplicationNoise]) -> bool:
    """Whether this version was measured, with the current method, in the worlds of these entries."""
    known = _measurements(entries[0], measured)
    return {item.world for item in entries} <= {world for item in known for world in item.world.split(",")}


def _measurements(application: Application, measured: Iterable[ApplicationNoise]) -> list[ApplicationNoise]:
    key = application.name, application.version
    current = filter(_uses_current_method, measured)
    return [item for item in current if (item.application, item.version) == key]


def _uses_current_method(noise: ApplicationNoise) -> bool:
    return noise.noise_id.endswith(f"/{_METHOD}")


def _worlds(entries: Sequence[Application]) -> str:
    return ",".join(dict.fromkeys(item.world for item in entries))


def read_kept(folder: Traversable) -> tuple[ApplicationNoise, ...]:
    """The measurements in this folder of an installed application or of a catalogue; empty if there are none
    or they are unreadable."""
    try:
        return _RECORDS.validate_json((folder / NOISE_FILE).read_bytes())
    except (OSError, ValidationError):
        return ()


def keep(installed: Path, measured: Iterable[ApplicationNoise]) -> None:
    """Write the measurements made with the current method into the application's folder, if it has one."""
    if installed.is_dir():
        write_whole(installed / NOISE_FILE, _RECORDS.dump_json(tuple(filter(_uses_current_method, measured))))


def with_noise(application: Application, measured: Iterable[ApplicationNoise]) -> Application:
    """The application with the measured noise of its version, in any world and with the current method."""
    places = [place for item in _measurements(application, measured) for place in item.places]
    return application.model_copy(update={"noise": tuple(dict.fromkeys(places))})


@dataclass(slots=True)
class _Recording:
    start: Evidence
    end: Evidence
    looks: list[Look]
    """Results of opening links, in order."""


async def _record_idle(
    application: Application,
    environment: Environment,
    settings: NoiseSettings,
    number: int,
    other: Application | None,
) -> _Recording:
    """Watch an application, and open the links of recording `number`, different ones in each."""
    visit = _Visit(environment, application, other)
    start = await visit.start_anew()
    for distance in (_DOWN, -_DOWN):
        await visit.act(WheelMouseInput(wheel_distance=distance))
    await visit.first_page()
    waited = 0.0
    while (left := settings.seconds - max(waited, time.monotonic() - visit.started_at)) > 0:
        seconds = min(left, _LONGEST_WAIT)
        await visit.act(WaitInput(seconds=seconds))
        if environment.simulated:  # only the actions' clock runs there
            waited += seconds
    end = await environment.evidence()
    looks = await visit.open_links(lambda names: _sample(names[number :: settings.recordings]))
    start, end = (_filter_files(state, visit.other, own=False) for state in (start, end))
    return _Recording(start, end, looks)


@dataclass(frozen=True, slots=True)
class _OpenedPage:
    places: frozenset[NoisePlace]
    """What opening it added or changed in the application's own data."""
    address: str
    shown: Counter[str]


class _Visit:
    def __init__(self, environment: Environment, application: Application, other: Application | None) -> None:
        self._environment, self._application = environment, application
        self.other = other
        """Another application, in front at first; None if the two do not start together."""
        self.started_at = 0.0
        """Time of the start, by the monotonic clock."""
        self._screen: Observation

    async def start_anew(self) -> Evidence:
        """Start anew, perform the steps with which all work begins, and return the state before them."""
        application = self._application
        try:
            self._screen = await self._environment.reset(
                [application] if self.other is None else [self.other, application]
            )
        except EnvironmentFailureError:
            if self.other is None:
                raise
            self.other = None
            return await self.start_anew()
        self.started_at = time.monotonic()
        start = await self._environment.evidence()
        if self.other is not None:
            self._screen = await self._environment.bring_to_front(application.name)
        self._screen = await _perform(self._environment, opening_steps(application), self._screen)
        return start

    async def act(self, action: Action) -> None:
        try:
            self._screen = await self._environment.act(action)
        except ActionInvalidError:
            self._screen = await self._environment.observe()

    async def first_page(self) -> None:
        if label := _start_page_label(self._screen):
            await self.act(ClickInput(control_label=label))

    async def open_links(self, chosen: Callable[[Sequence[str]], Sequence[str]]) -> list[Look]:
        """What opening the links `chosen` changes, without links that may do work. If no reset undoes work in
        an application that people use, no link is opened."""
        launch = self._application.launch
        if not _start_page_label(self._screen) or (launch.address and not launch.reset_command):
            return []
        self._first, self._steady = self._screen.url, _shown_texts(self._screen)
        await self.first_page()
        self._remember_first_page()
        counts = Counter(item.text for item in self._screen.controls if _is_link(item))
        unique = [name for name, count in counts.items() if name and count == 1]
        found = [await self._try_link(name) for name in chosen(unique)]
        return [look for look in found if look is not None]

    def _remember_first_page(self) -> None:
        shown = _shown_texts(self._screen)
        self._steady, self._total = self._steady & shown, shown.total()

    async def _try_link(self, name: str) -> Look | None:
        first = await self._open_link(name)
        if first is None or not first.places:
            return None if first is None else Look(name, frozenset())
        second = await self._open_link(name)
        if second is None or (second.address, second.shown) != (first.address, first.shown):
            return None
        return Look(name, first.places, second.places)

    async def _open_link(self, name: str) -> _OpenedPage | None:
        """Open the link of this name, then the first page again; if that has changed, the application is
        started anew. None then, and if the link leads to no other page or to one that asks for input."""
        links = [item.label for item in self._screen.controls if _is_link(item) and item.text == name]
        if not links:
            return None
        before = await self._environment.evidence()
        await self.act(ClickInput(control_label=links[0]))
        page = self._screen
        await self.first_page()
        shown = _shown_texts(self._screen)
        if not self._steady <= shown or shown.total() != self._total:
            await self.start_anew()
            await self.first_page()
            self._remember_first_page()
            return None
        asks_for_input = any(item.focused and item.control_type == "Edit" for item in page.controls)
        if asks_for_input or page.url.rstrip("#") == self._first.rstrip("#"):
            return None
        after = await self._environment.evidence()
        own = (_filter_files(state, self._application, own=True) for state in (before, after))
        return _OpenedPage(places_of(*own), page.url, _shown_texts(page))


def _is_link(control: Control) -> bool:
    return control.control_type == "Hyperlink" and not control.disabled


def _sample(names: Sequence[str]) -> tuple[str, ...]:
    """At most `_LINKS` names, spread evenly."""
    return tuple(dict.fromkeys(names[index * len(names) // _LINKS] for index in range(_LINKS) if names))


def _shown_texts(screen: Observation) -> Counter[str]:
    """The texts that an application shows, without their numbers: counters and clocks go on."""
    texts = (item.text for item in screen.controls if item.control_type != TASK_BAR_BUTTON)
    return Counter(_NUMBER.sub("0", text) for text in texts)


def _filter_files(evidence: Evidence, application: Application | None, *, own: bool) -> Evidence:
    """The evidence with only the application's own files, or without them."""

    def is_included(path: str) -> bool:
        name = application.name if application is not None else ""
        return bool(name and f"{path}/".startswith(f"{APPLICATIONS_FOLDER}/{name}/")) is own

    files = tuple(item for item in evidence.files if is_included(item.path))
    folders = tuple(filter(is_included, evidence.directories))
    return evidence.model_copy(update={"files": files, "directories": folders})


def opening_steps(application: Application) -> tuple[WorkedStep, ...]:
    """The steps with which all worked examples of an application begin, such as signing in."""
    examples = [
        [fill_step(step, values) for step in item.worked_example]
        for item in application.example_subtasks
        for values in item.parameter_sets
        if item.worked_example
    ]
    if sum(bool(item.worked_example) for item in application.example_subtasks) < _LEAST_EXAMPLES:
        return ()
    common = takewhile(lambda steps: all(step == steps[0] for step in steps), zip(*examples, strict=False))
    return tuple(steps[0] for steps in common)


async def _perform(environment: Environment, steps: Sequence[WorkedStep], screen: Observation) -> Observation:
    agent = WorkedExampleAgent(steps, {})
    while True:
        decision = await agent.decide("", screen, ())
        if decision.action is None:
            return screen
        try:
            screen = await environment.act(decision.action)
        except ActionInvalidError:
            return screen


def _start_page_label(screen: Observation) -> str:
    wanted = (TASK_BAR_BUTTON, START_PAGE)
    return next((item.label for item in screen.controls if (item.control_type, item.text) == wanted), "")
