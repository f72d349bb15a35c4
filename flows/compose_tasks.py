"""Composition alone: tasks from the verified subtasks of the warehouse, validated, replayed and published."""

from __future__ import annotations

from pathlib import Path

import prefect

from flows.build_dataset import make_tasks
from flows.errors import CommandError
from flows.running.current import working_for
from flows.settings import Settings, load_settings
from flows.summaries.summary import RunSummary, publish_artifacts, summarise
from flows.wiring import open_run
from resources.errors import ExitCode


@prefect.flow(name="compose_tasks", validate_parameters=False)
async def compose_tasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Make tasks from the pool; see `build_dataset` for the arguments.

    Raises:
        CommandError: the warehouse holds no verified subtask.
    """
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    async with open_run(chosen, "compose_tasks", quiet=quiet) as run:
        with working_for(run) as work:
            work.growth.verified.update(work.growth.known)
            if not work.growth.verified:
                raise CommandError(
                    f"the warehouse {chosen.warehouse_location} holds no verified subtask of an installed application;"
                    " run: taskloom verify",
                    ExitCode.NEGATIVE_ANSWER,
                )
            await make_tasks(work)
            summary = await summarise(work)
            await publish_artifacts(summary)
    return summary
