"""The run that the steps of this process work for.

Prefect looks into the arguments of its tasks; a run holds browsers and databases, so steps find it here instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

from flows.stages.agent_evaluation import AgentEvaluation
from flows.stages.growing import PoolGrowth
from flows.stages.making import TaskMaking
from flows.wiring import Run


@dataclass(slots=True)
class Work:
    """What steps share."""

    run: Run
    """The run."""
    growth: PoolGrowth
    """Explores and verifies."""
    making: TaskMaking
    """Composes, validates and replays."""
    evaluation: AgentEvaluation | None = None
    """Lets an agent attempt tasks, in a run that does."""


_current: ContextVar[Work] = ContextVar("current_work")


@contextmanager
def working_for(run: Run) -> Iterator[Work]:
    """Make `run` the current one."""
    growth = PoolGrowth.of(run)
    token = _current.set(Work(run, growth, TaskMaking(run, growth.verified)))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


def current() -> Work:
    """The current work.

    Raises:
        LookupError: a step was called outside a flow of taskloom.
    """
    return _current.get()


@contextmanager
def timed(run: Run, stage: str) -> Iterator[None]:
    """Add the wall time of the block to the run's time of `stage`."""
    started = monotonic()
    try:
        yield
    finally:
        run.stage_seconds[stage] = run.stage_seconds.get(stage, 0.0) + monotonic() - started
