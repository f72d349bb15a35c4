"""Verification alone: proposals that exploration makes (or made, in the ledger) are verified; no task is composed."""

from __future__ import annotations

from pathlib import Path

import prefect

from flows.build_dataset import grow_pool
from flows.running.current import working_for
from flows.settings import Settings, load_settings
from flows.summaries.summary import RunSummary, publish_artifacts, summarise
from flows.wiring import open_run


@prefect.flow(name="verify_subtasks", validate_parameters=False)
async def verify_subtasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Verify what exploration proposes; see `build_dataset` for the arguments.

    Exploration answers come from the ledger where they were given before, and what is verified stays verified.
    """
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    async with open_run(chosen, "verify_subtasks", quiet=quiet) as run:
        with working_for(run) as work:
            await grow_pool(work)
            summary = await summarise(work)
            await publish_artifacts(summary)
    return summary
