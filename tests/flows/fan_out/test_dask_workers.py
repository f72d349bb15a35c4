"""Worker processes of Dask make the same dataset as this process alone, and may be killed while
they do."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from taskloom.flows.settings import Settings, load_settings
from taskloom.warehouse.store import Warehouse
from tests.flows.test_interruptions import calls_in
from tests.shared_work import made_once

pytest.importorskip("distributed", reason="the extra dask is not installed")
psutil: Any = pytest.importorskip("psutil")  # which it brings
pytestmark = pytest.mark.slow

KILLS = 10
CALLS_PER_KILL = 3
"""Of all calls so far: calls that come at once must not use up the build before the last kill."""
CALLS = "SELECT stage, item_id, role, attempt FROM model_calls"
"""An item may have several calls of one attempt, such as votes."""
QUERIES = (
    "SELECT subtask_id, available_parameters, inputs, outputs FROM subtasks",
    "SELECT function_id, subtask_id, accepted FROM evaluation_functions",
    "SELECT trajectory_id, termination, step_count, attempt FROM trajectories",
    "SELECT task_id, status, instruction, successful_orders FROM tasks",
    "SELECT task_id, reason, message FROM rejections JOIN tasks ON task_id = item_id",
    "SELECT item_id, reason, message FROM rejections",
    "SELECT task_id, performed_order, success FROM replays",
    CALLS,
)


def settings(data: Path, *more: str) -> Settings:
    return load_settings(
        assignments=[
            "platform=simulated",
            "composition.count=6",
            "intents.wanted=2",
            "replay_share=1",
            *more,
        ],
        data=data,
        applications=("simulated_notes",),
    )


def fanned_out(data: Path) -> Settings:
    return settings(data, "fan_out.runner=dask", "fan_out.workers=2", "environments=2")


async def build(chosen: Settings) -> str:
    from taskloom.flows.build_dataset import build_dataset

    summary = await build_dataset(settings=chosen)
    assert summary.version, summary.describe()
    return summary.version


def contents(data: Path) -> dict[str, Counter[str]]:
    return stored_in(str(data / "warehouse"))


def stored_in(place: str) -> dict[str, Counter[str]]:
    """The rows of a dataset, without what differs from run to run."""
    with Warehouse(place, read_only=True) as store:
        (run,) = (str(row[0]) for row in store.query("SELECT run_id FROM runs").rows())
        return {
            sql: Counter(str(row).replace(run, "the run") for row in store.query(sql).rows())
            for sql in QUERIES
        }


def own_workers() -> list[Any]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("spawn_main" in part for part in child.cmdline()):
                found.append(child)
    return found


def stored_alone(factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """The rows of the dataset that one process makes alone, built once for all tests."""

    def make(data: Path) -> None:
        asyncio.run(build(settings(data)))

    return contents(made_once(factory, "built-alone", make))


def test_workers_killed_again_and_again_cost_nothing_but_time(
    prefect_home: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    killed: list[int] = []

    async def kill() -> None:
        drawn = random.Random(4)
        while len(killed) < KILLS:
            due = (len(killed) + 1) * CALLS_PER_KILL
            while calls_in(tmp_path / "ledger.sqlite") < due:
                await asyncio.sleep(0.05)
            while not (present := [worker for worker in own_workers() if worker.pid not in killed]):
                await asyncio.sleep(0.05)
            victim = drawn.choice(present)
            victim.kill()
            killed.append(victim.pid)

    async def both() -> None:
        killing = asyncio.create_task(kill())
        await build(fanned_out(tmp_path))
        killing.cancel()

    asyncio.run(both())
    assert len(killed) == KILLS
    assert contents(tmp_path) == stored_alone(tmp_path_factory)
    assert not list(tmp_path.rglob("*-journal"))
    assert own_workers() == [], "none is left behind"
    stored = contents(tmp_path)
    assert all(count == 1 for query in QUERIES if query != CALLS for count in stored[query].values())
