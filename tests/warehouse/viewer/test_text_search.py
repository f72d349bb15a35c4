"""The search of the task list: every word must occur, in any case and order, and no character means
anything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, count_tasks
from tests.warehouse.samples import records


@pytest.fixture(scope="module")
def searched(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three tasks beside the sample's."""
    place = tmp_path_factory.mktemp("searched") / "warehouse"
    (task,) = (item for item in records() if isinstance(item, Task))
    texts = {
        "a": "Export the Customers as CSV (all of them).",
        "b": "Merge customers[1].csv and suppliers.csv in C:\\Data+",
        "c": "Écrire le rapport",
    }
    with Warehouse(shutil.copytree(filled_template, place)) as opened:
        opened.write(
            [
                task.model_copy(update={"task_id": name, "instruction": text, "intent": f"Goal {name}"})
                for name, text in texts.items()
            ]
        )
        yield opened


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("customers", 2),
        ("csv CUSTOMERS", 2),
        ("customers suppliers", 1),
        ("customers rapport", 0),
        ("goal customers", 2),
        ("customers[1].csv", 1),
        ("(all", 1),
        ("Data+", 1),
        ("C:\\Data", 1),
        ("customers.1", 0),
        ("écrire", 1),
        ("task-1", 1),
        ("$ ^", 0),
    ],
)
def test_every_word_must_occur(searched: Warehouse, text: str, found: int) -> None:
    assert count_tasks(searched, TaskFilter.of({"text": text})) == found
