"""Sets of an export over a warehouse: held out, allowed to share, reported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError, SelectionInvalidError
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.sets.drawing import draw_tasks
from taskloom.warehouse.sets.key_table import SPLITS
from taskloom.warehouse.sets.selection import CellQuota, Selection, SetRequest
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import complexity, node, subtask

_SHARES = SetRequest(shares={"train": 0.8, "validation": 0.1, "test": 0.1})


def _task(number: int, application: str, value: str) -> Task:
    item = node(subtask(f"{application}.{number % 60}", application), value)
    return Task(
        task_id=f"task-{number:04}",
        status="validated",
        graph=TaskGraph(nodes=(item,), edges=()),
        scenario="Office Work" if number % 7 else "Travel",
        intent=f"Goal {number % 60}",
        instruction=f"Number {number}: make the file called {value} for desk {number} of floor {number * 7}.",
        complexity=complexity(1, 0, 1, 1, branch_level="hard" if number % 5 == 0 else "easy"),
    )


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, empty_template: Path) -> Iterator[Warehouse]:
    """300 tasks of three applications: five tasks share each template and intent, every task has its own
    value."""
    place = tmp_path_factory.mktemp("sets") / "warehouse"
    shutil.copytree(empty_template, place)
    with Warehouse(place) as writer:
        writer.write(
            [_task(number, ("notes", "sheets", "mail")[number % 3], f"{number}.csv") for number in range(300)]
        )
    with Warehouse(place, read_only=True) as opened:
        yield opened


def test_sets_have_their_shares_of_the_whole_and_of_every_level(pool: Warehouse) -> None:
    drawn = draw_tasks(pool, Selection(), _SHARES)

    assert drawn.report is not None and not drawn.shortfalls and not drawn.left_out
    assert all(abs(drawn.report.given[name] - _SHARES.shares[name]) <= 0.02 for name in SPLITS)
    hard = {str(row[0]) for row in pool.query("SELECT task_id FROM tasks WHERE branch_level = 'hard'").rows()}
    assert 2 <= len(hard & set(drawn.splits["test"])) <= 10


def test_held_out_applications_make_the_test_set(pool: Warehouse) -> None:
    request = SetRequest(shares={"train": 0.9, "validation": 0.1}, held_out=("application=mail",))

    drawn = draw_tasks(pool, Selection(), request)

    assert len(drawn.splits["test"]) == 100
    assert abs(len(drawn.splits["validation"]) - 20) <= 5
    assert {int(name[-4:]) % 3 for name in drawn.splits["test"]} == {2}
    assert not {int(name[-4:]) % 3 for name in drawn.splits["train"]} & {2}


def test_what_shares_something_with_the_held_out_is_left_out_unless_allowed(pool: Warehouse) -> None:
    held = ("scenario=Travel",)

    strict = draw_tasks(
        pool, Selection(), SetRequest(shares={"train": 1.0}, held_out=held, may_share=("template",))
    )
    free = draw_tasks(
        pool, Selection(), SetRequest(shares={"train": 1.0}, held_out=held, may_share=("template", "intent"))
    )

    assert strict.left_out and all("test (intent " in reason for reason in strict.left_out.values())
    assert not free.left_out and len(free.splits["train"]) == 257
    assert free.report is not None and free.report.may_share == ("template", "intent")


def test_an_unknown_application_to_hold_out_names_the_known_ones(pool: Warehouse) -> None:
    request = SetRequest(shares={"train": 1.0}, held_out=("application=excel",))

    with pytest.raises(SelectionInvalidError, match="mail, notes, sheets"):
        draw_tasks(pool, Selection(), request)


def test_a_knot_is_a_shortfall_with_advice_and_left_out_tasks_are_named(
    tmp_path: Path, empty_template: Path
) -> None:
    shutil.copytree(empty_template, tmp_path / "warehouse")
    tasks = [_task(number, "notes", f"{number % 3}.csv") for number in range(60)]
    with Warehouse(tmp_path / "warehouse") as opened:
        opened.write(tasks)
        with pytest.raises(ExportRefusedError, match="--leak"):
            export(opened, "omnibench", tmp_path / "none", sets=_SHARES)
        manifest = export(
            opened,
            "omnibench",
            tmp_path / "out",
            sets=SetRequest(shares={"train": 0.34, "validation": 0.33, "test": 0.33}, may_share=("intent",)),
        )
        free = draw_tasks(opened, Selection(), SetRequest(shares=_SHARES.shares, may_share=("value",)))

    assert manifest.leakage is not None
    sets = json.loads((tmp_path / "out" / "sets.json").read_text())
    assert sorted(name for names in sets.values() for name in names) == sorted(task.task_id for task in tasks)
    assert not free.left_out and not free.shortfalls


def test_left_out_tasks_are_listed_with_the_reason(tmp_path: Path, empty_template: Path) -> None:
    shutil.copytree(empty_template, tmp_path / "warehouse")
    tasks = [
        _task(number, "notes", f"{number // 2 % 9}.csv").model_copy(
            update={"intent": f"Goal {number % 11}", "instruction": f"Alone {number}"}
        )
        for number in range(120)
    ]
    with Warehouse(tmp_path / "warehouse") as opened:
        opened.write(tasks)
        manifest = export(
            opened,
            "omnibench",
            tmp_path / "out",
            sets=SetRequest(shares={"train": 0.6, "test": 0.4}, may_share=("template",)),
        )

    lines = [json.loads(line) for line in (tmp_path / "out" / "left_out.jsonl").read_text().splitlines()]
    report = manifest.leakage
    assert report is not None and report.left_out == len(lines) > 0
    assert sum(report.left_out_reasons.values()) == len(lines)
    assert all(line["reason"].startswith("would connect ") for line in lines)
    assert any("--leak value" in sentence for sentence in report.advice)
    assert manifest.shortfalls or all(
        report.given[name] >= share - 0.03 for name, share in report.asked.items()
    )


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (
            Selection(levels={"branch": "medium"}),
            "nearest cells with tasks: branch=easy (240); branch=hard (60)",
        ),
        (Selection(where="branch_level = 'medium'"), "nearest cells with tasks: branch=easy (240)"),
        (Selection(capability="long_range_planning"), "nearest cells with tasks: dependency=easy,hierarchy="),
        (Selection(cells=(CellQuota(levels={"branch": "medium"}, size=3),)), "branch=easy (240)"),
        (Selection(applications=("mail",), where="depth > 4"), "Without --where 100 would"),
        (Selection(where="depth = 1 AND width = 9"), "300 meet depth = 1, 0 meet width = 9"),
    ],
)
def test_where_no_task_meets_a_selection_the_nearest_are_named(
    pool: Warehouse, selection: Selection, said: str
) -> None:
    with pytest.raises(ExportRefusedError) as refused:
        draw_tasks(pool, selection)

    assert said in str(refused.value)


def test_a_cell_without_tasks_names_the_nearest_ones(pool: Warehouse) -> None:
    cells = (CellQuota(levels={"branch": "medium"}, size=3), CellQuota(levels={"branch": "hard"}, size=1))

    drawn = draw_tasks(pool, Selection(cells=cells))

    assert len(drawn.task_ids) == 1
    assert drawn.shortfalls[0].nearest == "branch=easy (240); branch=hard (60)"
