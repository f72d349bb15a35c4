"""The stage: an application is started and left alone, several times; what changed meanwhile is noise.

Nobody saves anything: the page is scrolled, the pointer is moved, the first page is opened again.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from taskloom.environments.environment import Environment
from taskloom.environments.starting_place import START_PAGE, TASK_BAR_BUTTON
from taskloom.resources.applications import Application
from taskloom.resources.record import Record
from taskloom.synthesis.noise.places import noise_places
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import ClickInput, Observation, WaitInput, WheelMouseInput
from taskloom.taskgraph.records.noise import ApplicationNoise
from taskloom.taskgraph.records.provenance import Provenance

_LONGEST_WAIT = 5.0
_DOWN = -5


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
    """Evidence after a reset, and after some time in which nothing was done."""
    seen = await environment.reset([application])
    start = await environment.evidence()
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


def _start_page(seen: Observation) -> str:
    """Label of the button that opens the first page; empty where there is none."""
    wanted = (TASK_BAR_BUTTON, START_PAGE)
    return next((item.label for item in seen.controls if (item.control_type, item.text) == wanted), "")
