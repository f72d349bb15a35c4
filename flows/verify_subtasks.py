"""Verification alone: proposals that exploration makes (or made, in the ledger) are verified; no task is composed."""

from __future__ import annotations

import prefect

from flows.build_dataset import grow_pool
from flows.running.contexts import begin
from flows.settings import Settings, settings_of
from flows.summaries.artifacts import publish_artifacts
from flows.summaries.summary import RunSummary, summarise


@prefect.flow(name="verify_subtasks", validate_parameters=False)
async def verify_subtasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Verify what exploration proposes; see `build_dataset` for the arguments.

    Exploration replies are taken from the ledger if they are there, and verified subtasks stay verified.
    """
    async with begin(settings_of(settings, settings_file), "verify_subtasks", quiet=quiet) as work:
        summary = await summarise(work.run, await grow_pool(work))
        await publish_artifacts(summary)
    return summary
