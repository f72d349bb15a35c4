"""A step is retried only if its error says that a retry can help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypedDict

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun

from taskloom.flows.running.together import first_failure
from taskloom.resources.errors import TaskloomError


def can_help(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Whether the failure of a step is one that another try may not meet."""
    error = state.data
    if isinstance(error, BaseExceptionGroup):
        error = first_failure(error)
    return isinstance(error, TaskloomError) and error.transient


class _Retries(TypedDict):
    retries: int
    retry_delay_seconds: list[float]
    retry_jitter_factor: float
    retry_condition_fn: Callable[[Task[..., Any], TaskRun, State[Any]], bool]


RETRIED: Final[_Retries] = {
    "retries": 3,
    "retry_delay_seconds": [2.0, 10.0, 30.0],
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": can_help,
}
"""Retry options of a step; a busy warehouse is usually free again within seconds."""
