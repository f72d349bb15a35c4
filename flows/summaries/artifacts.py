"""Results of a run in Prefect's UI, its progress, which is brought up to date as runs of workers have no
terminal, and the event of a gate that does not hold, on which automations act."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import prefect
from prefect.artifacts import acreate_markdown_artifact, create_markdown_artifact, create_table_artifact
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.context import FlowRunContext
from prefect.events import emit_event

from taskloom.flows.running.progress import StageProgress
from taskloom.flows.summaries.summary import RunSummary
from taskloom.flows.wiring import Run
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.resources.errors import ExitCode
from taskloom.resources.record import Record


async def publish_artifacts(summary: RunSummary) -> None:
    """Put the summary of a run into Prefect's UI; a failed gate becomes an event."""
    text = f"```\n{summary.describe().strip()}\n```"
    await _published(create_markdown_artifact(key="summary", markdown=text))
    if summary.exit_code == ExitCode.GATE_FAILED:
        emit_gate_failure(summary)


def emit_gate_failure(summary: RunSummary) -> None:
    """Send the event `taskloom.gate-failed`, with what kept a version from being published."""
    resource = {"prefect.resource.id": f"taskloom.run.{summary.run_id}", "taskloom.flow": summary.flow}
    emit_event("taskloom.gate-failed", resource, payload={"message": summary.not_published})


async def publish_table(description: str, key: str, rows: Sequence[Record]) -> None:
    """Put a table into Prefect's UI."""
    table = [row.model_dump(mode="json") for row in rows]
    await _published(create_table_artifact(key=key, table=table, description=description))


async def _published(creation: object) -> None:
    """Create an artifact; if the server does not accept it, the run logs this and continues."""
    try:
        await creation  # type: ignore[misc]
    except Exception as error:
        prefect.get_run_logger().warning("an artifact could not be stored: %s", error)


_LOG = logging.getLogger(__name__)
_SECONDS = 30.0


@asynccontextmanager
async def progress_shown(run: Run) -> AsyncIterator[None]:
    """While the block runs, keep the artifact `progress` up to date, as far as the server accepts it."""
    if FlowRunContext.get() is None:
        yield
        return
    artifact: object = None

    async def show() -> None:
        nonlocal artifact
        text = describe_progress(run.progress.stages, run.recorder.rejections, run.calls.counters)
        try:
            if artifact is None:
                artifact = await acreate_markdown_artifact(key="progress", markdown=text)
                return
            async with prefect.get_client() as client:
                await client.update_artifact(artifact, ArtifactUpdate(data=text))  # type: ignore[arg-type]
        except Exception as error:
            _LOG.warning("the progress could not be shown: %s", error)

    async def keep_shown() -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            await show()

    showing = asyncio.create_task(keep_shown())
    try:
        yield
    finally:
        showing.cancel()
    await show()


def describe_progress(
    stages: Mapping[str, StageProgress], rejections: Mapping[tuple[str, str], int], calls: CallCounters
) -> str:
    """Stages with their rates, rejections by reason, and model calls, as Markdown."""
    total = calls.total
    lines = ["| stage | progress |", "|--|--|"]
    lines += [f"| {name} | {stage.describe()} |" for name, stage in list(stages.items())]
    if rejections:
        lines += ["", "| rejected in | reason | items |", "|--|--|--:|"]
        lines += [
            f"| {stage} | {reason} | {count} |" for (stage, reason), count in sorted(rejections.items())
        ]
    lines += ["", "| model calls | |", "|--|--:|", f"| made | {total.calls_made} |"]
    lines += [f"| from the ledger | {total.from_ledger} |", f"| failed tries | {total.retries} |"]
    lines += [f"| waiting | {calls.waiting} |", f"| in flight | {calls.in_flight} |"]
    lines += [f"| spent | ${total.cost_usd:.2f} |"]
    lines += [f"| {name} pauses | {reason} |" for name, reason in list(calls.pauses.items())]
    return "\n".join(lines)
