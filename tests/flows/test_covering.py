"""Covering: every component is performed once, failures are tried in a second task, and the time is kept."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from taskloom.flows.running.core_seconds import CoreSeconds
from taskloom.flows.running.recording import Recorder
from taskloom.flows.settings import load_settings
from taskloom.flows.stages.replaying import Covering, TaskReplays
from taskloom.synthesis.replay.components import shown_keys
from taskloom.synthesis.replay.replay import ReplayedTask, ReplaySettings
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.task import Rejection, Replay, ReplayedSubtask, Task
from taskloom.warehouse.store import Warehouse
from tests.synthesis.test_components import _chain, _graph, _node, _task


class Performer:
    """Replays that work unless the task is named."""

    def __init__(self, *failing: str, replays: tuple[Replay, ...] = ()) -> None:
        self.failing = failing
        self.replays = replays
        self.performed: list[tuple[str, int]] = []

    async def __call__(self, task: Task, orders: int) -> ReplayedTask:
        self.performed.append((task.task_id, orders))
        rejection = None
        if task.task_id in self.failing:
            rejection = Rejection(
                item_kind="task", item_id=task.task_id, stage="replay", reason="not_executable", message="no"
            )
        return ReplayedTask(task, self.replays, (), rejection)


OFFICE = _task("office", _chain("x"))
BAKERY = _task("bakery", _chain("y", "bakery-1"), "bakery-1")
PAIR = _task("pair", _graph([_node("c.one", "x"), _node("d.two", "x")], (0, 1)))
TASKS = [OFFICE, BAKERY, PAIR]
SHOWN = Replay(
    replay_id="office(0)",
    task_id="office",
    order=tuple(node.instance_id for node in OFFICE.graph.nodes),
    success=True,
    components=tuple(shown_keys(OFFICE.graph, {})),
)


def _covering(performer: Performer, actions: float | None = None) -> Covering:
    return Covering(performer, ReplaySettings(), concurrency=2, actions=actions)


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


async def test_parts_that_no_replay_of_a_long_task_shows_are_performed_by_themselves() -> None:
    tail = _task("tail", _graph(list(_chain("x").nodes[:2]), (0, 1)))
    for failing, replays, performed in (
        ((), (SHOWN,), ["office"]),
        ((), (), ["office", "tail"]),
        (("office",), (), ["office", "tail"]),
    ):
        performer = Performer(*failing, replays=replays)
        covering = _covering(performer)
        covering.shows = lambda task: shown_keys(task.graph, {})
        await covering.cover([OFFICE, tail])
        assert [name for name, _ in performer.performed] == performed
        assert covering.marked(tail).covered and covering.failure(tail) is None


@pytest.mark.parametrize(
    ("actions", "performed"), [(None, ["office"]), (len(OFFICE.graph.nodes), ["office"]), (2, ["tail-0"])]
)
async def test_long_tasks_that_show_parts_come_first_if_the_actions_suffice(
    actions: int | None, performed: list[str]
) -> None:
    tails = [
        _task(f"tail-{number}", _graph(list(_chain("x").nodes[:2]), (0, 1)), "office") for number in range(3)
    ]
    performer = Performer(replays=(SHOWN,))
    covering = _covering(performer, actions)
    covering.shows = lambda task: shown_keys(task.graph, {})
    await covering.cover([OFFICE, *tails])
    assert [name for name, _ in performer.performed] == performed


@pytest.mark.parametrize(("actions", "performed"), [(1, 1), (2, 1), (3, 2)])
async def test_when_the_actions_are_used_up_the_rest_is_not_covered(actions: int, performed: int) -> None:
    performer = Performer()
    covering = _covering(performer, actions)
    covering.cost = lambda _: 2
    await covering.cover(TASKS)
    assert len(performer.performed) == performed and covering.spent == 2 * performed
    assert (
        len({key for task in TASKS if covering.marked(task).covered for key in task.components}) == performed
    )
    assert not any(covering.failure(task) for task in TASKS)


def _with_orders(task: Task) -> Task:
    names = tuple(node.instance_id for node in task.graph.nodes)
    orders = (names, names[::-1])
    return task.model_copy(update={"successful_orders": orders, "successful_order_count": 2})


async def test_an_order_that_failed_is_taken_out_of_all_tasks_with_the_component() -> None:
    first, second = (
        _with_orders(_task(world, _graph([_node("a.open", world), _node("a.read", world)]), world))
        for world in ("bakery-1", "club-1")
    )
    failed = Replay(
        replay_id="first(1)",
        task_id="first",
        order=first.successful_orders[1],
        success=False,
        subtasks=tuple(
            ReplayedSubtask(instance_id=name, success=good, first_step=1, last_step=1)
            for name, good in zip(first.successful_orders[1], (True, False), strict=True)
        ),
    )
    covering = _covering(Performer(replays=(failed,)))
    await covering.cover([first, second])
    for task in (first, second):
        fit = covering.without_bad_orders(task)
        assert fit.successful_orders == (task.successful_orders[0],) and fit.successful_order_count == 1
    only_bad = first.model_copy(update={"successful_orders": first.successful_orders[1:]})
    assert covering.without_bad_orders(only_bad) is only_bad
    assert covering.without_bad_orders(PAIR) is PAIR


@asynccontextmanager
async def run_with(
    performer: Performer, folder: Path, monkeypatch: pytest.MonkeyPatch, settings: ReplaySettings
) -> AsyncIterator[Any]:
    """A run whose replays are those of `performer`."""

    async def performed(_: object, replayer: object, task: Task, orders: int) -> ReplayedTask:
        return await performer(task, orders)

    async def replayer(_: object, tasks: object) -> object:
        performed_once = SimpleNamespace(trajectories=[SimpleNamespace(steps=(1, 2, 3))])
        return SimpleNamespace(verified=defaultdict(lambda: performed_once), shows=lambda _: ())

    monkeypatch.setattr(TaskReplays, "_perform", performed)
    monkeypatch.setattr(TaskReplays, "_replayer", replayer)
    with Warehouse(folder / "warehouse") as warehouse:
        recorder = Recorder(warehouse, interval_seconds=3600)
        yield SimpleNamespace(
            settings=SimpleNamespace(replay=settings),
            recorder=recorder,
            warehouse=warehouse,
            concurrency=2,
            progress=SimpleNamespace(begin=lambda *_: None),
            provenance=lambda _: Provenance(),
        )
        await recorder.close()


async def test_a_task_whose_component_fails_is_recorded_as_rejected_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_with(Performer("pair"), tmp_path, monkeypatch, ReplaySettings()) as run:
        kept = await TaskReplays(run, lambda _: None).cover([OFFICE, PAIR])  # type: ignore[arg-type, return-value]
        await run.recorder.flush()

        assert [task.task_id for task in kept] == ["office"]
        assert [(item.item_id, item.reason) for item in run.warehouse.read(Rejection)] == [
            ("pair", "not_executable")
        ]
        assert [(task.task_id, task.status) for task in run.warehouse.read(Task)] == [("pair", "rejected")]


async def test_the_actions_are_those_of_the_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows.stages.making import TaskMaking

    performer = Performer()
    async with run_with(performer, tmp_path, monkeypatch, ReplaySettings(actions=1)) as run:
        making = TaskMaking(run, {})
        for _ in range(2):
            await making.replays.cover([OFFICE, PAIR])
    assert len(performer.performed) == 1 and not making.replays.may_go_on


async def test_what_replays_reject_is_composed_anew_while_rounds_and_actions_are_left(
    prefect_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from taskloom.flows import steps
    from taskloom.flows.build_dataset import compose_and_cover

    def composed_tasks(
        settings: ReplaySettings, cannot_be_done: set[str], may_go_on: bool = True
    ) -> Awaitable[list[Task]]:
        """What is kept of a pool that has one spare task after another for those that are rejected."""

        async def compose(
            reference: object, names: object, intents: object, rejected: Any
        ) -> list[list[Task]]:
            numbers = [number for number in range(9) if f"task {number}" not in rejected]
            return [[_task(f"task {number}", _chain(str(number)))] for number in numbers[:3]]

        async def cover(reference: object, tasks: Any) -> tuple[Task, ...]:
            performed.append([task.task_id for task in tasks])
            return tuple(task for task in tasks if task.task_id not in cannot_be_done)

        monkeypatch.setattr(steps, "compose", compose)
        monkeypatch.setattr(steps, "cover", cover)
        run = SimpleNamespace(
            run_id="r",
            settings=SimpleNamespace(replay=settings),
            stage_seconds={},
            core_seconds={},
            spent=CoreSeconds(),
        )
        performed.clear()
        making = SimpleNamespace(replays=SimpleNamespace(may_go_on=may_go_on))
        work = SimpleNamespace(run=run, making=making)
        return compose_and_cover(work, (), ())  # type: ignore[arg-type]

    performed: list[list[str]] = []
    kept = await composed_tasks(ReplaySettings(), {"task 1", "task 3"})
    assert [task.task_id for task in kept] == ["task 0", "task 2", "task 4"]
    assert performed == [["task 0", "task 1", "task 2"], ["task 3"], ["task 4"]]
    kept = await composed_tasks(ReplaySettings(rounds=2), {"task 1", "task 3"})
    assert [task.task_id for task in kept] == ["task 0", "task 2"]
    kept = await composed_tasks(ReplaySettings(), {"task 1"}, may_go_on=False)
    assert [task.task_id for task in kept] == ["task 0", "task 2"] and len(performed) == 1


@pytest.mark.slow
def test_only_covered_tasks_are_kept_on_request_and_a_later_run_goes_on_with_the_others(
    prefect_home: Path, tmp_path: Path
) -> None:
    from taskloom.flows.build_dataset import build_dataset

    def tasks_after(actions: int) -> dict[str, str]:
        chosen = load_settings(
            assignments=[
                "platform=simulated",
                "composition.count=6",
                "intents.wanted=2",
                "replay_share=0",
                "replay.covered_only=true",
                f"replay.actions={actions}",
            ],
            data=tmp_path / "data",
            applications=("simulated_notes",),
        )
        asyncio.run(build_dataset(settings=chosen))
        with Warehouse(chosen.warehouse_location, read_only=True) as store:
            rows = list(store.query("SELECT message FROM rejections WHERE reason = 'not_covered'").rows())
            assert all("wait for the replay of this component" in str(row[0]) for row in rows) and rows
            return {task.task_id: task.status for task in store.read(Task)}

    first = Counter((then := tasks_after(1)).values())
    assert first["validated"] and first["composed"] == 6 - first["validated"]
    now = tasks_after(0)
    assert Counter(now.values()) == {"validated": 6 + first["validated"]} and now.keys() >= then.keys()
