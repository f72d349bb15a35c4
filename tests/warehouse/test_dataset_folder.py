"""The dataset folder for Hugging Face: card and streaming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import ExportSource, export
from taskloom.warehouse.exports.hugging_face import ParquetFiles, dataset_counts
from taskloom.warehouse.sets.selection import Selection, parse_request
from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import records


def many(warehouse: Warehouse, count: int) -> None:
    """Tasks that differ in everything that sets may not share, but for the subtasks."""
    (task,) = (item for item in records() if isinstance(item, Task))
    warehouse.write(
        [
            task.model_copy(
                update={
                    "task_id": f"many-{number:03}",
                    "intent_id": f"intent-{number}",
                    "intent": f"goal {number}",
                    "instruction": f"w{number} " * 8,
                    "scenario": f"scenario {number % 3}",
                }
            )
            for number in range(count)
        ]
    )


def test_the_card_says_what_was_asked_for_and_given(filled: Warehouse, tmp_path: Path) -> None:
    many(filled, 40)
    request = parse_request("train=0.75,test=0.25", "template,value", [])

    manifest = export(
        filled, "hugging_face", tmp_path / "out", Selection(where="task_id LIKE 'many-%'"), sets=request
    )

    card = (tmp_path / "out" / "README.md").read_text()
    sizes = {name: len(ids) for name, ids in manifest.splits.items()}
    assert f"| train | {sizes['train']} | 75.0% |" in card
    assert f"| test | {sizes['test']} | 25.0% |" in card
    assert f"| dependency: easy | {sizes['train']} | {sizes['test']} |" in card
    assert "They may share: template, value." in card
    assert "| scenario | 3 |" in card and "| distinct-1, distinct-2 |" in card
    assert "| replay coverage | 0.0% of the tasks; 0 of 2 subtasks" in card


def test_names_from_elsewhere_stay_in_their_cells_of_the_card(filled: Warehouse, tmp_path: Path) -> None:
    task = next(filled.read(Task, "task_id = 'task-1'"))
    name = "a|b <img src=x> ![c](d)\n# e"
    nodes = tuple(node.model_copy(update={"application": name}) for node in task.graph.nodes)
    graph = task.graph.model_copy(update={"nodes": nodes})
    filled.write([task.model_copy(update={"task_id": "imported", "graph": graph, "intent": name})])

    export(filled, "hugging_face", tmp_path / "out", Selection(where="task_id = 'imported'"))

    card = (tmp_path / "out" / "README.md").read_text()
    told = r"a\|b &lt;img src=x&gt; !\[c\](d) # e"
    assert f"| applications | {told} |\n" in card
    assert f"| application | 1 | {told} 100% of the tasks |\n" in card
    assert "<img" not in card and "\n# e" not in card


def test_the_card_counts_what_the_tasks_are(filled: Warehouse) -> None:
    many(filled, 3)
    source = ExportSource(filled, ("many-000", "many-001", "many-002", "task-1"))
    counts: dict[str, Any] = dataset_counts(source)
    tasks = list(source.tasks())

    assert counts["tasks"] == {"train": 4}
    assert counts["sums"]["mean_nodes"] == sum(len(task.graph.nodes) for task in tasks) / 4
    assert counts["sums"]["mean_words"] == sum(len(task.instruction.split()) for task in tasks) / 4
    assert counts["applications"] == {"notes": 4, "sheets": 4}
    assert counts["subtasks"] == {"notes.create": 4, "sheets.chart": 4}
    assert dict(source.split_of_subtask) == {"notes.create": "train", "sheets.chart": "train"}


def test_a_large_configuration_goes_into_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.warehouse.exports.hugging_face._MOST_ROWS", 10)
    schema = pa.schema([("number", pa.int64())])
    with ParquetFiles(tmp_path) as files:
        for start in range(0, 28, 4):
            files.add("tasks", "train", pa.table({"number": list(range(start, start + 4))}), schema)

    assert len(files.files["tasks"]["train"]) == 4
    read = [
        number
        for name in files.files["tasks"]["train"]
        for number in pyarrow.parquet.read_table(tmp_path / name)["number"].to_pylist()
    ]
    assert read == list(range(28))
    assert files.rows["tasks"]["train"] == 28
