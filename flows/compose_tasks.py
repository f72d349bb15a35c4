"""Composition alone: tasks from the verified subtasks of the warehouse, validated, replayed and published."""

from __future__ import annotations

import prefect

from taskloom.flows.build_dataset import make_tasks
from taskloom.flows.errors import CommandError
from taskloom.flows.hosting.contexts import begin
from taskloom.flows.pool.known_pool import load_verified
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.summaries.artifacts import publish_artifacts
from taskloom.flows.summaries.summary import RunSummary, summarise
from taskloom.resources.errors import ExitCode


@prefect.flow(name="compose_tasks", validate_parameters=False)
async def compose_tasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Make tasks from the pool; see `build_dataset` for the arguments.

    Raises:
        CommandError: the warehouse holds no verified subtask.
    """
    chosen = settings_of(settings, settings_file)
    async with begin(chosen, "compose_tasks", quiet=quiet) as work:
        known = load_verified(work.run.warehouse, work.run.applications)
        if not known:
            raise CommandError(
                f"the warehouse {chosen.warehouse_location} holds no verified subtask of an installed"
                " application; run: taskloom verify",
                ExitCode.NEGATIVE_ANSWER,
            )
        work.making.verified.update(known)
        version = await make_tasks(work, tuple(known))
        summary = await summarise(work.run, known, version)
        await publish_artifacts(summary)
    return summary
