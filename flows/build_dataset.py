"""The whole chain: explore, verify, compose, validate, replay, publish."""

from __future__ import annotations

from pathlib import Path

import prefect

from flows import steps
from flows.running.current import Work, timed, working_for
from flows.running.together import together
from flows.running.waiting import stop_while_waiting
from flows.settings import Settings, load_settings
from flows.stages.growing import EXPLORATION, VERIFICATION
from flows.stages.making import REPLAY, VALIDATION
from flows.summaries.summary import RunSummary, publish_artifacts, summarise
from flows.wiring import open_run


@prefect.flow(name="build_dataset", validate_parameters=False)
async def build_dataset(
    settings_file: str = "", settings: Settings | None = None, quiet: bool = True
) -> RunSummary:
    """Grow the pool, make tasks from it and publish the next dataset version.

    Args:
        settings_file: settings of a scheduled run; ignored where `settings` are given.
        settings: settings of a run started from Python or the command line.
        quiet: no progress on standard error.
    """
    chosen = settings or load_settings(Path(settings_file) if settings_file else None)
    async with open_run(chosen, "build_dataset", quiet=quiet) as run:
        with working_for(run) as work:
            await grow_pool(work)
            await make_tasks(work)
            summary = await summarise(work)
            await publish_artifacts(summary)
    return summary


async def grow_pool(work: Work) -> None:
    """Explore all applications side by side; what they propose is verified as it comes.

    Raises:
        BatchPendingError: calls wait for replies from elsewhere.
    """
    run, growth = work.run, work.growth
    unexplored = set(run.applications)

    async def application(name: str) -> None:
        await steps.explore(name)
        unexplored.discard(name)
        if not unexplored:
            run.progress.end(EXPLORATION)
            await growth.pool.complete()
        await steps.verify(name)

    with timed(run, "exploration and verification"):
        await together(application(name) for name in run.applications)
    run.progress.end(VERIFICATION)
    stop_while_waiting(run, growth.waiting)


async def make_tasks(work: Work) -> None:
    """Find goals, compose tasks, validate and replay them, and publish what came of it.

    A batch is validated, and its chosen tasks replayed, while other batches are still under way.

    Raises:
        BatchPendingError: calls wait for replies from elsewhere.
    """
    run, making = work.run, work.making
    if not work.growth.verified:
        return
    with timed(run, "intents"):
        await steps.extract_intents()
    stop_while_waiting(run, making.waiting)
    with timed(run, "composition"):
        batches = await steps.compose()

    async def batch(number: int) -> None:
        await steps.validate(number)
        await steps.replay(number)

    with timed(run, "validation and replay"):
        await together(batch(number) for number in range(batches))
    run.progress.end(VALIDATION)
    run.progress.end(REPLAY)
    stop_while_waiting(run, making.waiting)
    if making.validated:
        with timed(run, "publishing"):
            await steps.publish()
