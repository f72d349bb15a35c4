"""Orderly shutdown of a command on Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

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
            signal.raise_signal(signal.SIGINT)  # which asyncio answers by ending its tasks in order
        else:
            raise KeyboardInterrupt  # a program that a script started in the background ignores that signal

    token = _on_termination.set(end)
    try:
        with termination_in_order():
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
def termination_in_order() -> Iterator[None]:
    """Make SIGTERM end the tasks of a command in order, even if Prefect has installed its handler since, that
    raises wherever the program happens to be; flows that Prefect's runner starts keep that."""
    handler = _on_termination.get()
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_termination(error: BaseException) -> bool:
    """Whether this is how Prefect reports the signal, which it handles around a flow."""
    if isinstance(error, BaseExceptionGroup):
        return any(_is_termination(part) for part in error.exceptions)
    exceptions = sys.modules.get("prefect.exceptions")
    return exceptions is not None and isinstance(error, exceptions.TerminationSignal)
