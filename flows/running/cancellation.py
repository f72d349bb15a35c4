"""A flow run that Prefect cancels ends as cancelled, with everything finished kept.

Prefect's own handler of SIGTERM raises wherever the program happens to be, and a library that turns that into
an error of its own makes the run fail. Here the signal cancels the flow's task, and once the flow has ended,
for whatever reason, the server is asked whether the run was being cancelled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prefect import get_client
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.exceptions import Abort
from prefect.states import Cancelled

_KEPT = "cancelled; what is finished is kept, and the next run with the same settings goes on"


@asynccontextmanager
async def cancellable() -> AsyncIterator[None]:
    """Have SIGTERM end a flow that Prefect's runner has started in order, and a cancelled run as cancelled.

    Raises:
        Abort: the run was cancelled, and the server knows it.
        CancelledError: the process was asked to end, and nobody cancelled the run.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if "PREFECT__FLOW_RUN_ID" not in os.environ or not is_main:
        yield
        return
    asked = False
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def end(*_: object) -> None:
        nonlocal asked
        if not asked:
            asked = True
            loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except BaseException as error:
        if not asked:
            raise
        while task.uncancel():
            pass
        await _end_as_cancelled()
        if isinstance(error, asyncio.CancelledError):
            raise
        raise asyncio.CancelledError("terminated") from error
    finally:
        signal.signal(signal.SIGTERM, before)


async def _end_as_cancelled() -> None:
    """If somebody cancelled this run, say so to the server; nothing that is reported later changes it."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    run_id = context.flow_run.id
    async with get_client() as client:
        state = (await client.read_flow_run(run_id)).state
        if state is None or not (state.is_cancelling() or state.is_cancelled()):
            return
        cancelled: State[object] = Cancelled(message=_KEPT)
        await client.set_flow_run_state(run_id, cancelled, force=True)
    ending = Abort(_KEPT)
    ending.state = cancelled  # type: ignore[attr-defined]
    raise ending
