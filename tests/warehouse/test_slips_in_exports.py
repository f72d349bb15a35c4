"""A slip made on purpose stands in exports for what follows it, and is marked so that nobody learns it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.exporting.exporting import ExportOptions
from taskloom.warehouse.store import Warehouse
from tests.warehouse.samples import export, records


@pytest.fixture(scope="module")
def slipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The samples, in which the first step of every longer recording is a slip and the second takes it back;
    no test changes them."""
    with Warehouse(tmp_path_factory.mktemp("slips") / "warehouse") as store:
        store.write([_with_slip(item) if isinstance(item, Trajectory) else item for item in records()])
        yield store


def _with_slip(recording: Trajectory) -> Trajectory:
    if len(recording.steps) < 2:
        return recording
    slip, back, *rest = recording.steps
    marked = (slip.model_copy(update={"slip": "slip"}), back.model_copy(update={"slip": "recovery"}), *rest)
    return recording.model_copy(update={"steps": marked})


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        if file.name != "index.jsonl":
            yield from (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())


def test_a_whole_dialogue_gives_a_slip_no_weight(slipped: Warehouse, tmp_path: Path) -> None:
    export(slipped, "openai_chat", tmp_path / "out", options=ExportOptions(granularity="trajectory"))
    answers = [
        [item.get("weight", 1) for item in record["messages"] if item["role"] == "assistant"]
        for record in lines(tmp_path / "out")
    ]
    longer = [weights for weights in answers if len(weights) > 1]
    assert longer and all(weights[0] == 0 and set(weights[1:]) == {1} for weights in longer)


def test_single_steps_leave_a_slip_out_and_keep_it_in_what_was_done(
    slipped: Warehouse, tmp_path: Path
) -> None:
    export(slipped, "openai_chat", tmp_path / "out", options=ExportOptions(granularity="step"))
    index = [json.loads(line)["id"] for line in (tmp_path / "out" / "index.jsonl").read_text().splitlines()]
    longer = {name.partition("#")[0] for name in index if name.endswith("#2")}
    assert longer and not longer & {name.partition("#")[0] for name in index if name.endswith("#1")}
    asked = [record["messages"][1]["content"][-1]["text"] for record in lines(tmp_path / "out")]
    assert any("Done so far:\n1. " in text for text in asked)


def test_other_formats_mark_it_in_their_own_way(slipped: Warehouse, tmp_path: Path) -> None:
    whole = ExportOptions(granularity="trajectory")
    export(slipped, "sharegpt", tmp_path / "sharegpt", options=whole)
    told = [
        turn.get("train", True)
        for file in (tmp_path / "sharegpt").glob("*.json")
        if file.name not in ("dataset_info.json", "manifest.json")
        for record in json.loads(file.read_text())
        for turn in record["conversations"]
        if turn["from"] == "gpt"
    ]
    assert False in told and True in told
    export(slipped, "agent_net", tmp_path / "agent_net")
    steps = [step["value"] for record in lines(tmp_path / "agent_net") for step in record["traj"]]
    assert [step["last_step_correct"] for step in steps if "last_step_correct" in step] == [
        False
    ] * told.count(False)
    export(slipped, "hugging_face", tmp_path / "hugging_face")
    marks = {
        mark
        for file in (tmp_path / "hugging_face").rglob("*.parquet")
        if "slip" in (table := pyarrow.parquet.read_table(file)).column_names
        for mark in table.column("slip").to_pylist()
    }
    assert marks == {"", "slip", "recovery"}
