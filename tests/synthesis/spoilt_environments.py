"""Environments whose start is not what was asked for: a failed reset, a dead application, no fixture or
another one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.resources.applications import Application
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Observation
from tests.synthesis.simulated_world import SimulatedEnvironments

WAYS = [
    ("failing", "the server never answered"),
    ("dead", "the application shows nothing"),
    ("no fixture", "does not exist"),
    ("other fixture", "is another file than the fixture"),
]
"""How a start can be spoilt, and what is then said."""


class Spoilt:
    """An environment whose start is not what was asked for."""

    def __init__(self, environment: Environment, spoil: str) -> None:
        self.platform, self.simulated = environment.platform, environment.simulated
        self._environment, self._spoil = environment, spoil
        self.acts = 0

    async def reset(
        self, applications: Sequence[Application], *, without: Collection[str] = ()
    ) -> Observation:
        if self._spoil == "failing":
            raise EnvironmentBrokenError("the server never answered")
        return await self._environment.reset(applications, without=without)

    async def evidence(self) -> Evidence:
        found = await self._environment.evidence()
        if self._spoil == "dead":
            return found.model_copy(update={"controls": ()})
        if self._spoil == "no fixture":
            return found.model_copy(update={"files": ()})
        spoilt = tuple(file.model_copy(update={"sha256": "0" * 64}) for file in found.files)
        return found.model_copy(update={"files": spoilt})

    async def observe(self) -> Observation:
        return await self._environment.observe()

    async def act(self, action: Action) -> Observation:
        self.acts += 1
        return await self._environment.act(action)

    async def bring_to_front(self, application: str) -> Observation:
        return await self._environment.bring_to_front(application)

    async def rest(self) -> None:
        await self._environment.rest()

    async def close(self) -> None:
        await self._environment.close()


class SpoiltEnvironments:
    def __init__(self, environments: SimulatedEnvironments, spoil: str) -> None:
        self.environments, self.spoil = environments, spoil
        self.leased: list[Spoilt] = []

    def made(self, environment: Environment, spoil: str) -> Spoilt:
        return Spoilt(environment, spoil)

    @asynccontextmanager
    async def lease(self, name: str, applications: Collection[str]) -> AsyncIterator[Spoilt]:
        async with self.environments.lease(name, applications) as environment:
            self.leased.append(self.made(environment, self.spoil))
            yield self.leased[-1]
