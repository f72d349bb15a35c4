"""Runs coroutines concurrently; the first failure cancels the others and is raised as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(coroutines: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """The results of `coroutines`, in order; if one fails, the others are cancelled.

    Raises:
        Exception: the first failure, unwrapped from any exception group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from failures
    return [job.result() for job in jobs]


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is not itself a group."""
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
