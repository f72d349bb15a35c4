"""Collections in another wrapping are read, or one line says what was found; answers that accept all are
refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.records import ImportedItem

OSWORLD = [
    {"id": f"t{number}", "instruction": f"Do thing {number}", "evaluator": {"func": "infeasible"}}
    for number in range(3)
]
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


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"[1, 2]", mtime=0)[:-9]])
def test_a_broken_gzip_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "tasks.json.gz").write_bytes(data)

    (broken,) = survey_import("osworld", tmp_path).broken

    assert "is not a whole gzip file" in str(broken.faults[0])


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
