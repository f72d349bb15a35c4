"""Covering: every component is performed once, failures are tried in a second task, and the time is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

from flows.settings import load_settings
from flows.stages.covering import Covering
from synthesis.replay.replay import ReplayedTask, ReplaySettings
from taskgraph.records.task import Rejection, Task
from tests.synthesis.test_components import _chain, _graph, _node, _task
from warehouse.store import Warehouse


class Performer:
    """Replays that work unless the task is named."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.performed: list[tuple[str, int]] = []

    async def __call__(self, task: Task, orders: int) -> ReplayedTask:
        self.performed.append((task.task_id, orders))
        rejection = None
        if task.task_id in self.failing:
            rejection = Rejection(
                item_kind="task", item_id=task.task_id, stage="replay", reason="not_executable", message="no"
            )
        return ReplayedTask(task, (), (), rejection)


OFFICE = _task("office", _chain("x"))
BAKERY = _task("bakery", _chain("y", "bakery-1"), "bakery-1")
PAIR = _task("pair", _graph([_node("c.one", "x"), _node("d.two", "x")], (0, 1)))
TASKS = [OFFICE, BAKERY, PAIR]


def _covering(performer: Performer, **settings: float) -> Covering:
    return Covering(performer, ReplaySettings.model_validate(settings), side_by_side=2)


async def test_each_component_is_performed_once_and_covers_all_its_tasks() -> None:
    performer = Performer()
    covering = _covering(performer)
    await covering.cover(TASKS)
    assert sorted(performer.performed) == [("bakery", 2), ("pair", 1)]
    assert all(covering.marked(task).covered and covering.failure(task) is None for task in TASKS)


async def test_what_is_covered_already_costs_nothing() -> None:
    performer = Performer()
    covering = _covering(performer)
    covering.covered |= {*OFFICE.components, *PAIR.components}
    await covering.cover(TASKS)
    assert performer.performed == []


async def test_a_failure_is_tried_again_in_another_task() -> None:
    covering = _covering(Performer("bakery"))
    await covering.cover(TASKS)
    assert covering.failure(BAKERY) is not None
    assert covering.failure(OFFICE) is None and covering.marked(OFFICE).covered


async def test_a_component_that_fails_twice_takes_all_its_tasks_with_it() -> None:
    third = _task("third", _chain("z", "club-1"), "club-1")
    covering = _covering(Performer("bakery", "office", "third"))
    await covering.cover([*TASKS, third])
    assert all(covering.failure(task) is not None for task in (OFFICE, BAKERY, third))
    assert covering.failure(PAIR) is None


async def test_when_the_time_is_up_the_rest_is_not_covered() -> None:
    performer = Performer()
    covering = _covering(performer, minutes=1e-9)
    await covering.cover(TASKS)
    assert performer.performed == [] and covering.left_out == 2
    assert not any(covering.marked(task).covered or covering.failure(task) for task in TASKS)


def test_only_covered_tasks_are_kept_on_request_and_a_later_run_makes_the_others(
    prefect_home: Path, tmp_path: Path
) -> None:
    from flows.build_dataset import build_dataset

    def tasks_after(minutes: float) -> int:
        chosen = load_settings(
            assignments=[
                "platform=simulated",
                "composition.count=6",
                "intents.wanted=2",
                "replay_share=0",
                "replay.covered_only=true",
                f"replay.minutes={minutes}",
            ],
            data=tmp_path / "data",
            applications=("simulated_notes",),
        )
        asyncio.run(build_dataset(settings=chosen))
        with Warehouse(chosen.warehouse_location, read_only=True) as store:
            rows = list(store.query("SELECT message FROM rejections WHERE reason = 'not_covered'").rows())
            assert all("wait for the replay of this component" in str(row[0]) for row in rows) and rows
            return len(list(store.read(Task)))

    assert tasks_after(1e-9) == 0
    assert tasks_after(0) > 0
