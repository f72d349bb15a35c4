"""The stage: an application is started and looked at, several times; what changed meanwhile is noise.

Nobody saves anything: what all work begins with is done, such as signing in, the page is scrolled, the first
page is opened again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from pydantic import Field

from taskloom.environments.environment import Environment
from taskloom.environments.errors import ActionInvalidError
from taskloom.environments.starting_place import START_PAGE, TASK_BAR_BUTTON
from taskloom.environments.worked_example_agent import WorkedExampleAgent
from taskloom.resources.applications import Application, WorkedStep
from taskloom.resources.record import Record
from taskloom.synthesis.noise.places import noise_places
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import ClickInput, Observation, WaitInput, WheelMouseInput
from taskloom.taskgraph.records.noise import ApplicationNoise
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.worked_examples import fill_step

_LONGEST_WAIT = 5.0
_DOWN = -5
_LEAST_EXAMPLES = 2


class NoiseSettings(Record):
    """How long applications are watched."""

    recordings: int = Field(default=2, ge=0)
    """Idle recordings of each application, version and world; with 0, nothing is measured and nothing counts
    as noise. What has another name at each start needs two to be told."""
    seconds: float = Field(default=3.0, ge=0)
    """How long each of them waits; what an application does more seldom is not seen."""


async def measure_noise(
    application: Application, environment: Environment, settings: NoiseSettings, provenance: Provenance
) -> ApplicationNoise:
    """What the application changes by itself in the world of its entry.

    Raises:
        EnvironmentFailureError: it cannot be started, or the environment broke.
    """
    recordings = [await _idle(application, environment, settings.seconds) for _ in range(settings.recordings)]
    return ApplicationNoise(
        noise_id=noise_id(application),
        application=application.name,
        version=application.version,
        world=application.world,
        places=noise_places(recordings),
        recordings=settings.recordings,
        seconds=settings.seconds,
        provenance=provenance,
    )


def noise_id(application: Application) -> str:
    """Under which id it is kept what was measured of this version in this world."""
    return "/".join((application.name, application.version, application.world))


def with_noise(application: Application, measured: Iterable[ApplicationNoise]) -> Application:
    """The entry with what was measured of its version, in whatever world."""
    places = {
        place: None
        for item in measured
        if (item.application, item.version) == (application.name, application.version)
        for place in item.places
    }
    return application.model_copy(update={"noise": tuple(places)})


async def _idle(
    application: Application, environment: Environment, seconds: float
) -> tuple[Evidence, Evidence]:
    """Evidence after a reset, and after some time in which nothing was saved."""
    seen = await environment.reset([application])
    start = await environment.evidence()
    seen = await _opened(environment, opening_steps(application), seen)
    for distance in (_DOWN, -_DOWN):
        seen = await environment.act(WheelMouseInput(wheel_distance=distance))
    button = _start_page(seen)
    if button:
        await environment.act(ClickInput(control_label=button))
    left = seconds
    while left > 0:
        await environment.act(WaitInput(seconds=min(left, _LONGEST_WAIT)))
        left -= _LONGEST_WAIT
    return start, await environment.evidence()


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
