"""The stage: an application is started and looked at, several times; what changed meanwhile is noise.

Nobody saves anything: what all work begins with is done, such as signing in, the page is scrolled, the first
page is opened again, and then a link of it, another one in each recording: what opening any page changes, all
of them have. In every second recording another application is in front at first, so that what is
written when a page is opened for the first time is seen as well. What was measured is kept beside the
installed application, for every data set that is built with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError, EnvironmentFailureError
from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.environments.starting_place import START_PAGE, TASK_BAR_BUTTON
from taskloom.environments.worked_example_agent import WorkedExampleAgent
from taskloom.resources.applications import Application, WorkedStep
from taskloom.resources.record import Record
from taskloom.resources.whole_files import write_whole
from taskloom.synthesis.noise.places import noise_places
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import ClickInput, Observation, WaitInput, WheelMouseInput
from taskloom.taskgraph.records.noise import ApplicationNoise
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.worked_examples import fill_step

KEPT = "noise.json"
"""File beside an installed application."""
_WAY = "3"
"""Way of measuring; what was measured in another one is measured again."""
_LONGEST_WAIT = 5.0
_DOWN = -5
_LEAST_EXAMPLES = 2
_RECORDS = TypeAdapter(tuple[ApplicationNoise, ...])


class NoiseSettings(Record):
    """How long applications are watched."""

    recordings: int = Field(default=2, ge=0)
    """Idle recordings of each application and version, in its worlds by turns; with 0, nothing is measured
    and nothing counts as noise. What has another name at each start needs two to be told."""
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
            entries[number % len(entries)],
            environment,
            settings.seconds,
            number,
            other if number % 2 else None,
        )
        for number in range(settings.recordings)
    ]
    alone = noise_places([(start, seen) for start, seen, _ in recordings])
    elsewhere = [{*noise_places([(seen, end)])} for _, seen, end in recordings]
    everywhere = set.intersection(*elsewhere) if len(elsewhere) > 1 else set()
    return ApplicationNoise(
        noise_id=noise_id(entries),
        application=application.name,
        version=application.version,
        world=_worlds(entries),
        places=(*alone, *sorted(everywhere - {*alone}, key=lambda place: place.model_dump_json())),
        recordings=settings.recordings,
        seconds=settings.seconds,
        provenance=provenance,
    )


def noise_id(entries: Sequence[Application]) -> str:
    """Under which id it is kept what was measured of this version in the worlds of these entries."""
    return "/".join((entries[0].name, entries[0].version, _worlds(entries), _WAY))


def _is_measured_as_now(noise: ApplicationNoise) -> bool:
    return noise.noise_id.endswith(f"/{_WAY}")


def _worlds(entries: Sequence[Application]) -> str:
    return ",".join(dict.fromkeys(item.world for item in entries))


def read_kept(installed: Path) -> tuple[ApplicationNoise, ...]:
    """What was measured of the application in this folder; nothing where nobody has, or it is unreadable."""
    try:
        return _RECORDS.validate_json((installed / KEPT).read_bytes())
    except (OSError, ValidationError):
        return ()


def keep(installed: Path, measured: Iterable[ApplicationNoise]) -> None:
    """Keep what was measured, in the way it is now, in the folder of the application, if it has one."""
    if installed.is_dir():
        write_whole(installed / KEPT, _RECORDS.dump_json(tuple(filter(_is_measured_as_now, measured))))


def with_noise(application: Application, measured: Iterable[ApplicationNoise]) -> Application:
    """The entry with what was measured of its version, in whatever world and in the way it is now."""
    places = {
        place: None
        for item in filter(_is_measured_as_now, measured)
        if (item.application, item.version) == (application.name, application.version)
        for place in item.places
    }
    return application.model_copy(update={"noise": tuple(places)})


async def _idle(
    application: Application,
    environment: Environment,
    seconds: float,
    number: int,
    other: Application | None,
) -> tuple[Evidence, Evidence, Evidence]:
    """Evidence after a reset, after a look at the first page, and after a link of it and some time."""
    try:
        seen = await environment.reset([application] if other is None else [other, application])
    except EnvironmentFailureError:
        if other is None:
            raise
        return await _idle(application, environment, seconds, number, None)
    start = await environment.evidence()
    until = time.monotonic() + seconds
    if other is not None:
        seen = await environment.bring_to_front(application.name)
    seen = await _opened(environment, opening_steps(application), seen)
    for distance in (_DOWN, -_DOWN):
        seen = await environment.act(WheelMouseInput(wheel_distance=distance))
    button = _start_page(seen)
    if button:
        seen = await environment.act(ClickInput(control_label=button))
    looked = await environment.evidence()
    links = [item.label for item in seen.controls if item.control_type == "Hyperlink" and not item.disabled]
    if links:
        with suppress(ActionInvalidError):
            await environment.act(
                ClickInput(control_label=links[(2 * number + 1) * len(links) // 4 % len(links)])
            )
    while (left := until - time.monotonic()) > 0:
        await environment.act(WaitInput(seconds=min(left, _LONGEST_WAIT)))
    end = await environment.evidence()
    return _without(other, start), _without(other, looked), _without(other, end)


def _without(application: Application | None, evidence: Evidence) -> Evidence:
    """The evidence without what an application keeps for itself."""
    if application is None:
        return evidence
    own = f"{APPLICATIONS_FOLDER}/{application.name}/"
    files = tuple(item for item in evidence.files if not item.path.startswith(own))
    folders = tuple(path for path in evidence.directories if not f"{path}/".startswith(own))
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
    """The screen after `steps`, as far as they can be done."""
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
    """Label of the button that opens the first page; empty where there is none."""
    wanted = (TASK_BAR_BUTTON, START_PAGE)
    return next((item.label for item in seen.controls if (item.control_type, item.text) == wanted), "")
