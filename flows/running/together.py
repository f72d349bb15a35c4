"""Doing several things at once, where the first failure stops the others and is raised as itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable


async def together(coroutines: Iterable[Coroutine[object, object, object]]) -> None:
    """Wait for all `coroutines`; when one fails, cancel the others and raise what it raised.

    Raises:
        Exception: the first failure, taken out of any exception group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from failures


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is no group itself."""
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
