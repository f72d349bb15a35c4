"""Replays a run's components before validation and its tasks after it, and learns about orders."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from taskloom.flows.running.together import together
from taskloom.flows.stages.results import rejection
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.replay.components import another_with, repeats_application, tasks_to_replay
from taskloom.synthesis.replay.order_facts import (
    Pair,
    clashes,
    facts_of,
    failed_prefix,
    pairs_to_measure,
    without_prefixes,
)
from taskloom.synthesis.replay.order_facts import without_clashes as orders_without
from taskloom.synthesis.replay.replay import ReplayedTask, Replayer, ReplaySettings
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import OrderFact, Rejection, Task

COMPOSITION = "composition"
REPLAY = "replay"
_COVERED = (
    "SELECT DISTINCT unnest(components) FROM replays AS r WHERE success AND NOT EXISTS (SELECT 1 FROM"
    " task_subtasks AS s JOIN rejections AS x ON x.item_id = s.subtask_id AND x.reason = 'no_longer_replays'"
    " WHERE s.task_id = r.task_id AND x.run_id > r.run_id)"
)
"""Components that were performed successfully, without a subtask that a later run retired."""
_REPLAYED_TASKS = "SELECT task_id FROM replays WHERE task_id IN (SELECT unnest(?::VARCHAR[]))"
_ACTIONS_TO_OPEN = 8
"""Actions that take as long as opening an application."""


async def _replay_job(task: Task, orders: int, place: Workplace, subtasks: KnownSubtasks) -> ReplayedTask:
    verified = await subtasks([node.subtask_id for node in task.graph.nodes])
    return await replayer_of(place, verified).replay(task, orders)


@dataclass(slots=True)
class TaskReplays:
    """Replays the tasks of one run."""

    run: Run
    subtasks: Callable[[Iterable[str]], Awaitable[Mapping[str, VerifiedSubtask]]]
    _spent: float = 0.0

    @property
    def may_go_on(self) -> bool:
        """Whether the settings allow further replays of components in this run."""
        most = self.run.settings.replay.actions
        return not most or self._spent < most

    async def known_clashes(self) -> set[Pair]:
        """Pairs of subtasks that replays have shown to fail in this order."""
        await self.run.recorder.flush()
        return await asyncio.to_thread(lambda: clashes(self.run.warehouse.read(OrderFact)))

    async def without_clashes(self, tasks: Sequence[Task], known: Collection[Pair]) -> list[Task]:
        """The tasks without orders that contain `known` clashes; tasks without other orders are rejected."""
        kept = []
        for task in tasks:
            fit = orders_without(task, known)
            if isinstance(fit, Task):
                kept.append(fit)
                continue
            message = f"{fit[1]} does not work after {fit[0]}, and every order of the task has it there"
            record = rejection(self.run, COMPOSITION, "task", task.task_id, "known_clash", message)
            await self._reject(task, record)
        return kept

    async def cover(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Perform every distinct component of `tasks` that no replay has covered, while the settings allow
        actions; returns the tasks without a failure, less their failed orders. Others are recorded as
        rejected."""
        run = self.run
        if not run.settings.replay.components:
            return tuple(tasks)
        await run.recorder.flush()
        known = await asyncio.to_thread(lambda: {str(row[0]) for row in run.warehouse.query(_COVERED).rows()})
        replayer = await self._replayer(tasks)
        covering = Covering(
            lambda task, orders: self._perform(replayer, task, orders),
            run.settings.replay,
            run.concurrency,
            actions=run.settings.replay.actions or None,
            spent=self._spent,
            cost=lambda task: _cost(task, replayer.verified, run.settings.replay.orders),
            shows=replayer.shows,
            covered=known,
        )
        run.progress.begin(REPLAY, len(tasks_to_replay(tasks, known, shows=replayer.shows)))
        try:
            await covering.cover(tasks)
        finally:
            self._spent = covering.spent
        kept = []
        waiting = []
        for task in tasks:
            failure = covering.failure(task)
            if failure is None and run.settings.replay.covered_only and not covering.covers(task):
                waiting.append(task)
            elif failure is None:
                kept.append(covering.without_bad_orders(covering.marked(task)))
            elif failure.rejection is not None:
                await self._reject(task, failure.rejection.model_copy(update={"item_id": task.task_id}))
        await run.recorder.record(*self._not_covered(waiting, covering.covered))
        return tuple(await self.without_clashes(kept, await self.known_clashes()))

    async def _reject(self, task: Task, record: Rejection) -> None:
        await self.run.recorder.record(record, task.model_copy(update={"status": "rejected"}), replace=True)

    def _not_covered(self, waiting: Sequence[Task], covered: Collection[str]) -> list[Rejection]:
        """One record per component that was left out, with the number of tasks that wait for it."""
        waiting_for: dict[str, list[Task]] = {}
        for task in waiting:
            for key in set(task.components) - set(covered):
                waiting_for.setdefault(key, []).append(task)
        return [
            rejection(
                self.run,
                REPLAY,
                "composition",
                key,
                "not_covered",
                (
                    f"{len(tasks)} tasks such as"
                    f" {' + '.join(node.subtask_id for node in tasks[0].graph.nodes)} wait for the replay of"
                    " this component: replay.actions were used up. Build again to continue, or allow more"
                ),
            )
            for key, tasks in sorted(waiting_for.items())
        ]

    async def _replay(self, replayer: Replayer, task: Task, orders: int) -> ReplayedTask:
        workers = self.run.workers
        if workers is None:
            return await replayer.replay(task, orders)
        return await workers.run_job(partial(_replay_job, task, orders))

    async def _perform(self, replayer: Replayer, task: Task, orders: int) -> ReplayedTask:
        replayed = await self._replay(replayer, task, orders)
        facts = [fact for item in replayed.replays for fact in facts_of(task, item)]
        await self.run.recorder.record(*replayed.trajectories, *replayed.replays, *facts, replace=True)
        if replayed.rejection is None:
            self.run.progress.done(REPLAY)
        else:
            self.run.progress.rejected(REPLAY)
        return replayed

    async def _replayer(self, tasks: Sequence[Task]) -> Replayer:
        names = (node.subtask_id for task in tasks for node in task.graph.nodes)
        return replayer_of(self.run, await self.subtasks(names))

    async def replayed_before(self, tasks: Sequence[Task]) -> set[str]:
        """Ids of those of `tasks` that were already replayed."""
        await self.run.recorder.flush()
        names = [task.task_id for task in tasks]
        return {str(row[0]) for row in self.run.warehouse.query(_REPLAYED_TASKS, [names]).rows()}

    async def replay(self, tasks: Sequence[Task]) -> int:
        """Replay tasks in the orders of the settings; returns how many were rejected."""
        recorder, replayer = self.run.recorder, await self._replayer(tasks)
        self.run.progress.begin(REPLAY, len(tasks))

        async def is_rejected(task: Task) -> bool:
            replayed = await self._perform(replayer, task, 0)
            if replayed.rejection is None:
                return False
            await recorder.record(replayed.rejection)
            await recorder.record(task.model_copy(update={"status": "rejected"}), replace=True)
            return True

        return sum(await together(is_rejected(task) for task in tasks))

    async def measure_pairs(self, pool: Mapping[str, Sequence[BoundSubtask]]) -> int:
        """Perform pairs of subtasks that may interfere, in both orders; returns the number of facts found.

        Pairs known in both orders are skipped, except those that never worked in one of them: an application
        or a recording may have changed since.
        """
        run = self.run
        await run.recorder.flush()
        facts = list(run.warehouse.read(OrderFact))
        tasks = pairs_to_measure(pool, {(fact.first, fact.second) for fact in facts}, clashes(facts))
        run.progress.begin(REPLAY, len(tasks))
        if not tasks:
            return 0
        replayer = await self._replayer(tasks)

        async def measured(task: Task) -> int:
            replayed = await self._replay(replayer, task, 2)
            facts = [fact for replay in replayed.replays for fact in facts_of(task, replay)]
            await run.recorder.record(*facts, replace=True)
            run.progress.done(REPLAY)
            return len(facts)

        counts = await together(measured(task) for task in tasks)
        run.progress.end(REPLAY)
        return sum(counts)


