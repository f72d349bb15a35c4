"""The pool that verified subtasks flow into, and where those still being verified find what they need.

A subtask whose inputs no reset provides waits here until another one that makes them is verified; nobody waits for a
subtask that in turn waits for it. What a subtask is given does not depend on which other one happened to be done first,
so a run that was killed and started again asks the same questions as one that was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from model_clients.errors import BatchPendingError
from resources.applications import Application
from resources.categories import ResourceCategory, ResourceKind
from resources.instances import Resource, bind_resource
from resources.matching import provides
from synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskgraph.records.subtask import BoundSubtask, Subtask
from taskgraph.records.trajectory import Trajectory

_DEEPEST_CHAIN = 4
_PREPARED_LAST = (ResourceKind.OPEN_DOCUMENT, ResourceKind.TAB, ResourceKind.SELECTION)

Plan = tuple[tuple[BoundSubtask, Trajectory], ...]
Obstacle = Literal["wait", "impossible", "postponed"]


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
        self._announced: dict[str, tuple[BoundSubtask, ...]] = {}
        self._recorded: dict[str, dict[str, Trajectory]] = {}
        self._complete = False
        self._postponed: dict[str, tuple[BoundSubtask, ...]] = {}
        self._changed = asyncio.Condition()

    @property
    def verified(self) -> tuple[VerifiedSubtask, ...]:
        """What is verified so far, in that order."""
        return tuple(self._verified.values())

    async def announce(self, subtasks: Iterable[Subtask]) -> None:
        """Tell that `subtasks`, all of their application, will be settled sooner or later."""
        async with self._changed:
            for subtask in subtasks:
                self._open[subtask.subtask_id] = tuple(
                    subtask.bind(parameters, self._categories) for parameters in subtask.available_parameters
                )
                self._announced[subtask.subtask_id] = self._open[subtask.subtask_id]
            self._changed.notify_all()

    async def complete(self) -> None:
        """Tell that no further subtasks will be announced."""
        async with self._changed:
            self._complete = True
            self._changed.notify_all()

    async def record(self, trajectory: Trajectory) -> None:
        """Keep a finished performance as evidence that other subtasks' functions must not accept."""
        async with self._changed:
            self._recorded.setdefault(trajectory.subtask_id, {}).setdefault(
                trajectory.instance_id, trajectory
            )
            self._changed.notify_all()

    async def settle(self, subtask_id: str, verified: VerifiedSubtask | None) -> None:
        """Tell how a subtask ended: verified, or rejected (None)."""
        async with self._changed:
            self._open.pop(subtask_id, None)
            if verified is not None:
                self._verified[subtask_id] = verified
            self._changed.notify_all()

    async def postpone(self, name: str) -> None:
        """Tell that this run cannot settle a subtask, or explore an application, so what needs it must wait too."""
        async with self._changed:
            self._postponed[name] = self._open.pop(name, ())
            self._changed.notify_all()

    async def setup_trajectory(self, instance: BoundSubtask) -> SetupTrajectory | None:
        """What to perform before `instance` so that its inputs exist; None if nothing verified can provide them.

        Waits while a subtask that is still open could.

        Raises:
            BatchPendingError: nothing can now, but something was postponed that may in a later run.
        """
        async with self._changed:
            while True:
                plan = self._plan(instance, instance.application, (instance.subtask_id,))
                if plan == "postponed" or (plan == "impossible" and self._complete):
                    if self._postponed:
                        first = min(self._postponed)
                        raise BatchPendingError(
                            f"{instance.subtask_id} may need {first}, which was postponed"
                        )
                    return None
                if not isinstance(plan, str):
                    return SetupTrajectory(plan)
                await self._changed.wait()

    async def others(self, subtask: Subtask, wanted: int) -> tuple[Trajectory, ...]:
        """Performances of `wanted` other subtasks, as announced, those of the same application first; fewer at the end.

        Waits only for subtasks that nothing holds up.
        """
        async with self._changed:
            while (found := self._others(subtask, wanted)) is None:
                await self._changed.wait()
            return found

    def _others(self, subtask: Subtask, wanted: int) -> tuple[Trajectory, ...] | None:
        own = subtask.application
        names = [name for name in {**self._announced, **self._recorded} if name != subtask.subtask_id]
        names.sort(key=lambda name: (_application(name) != own, _application(name)))
        held_up = [name for name in names if not self._is_simple(name)]
        found: list[Trajectory] = []
        for name in [*(name for name in names if name not in held_up), *held_up]:
            if len(found) == wanted:
                break
            if not self._complete and (_application(name) != own or name in held_up):
                return None
            sample = self._sample(name)
            if sample is not None:
                found.append(sample)
            elif name in self._open and name not in held_up:
                return None
        return tuple(found) if len(found) == wanted or self._complete else None

    def _sample(self, name: str) -> Trajectory | None:
        """The performance of the subtask's first instance; of another one only when it is settled without."""
        recorded = self._recorded.get(name, {})
        for instance in self._announced.get(name, ()):
            if instance.instance_id in recorded:
                return recorded[instance.instance_id]
            if name in self._open:
                return None
        return next(iter(recorded.values()), None)

    def _is_simple(self, name: str) -> bool:
        """Whether a reset provides all that the subtask reads."""
        instances = self._announced.get(name, ())
        return not any(list(self._unmet(instance, instance.application)) for instance in instances)

    def _unmet(self, instance: BoundSubtask, application: str) -> Iterator[Resource]:
        available = self._fixtures.get(application, frozenset()) | self._fixtures.get(
            instance.application, frozenset()
        )
        for needed in instance.inputs:
            if not any(provides(fixture, needed) for fixture in available):
                yield needed

    def _plan(self, instance: BoundSubtask, application: str, path: tuple[str, ...]) -> Plan | Obstacle:
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

    def _provider(self, instance: BoundSubtask, needed: Resource, path: tuple[str, ...]) -> Plan | Obstacle:
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
            best = min(plans, key=lambda plan: _rank(plan, instance.application))
            if self._better_may_come(self._open, best, instance, needed, path):
                return "wait"
            return (
                "postponed" if self._better_may_come(self._postponed, best, instance, needed, path) else best
            )
        for name, producers in self._open.items():
            if name in path:
                continue
            for producer in producers:
                if any(provides(output, needed) for output in producer.outputs) and (
                    self._plan(producer, instance.application, (*path, name)) != "impossible"
                ):
                    return "wait"
        return answer

    def _better_may_come(
        self,
        coming: Mapping[str, tuple[BoundSubtask, ...]],
        best: Plan,
        instance: BoundSubtask,
        needed: Resource,
        path: tuple[str, ...],
    ) -> bool:
        """Whether a subtask of those `coming`, which itself waits for nothing, would be preferred to `best`."""
        rank = _rank(best, instance.application)
        if not self._complete and rank[:2] != (1, 0):
            return True
        return any(
            (1, int(producer.application != instance.application), producer.subtask_id) < rank
            for name, producers in coming.items()
            if name not in path
            for producer in producers
            if any(provides(output, needed) for output in producer.outputs)
            and not any(self._unmet(producer, instance.application))
        )


def _rank(plan: Plan, own: str) -> tuple[int, int, str]:
    """Smaller is better: few subtasks, few of them of other applications than `own`, then by name."""
    return len(plan), sum(item.application != own for item, _ in plan), plan[-1][0].subtask_id


def _application(subtask_id: str) -> str:
    return subtask_id.partition(".")[0]
