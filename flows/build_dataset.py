"""The whole chain: explore, verify, compose, validate, replay, publish; and its parts, each as a flow."""

from __future__ import annotations

from collections.abc import Sequence

import prefect

from taskloom.flows import steps
from taskloom.flows.errors import CommandError
from taskloom.flows.hosting import Work, begin, publish_artifacts, timed
from taskloom.flows.pool import load_verified
from taskloom.flows.running.together import together
from taskloom.flows.settings import Settings, settings_of
from taskloom.flows.stages.growing import EXPLORATION, VERIFICATION
from taskloom.flows.stages.making import BATCH, VALIDATION
from taskloom.flows.stages.replaying import REPLAY
from taskloom.flows.steps import as_opaque
from taskloom.flows.summary import RunSummary, pair_measurements, summarise
from taskloom.resources.errors import ExitCode
from taskloom.taskgraph.records.task import Intent, Task


@prefect.flow(name="build_dataset", validate_parameters=False)
async def build_dataset(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Grow the pool, make tasks from it and publish the next dataset version.

    Args:
        settings_file: settings file of a scheduled run.
        settings: settings of a run started from Python; a mapping overrides the file.
        quiet: show no progress on standard error.
    """
    async with begin(settings_of(settings, settings_file), "build_dataset", quiet=quiet) as work:
        subtask_ids = await (grow_overnight(work) if work.run.settings.nights.enabled else grow_pool(work))
        version = await make_tasks(work, subtask_ids)
        summary = await summarise(work.run, subtask_ids, version)
        await publish_artifacts(summary)
    return summary


@prefect.flow(name="explore_applications", validate_parameters=False)
async def explore_applications(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Explore applications and keep well-formed proposals; the arguments are those of `build_dataset`."""
    async with begin(settings_of(settings, settings_file), "explore_applications", quiet=quiet) as work:
        run = work.run
        with timed(run, EXPLORATION):
            explored = await together(steps.explore(run.run_id, name) for name in run.applications)
        run.progress.end(EXPLORATION)
        summary = await summarise(run, [name for item in explored for name in item.unchanged])
        await publish_artifacts(summary)
    return summary


@prefect.flow(name="verify_subtasks", validate_parameters=False)
async def verify_subtasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Verify what exploration proposes, perhaps from the ledger; the arguments are those of `build_dataset`.

    With the setting `replay.pairs`, pairs of verified subtasks that may disturb each other are performed in
    both orders as well.
    """
    async with begin(settings_of(settings, settings_file), "verify_subtasks", quiet=quiet) as work:
        verified = await grow_pool(work)
        measured = 0
        if verified and work.run.settings.replay.pairs:
            with timed(work.run, "pairs of subtasks"):
                measured = await steps.measure_pairs(work.run.run_id, as_opaque(verified))
        summary = await summarise(work.run, verified)
        if work.run.settings.replay.pairs:
            pairs = await pair_measurements(work.run, measured)
            summary = summary.model_copy(update={"pairs": pairs})
        await publish_artifacts(summary)
    return summary


@prefect.flow(name="compose_tasks", validate_parameters=False)
async def compose_tasks(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Make tasks from the pool; the arguments are those of `build_dataset`.

    Raises:
        CommandError: the warehouse holds no verified subtask.
    """
    chosen = settings_of(settings, settings_file)
    async with begin(chosen, "compose_tasks", quiet=quiet) as work:
        verified = load_verified(work.run.warehouse, work.run.applications)
        if not verified:
            raise CommandError(
                f"the warehouse {chosen.warehouse_location} holds no verified subtask of an installed"
                " application; run: taskloom verify",
                ExitCode.NEGATIVE_ANSWER,
            )
        work.making.verified.update(verified)
        version = await make_tasks(work, tuple(verified))
        summary = await summarise(work.run, verified, version)
        await publish_artifacts(summary)
    return summary


async def grow_overnight(work: Work) -> tuple[str, ...]:
    """Retire subtasks that no longer replay, grow the pool, and retire tasks that lost a subtask."""
    with timed(work.run, "rechecks"):
        await steps.recheck(work.run.run_id)
    subtask_ids = await grow_pool(work)
    await steps.retire(work.run.run_id)
    return subtask_ids


async def grow_pool(work: Work) -> tuple[str, ...]:
    """Explore all applications at once and verify their proposals; returns the ids of verified subtasks."""
    run = work.run
    unexplored = set(run.applications)

    async def explore_and_verify(name: str) -> tuple[str, ...]:
        explored = await steps.explore(run.run_id, name)
        unexplored.discard(name)
        if not unexplored:
            await work.growth.all_explored()
        return await steps.verify(run.run_id, name, as_opaque(explored))

    with timed(run, "exploration and verification"):
        grown = await together(explore_and_verify(name) for name in run.applications)
    run.progress.end(VERIFICATION)
    return tuple(name for names in grown for name in names)


async def make_tasks(work: Work, subtask_ids: Sequence[str]) -> str:
    """Find goals, compose tasks, validate and replay them in batches, publish; returns the version's name."""
    run, run_id = work.run, work.run.run_id
    if not subtask_ids or not await steps.tasks_wanted(run_id):
        return await _publish_if_changed(work, 0)
    with timed(run, "intents"):
        intents = await steps.extract_intents(run_id, as_opaque(subtask_ids))
    kept = await compose_and_cover(work, subtask_ids, intents)
    batches = [kept[start : start + BATCH] for start in range(0, len(kept), BATCH)]

    async def batch(number: int, tasks: list[Task]) -> int:
        validated = await steps.validate(run_id, number, as_opaque(tasks))
        if validated.to_replay:
            await steps.replay(run_id, number, as_opaque(validated.to_replay))
        return validated.passed

    with timed(run, "validation and replay"):
        passed = sum(await together(batch(*numbered) for numbered in enumerate(batches)))
    run.progress.end(VALIDATION)
    run.progress.end(REPLAY)
    return await _publish_if_changed(work, passed)


async def _publish_if_changed(work: Work, passed: int) -> str:
    """Publish if tasks `passed` or a night changed the pool; returns the version's name, or an empty text."""
    if not passed and not await steps.pool_changed(work.run.run_id):
        return ""
    with timed(work.run, "publishing"):
        return await steps.publish(work.run.run_id)


async def compose_and_cover(work: Work, subtask_ids: Sequence[str], intents: Sequence[Intent]) -> list[Task]:
    """Compose tasks and perform their components; replace failing tasks while actions and rounds remain."""
    run, run_id, settings = work.run, work.run.run_id, work.run.settings.replay
    kept: list[Task] = []
    composed: set[str] = set()
    rejected: set[str] = set()
    for _ in range(settings.rounds):
        with timed(run, "composition"):
            batches = await steps.compose(
                run_id, as_opaque(subtask_ids), as_opaque(intents), as_opaque(rejected)
            )
        tasks = [task for batch in batches for task in batch if task.task_id not in composed]
        composed |= {task.task_id for task in tasks}
        with timed(run, "replay of components"):
            performable = await steps.cover(run_id, as_opaque(tasks))
        kept += performable
        failing = {task.task_id for task in tasks} - {task.task_id for task in performable}
        rejected |= failing
        if not failing or not work.making.replays.may_go_on:
            break
    return kept
