"""Exploration alone: stores proposals in the warehouse for later verification."""

from __future__ import annotations

import prefect

from taskloom.flows import steps
from taskloom.flows.hosting.contexts import begin, timed
from taskloom.flows.running.together import together
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.stages.growing import EXPLORATION
from taskloom.flows.summaries.artifacts import publish_artifacts
from taskloom.flows.summaries.summary import RunSummary, summarise


@prefect.flow(name="explore_applications", validate_parameters=False)
async def explore_applications(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Explore applications and keep well-formed proposals; see `build_dataset` for the arguments."""
    async with begin(settings_of(settings, settings_file), "explore_applications", quiet=quiet) as work:
        run = work.run
        with timed(run, EXPLORATION):
            explored = await together(steps.explore(work.run.run_id, name) for name in run.applications)
        run.progress.end(EXPLORATION)
        summary = await summarise(run, [name for item in explored for name in item.unchanged])
        await publish_artifacts(summary)
    return summary
