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

NEAR_DUPLICATES = ("--set", "composition.near_duplicate_share=1", "--set", "composition.pattern_share=1")


@pytest.fixture(scope="module")
def subtasks() -> list[Subtask]:
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

    return [subtask(number) for number in range(4)]


@pytest.fixture(scope="module")
def pool(subtasks: list[Subtask], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that holds them."""
    place = tmp_path_factory.mktemp("pool") / "warehouse"
    with Warehouse(place) as warehouse:
        warehouse.write(subtasks)
    return place


def test_plan_says_how_many_the_pool_can_supply(run: Run, pool: object) -> None:
    wish = ("plan", "--warehouse", pool, "--want", "hierarchy=easy|medium", "--count", 5)
    code, out, _ = run(*wish, *NEAR_DUPLICATES)
    assert code == 0
    assert "can be supplied   5 or more" in out
    code, out, _ = run(*wish)
    assert code == 1
    assert "no near-duplicates" in out
    assert "not counted     what a build adds: links" in out


def test_plan_takes_ranges_of_values_beside_levels(run: Run, pool: Path) -> None:
    wish = "hierarchy=2..3,instruction=3,branch=easy"
    code, out, _ = run("plan", "--warehouse", pool, "--want", wish, "--count", 2, "--json")
    assert code == 0
    assert {cell.split("/")[1] for cell in json.loads(out)["per_cell"]} == {"medium"}
    code, out, _ = run("plan", "--warehouse", pool, "--want", "hierarchy=3,instruction=2", "--count", 2)
    assert code == 1
    assert "no graph has instruction 2, hierarchy 3" in out
    out = run("plan", "--warehouse", pool, "--want", "instruction=10..")[1]
    assert "needs maximum_size 10, and it is 6; change it" in out


def test_plan_counts_on_verified_subtasks_of_the_warehouse_only(
    run: Run, subtasks: list[Subtask], tmp_path: Path
) -> None:
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
    code, out, _ = run("plan", "--warehouse", pool, "--want", "hierarchy=hard", "--json")
    account = json.loads(out)
    (shortfall,) = account["shortfalls"]
    assert code == 1
    assert shortfall["kind"] == "impossible_for_pool"
    assert shortfall["bottleneck"] == "text_path"
    assert "maximum_ends 2; raise these" in shortfall["reason"]
    assert shortfall["nearest"][3] == "medium"
    described = run("plan", "--warehouse", pool, "--want", "hierarchy=hard")[1]
    assert "explore next    text_path" in described


def test_plan_takes_a_capability(run: Run, pool: Path) -> None:
    code, out, _ = run("plan", "--warehouse", pool, "--capability", "long_range_planning", "--count", 3)
    assert code == 1
    assert "missing           3 of long_range_planning" in out


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
        (("--want", "hierarchy=2..31"), "the range 2..31 of hierarchy is not allowed"),
        (("--want", "branch=4..3"), "the range 4..3 of branch is not allowed"),
        (("--capability", "flying"), "there is no capability 'flying'; known: parallel_planning"),
        (("--capability", "parallel_planning", "--preset", "odd"), "no preset 'odd'"),
        (("--capability", "parallel_planning", "--want", "branch=hard"), "give one of"),
    ],
)
def test_plan_refuses_what_it_does_not_know(run: Run, pool: Path, arguments: list[str], message: str) -> None:
    code, _, err = run("plan", "--warehouse", pool, *arguments)
    assert code == 2
    assert message in err


def test_no_dependencies_at_all_can_be_wanted(run: Run, pool: Path) -> None:
    account = json.loads(
        run(
            "plan",
            "--warehouse",
            pool,
            "--want",
            "dependency=0,instruction=2",
            "--set",
            "composition.maximum_components=2",
            "--count",
            1,
            "--json",
        )[1]
    )
    assert account["composed"] == 1
    assert all(cell.startswith("easy/") for cell in account["per_cell"])
    out = run("plan", "--warehouse", pool, "--want", "hierarchy=0")[1]
    assert "no graph has hierarchy 0" in out


def test_the_nearest_cell_is_named_for_ranges_and_for_what_no_graph_has(run: Run, pool: Path) -> None:
    for wish in (
        "hierarchy=5..",
        "instruction=easy,hierarchy=hard",
        "branch=hard,hierarchy=hard,instruction=9..12",
    ):
        (shortfall,) = json.loads(run("plan", "--warehouse", pool, "--want", wish, "--json")[1])["shortfalls"]
        assert shortfall["nearest"] is not None


def test_a_small_pool_is_counted_exactly(run: Run, pool: Path) -> None:
    """Two chains of four: every beginning of two subtasks or more, and with two components every pair of
    beginnings."""
    assert json.loads(run("plan", "--warehouse", pool, *NEAR_DUPLICATES, "--json")[1])["composed"] == 2 * 3
    assert json.loads(run("plan", "--warehouse", pool, "--json")[1])["near_duplicates"] == 2
    account = json.loads(
        run(
            "plan",
            "--warehouse",
            pool,
            "--set",
            "composition.maximum_components=2",
            *NEAR_DUPLICATES,
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
    account = json.loads(run("plan", "--warehouse", pool, "--settings", file, *NEAR_DUPLICATES, "--json")[1])
    assert (account["wanted"], account["composed"]) == (3, 2)
    code, out, _ = run(
        "plan", "--warehouse", pool, "--settings", file, "--set", "applications=[]", "--count", 1
    )
    assert code == 0
    assert "4 subtasks" in out and "can be supplied   1 or more" in out


def test_quotas_of_the_settings_are_planned_for_unless_others_are_given(run: Run, pool: Path) -> None:
    quotas = 'composition.level_quotas={"hierarchy": {"easy": 1, "medium": 1}}'
    wish = ("plan", "--warehouse", pool, *NEAR_DUPLICATES, "--set", quotas, "--json")
    account = json.loads(run(*wish)[1])
    assert (account["wanted"], account["composed"]) == (2, 2)
    account = json.loads(run(*wish, "--want", "hierarchy=medium", "--count", 1)[1])
    assert {cell.split("/")[3] for cell in account["per_cell"]} == {"medium"}


def test_a_plan_reads_the_warehouse_of_its_data_folder(run: Run, pool: Path) -> None:
    assert "4 subtasks, none verified" in run("plan", "--data", pool.parent, "--count", 1)[1]


def test_limits_that_exclude_each_other_are_refused(run: Run, pool: Path) -> None:
    code, _, err = run("plan", "--warehouse", pool, "--set", "composition.maximum_size=1")
    assert code == 2
    assert "minimum_size 2 is above maximum_size 1" in err


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
    path = tmp_path / "apart"
    with Warehouse(path) as warehouse:
        warehouse.write(subtasks)
    wish = ("plan", "--warehouse", path, "--want", "hierarchy=2", "--count", 1)
    assert run(*wish)[0] == 1
