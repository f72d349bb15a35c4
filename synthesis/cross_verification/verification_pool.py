"""The pool of verified subtasks, which provides the inputs of those still being verified.

A subtask whose inputs no reset provides waits here until one that makes them is verified; no subtask waits
for one that in turn waits for it. What a subtask is given does not depend on which others happen to finish
first, so a resumed run asks the same questions. When all open subtasks wait here, nothing more can come, and
the first of them by name that can proceed goes on with what there is.
"""

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from taskloom.resources.applications import Application
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource, provides
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import applications_in
from taskloom.resources.worlds import FIRST_WORLD
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask, instances_to_verify
from taskloom.synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.trajectory import Trajectory

_DEEPEST_CHAIN = 4
_PREPARED_LAST = (ResourceKind.OPEN_DOCUMENT, ResourceKind.TAB, ResourceKind.SELECTION)

Plan = tuple[tuple[BoundSubtask, Trajectory], ...]
Obstacle = Literal["wait", "impossible"]
_Rank = tuple[int, int, str]


class VerificationPool:
    """The state of each subtask: announced, performed, verified or rejected; for use in one event loop."""

    def __init__(
        self,
        applications: Mapping[str, Application],
        categories: Mapping[str, ResourceCategory],
        *,
        parameter_sets: int = 2,
    ) -> None:
        """A pool for `applications`; `parameter_sets` instances of each subtask are verified."""
        self._applications = applications
        self._categories = categories
        self._parameter_sets = parameter_sets
        self._fixtures: dict[tuple[str, str], frozenset[Resource]] = {}
        self._open: dict[str, tuple[BoundSubtask, ...]] = {}
        self._producers: dict[str, Plan] = {}
        self._announced: dict[str, tuple[BoundSubtask, ...]] = {}
        self._recorded: dict[str, dict[str, Trajectory]] = {}
        self._complete = False
        self._chains: dict[str, int] | None = None
        self._waiting: dict[str, BoundSubtask | None] = {}
        self._unblocked: str | None = None
        self._changed = asyncio.Condition()

    async def announce(self, subtasks: Iterable[Subtask]) -> None:
        """Announce all `subtasks` of an application; each will be settled eventually."""
        async with self._changed:
            for subtask in subtasks:
                bound = [
                    subtask.bind(parameters, self._categories) for parameters in subtask.available_parameters
                ]
                if subtask.application in self._applications:
                    bound += instances_to_verify(
                        subtask, self._applications, self._categories, self._parameter_sets
                    )
                self._open[subtask.subtask_id] = tuple({item.instance_id: item for item in bound}.values())
                self._announced[subtask.subtask_id] = self._open[subtask.subtask_id]
            self._chains = None
            self._notify()

    async def complete(self) -> None:
        """Declare that no further subtasks will be announced."""
        async with self._changed:
            self._complete = True
            self._chains = None
            self._notify()

    async def record(self, trajectory: Trajectory) -> None:
        """Keep a finished performance as evidence that other subtasks' functions must not accept."""
        async with self._changed:
            self._recorded.setdefault(trajectory.subtask_id, {}).setdefault(
                trajectory.instance_id, trajectory
            )
            self._notify()

    async def settle(self, subtask_id: str, verified: VerifiedSubtask | None) -> None:
        """Record the outcome of a subtask: verified, or rejected (None)."""
        async with self._changed:
            self._open.pop(subtask_id, None)
            if verified is not None:
                self._producers[subtask_id] = tuple(
                    (instance, trajectory)
                    for instance in verified.instances(self._categories)
                    if (trajectory := verified.trajectory(instance.instance_id)) is not None
                )
            self._notify()

    async def setup_trajectory(self, instance: BoundSubtask, variant: int = 0) -> SetupTrajectory | None:
        """What to perform before `instance` so that its inputs exist; None if nothing verified can provide
        them.

        Waits while an open subtask could. With another `variant`, the producer works with other parameters if
        it is verified with several: a consumer that always gets the same input never proves that it reads it.
        """
        async with self._changed:
            while True:
                plan = self._plan(instance, instance.application, (instance.subtask_id,), variant=variant)
                if plan == "impossible" and self._complete:
                    return None
                if not isinstance(plan, str):
                    return SetupTrajectory(plan)
                await self._wait(instance.subtask_id, instance)

    async def others(self, subtask: Subtask, wanted: int) -> tuple[Trajectory, ...]:
        """Performances of `wanted` other subtasks, those of the same application first; fewer at the end.

        The choice follows from what was announced and how it was settled, never from what happens to be
        finished: only subtasks whose chains are at most as long as that of `subtask` are used, and each of
        these is waited for, unless all open subtasks wait here.
        """
        async with self._changed:
            while (found := self._others(subtask, wanted)) is None:
                await self._wait(subtask.subtask_id)
            return found

    async def _wait(self, name: str, prepared: BoundSubtask | None = None) -> None:
        """Wait for news, to prepare an instance or for others; if all wait, one is unblocked instead."""
        self._waiting[name] = prepared
        if self._complete and self._unblocked is None and self._open.keys() <= self._waiting.keys():
            self._unblock_one()
            self._changed.notify_all()
        if self._unblocked != name:
            await self._changed.wait()

    def _unblock_one(self) -> None:
        """Unblock the first subtask that can go on, or else the first one, which then fails."""
        names = sorted(self._waiting, key=lambda name: (self._waiting[name] is not None, name))
        for name in names:
            self._unblocked, prepared = name, self._waiting[name]
            if prepared is None or not isinstance(self._plan(prepared, prepared.application, (name,)), str):
                return
        self._unblocked = names[0]

    def _notify(self) -> None:
        self._waiting.clear()
        self._unblocked = None
        self._changed.notify_all()

    def _others(self, subtask: Subtask, wanted: int) -> tuple[Trajectory, ...] | None:
        application = subtask.application
        longest = self._chain_length(subtask.subtask_id)
        lengths = {name: self._chain_length(name) for name in {**self._announced, **self._recorded}}
        names = [
            name
            for name, length in lengths.items()
            if name != subtask.subtask_id
            and length <= longest
            and not (self._complete and length == math.inf)
        ]
        names.sort(key=lambda name: (_application(name) != application, lengths[name], _application(name)))
        samples: list[Trajectory] = []
        for name in names:
            if len(samples) == wanted:
                break
            if not self._complete and (_application(name) != application or lengths[name]):
                return None
            prospect = self._prospect(name, lengths[name])
            if prospect == "impossible":
                continue
            sample = self._sample(name)
            if sample is not None and prospect == "possible":
                samples.append(sample)
            elif name in self._open and self._unblocked != subtask.subtask_id:
                return None
        return tuple(samples) if len(samples) == wanted or self._complete else None

    def _prospect(self, name: str, level: float) -> Literal["possible", "impossible", "wait"]:
        """Whether settled producers with chains shorter than `level` can prepare the subtask."""
        plans = [
            self._plan(instance, instance.application, (name,), below=level)
            for instance in self._announced.get(name, ())
        ]
        if "impossible" in plans:
            return "impossible"
        return "wait" if "wait" in plans else "possible"

    def _sample(self, name: str) -> Trajectory | None:
        """The performance of the subtask's first instance, or of another one if it was settled without it."""
        recorded = self._recorded.get(name, {})
        for instance in self._announced.get(name, ()):
            if instance.instance_id in recorded:
                return recorded[instance.instance_id]
            if name in self._open:
                return None
        return next(iter(recorded.values()), None)

    def _chain_length(self, name: str) -> float:
        """Minimum subtasks that must precede this one; 0 if a reset provides all that it reads.

        Infinite if nothing announced can prepare it, and for those that need preparing until all are
        announced.
        """
        if self._chains is None:
            self._chains = self._measure_chains()
        return self._chains.get(name, math.inf if name in self._announced else 0)

    def _measure_chains(self) -> dict[str, int]:
        needs = {
            name: [
                needed
                for item in instances
                if item.world == FIRST_WORLD
                for needed in self._unmet(item, item.application)
            ]
            for name, instances in self._announced.items()
        }
        lengths = {name: 0 for name, needed in needs.items() if not needed}
        outputs = self._outputs(lengths)
        for length in range(1, _DEEPEST_CHAIN + 1) if self._complete else ():
            found = [
                name
                for name, needed in needs.items()
                if name not in lengths
                and all(any(provides(output, item) for output in outputs) for item in needed)
            ]
            lengths.update(dict.fromkeys(found, length))
            outputs |= self._outputs(found)
        return lengths

    def _outputs(self, names: Iterable[str]) -> set[Resource]:
        return {output for name in names for item in self._announced[name] for output in item.outputs}

    def _unmet(self, instance: BoundSubtask, application: str) -> Iterator[Resource]:
        available = self._fixtures_of(instance.world, application) | self._fixtures_of(
            instance.world, instance.application
        )
        for needed in instance.inputs:
            if not any(provides(fixture, needed) for fixture in available):
                yield needed

    def _fixtures_of(self, world: str, application: str) -> frozenset[Resource]:
        key = (world, application)
        if key not in self._fixtures:
            entry = applications_in(self._applications, world).get(application)
            self._fixtures[key] = frozenset(fixtures_of(entry, self._categories)) if entry else frozenset()
        return self._fixtures[key]

    def _plan(
        self,
        instance: BoundSubtask,
        application: str,
        path: tuple[str, ...],
        *,
        variant: int = 0,
        below: float = math.inf,
    ) -> Plan | Obstacle:
        """What to perform before `instance`; `path` holds the subtasks that already wait for each other.

        Only subtasks with chains shorter than `below` are performed.
        """
        plan: list[tuple[BoundSubtask, Trajectory]] = []
        unmet = sorted(self._unmet(instance, application), key=lambda item: item.kind in _PREPARED_LAST)
        for needed in unmet:
            if any(provides(output, needed) for producer, _ in plan for output in producer.outputs):
                continue
            provider = self._provider(instance, needed, path, variant, below)
            if isinstance(provider, str):
                return provider
            plan += [item for item in provider if item not in plan]
        return tuple(plan)

    def _provider(
        self, instance: BoundSubtask, needed: Resource, path: tuple[str, ...], variant: int, below: float
    ) -> Plan | Obstacle:
        if len(path) > _DEEPEST_CHAIN:
            return "impossible"

        def serves(name: str, producer: BoundSubtask) -> bool:
            provided = any(provides(output, needed) for output in producer.outputs)
            return name not in path and producer.world == instance.world and provided

        plans: list[Plan] = []
        obstacles: set[Obstacle] = set()
        application = instance.application
        pending = {} if self._unblocked == path[0] else self._open
        for name, performed in self._producers.items():
            for producer, trajectory in performed if self._is_below(name, below) else ():
                if serves(name, producer):
                    plan = self._plan(producer, application, (*path, name), variant=variant, below=below)
                    if isinstance(plan, str):
                        obstacles.add(plan)
                    else:
                        plans.append((*plan, (producer, trajectory)))
        possible = [(name, item) for name, items in pending.items() for item in items if serves(name, item)]
        if plans:
            rank = min(_rank(plan, application) for plan in plans)
            if self._better_may_come([producer for _, producer in possible], rank, application):
                return "wait"
            best = [plan for plan in plans if _rank(plan, application) == rank]
            return best[variant % len(best)]
        can_come = (
            self._is_below(name, below)
            and self._plan(producer, application, (*path, name), below=below) != "impossible"
            for name, producer in possible
        )
        if any(can_come):
            return "wait"
        return "wait" if "wait" in obstacles or not self._complete else "impossible"

    def _is_below(self, name: str, limit: float) -> bool:
        return limit == math.inf or self._chain_length(name) < limit

    def _better_may_come(self, coming: Iterable[BoundSubtask], rank: _Rank, application: str) -> bool:
        """Whether one of those `coming` that needs no preparation would be preferred to one of `rank`."""
        if not self._complete and rank[:2] != (1, 0):
            return True
        return any(
            (1, int(producer.application != application), producer.subtask_id) < rank
            and not any(self._unmet(producer, application))
            for producer in coming
        )


def _rank(plan: Plan, application: str) -> _Rank:
    """Smaller is better: few subtasks, few of them of applications other than `application`, then by name."""
    return len(plan), sum(item.application != application for item, _ in plan), plan[-1][0].subtask_id


def _application(subtask_id: str) -> str:
    return subtask_id.partition(".")[0]
