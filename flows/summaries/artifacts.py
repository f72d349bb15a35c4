"""Results of a run in Prefect: artifacts, which the UI shows with the run, and the event of a gate that does
not hold, on which automations act."""

from __future__ import annotations

from collections.abc import Sequence

import prefect
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.events import emit_event

from taskloom.flows.summaries.summary import RunSummary
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
