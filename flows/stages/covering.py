"""Replay of every distinct component before the tasks that have it go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from flows.running.together import together
from synthesis.replay.components import another_with, repeats_application, tasks_to_replay
from synthesis.replay.replay import ReplayedTask, ReplaySettings
from taskgraph.records.task import Task

Perform = Callable[[Task, int], Awaitable[ReplayedTask]]
"""Replays a task in up to so many orders and keeps what came of it."""


@dataclass(slots=True)
class Covering:
    """The replays that show that components can be performed, as many side by side as there are environments."""

    perform: Perform
    """Replays a task."""
    settings: ReplaySettings
    """How many orders, and for how long."""
    side_by_side: int
    """Replays at a time."""
    covered: set[str] = field(default_factory=set)
    """Components that were performed with success, by earlier runs too."""
    failed: dict[str, ReplayedTask] = field(default_factory=dict)
    """Components that failed in every task tried, with the last replay."""
    unfit: dict[str, ReplayedTask] = field(default_factory=dict)
    """Tasks that failed themselves, by id."""
    left_out: int = 0
    """Replays that were not begun because the time was up."""

    async def cover(self, tasks: Sequence[Task]) -> None:
        """Replay tasks until every component of `tasks` is covered or has failed, or the time is up."""
        ends = monotonic() + self.settings.minutes * 60 if self.settings.minutes else None
        room = asyncio.Semaphore(self.side_by_side)

        async def one(task: Task) -> None:
            async with room:
                await self._try(task, tasks, ends)

        limited = ends is not None
        await together(one(task) for task in tasks_to_replay(tasks, self.covered, limited=limited))

    async def _try(self, task: Task, tasks: Sequence[Task], ends: float | None) -> None:
        """Replay `task`; if it fails, one other task for each component that is not covered yet."""
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
        if done.rejection is None:
            self.covered |= set(task.components)
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

    def covers(self, task: Task) -> bool:
        """Whether every component of `task` was performed with success."""
        return self.covered.issuperset(task.components) and bool(task.components)

    def marked(self, task: Task) -> Task:
        """The task with what is known about its components."""
        return task.model_copy(update={"covered": self.covers(task)})
