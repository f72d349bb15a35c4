"""The pool that verified subtasks flow into, and where those still being verified find what they need.

A subtask whose inputs no reset provides waits here until another one that makes them is verified; nobody waits for a
subtask that in turn waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from resources.applications import Application
from resources.categories import ResourceCategory, ResourceKind
from resources.instances import Resource, bind_resource
from resources.matching import provides
from synthesis.preparation import Prelude
from synthesis.verified_subtasks import VerifiedSubtask
from taskgraph.subtask import BoundSubtask, Subtask
from taskgraph.trajectory import Trajectory

_DEEPEST_CHAIN = 4
_PREPARED_LAST = (ResourceKind.OPEN_DOCUMENT, ResourceKind.TAB, ResourceKind.SELECTION)

Plan = tuple[tuple[BoundSubtask, Trajectory], ...]


class VerificationPool:
    """Subtasks by what is known of them: announced, performed, verified or rejected. Belongs to one event loop."""

    def __init__(
        self, applications: Mapping[str, Application], categories: Mapping[str, ResourceCategory]
    ) -> None:
        """A pool for `applications`, whose fixtures exist after a reset."""
        self._categories = categories
        self._fixtures = {
            name: frozenset(
                bind_resource(categories[item.category], name, item.value) for item in application.fixtures
            )
            for name, application in applications.items()
        }
        self._open: dict[str, tuple[BoundSubtask, ...]] = {}
        self._verified: dict[str, VerifiedSubtask] = {}
        self._recorded: dict[str, Trajectory] = {}
        self._complete = False
        self._changed = asyncio.Condition()

    @property
    def verified(self) -> tuple[VerifiedSubtask, ...]:
        """What is verified so far, in that order."""
        return tuple(self._verified.values())

    async def announce(self, subtasks: Iterable[Subtask]) -> None:
        """Tell that `subtasks` will be settled sooner or later."""
        async with self._changed:
            for subtask in subtasks:
                self._open[subtask.subtask_id] = tuple(
                    subtask.bind(parameters, self._categories) for parameters in subtask.available_parameters
                )
            self._changed.notify_all()

    async def complete(self) -> None:
        """Tell that no further subtasks will be announced."""
        async with self._changed:
            self._complete = True
            self._changed.notify_all()

    async def record(self, trajectory: Trajectory) -> None:
        """Keep a finished performance as evidence that other subtasks' functions must not accept."""
        async with self._changed:
            self._recorded[trajectory.subtask_id] = trajectory
            self._changed.notify_all()

    async def settle(self, subtask_id: str, verified: VerifiedSubtask | None) -> None:
        """Tell how a subtask ended: verified, or rejected (None)."""
        async with self._changed:
            self._open.pop(subtask_id, None)
            if verified is not None:
                self._verified[subtask_id] = verified
            self._changed.notify_all()

    async def prelude(self, instance: BoundSubtask) -> Prelude | None:
        """What to perform before `instance` so that its inputs exist; None if nothing verified can provide them.

        Waits while a subtask that is still open could.
        """
        async with self._changed:
            while True:
                plan = self._plan(instance, instance.application, (instance.subtask_id,))
                if plan == "impossible" and self._complete:
                    return None
                if not isinstance(plan, str):
                    return Prelude(plan)
                await self._changed.wait()

    async def others(self, subtask: Subtask, wanted: int) -> tuple[Trajectory, ...]:
        """Performances of other subtasks, those of the same application first, at least `wanted` where there are.

        Waits only for subtasks that nothing holds up.
        """
        async with self._changed:
            while True:
                found = [item for name, item in self._recorded.items() if name != subtask.subtask_id]
                coming = [
                    name
                    for name, instances in self._open.items()
                    if name not in self._recorded
                    and name != subtask.subtask_id
                    and not any(list(self._unmet(instance, instance.application)) for instance in instances)
                ]
                if len(found) >= wanted or (self._complete and not coming):
                    prefix = f"{subtask.application}."
                    found.sort(key=lambda item: not item.subtask_id.startswith(prefix))
                    return tuple(found)
                await self._changed.wait()

    def _unmet(self, instance: BoundSubtask, application: str) -> Iterator[Resource]:
        available = self._fixtures.get(application, frozenset()) | self._fixtures.get(
            instance.application, frozenset()
        )
        for needed in instance.inputs:
            if not any(provides(fixture, needed) for fixture in available):
                yield needed

    def _plan(
        self, instance: BoundSubtask, application: str, path: tuple[str, ...]
    ) -> Plan | Literal["wait", "impossible"]:
        """What to perform before `instance`; `path` holds the subtasks that already wait for each other."""
        plan: list[tuple[BoundSubtask, Trajectory]] = []
        unmet = sorted(self._unmet(instance, application), key=lambda item: item.kind in _PREPARED_LAST)
        for needed in unmet:
            if any(provides(output, needed) for done, _ in plan for output in done.outputs):
                continue
            provider = self._provider(instance, needed, path)
            if isinstance(provider, str):
                return provider
            plan += [item for item in provider if item not in plan]
        return tuple(plan)

    def _provider(
        self, instance: BoundSubtask, needed: Resource, path: tuple[str, ...]
    ) -> Plan | Literal["wait", "impossible"]:
        answer: Literal["wait", "impossible"] = "impossible" if self._complete else "wait"
        if len(path) > _DEEPEST_CHAIN:
            return "impossible"
        plans: list[Plan] = []
        for verified in self._verified.values():
            if verified.subtask.subtask_id in path:
                continue
            for producer in verified.instances(self._categories):
                trajectory = verified.trajectory(producer.instance_id)
                if trajectory is None or not any(provides(output, needed) for output in producer.outputs):
                    continue
                before = self._plan(producer, instance.application, (*path, producer.subtask_id))
                if not isinstance(before, str):
                    plans.append((*before, (producer, trajectory)))
        if plans:
            own = instance.application
            return min(plans, key=lambda plan: (len(plan), sum(item.application != own for item, _ in plan)))
        for name, producers in self._open.items():
            if name in path:
                continue
            for producer in producers:
                if any(provides(output, needed) for output in producer.outputs) and (
                    self._plan(producer, instance.application, (*path, name)) != "impossible"
                ):
                    return "wait"
        return answer
