"""The critic in a run: some validated tasks are scored, and rejected if it thinks too little of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from taskloom.flows.running.together import together
from taskloom.flows.stages.results import lot
from taskloom.flows.wiring import Run
from taskloom.model_clients.errors import CallFailedError
from taskloom.synthesis.criticism import STAGE, criticise_task, doubt_about_tasks, rejection_by
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.task_quality import critic_scores


async def criticise(run: Run, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Have the critic, if a model plays it, score its share of `tasks`; those that are not rejected."""
    settings = run.settings.critic
    chosen = [task for task in tasks if lot(f"critic {task.task_id}") < settings.share]
    if run.settings.is_offline(ModelRole.CRITIC) or not chosen:
        return tuple(tasks)
    rejected = set(await together(_rejected(run, task) for task in chosen))
    return tuple(task for task in tasks if task.task_id not in rejected)


async def doubt_of_critic(run: Run) -> str:
    """Why the scores of this run's tasks forbid publication; empty if they do not."""
    if not run.settings.critic.minimum_mean:
        return ""
    await run.recorder.flush()
    report = await asyncio.to_thread(critic_scores, run.warehouse, run.run_id)
    return doubt_about_tasks(report, run.settings.critic)


async def _rejected(run: Run, task: Task) -> str:
    """The id of the task if it is rejected; empty if it is kept, or could not be scored."""
    model = run.settings.models.role(ModelRole.CRITIC).model
    try:
        criticism = await criticise_task(
            task,
            {name: application.title for name, application in run.applications.items()},
            models=run.models,
            critic=f"{model.provider}/{model.model}",
            provenance=run.provenance(STAGE),
        )
    except CallFailedError:
        return ""
    await run.recorder.record(criticism, replace=True)
    rejection = rejection_by(criticism, run.settings.critic)
    if rejection is None:
        return ""
    await run.recorder.record(rejection)
    await run.recorder.record(task.model_copy(update={"status": "rejected"}), replace=True)
    return task.task_id
