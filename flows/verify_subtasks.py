"""Verification alone: proposals that exploration makes or made are verified; no task is composed."""

from __future__ import annotations

import prefect

from taskloom.flows import steps
from taskloom.flows.build_dataset import grow_pool
from taskloom.flows.hosting.contexts import begin, timed
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.steps import whole
from taskloom.flows.summaries.artifacts import publish_artifacts
from taskloom.flows.summaries.summary import RunSummary, pairs_measured, summarise


@prefect.flow(name="verify_subtasks", validate_parameters=False)
async def verify_subtasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Verify what exploration, perhaps in the ledger, proposes; see `build_dataset` for the arguments.

    With the setting `replay.pairs`, pairs of verified subtasks that may disturb each other are performed in
    both orders as well.
    """
    async with begin(settings_of(settings, settings_file), "verify_subtasks", quiet=quiet) as work:
        verified = await grow_pool(work)
        measured = 0
        if verified and work.run.settings.replay.pairs:
            with timed(work.run, "pairs of subtasks"):
                measured = await steps.measure_pairs(work.run.run_id, whole(verified))
        summary = await summarise(work.run, verified)
        if work.run.settings.replay.pairs:
            pairs = await pairs_measured(work.run, measured)
            summary = summary.model_copy(update={"pairs": pairs})
        await publish_artifacts(summary)
    return summary
