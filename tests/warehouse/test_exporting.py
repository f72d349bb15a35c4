from __future__ import annotations

import hashlib
import json
import runpy
import tempfile
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import (
    ExportRefusedError,
    QueryFailedError,
    SelectionInvalidError,
    UnknownFormatError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.exporting.exporting import MANIFEST, ExportOptions, Manifest
from taskloom.warehouse.exporting.files import safe_name
from taskloom.warehouse.lookup import EXPORTS
from taskloom.warehouse.sets.selection import CellQuota, Selection, SetRequest
from taskloom.warehouse.storage.object_storage import Screenshots
from taskloom.warehouse.store import Warehouse
from tests.warehouse.foreign import run_import
from tests.warehouse.sample_parts import trajectory
from tests.warehouse.samples import export, records
from tests.warehouse.test_writers import small_disk


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", EXPORTS.built_in())
def test_every_format_writes_a_manifest_and_the_same_bytes_again(
    sampled: Warehouse, tmp_path: Path, name: str
) -> None:
    export(sampled, name, tmp_path / "first")
    export(sampled, name, tmp_path / "second")

    first = contents(tmp_path / "first")
    assert first == contents(tmp_path / "second")
    manifest = Manifest.model_validate_json((tmp_path / "first" / MANIFEST).read_text())
    del first[MANIFEST]
    assert manifest.files == first
    assert sum(manifest.outcome.counts.values()) > 0


@pytest.mark.parametrize("name", EXPORTS.built_in())
def test_an_export_that_fails_leaves_nothing(sampled: Warehouse, tmp_path: Path, name: str) -> None:
    with pytest.raises(ExportRefusedError):
        export(sampled, name, tmp_path / "out", Selection(where="false"))

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", EXPORTS.built_in())
def test_an_export_onto_a_full_disk_leaves_nothing(sampled: Warehouse, tmp_path: Path, name: str) -> None:
    with small_disk(tmp_path / "disk", "4k") as disk:
        with pytest.raises(ExportRefusedError, match=r"left nothing: .*No space"):
            export(sampled, name, disk / "out")

        assert not list(disk.iterdir())


def test_a_trial_on_a_full_disk_is_told_as_such(
    sampled: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", "4k") as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with pytest.raises(ExportRefusedError, match=r"left nothing: .*No space"):
            export(sampled, "osworld", tmp_path / "out", sets=SetRequest(shares={"train": 0.5, "test": 0.5}))

        assert not list(disk.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["disk"]


def test_a_picture_on_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(100_000)
    name = hashlib.sha256(png).hexdigest()
    with small_disk(tmp_path / "disk", "20k") as disk:
        with pytest.raises(WarehouseUnavailableError, match="No space"):
            Screenshots(f"{disk}/").write_all({name: png})
        with pytest.raises(OSError, match="No space"):
            write_whole(disk / "view.png", png)

        assert not [path for path in disk.rglob("*") if path.is_file()]


def test_an_export_never_overwrites(sampled: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()

    with pytest.raises(ExportRefusedError, match="exists already"):
        export(sampled, "omnibench", tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_an_unknown_format_names_the_known_ones(sampled: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(UnknownFormatError, match="Did you mean 'osworld'"):
        export(sampled, "osword", tmp_path / "out")


def test_shortfalls_are_reported_by_cell_and_never_filled(sampled: Warehouse, tmp_path: Path) -> None:
    selection = Selection(
        cells=(CellQuota(levels={"branch": "hard"}, size=3), CellQuota(levels={"branch": "easy"}, size=2))
    )

    manifest = export(sampled, "omnibench", tmp_path / "out", selection)

    assert [(item.levels, item.wanted, item.found) for item in manifest.shortfalls] == [
        ({"branch": "hard"}, 3, 0),
        ({"branch": "easy"}, 2, 1),
    ]
    assert manifest.outcome.counts["tasks"] == 1


@pytest.mark.parametrize(
    "selection",
    [
        Selection(levels={"branch": "impossible"}),
        Selection(capability="flying"),
        Selection(scenario="Nowhere"),
        Selection(applications=("excel",)),
    ],
)
def test_a_selection_of_unknown_things_names_the_known_ones(
    sampled: Warehouse, tmp_path: Path, selection: Selection
) -> None:
    with pytest.raises(SelectionInvalidError, match=r"known|used"):
        export(sampled, "omnibench", tmp_path / "out", selection)


@pytest.mark.parametrize(
    "line",
    [
        "In notes, create 'a.csv', then in sheets, chart 'a.csv' as well.",
        "In  SHEETS, chart 'a.csv'.",
    ],
)
def test_tasks_that_resemble_a_named_list_are_taken_out(filled: Warehouse, tmp_path: Path, line: str) -> None:
    (task,) = filled.read(Task)
    other = BoundSubtask(
        instance_id="mail.send:1",
        subtask_id="mail.send",
        application="mail",
        application_category="Email",
        instruction="Send the letter to Ann.",
    )
    filled.write(
        [
            task.model_copy(
                update={
                    "task_id": "task-2",
                    "graph": TaskGraph(nodes=(other,), edges=()),
                    "instruction": other.instruction,
                    "successful_orders": ((other.instance_id,),),
                }
            )
        ]
    )

    manifest = export(filled, "omnibench", tmp_path / "out", named_lists={"other benchmark": ["", line]})

    report = manifest.leakage
    assert report is not None and not report.leaks
    assert [(leak.value, leak.found_in) for leak in report.removed] == [
        ("task-1", ("train", "other benchmark:2"))
    ]
    assert manifest.splits["train"] == ("task-2",)
    assert (report.named, report.resembling) == ({"other benchmark": 1}, {"other benchmark": 1})
    nothing = {"other benchmark": ["", line], "a third": ["Fly to the moon.", "Swim."]}
    export(filled, "hugging_face", tmp_path / "dataset", named_lists=nothing)
    card = (tmp_path / "dataset" / "README.md").read_text("utf-8")
    assert "| other benchmark | 1 | 1 |\n| a third | 2 | 0 |\n" in card
    assert "of another set" not in card


def test_an_export_of_nothing_but_known_instructions_is_refused(sampled: Warehouse, tmp_path: Path) -> None:
    known = {"list": ["In notes, create 'a.csv', then in sheets, chart 'a.csv'."]}

    with pytest.raises(ExportRefusedError, match="list:1"):
        export(sampled, "omnibench", tmp_path / "out", named_lists=known)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "where", ["true) OR (true", "true -- ", "no_such_column = 1", "true; DROP TABLE tasks"]
)
def test_what_is_no_condition_is_refused(sampled: Warehouse, tmp_path: Path, where: str) -> None:
    with pytest.raises(QueryFailedError, match="not a condition over the columns"):
        export(sampled, "omnibench", tmp_path / "out", Selection(where=where))


def test_a_size_below_what_the_cells_ask_for_is_refused(sampled: Warehouse, tmp_path: Path) -> None:
    selection = Selection(cells=(CellQuota(levels={"branch": "easy"}, size=3),), size=2)

    with pytest.raises(SelectionInvalidError, match="ask for 3 tasks, but the size allows 2"):
        export(sampled, "omnibench", tmp_path / "out", selection)


def test_omnibench_comes_back_as_the_same_records(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "omnibench", tmp_path / "out")

    run_import(warehouse, "omnibench", tmp_path / "out")
    export(warehouse, "omnibench", tmp_path / "again")

    assert list(warehouse.read(Task)) == list(sampled.read(Task))
    first, again = contents(tmp_path / "out"), contents(tmp_path / "again")
    assert {name: value for name, value in again.items() if name != MANIFEST} == {
        name: value for name, value in first.items() if name != MANIFEST
    }


def test_omnibench_files_hold_exactly_the_fields_of_the_paper(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "omnibench", tmp_path / "out")

    def fields(kind: str) -> set[str]:
        return set(json.loads(next((tmp_path / "out" / kind).glob("*.json")).read_text()))

    assert fields("subtasks") == {
        "id", "instruction_template", "application", "available_parameters", "OS", "input_resources", "output_resources"  # noqa: E501
    }  # fmt: skip
    assert fields("trajectories") == {"trajectory_id", "instruction", "observations", "actions", "subtask_id"}
    assert fields("tasks") == {"task_instruction", "dag", "task_intent", "successful_topo"}
    assert fields("task_trajectories") == {
        "trajectory_id", "task_id", "topological_order", "instruction", "intent", "observations", "actions"
    }  # fmt: skip


def test_exported_evaluation_functions_are_modules_that_load(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "omnibench", tmp_path / "out")

    file = tmp_path / "out" / "evaluations" / "notes.create.py"
    loaded = runpy.run_path(str(file), {"check_file_exists": bool, "check_file_contains": lambda *_: False})

    result = loaded["evaluate_agent_task_completion"]("a.csv")
    assert result == (False, "it is empty", 0.5)
    assert result.progress == 0.5


@pytest.mark.parametrize(
    ("name", "options"), [("preference_pairs", {}), ("openai_chat", {"instruction_level": "high"})]
)
def test_an_export_without_any_record_is_refused(
    warehouse: Warehouse, tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    warehouse.write([item for item in records() if isinstance(item, (Task, Subtask))])

    reason = "nothing to write of the 1 selected tasks" if not options else "have a successful replay"
    with pytest.raises(ExportRefusedError, match=reason):
        export(warehouse, name, tmp_path / "out", options=ExportOptions.model_validate(options))
    assert not (tmp_path / "out").exists()


def test_only_accepted_trajectories_become_training_data(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "openai_chat", tmp_path / "out")

    lines = (tmp_path / "out" / "index.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"].split("#")[0] for line in lines} == {"trajectory-1", "trajectory-2"}


def test_an_instruction_cannot_pretend_to_be_a_picture(filled: Warehouse, tmp_path: Path) -> None:
    filled.write([trajectory(instruction="Draw an <image> of a cat.")])

    export(filled, "sharegpt", tmp_path / "out")

    for record in json.loads((tmp_path / "out" / "train.json").read_text()):
        assert sum(turn["value"].count("<image>") for turn in record["conversations"]) == 1


def test_preference_pairs_start_from_one_screen(sampled: Warehouse, tmp_path: Path) -> None:
    export(sampled, "preference_pairs", tmp_path / "out")

    (pair,) = (json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines())
    assert pair["id"] == "trajectory-bad#2"
    assert pair["chosen"] != pair["rejected"]
    assert (tmp_path / "out" / pair["images"][0]).is_file()


def test_a_hugging_face_export_loads_with_datasets(sampled: Warehouse, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the package `datasets` is not installed")
    export(sampled, "hugging_face", tmp_path / "out")

    tasks = datasets.load_dataset(
        str(tmp_path / "out"), "tasks", split="train", cache_dir=str(tmp_path / "cache")
    )
    steps = datasets.load_dataset(
        str(tmp_path / "out"), "trajectory_steps", split="train", cache_dir=str(tmp_path / "cache")
    )

    assert tasks[0]["nodes"][0]["parameters"] == [{"name": "csv_path", "value": "a.csv"}]
    assert steps[0]["screenshot"].size == (64, 48)


def test_the_dataset_card_is_written_from_the_data(sampled: Warehouse, tmp_path: Path) -> None:
    options = ExportOptions(licence="cc-by-4.0")
    export(sampled, "hugging_face", tmp_path / "out", options=options)

    _, front, body = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)

    fields = yaml.safe_load(front)
    assert fields["license"] == "cc-by-4.0"
    assert fields["size_categories"] == ["n<1K"]
    for config in fields["configs"]:
        for part in config["data_files"]:
            files = [tmp_path / "out" / name for name in part["path"]]
            rows = sum(pyarrow.parquet.read_metadata(file).num_rows for file in files)
            assert f"| `{config['config_name']}` | {rows} |" in body
            assert f"### {config['config_name']}" in body
            for name in pyarrow.parquet.read_schema(files[0]).names:
                assert f"| `{name}` |" in body
    assert "| Sheets | 1.0 | MIT |" in body
    assert "| tasks | 1, of which 1 were replayed" in body
    assert "tasks validated | 1 |" in body
    assert "| models | offline/rules |" in body


@given(st.text(min_size=1).filter(lambda text: not any("\ud800" <= mark <= "\udfff" for mark in text)))
def test_ids_survive_as_file_names(item_id: str) -> None:
    name = safe_name(item_id)

    assert unquote(name) == item_id
    assert "/" not in name and name not in (".", "..")


def test_imported_trajectories_are_training_data_too(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "omnibench", tmp_path / "out")
    run_import(warehouse, "omnibench", tmp_path / "out")

    manifest = export(warehouse, "sharegpt", tmp_path / "sharegpt")

    assert manifest.outcome.counts == {"train": 8}
    assert warehouse.count(Trajectory) == 3
