"""Importers of published collections, on small files in the layout of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput
from taskloom.taskgraph.records.keys import read_keys
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.exporting.recordings import points_of
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.lookup import IMPORTS
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.collection_layouts import (
    ANDROID_WORLD,
    COLLECTIONS,
    CUA_GYM,
    MIND2WEB,
    WEB_ARENA,
    agent_net,
    android_world,
    cua_gym,
    cua_world,
    mind2web,
    web_arena,
)
from tests.warehouse.foreign import run_import

ELSEWHERE = {
    "crab": "test_importing.py",
    "hugging_face": "test_round_trips.py",
    "labelled_outcomes": "test_error_rates.py",
    "omnibench": "test_importing.py",
    "osworld": "test_importing.py",
    "sharegpt": "test_sharegpt_import.py",
}
"""Formats that another module tests."""


def test_every_import_has_a_collection_here_or_a_test_elsewhere() -> None:
    here = {lay_out.__name__ for lay_out in COLLECTIONS}
    assert sorted(here | ELSEWHERE.keys()) == list(IMPORTS.built_in())
    for name, module in ELSEWHERE.items():
        assert f'"{name}"' in (Path(__file__).parent / module).read_text("utf-8"), name


def records(lay_out: Callable[[Path], None], folder: Path) -> list[Record]:
    lay_out(folder)
    return read_import(lay_out.__name__, folder)


@pytest.mark.parametrize("lay_out", COLLECTIONS, ids=lambda lay_out: lay_out.__name__)
def test_a_collection_gives_its_tasks_originals_and_trajectories(
    warehouse: Warehouse, tmp_path: Path, lay_out: Callable[[Path], None]
) -> None:
    lay_out(tmp_path / "in")

    run_import(warehouse, lay_out.__name__, tmp_path / "in")

    assert (warehouse.count(Task), warehouse.count(Trajectory)) == COLLECTIONS[lay_out]
    originals = {item.item_id for item in warehouse.read(ImportedItem)}
    assert {task.task_id for task in warehouse.read(Task)} <= originals
    if COLLECTIONS[lay_out][1]:
        manifest = export(warehouse, "sharegpt", tmp_path / "training")
        assert manifest.outcome.counts["train"] >= 1


@pytest.mark.parametrize("lay_out", COLLECTIONS, ids=lambda lay_out: lay_out.__name__)
def test_a_broken_item_of_a_collection_is_refused_or_skipped(
    tmp_path: Path, lay_out: Callable[[Path], None]
) -> None:
    lay_out(tmp_path)
    broken = {
        "agent_net": ("bad.jsonl", '{"task_id": "bad"}\n{'),
        "android_world": ("android_world/task_metadata.json", [*ANDROID_WORLD, {"task_name": "bad"}]),
        "cua_gym": ("data/tasks_bad.jsonl", '{"id": "bad"}'),
        "cua_world": ("environments/x_env/tasks/bad/task.json", {"id": "bad"}),
        "harbor": ("tasks/bad/task.toml", 'version = "1.0"'),
        "osuniverse": ("testcases/x/bad.yaml", "name: bad"),
        "web_voyager": ("data/bad.jsonl", '{"id": "bad"}'),
        "work_arena": (
            "src/browsergym/workarena/data_files/task_configs/report.json",
            [{"chart_title": "Open items", "question": "max"}, {"question": "value; percent"}, "Ann Smith"],
        ),
        "omniact": ("test.json", {"bad": {"task": "../../secret.txt", "image": "x"}}),
        "windows_agent_arena": ("evaluation_examples_windows/examples/x/bad.json", {"id": "bad"}),
    }.get(lay_out.__name__, ("bad.json", [{"task_id": 3, "episode_id": "bad", "annotation_id": "bad"}]))
    foreign.write(tmp_path, *broken)

    with pytest.raises(ImportRefusedError) as caught:
        read_import(lay_out.__name__, tmp_path)
    reading = survey_import(lay_out.__name__, tmp_path)

    assert all(fault.file and fault.reason for fault in caught.value.faults)
    assert reading.broken
    assert sum(isinstance(item, Task) for item in reading.records) == COLLECTIONS[lay_out][0]


def test_a_web_task_knows_its_template_its_sites_and_that_it_cannot_be_done(tmp_path: Path) -> None:
    found = records(web_arena, tmp_path)

    tasks = {item.task_id: item for item in found if isinstance(item, Task)}
    assert set(tasks) == {"web_arena:test_shopping/7", "web_arena:test_shopping/8", "web_arena:examples/1"}
    task = tasks["web_arena:test_shopping/7"]
    assert task.other_applications == ("map",)
    assert task.graph.nodes[0].parameters == {"thing": "a kettle", "most": "3"}
    assert len({item.graph.nodes[0].subtask_id for item in tasks.values()}) == 1
    assert all(item.infeasible for item in found if isinstance(item, ImportedItem))


def test_lists_of_evaluators_are_read_and_an_expected_error_is_infeasible(tmp_path: Path) -> None:
    answer = {"evaluator": "AgentResponseEvaluator", "expected": {"status": "SUCCESS"}}
    lists = [
        [answer, {"evaluator": "NetworkEventEvaluator"}],
        [{**answer, "expected": {"status": "NOT_FOUND"}}],
    ]
    tasks = [{**WEB_ARENA, "task_id": number, "eval": evaluators} for number, evaluators in enumerate(lists)]
    foreign.write(tmp_path, "verified.json", [*tasks, {**WEB_ARENA, "eval": []}, {**WEB_ARENA, "eval": [3]}])

    reading = survey_import("web_arena", tmp_path)

    kept = {item.item_id: item.infeasible for item in reading.records if isinstance(item, ImportedItem)}
    assert kept == {"web_arena:verified/0": False, "web_arena:verified/1": True}
    assert [item.place for item in reading.broken] == ["verified.json:[2]", "verified.json:[3]"]


def test_a_task_whose_words_its_program_writes_is_broken_by_a_code_of_its_own(tmp_path: Path) -> None:
    foreign.write(tmp_path, "task_configs/report.json", [{"question": "max"}, {"goal": "Open the report."}])

    (found,) = survey_import("work_arena", tmp_path).broken

    assert found.code == "goal_not_written"


def test_a_prompt_in_the_first_layout_of_cua_world_is_the_instruction(tmp_path: Path) -> None:
    task = {"id": "hello@1", "env_id": "basic_env@0.1", "natural_language": {"prompt": "Type a greeting."}}
    foreign.write(tmp_path, "tasks/hello/task.json", task)

    (found,) = [item for item in read_import("cua_world", tmp_path) if isinstance(item, Task)]

    assert found.instruction == "Type a greeting."


def test_a_task_of_cua_world_belongs_to_its_environment(tmp_path: Path) -> None:
    tasks = {item.task_id: item for item in records(cua_world, tmp_path) if isinstance(item, Task)}

    assert {name: task.graph.nodes[0].application for name, task in tasks.items()} == {
        "cua_world:libreoffice_calc_env/basic_formulas@1": "libreoffice_calc",
        "cua_world:vlc_media_player_env/basic_formulas@1": "vlc",
    }


def test_a_row_of_cua_gym_keeps_everything(tmp_path: Path) -> None:
    found = records(cua_gym, tmp_path)

    assert [item.instruction for item in found if isinstance(item, Task)] == ["Sort the sheet by price."] * 2
    assert next(item.content for item in found if isinstance(item, ImportedItem)) == CUA_GYM


def test_a_row_that_is_no_json_is_broken_and_the_others_are_not(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "instruction": "Do it.", "x": float("nan")},
        {"id": "b", "instruction": "Do that.", "x": 1.0},
    ]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "tasks.parquet")

    reading = survey_import("cua_gym", tmp_path)

    assert [item.place for item in reading.broken] == ["tasks.parquet:[0]"]
    assert [item.task_id for item in reading.records if isinstance(item, Task)] == ["cua_gym:b"]


def test_a_template_of_android_world_is_a_task_only_without_placeholders(tmp_path: Path) -> None:
    found = records(android_world, tmp_path)

    assert {item.subtask_id: item.application for item in found if isinstance(item, Subtask)} == {
        "android_world:BrowserDraw": "chrome",
        "android_world:MarkorCreate": "markor",
    }
    assert [item.task_id for item in found if isinstance(item, Task)] == ["android_world:BrowserDraw"]


def test_points_lie_where_they_were_clicked(tmp_path: Path) -> None:
    found = [item for item in records(agent_net, tmp_path) if isinstance(item, Trajectory)]
    for recording in found:
        assert isinstance(recording.steps[0].action, ClickInput)
        assert points_of(recording.steps[0])[0] == (50, 50)
    assert found


def test_typed_text_is_read_back_as_the_same_characters(tmp_path: Path) -> None:
    (found,) = [item for item in records(mind2web, tmp_path) if isinstance(item, Trajectory)]

    keys = next(step.action.keys for step in found.steps if isinstance(step.action, KeyboardInput))
    assert "".join(press.key for press in read_keys(keys)) == "50%"


def test_pages_of_mind2web_are_not_kept_and_all_else_is(tmp_path: Path) -> None:
    originals = {
        item.item_id: item.content for item in records(mind2web, tmp_path) if isinstance(item, ImportedItem)
    }

    content = originals["mind2web:m-1"]
    assert isinstance(content, dict)
    assert content["actions"] == [
        {"action_uid": "u", "operation": {"op": "CLICK", "value": ""}, "pos_candidates": []}
    ]
    assert {name: value for name, value in content.items() if name != "actions"} == {
        name: value for name, value in MIND2WEB.items() if name != "actions"
    }


@pytest.mark.parametrize("lay_out", [mind2web, cua_gym], ids=lambda lay_out: lay_out.__name__)
def test_a_table_that_cannot_be_read_is_broken_and_the_others_are_read(
    lay_out: Callable[[Path], None], tmp_path: Path
) -> None:
    whole = [item for item in records(lay_out, tmp_path) if isinstance(item, Task)]
    (first, *_) = tmp_path.rglob("*.parquet")
    damaged = first.with_name("tasks-z.parquet")
    damaged.write_bytes(first.read_bytes()[:-20])

    reading = survey_import(lay_out.__name__, tmp_path)

    assert [(item.place, item.kind) for item in reading.broken] == [("data/tasks-z.parquet", "task")]
    assert "is not a Parquet file" in str(reading.broken[0].faults[0])
    assert [item for item in reading.records if isinstance(item, Task)] == whole
    with pytest.raises(ImportRefusedError, match=r"data/tasks-z.parquet: is not a Parquet file"):
        read_import(lay_out.__name__, tmp_path)
