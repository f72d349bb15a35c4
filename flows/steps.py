"""The flows' steps: the only Prefect task wrappers.

A step is coarse (an application, a batch); it takes the id of its run and plain records, and returns such
records. What it finished before a retry is in the ledger and the warehouse and is not repeated, so Prefect
stores only the result of publishing: a flow run that it retries does not publish again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypedDict, TypeVar, cast

import prefect
from prefect.cache_policies import NO_CACHE, RUN_ID
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import FlowRunContext
from prefect.utilities.annotations import opaque

from taskloom.flows.hosting import work_of
from taskloom.flows.nights.choices import request_for_run
from taskloom.flows.running.together import first_failure
from taskloom.flows.stages.agent_evaluation import evaluate_tasks
from taskloom.flows.stages.agents import agent_model
from taskloom.flows.stages.drift import DriftCheck, has_changed_the_pool, retire_tasks
from taskloom.flows.stages.results import ExploredApplication, ValidatedBatch
from taskloom.omnieval.experiments import AgentOrder, PlannedAttempt
from taskloom.resources.errors import TaskloomError
from taskloom.taskgraph.records.task import Intent, Task


def may_succeed_on_retry(_task: prefect.Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Whether another try of a failed step may succeed."""
    error = state.data
    if isinstance(error, BaseExceptionGroup):
        error = first_failure(error)
    return isinstance(error, TaskloomError) and error.transient


class _Retries(TypedDict):
    retries: int
    retry_delay_seconds: list[float]
    retry_jitter_factor: float
    retry_condition_fn: Callable[[prefect.Task[..., Any], TaskRun, State[Any]], bool]


RETRIES: Final[_Retries] = {
    "retries": 3,
    "retry_delay_seconds": [2.0, 10.0, 30.0],
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": may_succeed_on_retry,
}
"""Retry options of a step; a busy warehouse is usually free again within seconds."""


T = TypeVar("T")


def as_opaque(value: T) -> T:
    """`value` as an argument that Prefect, if it runs the flow, passes on unchanged; otherwise it would
    search every field of a thousand tasks for futures, and fail on records with a field called `keys`."""
    return cast(T, opaque(value)) if FlowRunContext.get() is not None else value


@prefect.task(tags=["recheck"], cache_policy=NO_CACHE, **RETRIES)
async def recheck(run_id: str) -> None:
    """Perform a share of the verified subtasks again, and retire those that no longer replay."""
    run = work_of(run_id).run
    await DriftCheck(run).recheck()
    await run.recorder.flush()


@prefect.task(tags=["recheck"], cache_policy=NO_CACHE, **RETRIES)
async def retire(run_id: str) -> None:
    """Retire tasks with subtasks that no longer count as verified."""
    await retire_tasks(work_of(run_id).run)


@prefect.task(task_run_name="explore {application}", tags=["exploration"], cache_policy=NO_CACHE, **RETRIES)
async def explore(run_id: str, application: str) -> ExploredApplication:
    """Explore one application; its proposals are stored."""
    work = work_of(run_id)
    explored = await work.growth.explore(work.run.applications[application])
    await work.run.recorder.flush()
    return explored


@prefect.task(task_run_name="verify {application}", tags=["verification"], cache_policy=NO_CACHE, **RETRIES)
async def verify(run_id: str, application: str, explored: ExploredApplication) -> tuple[str, ...]:
    """Cross-verify the proposals of one application; returns the ids of all its verified subtasks."""
    work = work_of(run_id)
    verified = await work.growth.verify(explored)
    await work.run.recorder.flush()
    return verified


@prefect.task(tags=["composition"], cache_policy=NO_CACHE, **RETRIES)
async def tasks_wanted(run_id: str) -> int:
    """Number of tasks that the run composes: at night, as many as the dataset lacks."""
    request = await asyncio.to_thread(request_for_run, work_of(run_id).run)
    return request.wanted if request else 0


@prefect.task(tags=["publishing"], cache_policy=NO_CACHE, **RETRIES)
async def pool_changed(run_id: str) -> bool:
    """Whether the run, a night, has changed the dataset even without new tasks."""
    run = work_of(run_id).run
    await run.recorder.flush()
    return await asyncio.to_thread(has_changed_the_pool, run)


@prefect.task(tags=["intents"], cache_policy=NO_CACHE, **RETRIES)
async def extract_intents(run_id: str, subtask_ids: Sequence[str]) -> tuple[Intent, ...]:
    """Find goals in the pool of these verified subtasks; goals of earlier runs come first."""
    return await work_of(run_id).making.extract(subtask_ids)


@prefect.task(tags=["composition"], cache_policy=NO_CACHE, **RETRIES)
async def compose(
    run_id: str,
    subtask_ids: Sequence[str],
    intents: Sequence[Intent],
    rejected: Collection[str] = (),
) -> list[list[Task]]:
    """Compose batches of tasks for these intents, with others replacing those `rejected` by replays."""
    return await work_of(run_id).making.compose(subtask_ids, intents, rejected)


@prefect.task(tags=["replay"], cache_policy=NO_CACHE, **RETRIES)
async def measure_pairs(run_id: str, subtask_ids: Sequence[str]) -> int:
    """Perform pairs of subtasks that may interfere, in both orders; returns the number of facts found."""
    work = work_of(run_id)
    pool = await work.making.subtasks(subtask_ids)
    instances = {name: work.making.instances(item) for name, item in pool.items()}
    measured = await work.making.replays.measure_pairs(instances)
    await work.run.recorder.flush()
    return measured


@prefect.task(tags=["replay"], cache_policy=NO_CACHE, **RETRIES)
async def cover(run_id: str, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Perform the distinct components of tasks; returns the tasks without a failure."""
    return await work_of(run_id).making.replays.cover(tasks)


@prefect.task(task_run_name="validate batch {batch}", tags=["validation"], cache_policy=NO_CACHE, **RETRIES)
async def validate(run_id: str, batch: int, tasks: Sequence[Task]) -> ValidatedBatch:
    """Write and judge the instructions of one batch."""
    return await work_of(run_id).making.validate(tasks)


@prefect.task(task_run_name="replay batch {batch}", tags=["replay"], cache_policy=NO_CACHE, **RETRIES)
async def replay(run_id: str, batch: int, tasks: Sequence[Task]) -> int:
    """Replay the tasks of one batch; returns the number of rejected ones."""
    return await work_of(run_id).making.replays.replay(tasks)


@prefect.task(tags=["publishing"], cache_policy=RUN_ID, persist_result=True, refresh_cache=False, **RETRIES)
async def publish(run_id: str) -> str:
    """Publish a dataset version; returns its name."""
    return await work_of(run_id).making.publish()


@prefect.task(
    task_run_name="evaluate {order.entry.title}", tags=["evaluation"], cache_policy=NO_CACHE, **RETRIES
)
async def evaluate(
    run_id: str,
    order: AgentOrder,
    planned: Sequence[tuple[PlannedAttempt, Task]],
    hashes: Mapping[str, str],
) -> None:
    """Let an agent make the planned attempts, as many at a time as there are environments."""
    work = work_of(run_id)
    await work.making.subtasks(node.subtask_id for _, task in planned for node in task.graph.nodes)
    async with agent_model(work.run, order):
        await evaluate_tasks(work.run, order, planned, work.making.verified, hashes)
