"""Exploration alone: proposals go into the warehouse and wait there to be verified."""

from __future__ import annotations

from pathlib import Path

import prefect

from flows import steps
from flows.running.current import timed, working_for
from flows.running.together import together
from flows.running.waiting import stop_while_waiting
from flows.settings import Settings, load_settings
from flows.stages.growing import EXPLORATION
from flows.summaries.summary import RunSummary, publish_artifacts, summarise
from flows.wiring import open_run


@prefect.flow(name="explore_applications", validate_parameters=False)
async def explore_applications(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Explore applications and keep well-formed proposals; see `build_dataset` for the arguments."""
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    async with open_run(chosen, "explore_applications", quiet=quiet) as run:
        with working_for(run) as work:
            with timed(run, EXPLORATION):
                await together(steps.explore(name) for name in run.applications)
            run.progress.end(EXPLORATION)
            stop_while_waiting(run, work.growth.waiting)
            summary = await summarise(work)
            await publish_artifacts(summary)
    return summary
