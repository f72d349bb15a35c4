"""Replay of every distinct component before the tasks that have it go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from time import monotonic

from taskloom.flows.running.together import together
from taskloom.synthesis.replay.components import another_with, repeats_application, tasks_to_replay
from taskloom.synthesis.replay.order_facts import failed_prefix, without_prefixes
from taskloom.synthesis.replay.replay import ReplayedTask, ReplaySettings
from taskloom.taskgraph.records.task import Task

Perform = Callable[[Task, int], Awaitable[ReplayedTask]]
"""Replays a task in up to so many orders and keeps what came of it."""


@dataclass(slots=True)
class Covering:
    """The replays that show that components can be performed, as many side by side as there are
    environments."""

    perform: Perform
    """Replays a task."""
    settings: ReplaySettings
    """How many orders."""
    side_by_side: int
    """Replays at a time."""
    seconds: float | None = None
    """After how many seconds no further replay is begun; None: as long as it takes."""
    cost: Callable[[Task], float] = lambda task: len(task.graph.nodes)
    """What a replay of a task costs, in any unit."""
    shows: Callable[[Task], Collection[str]] = lambda task: task.components
    """The components that a replay of a task shows, if it works: its own and parts of them."""
    covered: set[str] = field(default_factory=set)
    """Components that were performed with success, by earlier runs too."""
    failed: dict[str, ReplayedTask] = field(default_factory=dict)
    """Components that failed in every task tried, with the last replay."""
    unfit: dict[str, ReplayedTask] = field(default_factory=dict)
    """Tasks that failed themselves, by id."""
    left_out: int = 0
    """Replays that were not begun because the time was up."""
    bad_orders: dict[tuple[str, ...], set[tuple[str, ...]]] = field(default_factory=dict)
    """By components, how orders begin that failed: the subtasks performed, up to the one that did not
    succeed."""

    async def cover(self, tasks: Sequence[Task]) -> None:
        """Replay tasks until every component of `tasks` is covered or has failed, or the time is up.

        Where a long one fails that was to cover parts, those are replayed by themselves.
        """
        ends = None if self.seconds is None else monotonic() + self.seconds
        room = asyncio.Semaphore(self.side_by_side)

        async def one(task: Task) -> None:
            async with room:
                await self._try(task, tasks, ends)

        while True:
            possible = [task for task in tasks if self.failure(task) is None]
            chosen = tasks_to_replay(
                possible, self.covered, limited=ends is not None, cost=self.cost, shows=self.shows
            )
            await together(one(task) for task in chosen)
            if not chosen or self._is_late(ends):
                return

    async def _try(self, task: Task, tasks: Sequence[Task], ends: float | None) -> None:
        """Replay `task` unless others have covered it; if it fails, one other task for each component that is
        not covered yet."""
        if self.covered.issuperset(task.components):
            return
        if self._is_late(ends):
            self.left_out += 1
            return
        if await self._works(task):
            return
        for key in set(task.components) - self.covered:
            last, other = task, another_with(key, tasks, task)
            if other is not None:
                if self._is_late(ends):
                    continue
                if await self._works(other):
                    continue
                last = other
            self.failed[key] = self.unfit[last.task_id]

    def _is_late(self, ends: float | None) -> bool:
        return ends is not None and monotonic() >= ends

    async def _works(self, task: Task) -> bool:
        if task.task_id in self.unfit:
            return False
        done = await self.perform(task, self.settings.orders if repeats_application(task) else 1)
        bad = {failed_prefix(task, replay) for replay in done.replays} - {()}
        self.bad_orders.setdefault(task.components, set()).update(bad)
        if done.rejection is None:
            self.covered.update(task.components, self.shows(task))
            return True
        self.unfit[task.task_id] = done
        return False

    def failure(self, task: Task) -> ReplayedTask | None:
        """The replay that shows that `task` cannot be performed; None if nothing speaks against it."""
        own = self.unfit.get(task.task_id)
        if own is not None:
            return own
        return next(
            (self.failed[key] for key in task.components if key in self.failed and key not in self.covered),
            None,
        )

    def without_bad_orders(self, task: Task) -> Task:
        """The task without orders that failed in a task with the same components, unless none would be
        left."""
        return without_prefixes(task, self.bad_orders.get(task.components, ())) or task

    def covers(self, task: Task) -> bool:
        """Whether every component of `task` was performed with success."""
        return self.covered.issuperset(task.components) and bool(task.components)

    def marked(self, task: Task) -> Task:
        """The task with what is known about its components."""
        return task.model_copy(update={"covered": self.covers(task)})
