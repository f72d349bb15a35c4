"""Begins and ends the watching of a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from taskloom.flows.running.together import first_failure
from taskloom.flows.setting_groups.watching_settings import WatchingSettings
from taskloom.flows.watching.alerts import Alerts, alert_address
from taskloom.flows.watching.progress_artifact import progress_shown
from taskloom.flows.watching.run_logs import RUN_LOG, logged
from taskloom.flows.wiring import Run
from taskloom.model_clients.errors import BudgetExhaustedError
from taskloom.taskgraph.records.task import Rejection

_LOOK_SECONDS = 1.0


def check_watching(settings: WatchingSettings) -> None:
    """Check that what is wanted can be had; sends nothing.

    Raises:
        CommandError: the address of alerts is missing.
    """
    alert_address(settings)


@asynccontextmanager
async def watched(run: Run) -> AsyncIterator[None]:
    """While the block runs, tell what the run's settings want told.

    Raises:
        CommandError: the address of alerts is missing.
    """
    settings = run.settings.watching
    check_watching(settings)
    alerts = Alerts.of(settings, run.run_id, run.record.flow)
    async with AsyncExitStack() as resources:
        resources.enter_context(logged(settings.logs, run.run_id))
        looking = asyncio.create_task(_look(run, alerts)) if alerts.wanted or settings.logs != "off" else None
        await resources.enter_async_context(progress_shown(run, settings.progress_seconds))
        RUN_LOG.info("run begins", extra={"fields": {"flow": run.record.flow}})
        try:
            yield
            await _tell_of_gates(run, alerts)
            RUN_LOG.info("run completed", extra={"fields": dict(run.stage_seconds)})
        except Exception as error:
            cause = first_failure(error) if isinstance(error, BaseExceptionGroup) else error
            reached = isinstance(cause, BudgetExhaustedError)
            await alerts.tell(
                "budget-reached" if reached else "run-failed", f"{type(cause).__name__}: {cause}"
            )
            raise
        finally:
            if looking is not None:
                looking.cancel()


async def _look(run: Run, alerts: Alerts) -> None:
    """Notice what only the counters show: providers that pause, stages that end."""
    ended: set[str] = set()
    while True:
        for name, reason in list(run.calls.counters.pauses.items()):
            await alerts.tell("provider-paused", f"{name} pauses: {reason}", name)
        for name, stage in list(run.progress.stages.items()):
            if stage.finished and name not in ended:
                ended.add(name)
                fields = {
                    "stage": name,
                    "done": stage.done,
                    "rejected": stage.rejected,
                    "seconds": round(stage.seconds, 1),
                }
                RUN_LOG.info("stage ended", extra={"fields": fields})
        await asyncio.sleep(_LOOK_SECONDS)


async def _tell_of_gates(run: Run, alerts: Alerts) -> None:
    if not alerts.wanted:
        return
    await run.recorder.flush()
    condition = "item_kind = 'dataset_version' AND run_id = ?"
    for item in run.warehouse.read(Rejection, condition, [run.run_id], order_by="reason"):
        await alerts.tell("gate-failed", f"no version was published: {item.message}", item.reason)
