"""The only Prefect task wrappers. Steps are coarse (an application, a batch); model calls flow inside them.

Steps take names and numbers and return counts: Prefect looks into arguments and results, and records stay out of that.
"""

from __future__ import annotations

import prefect
from prefect.cache_policies import NO_CACHE

from flows.running.current import current
from flows.running.together import together


@prefect.task(task_run_name="explore {application}", cache_policy=NO_CACHE)
async def explore(application: str) -> int:
    """Explore one application; the number of proposals still to be verified."""
    work = current()
    return await work.growth.explore(work.run.applications[application])


@prefect.task(task_run_name="verify {application}", cache_policy=NO_CACHE)
async def verify(application: str) -> int:
    """Cross-verify the proposals of one application; how many of its subtasks are verified now."""
    return await current().growth.verify(application)


@prefect.task(cache_policy=NO_CACHE)
async def extract_intents() -> int:
    """Find goals in the pool; how many there are now."""
    return await current().making.extract()


@prefect.task(cache_policy=NO_CACHE)
async def compose() -> int:
    """Compose tasks; the number of batches."""
    return await current().making.compose()


@prefect.task(task_run_name="validate batch {batch}", cache_policy=NO_CACHE)
async def validate(batch: int) -> int:
    """Write and judge the instructions of one batch; how many tasks passed."""
    return await current().making.validate(batch)


@prefect.task(task_run_name="replay batch {batch}", cache_policy=NO_CACHE)
async def replay(batch: int) -> int:
    """Replay the chosen tasks of one batch; how many worked."""
    return await current().making.replay(batch)


@prefect.task(cache_policy=NO_CACHE)
async def publish() -> str:
    """Publish a dataset version; its name."""
    return await current().making.publish()


@prefect.task(cache_policy=NO_CACHE)
async def evaluate() -> int:
    """Let the agent attempt its tasks, as many at a time as there are environments; how many it completed."""
    evaluation = current().evaluation
    assert evaluation is not None
    await together(evaluation.attempt(task) for task in evaluation.tasks)
    return sum(outcome.success for _, outcome in evaluation.outcomes)
