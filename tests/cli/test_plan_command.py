"""`taskloom plan`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taskloom.resources.applications import ResourceDeclaration
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.store import Warehouse
from tests.conftest import Run


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    def subtask(number: int) -> Subtask:
        path = ResourceDeclaration(category="text_path", parameter="text_path")
        made = ResourceDeclaration(category="text_path", parameter="made")
        return Subtask(
            subtask_id=f"app.step{number}",
            application=f"application {number}",
            application_category=f"category {number % 3}",
            instruction_template="Turn {text_path} into {made}." if number else "Write {made}.",
            available_parameters=tuple(
                {"text_path": f"{letter}{number}", "made": f"{letter}{number + 1}"} for letter in "xy"
            ),
            inputs=(path,) if number else (),
            outputs=(made,),
        )

    path = tmp_path / "pool.jsonl"
    path.write_text("\n".join(subtask(number).model_dump_json() for number in range(4)) + "\n")
    return path


def test_plan_says_how_many_the_pool_can_supply(run: Run, pool: object) -> None:
    wish = ("plan", "--pool", pool, "--want", "hierarchy=easy|medium", "--count", 5)
    code, out, _ = run(*wish, "--near-duplicates")
    assert code == 0
    assert "can be supplied   5 or more" in out
    code, out, _ = run(*wish)
    assert code == 1
    assert "no near-duplicates" in out
    assert "not counted     what a build adds: links" in out


def test_plan_takes_ranges_of_values_beside_levels(run: Run, pool: Path) -> None:
    wish = "hierarchy=2..3,instruction=3,branch=easy"
    code, out, _ = run("plan", "--pool", pool, "--want", wish, "--count", 2, "--json")
    assert code == 0
    assert {cell.split("/")[1] for cell in json.loads(out)["per_cell"]} == {"medium"}
    code, out, _ = run("plan", "--pool", pool, "--want", "hierarchy=3,instruction=2", "--count", 2)
    assert code == 1
    assert "no graph has instruction 2, hierarchy 3" in out
    out = run("plan", "--pool", pool, "--want", "instruction=10..")[1]
    assert "needs maximum_size 10, and it is 6; change it" in out


def test_plan_counts_on_verified_subtasks_of_the_warehouse_only(run: Run, pool: Path, tmp_path: Path) -> None:
    subtasks = [Subtask.model_validate_json(line) for line in pool.read_text().splitlines()]
    functions = [
        EvaluationFunction(function_id=f"f{n}", subtask_id=item.subtask_id, source="", accepted=n != 3)
        for n, item in enumerate(subtasks)
    ]
    place = tmp_path / "warehouse"
    with Warehouse(place) as warehouse:
        warehouse.write(subtasks)
    wish = ("plan", "--warehouse", place, "--want", "hierarchy=4", "--count", 1)
    code, out, _ = run(*wish)
    assert (code, "4 subtasks, none verified" in out) == (0, True)
    with Warehouse(place) as warehouse:
        warehouse.write(functions)
    code, out, _ = run(*wish)
    assert (code, "3 verified subtasks" in out) == (1, True)


def test_plan_names_the_bottleneck_and_the_nearest_cell(run: Run, pool: Path) -> None:
    code, out, _ = run("plan", "--pool", pool, "--want", "hierarchy=hard", "--json")
    account = json.loads(out)
    (shortfall,) = account["shortfalls"]
    assert code == 1
    assert shortfall["kind"] == "impossible_for_pool"
    assert shortfall["bottleneck"] == "text_path"
    assert "maximum_ends 2; raise these" in shortfall["reason"]
    assert shortfall["nearest"][3] == "medium"
    described = run("plan", "--pool", pool, "--want", "hierarchy=hard")[1]
    assert "explore next    text_path" in described


def test_plan_takes_a_capability_and_a_table(run: Run, pool: Path, tmp_path: Path) -> None:
    code, out, _ = run("plan", "--pool", pool, "--capability", "long_range_planning", "--count", 3)
    assert code == 1
    assert "missing           3 of long_range_planning" in out
    table = tmp_path / "cells.csv"
    table.write_text("hierarchy,count\neasy,2\nmedium,1\n")
    code, out, _ = run("plan", "--pool", pool, "--cells", table)
    assert code == 0
    assert "can be supplied   3 or more" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--want", "depth=hard"), "'depth=hard' is not a level; write one of dependency"),
        (("--want", "branch=huge"), "'branch=huge' is not a level"),
        (("--want", "hierarchy=easy,hierarchy=hard"), "hierarchy occurs twice, as easy and hard"),
        (("--want", "hierarchy=5..,hierarchy=hard"), "hierarchy occurs twice"),
        (("--want", "hierarchy="), "'hierarchy=' is not a level"),
        (("--want", "hierarchy"), "'hierarchy' is not a level"),
        (("--want", ""), "'' is not a level"),
        (("--want", "hierarchy=hard,"), "'' is not a level"),
        (("--want", "hierarchy=.."), "'hierarchy=..' is not a level"),
        (("--want", "hierarchy=2..31"), "the range 2..31 of hierarchy is none"),
        (("--want", "branch=4..3"), "the range 4..3 of branch is none"),
        (("--capability", "flying"), "there is no capability 'flying'; known: parallel_planning"),
        (("--capability", "parallel_planning", "--preset", "odd"), "no preset 'odd'"),
        (("--capability", "parallel_planning", "--want", "branch=hard"), "give one of"),
    ],
)
def test_plan_refuses_what_it_does_not_know(run: Run, pool: Path, arguments: list[str], message: str) -> None:
    code, _, err = run("plan", "--pool", pool, *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("hierarchy\nhard\n", "has no column count"),
        ("hierarchy,count\nhard,2,3\n", "cells.csv:2: 3 cells; the first line names 2 columns"),
        ("hierarchy,count\n\nhard\n", "cells.csv:3: 1 cells; the first line names 2 columns"),
        ("hierarchy,Hierarchy,count\nhard,easy,1\n", "the column hierarchy occurs twice"),
        ("", "has no rows"),
        ("hierarchy,count\nhard,none\n", "cells.csv:2: count is 'none'"),
        ("hierarchy,count\nhuge,1\n", "cells.csv:2: 'hierarchy=huge' is not a level"),
        ("depth,count\nhard,1\n", "unknown column 'depth'"),
        ("hierarchy,count\n", "has no rows"),
    ],
)
def test_plan_names_the_line_of_a_bad_table(
    run: Run, pool: Path, tmp_path: Path, table: str, message: str
) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(table)
    code, _, err = run("plan", "--pool", pool, "--cells", path)
    assert code == 2
    assert message in err


def test_plan_names_the_line_and_field_of_a_bad_pool(run: Run, pool: Path) -> None:
    pool.write_text(pool.read_text() + '{"subtask_id": "x"}\n')
    code, _, err = run("plan", "--pool", pool)
    assert code == 2
    assert "pool.jsonl:5: application: Field required" in err


def test_no_dependencies_at_all_can_be_wanted(run: Run, pool: Path) -> None:
    account = json.loads(
        run(
            "plan",
            "--pool",
            pool,
            "--want",
            "dependency=0,instruction=2",
            "--maximum-components",
            2,
            "--count",
            1,
            "--json",
        )[1]
    )
    assert account["composed"] == 1
    assert all(cell.startswith("easy/") for cell in account["per_cell"])
    out = run("plan", "--pool", pool, "--want", "hierarchy=0")[1]
    assert "no graph has hierarchy 0" in out


def test_the_nearest_cell_is_named_for_ranges_and_for_what_no_graph_has(run: Run, pool: Path) -> None:
    for wish in (
        "hierarchy=5..",
        "instruction=easy,hierarchy=hard",
        "branch=hard,hierarchy=hard,instruction=9..12",
    ):
        (shortfall,) = json.loads(run("plan", "--pool", pool, "--want", wish, "--json")[1])["shortfalls"]
        assert shortfall["nearest"] is not None


def test_a_small_pool_is_counted_exactly(run: Run, pool: Path) -> None:
    """Two chains of four: every beginning of two subtasks or more, and with two components every pair of
    beginnings."""
    assert json.loads(run("plan", "--pool", pool, "--near-duplicates", "--json")[1])["composed"] == 2 * 3
    assert json.loads(run("plan", "--pool", pool, "--json")[1])["near_duplicates"] == 2
    account = json.loads(
        run(
            "plan",
            "--pool",
            pool,
            "--maximum-components",
            2,
            "--near-duplicates",
            "--json",
            "--set",
            "composition.maximum_size=8",
        )[1]
    )
    assert account["composed"] == 5 * 5 - 3
    assert account["shortfalls"][0]["bottleneck"] == "text_path"


def test_the_plan_is_for_what_the_settings_ask_for(run: Run, pool: Path, tmp_path: Path) -> None:
    file = tmp_path / "wish.yaml"
    file.write_text(
        "composition: {count: 3, maximum_size: 2}\napplications: [application 0, application 1]\n"
    )
    account = json.loads(run("plan", "--pool", pool, "--settings", file, "--near-duplicates", "--json")[1])
    assert (account["wanted"], account["composed"]) == (3, 2)
    code, out, _ = run("plan", "--pool", pool, "--settings", file, "--set", "applications=[]", "--count", 1)
    assert code == 0
    assert "4 subtasks" in out and "can be supplied   1 or more" in out


def test_quotas_of_the_settings_are_planned_for_unless_others_are_given(run: Run, pool: Path) -> None:
    quotas = 'composition.level_quotas={"hierarchy": {"easy": 1, "medium": 1}}'
    wish = ("plan", "--pool", pool, "--near-duplicates", "--set", quotas, "--json")
    account = json.loads(run(*wish)[1])
    assert (account["wanted"], account["composed"]) == (2, 2)
    account = json.loads(run(*wish, "--want", "hierarchy=medium", "--count", 1)[1])
    assert {cell.split("/")[3] for cell in account["per_cell"]} == {"medium"}


def test_a_plan_reads_the_warehouse_of_its_data_folder(run: Run, pool: Path, tmp_path: Path) -> None:
    with Warehouse(tmp_path / "other" / "warehouse") as warehouse:
        warehouse.write([Subtask.model_validate_json(line) for line in pool.read_text().splitlines()])
    assert "4 subtasks, none verified" in run("plan", "--data", tmp_path / "other", "--count", 1)[1]


def test_limits_that_exclude_each_other_are_refused(run: Run, pool: Path) -> None:
    code, _, err = run("plan", "--pool", pool, "--maximum-size", 1)
    assert code == 2
    assert "minimum_size 2 is above maximum_size 1" in err


def test_columns_may_be_written_with_spaces_and_capitals(run: Run, pool: Path, tmp_path: Path) -> None:
    table = tmp_path / "cells.csv"
    table.write_text(" Hierarchy , Count \n easy , 1 \n\n")
    assert run("plan", "--pool", pool, "--cells", table)[0] == 0


def test_values_that_flow_are_counted_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    made = ResourceDeclaration(category="text_path", parameter="path")

    def subtask(name: str, path: str, **sides: Any) -> Subtask:
        return Subtask(
            subtask_id=f"app.{name}",
            application="app",
            application_category="Office",
            instruction_template=f"{name} {{path}}.",
            available_parameters=({"path": path},),
            **sides,
        )

    subtasks = [
        subtask("Write", "a.txt", outputs=(made,), fresh=("path",)),
        subtask("Read", "b.txt", inputs=(made,)),
    ]
    path = tmp_path / "apart.jsonl"
    path.write_text("\n".join(item.model_dump_json() for item in subtasks))
    wish = ("plan", "--pool", path, "--want", "hierarchy=2", "--count", 1)
    assert run(*wish)[0] == 1
