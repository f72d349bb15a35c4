"""Every fault of an import is listed at once; broken items are skipped on request and kept as rejections."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.refusals import refusal


def test_all_faults_of_a_paper_task_are_listed(target: Warehouse, tmp_path: Path) -> None:
    foreign.omnibench(tmp_path)
    task = {**foreign.OMNIBENCH_TASK, "task_intent": 9, "dag": {"nodes": "x", "edges": []}}
    foreign.write(tmp_path, "tasks/12.json", task)

    error = refusal(target, "omnibench", tmp_path)

    assert [fault.field for fault in error.faults] == ["dag.nodes", "dag.edges", "task_intent"]


def test_an_import_says_where_it_stopped_and_why(target: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path, "chrome/a.json", {**foreign.OSWORLD, "proxy": "yes"})

    assert (
        str(refusal(target, "osworld", tmp_path)) == "chrome/a.json: proxy: must be true or false, not text"
    )


def test_every_fault_of_every_file_is_listed_at_once(target: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path, "chrome/a.json", {"id": " ", "instruction": 3, "evaluator": {"func": []}})
    foreign.write(tmp_path, "chrome/b.json", "{")
    foreign.write(tmp_path, "gimp/c.json", foreign.OSWORLD)

    error = refusal(target, "osworld", tmp_path)

    assert [(fault.file, fault.field) for fault in error.faults] == [
        ("chrome/a.json", "id"),
        ("chrome/b.json", "line 1"),
    ]
    assert "--skip-broken" in error.hint and "the 1 tasks" in error.hint


def test_all_faults_of_one_item_are_listed(target: Warehouse, tmp_path: Path) -> None:
    wrong = {"id": "a", "instruction": 3, "evaluator": {"func": "x", "result": [{}]}, "proxy": "no"}
    foreign.write(tmp_path, "chrome/a.json", wrong)

    error = refusal(target, "osworld", tmp_path)

    assert [fault.field for fault in error.faults] == ["instruction", "evaluator", "proxy"]
    assert str(error).count("\n") == 2


@pytest.mark.parametrize("name", ["osworld", "crab", "omnibench"])
def test_skipping_broken_items_keeps_the_others_and_the_originals(
    warehouse: Warehouse, tmp_path: Path, name: str
) -> None:
    place, bad = {
        "osworld": ("examples/chrome/bad.json", {**foreign.OSWORLD, "id": "bad", "instruction": ""}),
        "crab": ("cross/bad.json", {**foreign.CRAB, "id": "bad", "adjlist": "0 9"}),
        "omnibench": ("tasks/bad.json", {**foreign.OMNIBENCH_TASK, "dag": 5}),
    }[name]
    getattr(foreign, name)(tmp_path)
    foreign.write(tmp_path, place, bad)

    summary = run_import(warehouse, name, tmp_path, skip_broken=True)

    assert summary.counts["tasks"] == warehouse.count(Task) >= 1
    rejected = next(item for item in summary.rejected if "bad" in item.item_id)
    (original,) = warehouse.read(ImportedItem, "item_id = $id", {"id": rejected.details["original"]})
    assert (original.content, original.item_kind) == (bad, "rejected")
    assert rejected.message and place.split("/")[-1] in rejected.details["place"]


def test_a_mended_item_is_imported_after_it_was_rejected(warehouse: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path, "chrome/good.json", {**foreign.OSWORLD, "id": "good"})
    foreign.write(tmp_path, "chrome/a.json", {**foreign.OSWORLD, "instruction": ""})
    run_import(warehouse, "osworld", tmp_path, skip_broken=True)
    foreign.write(tmp_path, "chrome/a.json", foreign.OSWORLD)

    run_import(warehouse, "osworld", tmp_path)

    contents = {item.item_id: item.content for item in warehouse.read(ImportedItem, "item_kind = 'task'")}
    assert contents[f"osworld:chrome/{foreign.OSWORLD['id']}"] == foreign.OSWORLD
