"""Collections in another wrapping are read, or one line says what was found; answers that accept all are
refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.records import ImportedItem
from tests.warehouse import foreign

OSWORLD = [
    {"id": f"t{number}", "instruction": f"Do thing {number}", "evaluator": {"func": "infeasible"}}
    for number in range(3)
]


def zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


LINES = "\n".join(map(json.dumps, OSWORLD))


def web_arena(answers: object) -> dict[str, object]:
    return {
        "task_id": 1,
        "intent": "Tell me the name",
        "sites": ["shopping"],
        "eval": {"eval_types": ["string_match"], "reference_answers": answers},
    }


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("tasks.json", json.dumps(OSWORLD).encode()),
        ("tasks.JSON", json.dumps(OSWORLD).encode()),
        ("tasks.jsonl", LINES.encode()),
        ("tasks.json", LINES.encode()),
        ("tasks.json.gz", gzip.compress(f"\n{LINES}\n".encode())),
        ("tasks.json.gz", gzip.compress(json.dumps(OSWORLD).encode())),
        ("tasks.jsonl.gz", gzip.compress(LINES.encode("utf-8-sig"))),
    ],
)
@pytest.mark.parametrize("as_folder", [True, False])
def test_a_list_of_tasks_is_read_in_every_wrapping(
    tmp_path: Path, name: str, data: bytes, as_folder: bool
) -> None:
    (tmp_path / name).write_bytes(data)

    records = read_import("osworld", tmp_path if as_folder else tmp_path / name)

    found = [item.task_id.rpartition("/")[2] for item in records if isinstance(item, Task)]
    assert found == ["t0", "t1", "t2"]


@pytest.mark.parametrize("inside", ["tasks.json", "OSWorld-main/chrome/tasks.json", "../../tasks.json"])
def test_a_zip_file_is_read_as_the_folder_it_holds(tmp_path: Path, inside: str) -> None:
    (tmp_path / "all.ZIP").write_bytes(zipped(inside, json.dumps(OSWORLD).encode()))

    tasks = [item for item in read_import("osworld", tmp_path / "all.ZIP") if isinstance(item, Task)]

    assert [item.task_id.rpartition("/")[2] for item in tasks] == ["t0", "t1", "t2"]
    assert "taskloom-import" not in tasks[0].task_id
    assert [item.name for item in tmp_path.iterdir()] == ["all.ZIP"]


@pytest.mark.parametrize("cut", [0, 4, 60])
def test_a_broken_zip_file_is_refused(tmp_path: Path, cut: int) -> None:
    (tmp_path / "all.zip").write_bytes(zipped("tasks.json", b"[]")[:cut])

    with pytest.raises(ImportRefusedError, match="is not a readable zip file"):
        read_import("osworld", tmp_path / "all.zip")


def test_an_id_with_other_content_is_another_item(tmp_path: Path) -> None:
    first = {"id": "sum@1", "env_id": "calc_env@0.1", "description": "Add the numbers."}
    for folder, task in (("a", first), ("b", {**first, "description": "Add the rows."}), ("c", first)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "task.json").write_text(json.dumps(task))

    reading = survey_import("cua_world", tmp_path)

    tasks = {item.task_id: item for item in reading.records if isinstance(item, Task)}
    originals = {item.item_id: item.content for item in reading.records if isinstance(item, ImportedItem)}
    kept, other = sorted(tasks)
    assert kept == "cua_world:calc_env/sum@1" and other.startswith(f"{kept}~")
    assert tasks[other].graph.nodes[0].instance_id == other
    assert originals == {kept: first, other: {**first, "description": "Add the rows."}}
    assert [item.place for item in reading.broken] == ["c/task.json"]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "a: &x [1]\nb: *x", "task: [", "task: !!python/object:os.system x", "x" * (1 << 21)],
)
def test_yaml_that_is_deep_refers_to_itself_or_is_none_is_a_broken_item(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)

    (broken,) = survey_import("osuniverse", tmp_path).broken

    assert broken.place == "a.yaml" or broken.item_id.endswith("/a")


def test_all_applications_that_an_android_task_names_are_kept(tmp_path: Path) -> None:
    told = "Add the expenses of a.txt in Markor to pro expense."
    rows = [{"task_name": "ExpenseAddMultipleFromMarkor", "task_template": told}]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "task_metadata.json").write_text(json.dumps(rows))

    (task,) = [item for item in read_import("android_world", tmp_path) if isinstance(item, Task)]

    assert (task.graph.nodes[0].application, task.other_applications) == ("pro_expense", ("markor",))


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"[1, 2]", mtime=0)[:-9]])
def test_a_broken_gzip_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "tasks.json.gz").write_bytes(data)

    (broken,) = survey_import("osworld", tmp_path).broken

    assert "is not a complete gzip file" in str(broken.faults[0])


def test_a_folder_without_json_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text("x = 1")

    with pytest.raises(ImportRefusedError, match=r"holds no JSON file .*its files end with \.toml"):
        read_import("osworld", tmp_path)


@pytest.mark.parametrize("metric", ["fuzzy_match", "exact_match"])
def test_a_task_without_an_answer_is_impossible(tmp_path: Path, metric: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps([web_arena({metric: "N/A"})]))

    (original,) = [item for item in read_import("web_arena", tmp_path) if isinstance(item, ImportedItem)]

    assert original.infeasible


@pytest.mark.parametrize("texts", [[], [""], [" ", ""]])
def test_an_evaluator_that_accepts_every_answer_is_broken(tmp_path: Path, texts: list[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps([web_arena({"must_include": texts})]))

    (broken,) = survey_import("web_arena", tmp_path).broken

    assert "every answer is accepted" in str(broken.faults[0])


@pytest.mark.parametrize("name", ["mind2web", "osworld", "web_arena", "crab", "web_voyager"])
def test_a_folder_of_another_kind_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    for number in range(40):
        result = {"task_number": number, "steps": [{"action": "click"}], "score": 1}
        foreign.write(tmp_path, f"results/t{number}/result.json", result)

    with pytest.raises(ImportRefusedError) as refused:
        survey_import(name, tmp_path)

    said = str(refused.value)
    assert "\n" not in said and len(said) < 500
    assert f"items is in the format {name}; found: result.json" in said and "expected: " in said
