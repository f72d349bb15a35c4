"""The simulated applications with everything that the stages need around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from taskloom.environments.environment import Environment
from taskloom.environments.lookup import platform
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.applications import Application
from taskloom.resources.reading.catalog import load_resource_categories
from taskloom.synthesis.cross_verification.cross_verification import CrossVerifier, Verification
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings
from taskloom.synthesis.cross_verification.performances import Stage
from taskloom.synthesis.cross_verification.verification_pool import VerificationPool
from taskloom.synthesis.exploration.exploration import Exploration, ExplorationSettings, explore_application
from taskloom.synthesis.exploration.memory import ExplorationMemory, with_records
from taskloom.synthesis.ports import Models
from taskloom.synthesis.trajectories.trajectories import TrajectorySettings, plain_picture
from taskloom.taskgraph.records.provenance import Provenance

PROVENANCE = Provenance(run_id="test")
CATEGORIES = load_resource_categories()
APPLICATIONS = {item.name: item for item in simulated_applications()}


def simulated(name: str) -> Environment:
    """A closed environment of a platform that draws no pictures."""
    module = platform(name)
    return module.create(module.SETTINGS.model_validate({"pictures": False}))


@dataclass
class SimulatedEnvironments:
    """Leases simulated environments; the fixtures of this folder close them when their test ends."""

    make: Callable[[str], Environment] = simulated
    open_now: ClassVar[list[SimulatedEnvironments]] = []
    made: list[Environment] = field(default_factory=list)
    idle: list[Environment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.open_now.append(self)

    @asynccontextmanager
    async def lease(self, name: str, applications: Collection[str]) -> AsyncIterator[Environment]:
        if not self.idle:
            self.made.append(self.make(name))
            self.idle.append(self.made[-1])
        environment = self.idle.pop()
        try:
            yield environment
        finally:
            self.idle.append(environment)

    async def close(self) -> None:
        while self.made:
            await self.made.pop().close()


@dataclass
class World:
    """One run over some of the simulated applications."""

    models: Models
    sandbox: EvaluationSandbox
    applications: dict[str, Application]
    environments: SimulatedEnvironments = field(default_factory=SimulatedEnvironments)
    exploration: ExplorationSettings = field(
        default_factory=lambda: ExplorationSettings(look_at_application=False)
    )
    verification: VerificationSettings = field(default_factory=VerificationSettings)
    memory: Mapping[str, ExplorationMemory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.categories = dict(CATEGORIES)
        self.applications = dict(self.applications)
        self.explored: list[Exploration] = []
        self.done: dict[str, Verification] = {}
        self.pool = VerificationPool(self.applications, self.categories)
        stage = Stage(
            models=self.models,
            environments=self.environments,
            applications=self.applications,
            pool=self.pool,
            settings=TrajectorySettings(step_limit=12),
            picture=plain_picture,
            provenance=PROVENANCE,
        )
        self.verifier = CrossVerifier(
            stage, self.sandbox, self.categories, self.verification, self.exploration
        )

    async def explore(self, name: str) -> Exploration:
        found = await explore_application(
            self.applications[name],
            models=self.models,
            environments=self.environments,
            categories=self.categories,
            settings=self.exploration,
            memory=self.memory.get(name, ExplorationMemory()),
            provenance=PROVENANCE,
        )
        self.categories |= {item.name: item.category for item in found.categories}
        self.applications[name] = with_records(self.applications[name], found.records)
        self.explored.append(found)
        return found

    async def verify(self, *wanted: str) -> dict[str, Verification]:
        """Explore all applications and verify the subtasks named `wanted`, or all."""
        explored = [await self.explore(name) for name in self.applications]
        subtasks = [item for found in explored for item in found.subtasks]
        chosen = [item for item in subtasks if not wanted or item.subtask_id in wanted]
        await self.pool.announce(chosen)
        await self.pool.complete()
        done = await asyncio.gather(*(self.verifier.verify(item) for item in chosen))
        self.done = {item.subtask.subtask_id: item for item in done}
        return self.done
