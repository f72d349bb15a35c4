"""Steps run anywhere from a reference to their run, and are tried again only when their error says that this
helps."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.flows.settings import Settings, load_settings
from taskloom.resources.errors import TaskloomError
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import QueryFailedError, WarehouseBusyError
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse


def settings(data: Path) -> Settings:
    return load_settings(
        assignments=["platform=simulated", "composition.count=6", "intents.wanted=2", "replay_share=1"],
        data=data,
        applications=("simulated_notes",),
    )


def step_elsewhere(name: str, pickled: bytes) -> bytes:
    """Call a step in this process, which knows nothing of the flow but what stands in `pickled`."""
    from taskloom.flows import steps

    arguments = [steps.whole(argument) for argument in pickle.loads(pickled)]
    return pickle.dumps(asyncio.run(getattr(steps, name)(*arguments)))


@pytest.fixture(scope="module")
def processes(prefect_home: Path) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        yield pool


@pytest.mark.slow
def test_every_step_runs_in_another_process(processes: ProcessPoolExecutor, tmp_path: Path) -> None:
    from taskloom.flows.hosting.contexts import begin

    chosen = settings(tmp_path)

    async def flow() -> tuple[int, str]:
        loop = asyncio.get_running_loop()

        async def elsewhere(name: str, *arguments: object) -> object:
            pickled = await loop.run_in_executor(processes, step_elsewhere, name, pickle.dumps(arguments))
            return pickle.loads(pickled)

        async with begin(chosen, "build_dataset") as work:
            order = work.reference
            explored = await elsewhere("explore", order, "simulated_notes")
            verified = await elsewhere("verify", order, "simulated_notes", explored)
            goals = await elsewhere("extract_intents", order, verified.subtask_ids)  # type: ignore[attr-defined]
            batch: object
            (batch,) = await elsewhere("compose", order, verified.subtask_ids, goals.intents)  # type: ignore[attr-defined, misc]
            validated = await elsewhere("validate", order, 0, batch)
            replayed = await elsewhere("replay", order, 0, validated.to_replay)  # type: ignore[attr-defined]
            version = await elsewhere("publish", order)
            assert work.run.calls.counters.total.calls_made == 0
        return replayed.worked, str(version)  # type: ignore[attr-defined]

    worked, version = asyncio.run(flow())
    assert worked > 0
    with Warehouse(tmp_path / "warehouse", version=version) as store:
        tasks = list(store.read(Task, "status = 'validated'"))
        (run,) = store.read(RunRecord)
        assert list(store.read(EvaluationFunction, "accepted"))
    assert len(tasks) == worked and all(task.instruction for task in tasks)
    assert run.status == "completed" and run.finished_at and run.stage_seconds == {}


def test_steps_of_one_process_share_what_is_open(prefect_home: Path, tmp_path: Path) -> None:
    from taskloom.flows.hosting.contexts import begin, opened

    async def flow() -> None:
        async with (
            begin(settings(tmp_path), "explore_applications") as work,
            opened(work.reference) as one,
            opened(work.reference) as two,
        ):
            assert one is two is work

    async def steps_alone(run_id: str) -> None:
        from taskloom.flows.hosting.contexts import RunReference

        reference = RunReference(run_id=run_id, settings=settings(tmp_path))
        async with opened(reference) as one, opened(reference) as two:
            assert one is two and one.joined and one.run.run_id == run_id
        async with opened(reference) as three:
            assert three is not one

    asyncio.run(flow())
    with Warehouse(tmp_path / "warehouse", read_only=True) as store:
        (run,) = store.read(RunRecord)
    asyncio.run(steps_alone(run.run_id))


def test_a_step_of_an_unknown_run_is_refused(prefect_home: Path, tmp_path: Path) -> None:
    from taskloom.flows.hosting.contexts import RunReference, opened

    async def step() -> None:
        async with opened(RunReference(run_id="none-such", settings=settings(tmp_path))):
            raise AssertionError

    with pytest.raises(TaskloomError, match="no run 'none-such'"):
        asyncio.run(step())


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (WarehouseBusyError("others write"), 3),
        (ExceptionGroup("items", [WarehouseBusyError("others write")]), 3),
        (QueryFailedError("no such column"), 1),
        (ApplicationUnavailableError("not installed"), 1),
        (ValueError("a fault"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_step_is_tried_again_only_if_that_can_help(
    prefect_home: Path, error: Exception, tries: int
) -> None:
    import prefect

    from taskloom.flows.running.retries import RETRIED

    begun = 0

    @prefect.task(**(RETRIED | {"retries": 2, "retry_delay_seconds": [0.0, 0.0]}))
    async def failing() -> None:
        nonlocal begun
        begun += 1
        raise error

    @prefect.flow
    async def flow() -> None:
        await failing()

    with pytest.raises(type(error)):
        asyncio.run(flow())
    assert begun == tries
