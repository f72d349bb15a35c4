"""Orderly termination of a command on Ctrl-C or SIGTERM, and of a flow run that Prefect cancels.

Prefect's own SIGTERM handler raises wherever the program happens to be, and a library that turns that into an
error of its own makes the run fail. In a flow started by Prefect's runner, the signal cancels the flow's task
instead, and when the flow has ended, for whatever reason, the server is asked whether the run was being
cancelled."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

_CANCELLED_MESSAGE = "cancelled; finished work is kept, and the next run with the same settings continues"
_on_termination: ContextVar[Callable[..., None] | None] = ContextVar("on_termination", default=None)


@contextmanager
def interruptible(kept: str) -> Iterator[None]:
    """Turn an interruption (Ctrl-C) or termination request (SIGTERM) into one line that says what was `kept`.

    Raises:
        CommandError: the work inside was interrupted or asked to terminate.
    """
    asked_to_end = False

    def end(*_: object) -> None:
        nonlocal asked_to_end
        asked_to_end = True
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # asyncio then ends its tasks cleanly
        else:
            raise KeyboardInterrupt  # a program that a script started in the background ignores that signal

    token = _on_termination.set(end)
    try:
        with orderly_termination():
            yield
    except BaseException as error:
        if _is_termination(error) or (asked_to_end and isinstance(error, KeyboardInterrupt)):
            raise CommandError(f"terminated; {kept}", ExitCode.TERMINATED) from None
        if isinstance(error, KeyboardInterrupt):
            raise CommandError(f"interrupted; {kept}", ExitCode.INTERRUPTED) from None
        raise
    finally:
        _on_termination.reset(token)


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Make SIGTERM end the tasks of a command cleanly, even if Prefect has since installed its handler,
    which raises wherever the program happens to be; flows that Prefect's runner starts keep that handler."""
    handler = _on_termination.get()
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def _is_termination(error: BaseException) -> bool:
    """Whether `error` is Prefect's report of the signal, which it handles around a flow."""
    if isinstance(error, BaseExceptionGroup):
        return any(_is_termination(part) for part in error.exceptions)
    exceptions = sys.modules.get("prefect.exceptions")
    return exceptions is not None and isinstance(error, exceptions.TerminationSignal)


@asynccontextmanager
async def cancellable() -> AsyncIterator[None]:
    """Make SIGTERM end a flow started by Prefect's runner cleanly, and a cancelled run as cancelled.

    Raises:
        Abort: the run was cancelled, and the server knows it.
        CancelledError: the process was asked to end, but the run was not cancelled.
    """
    import asyncio  # not at the top: every command imports this module

    is_main = threading.current_thread() is threading.main_thread()
    if "PREFECT__FLOW_RUN_ID" not in os.environ or not is_main:
        yield
        return
    requested = False
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def end(*_: object) -> None:
        nonlocal requested
        if not requested:
            requested = True
            loop.call_soon_threadsafe(task.cancel)

    previous_handler = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except BaseException as error:
        if not requested:
            raise
        while task.uncancel():
            pass
        await _end_as_cancelled()
        if isinstance(error, asyncio.CancelledError):
            raise
        raise asyncio.CancelledError("terminated") from error
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


async def _end_as_cancelled() -> None:
    """If this run was cancelled, report that to the server; later reports do not change its state."""
    from prefect import get_client
    from prefect.client.schemas.objects import State
    from prefect.context import FlowRunContext
    from prefect.exceptions import Abort
    from prefect.states import Cancelled

    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    run_id = context.flow_run.id
    async with get_client() as client:
        state = (await client.read_flow_run(run_id)).state
        if state is None or not (state.is_cancelling() or state.is_cancelled()):
            return
        cancelled: State[object] = Cancelled(message=_CANCELLED_MESSAGE)
        await client.set_flow_run_state(run_id, cancelled, force=True)
    abort = Abort(_CANCELLED_MESSAGE)
    abort.state = cancelled  # type: ignore[attr-defined]
    raise abort
