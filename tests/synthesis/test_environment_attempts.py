"""Performances and replays are begun anew only where the environment's failure may pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.errors import (
    ApplicationStartFailedError,
    BrowserMissingError,
    EnvironmentBrokenError,
    EnvironmentFailureError,
)
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.synthesis.trajectories.trajectories import TrajectorySettings, perform_subtask
from taskloom.taskgraph.records.provenance import Provenance
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, SimulatedEnvironments, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}


class Failing:
    """Environments whose reset fails the first times it is asked for."""

    def __init__(self, *errors: EnvironmentFailureError) -> None:
        self.errors = list(errors)
        self.leased = 0
        self.working = SimulatedEnvironments()

    @asynccontextmanager
    async def lease(self, platform: str, applications: Collection[str]) -> AsyncIterator[Environment]:
        self.leased += 1
        async with self.working.lease(platform, applications) as environment:
            if self.errors:
                error = self.errors.pop(0)

                async def reset(*_: object, **__: object) -> None:
                    del environment.reset
                    raise error

                environment.reset = reset  # type: ignore[method-assign, assignment]
            yield environment


@pytest.mark.parametrize(
    ("errors", "leased", "termination"),
    [
        ((ApplicationStartFailedError("port closed"),), 2, "finished"),
        ((EnvironmentBrokenError("died"), EnvironmentBrokenError("died")), 2, "environment_error"),
        ((BrowserMissingError("no browser"),), 1, "environment_error"),
    ],
    ids=["once", "always", "permanent"],
)
async def test_a_performance_is_begun_anew_where_that_can_help(
    shared_sandbox: object, errors: tuple[EnvironmentFailureError, ...], leased: int, termination: str
) -> None:
    models = TestModels(NOTES)
    explored = await World(models, shared_sandbox, NOTES).explore("simulated_notes")  # type: ignore[arg-type]
    subtask = explored.subtasks[0]
    environments = Failing(*errors)
    trajectory = await perform_subtask(
        subtask.bind(subtask.available_parameters[0], load_resource_categories()),
        NOTES,
        models=models,
        environments=environments,
        settings=TrajectorySettings(),
        provenance=Provenance(),
    )
    assert (environments.leased, trajectory.termination) == (leased, termination)