def replayer_of(
    place: Workplace, verified: Mapping[str, VerifiedSubtask], stage: str = REPLAY, **changed: float
) -> Replayer:
    """A replayer at a workplace for `stage`, with its settings except those `changed`."""
    return Replayer(
        environments=place.environments,
        sandbox=place.sandbox,
        applications=place.applications,
        verified=verified,
        settings=place.settings.replay.model_copy(update=changed),
        provenance=place.provenance(stage),
    )


def _cost(task: Task, verified: Mapping[str, VerifiedSubtask], orders: int) -> float:
    """Approximate number of actions to replay `task`, including opening its applications; in this many
    `orders` if the order may matter."""
    nodes = task.graph.nodes
    actions = sum(len(verified[node.subtask_id].trajectories[0].steps) for node in nodes)
    opened = len({node.application for node in nodes})
    return (actions + opened * _ACTIONS_TO_OPEN) * (orders if repeats_application(task) else 1)


@dataclass(slots=True)
class Covering:
    """Replays that show whether components can be performed, as many at a time as there are environments."""

    perform: Callable[[Task, int], Awaitable[ReplayedTask]]
    """Replays a task in up to this many orders and records the results."""
    settings: ReplaySettings
    concurrency: int
    """Concurrent replays."""
    actions: float | None = None
    """Number of actions after which no further replay starts; None for no limit."""
    spent: float = 0.0
    """Actions of the replays so far, by their `cost`."""
    cost: Callable[[Task], float] = lambda task: len(task.graph.nodes)
    """Number of actions that a replay of a task costs."""
    shows: Callable[[Task], Collection[str]] = lambda task: task.components
    """The components that replays of a task cover, if all its orders work: its own and parts of them."""
    covered: set[str] = field(default_factory=set)
    """Components that were performed successfully, also by earlier runs."""
    failed: dict[str, ReplayedTask] = field(default_factory=dict)
    """Components that failed in every task tried, with the last replay."""
    unfit: dict[str, ReplayedTask] = field(default_factory=dict)
    """Tasks that failed, by id."""
    bad_orders: dict[tuple[str, ...], set[tuple[str, ...]]] = field(default_factory=dict)
    """By components, prefixes of failed orders: the subtasks performed, up to the failing one."""

    async def cover(self, tasks: Sequence[Task]) -> None:
        """Replay tasks until every component of `tasks` is covered or has failed, or the actions are used up.

        If the actions suffice for all of them, the longest come first, because they also cover parts; else
        those that cover the most per action. If a long one that was to cover parts fails, the parts are
        replayed on their own.
        """
        slots = asyncio.Semaphore(self.concurrency)

        async def replay(task: Task) -> None:
            async with slots:
                await self._try(task, tasks)

        while True:
            possible = [task for task in tasks if self.failure(task) is None]
            chosen = tasks_to_replay(possible, self.covered, cost=self.cost, shows=self.shows)
            if self.actions is not None and sum(map(self.cost, chosen)) > self.actions - self.spent:
                chosen = tasks_to_replay(
                    possible, self.covered, limited=True, cost=self.cost, shows=self.shows
                )
            await together(replay(task) for task in chosen)
            if not chosen or self._is_exhausted():
                return

    async def _try(self, task: Task, tasks: Sequence[Task]) -> None:
        """Replay `task` unless it is covered; if it fails, another one for each component not yet covered."""
        if self.covered.issuperset(task.components) or self._is_exhausted() or await self._succeeds(task):
            return
        for key in set(task.components) - self.covered:
            last, other = task, another_with(key, tasks, task)
            if other is not None:
                if self._is_exhausted():
                    continue
                if await self._succeeds(other):
                    continue
                last = other
            self.failed[key] = self.unfit[last.task_id]

    def _is_exhausted(self) -> bool:
        return self.actions is not None and self.spent >= self.actions

    async def _succeeds(self, task: Task) -> bool:
        if task.task_id in self.unfit:
            return False
        self.spent += self.cost(task)
        replayed = await self.perform(task, self.settings.orders if repeats_application(task) else 1)
        failed_prefixes = {failed_prefix(task, replay) for replay in replayed.replays} - {()}
        self.bad_orders.setdefault(task.components, set()).update(failed_prefixes)
        if replayed.rejection is None:
            shown = (item.components for item in replayed.replays if item.success)
            self.covered.update(task.components, *shown)
            return True
        self.unfit[task.task_id] = replayed
        return False

    def failure(self, task: Task) -> ReplayedTask | None:
        """The replay that shows that `task` cannot be performed; None if there is none."""
        failed_replay = self.unfit.get(task.task_id)
        if failed_replay is not None:
            return failed_replay
        return next(
            (self.failed[key] for key in task.components if key in self.failed and key not in self.covered),
            None,
        )

    def without_bad_orders(self, task: Task) -> Task:
        """The task without orders that failed with the same components, unless none would be left."""
        return without_prefixes(task, self.bad_orders.get(task.components, ())) or task

    def covers(self, task: Task) -> bool:
        """Whether every component of `task` was performed successfully."""
        return self.covered.issuperset(task.components) and bool(task.components)

    def marked(self, task: Task) -> Task:
        """The task with what is known about its components."""
        return task.model_copy(update={"covered": self.covers(task)})
