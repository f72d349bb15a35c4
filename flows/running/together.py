"""Doing several things at once, where the first failure stops the others and is raised as itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(coroutines: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """What all `coroutines` return, in their order; when one fails, the others are cancelled and what it raised is raised.

    Raises:
        Exception: the first failure, taken out of any exception group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from failures
    return [job.result() for job in jobs]


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is no group itself."""
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
