"""What goes out comes back: every export that can be read again, over generated datasets."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import MANIFEST
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.importing.importing import read_import
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.sets.selection import Selection
from taskloom.warehouse.storage.rows import decode_record
from taskloom.warehouse.store import Warehouse
from tests.shared_work import examples
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.generated import crab_tasks, datasets, osworld_tasks
from tests.warehouse.samples import export

NUMBERS = itertools.count()
few = settings(max_examples=examples(2, 8), phases=[Phase.explicit, Phase.generate])
"""Examples are whole datasets: to shrink one takes minutes and tells little."""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """One warehouse for all examples; each gives its records ids of its own."""
    with Warehouse(tmp_path_factory.mktemp("round-trips") / "warehouse") as opened:
        yield opened


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def values(folder: Path) -> list[str]:
    """All JSON objects below a folder, in one writing."""
    found = []
    for path in folder.rglob("*.json"):
        if path.name not in (MANIFEST, "test_all.json"):
            found.append(json.dumps(json.loads(path.read_text("utf-8")), sort_keys=True))
    return sorted(found)


@few
@given(st.data())
@pytest.mark.slow
def test_tasks_and_subtasks_come_back_from_omnibench_and_parquet(
    pool: Warehouse, data: st.DataObject
) -> None:
    prefix = f"made{next(NUMBERS)}"
    made = data.draw(datasets(prefix))
    pool.write([*made.subtasks, *made.tasks])
    used = {node.subtask_id for task in made.tasks for node in task.graph.nodes}
    tasks = {task.task_id: task for task in made.tasks}
    subtasks = {item.subtask_id: item for item in made.subtasks if item.subtask_id in used}
    selection = Selection(where=f"starts_with(task_id, '{prefix}/')")

    assert {item.task_id: item for item in pool.read(Task, selection.where)} == tasks
    with tempfile.TemporaryDirectory() as place, Warehouse(Path(place) / "other") as other:
        first, again, parquet = (Path(place) / name for name in ("first", "again", "parquet"))
        export(pool, "omnibench", first, selection)
        run_import(other, "omnibench", first)
        export(other, "omnibench", again)
        export(pool, "hugging_face", parquet, selection)

        assert {item.task_id: item for item in other.read(Task)} == tasks
        assert {item.subtask_id: item for item in other.read(Subtask)} == subtasks
        assert files(again) == files(first)
        for name, wanted in (("tasks", tasks), ("subtasks", subtasks)):
            table, rows = TABLE_NAMED[name], pyarrow.parquet.read_table(parquet / name).to_pylist()
            decoded = [decode_record(table, {**row, "step_count": None}, Shared()) for row in rows]
            assert {getattr(item, table.key[0]): item for item in decoded} == wanted


@few
@given(st.lists(osworld_tasks(), min_size=1, max_size=3, unique_by=lambda task: str(task["id"])))
def test_osworld_tasks_come_back_as_equal_json(pool: Warehouse, tasks: list[dict[str, object]]) -> None:
    domain = f"d{next(NUMBERS)}"
    with tempfile.TemporaryDirectory() as place:
        for number, task in enumerate(tasks):
            foreign.write(Path(place) / "in", f"examples/{domain}/{number}.json", task)
        run_import(pool, "osworld", Path(place) / "in")
        export(
            pool,
            "osworld",
            Path(place) / "out",
            Selection(where=f"starts_with(task_id, 'osworld:{domain}/')"),
        )

        assert values(Path(place) / "out") == values(Path(place) / "in")


@few
@given(st.lists(crab_tasks(), min_size=1, max_size=3))
def test_crab_tasks_are_kept_as_equal_json(pool: Warehouse, tasks: list[dict[str, object]]) -> None:
    number = next(NUMBERS)
    with tempfile.TemporaryDirectory() as place:
        for position, task in enumerate(tasks):
            foreign.write(Path(place) / "in", f"e/{position}.json", {**task, "id": f"{number}-{position}"})
        run_import(pool, "crab", Path(place) / "in")
        kept = pool.read(ImportedItem, f"starts_with(item_id, 'crab:{number}-')")

        found = sorted(json.dumps(item.content, sort_keys=True) for item in kept)
        assert found == values(Path(place) / "in")


def test_what_osworld_can_say_of_own_tasks_is_read_again(
    sampled: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    export(sampled, "osworld", tmp_path / "out")
    run_import(warehouse, "osworld", tmp_path / "out")
    export(warehouse, "osworld", tmp_path / "again")

    assert values(tmp_path / "again") == values(tmp_path / "out")


def test_an_imported_id_never_leads_out_of_the_export(warehouse: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path / "in", "chrome/a.json", {**foreign.OSWORLD, "id": "../../../../escaped"})
    run_import(warehouse, "osworld", tmp_path / "in")
    export(warehouse, "osworld", tmp_path / "deep" / "er" / "out")

    assert not list(tmp_path.rglob("escaped*"))
    assert len(read_import("osworld", tmp_path / "deep" / "er" / "out")) == 2
