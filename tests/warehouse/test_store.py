from __future__ import annotations

import os
from pathlib import Path

import pytest

from taskloom.resources.record import Record
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Intent, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import (
    QueryFailedError,
    QueryRefusedError,
    RowInvalidError,
    ScreenshotMissingError,
    VersionError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import SCREENS, trajectory
from tests.warehouse.samples import records

KINDS = sorted({type(item) for item in records()}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_records_read_back_equal_the_ones_written(sampled: Warehouse, kind: type[Record]) -> None:
    written = [item for item in records() if type(item) is kind]

    read = list(sampled.read(kind, pictures=True))

    assert len(read) == len(written)
    assert all(item in written for item in read)


def test_pictures_are_read_only_on_request(sampled: Warehouse) -> None:
    bare = next(sampled.read(Trajectory))
    whole = next(sampled.read(Trajectory, pictures=True))

    assert bare.steps[0].observation_screenshot.png == b""
    assert whole.steps[0].observation_screenshot.png == SCREENS[0].png


def test_a_repeated_write_doubles_nothing(filled: Warehouse) -> None:
    before = filled.query("SELECT count(*) FROM trajectory_steps").scalar()

    filled.write(records())

    assert filled.count(Task) == 1
    assert filled.query("SELECT count(*) FROM trajectory_steps").scalar() == before
    assert filled.query("SELECT count(*) = count(DISTINCT text_id) FROM file_texts").scalar() is True


def test_replace_exchanges_the_stored_row(filled: Warehouse) -> None:
    run = next(filled.read(RunRecord))

    filled.write([run.model_copy(update={"status": "completed"})], replace=True)

    assert [item.status for item in filled.read(RunRecord)] == ["completed"]


def test_replacing_a_trajectory_replaces_its_steps(filled: Warehouse) -> None:
    shorter = trajectory(steps=trajectory().steps[:2])

    filled.write([shorter], replace=True)

    assert next(filled.read(Trajectory, "trajectory_id = ?", ["trajectory-1"], pictures=True)) == shorter


def test_a_commit_covers_all_tables_or_none(filled: Warehouse) -> None:
    task = next(filled.read(Task)).model_copy(update={"task_id": "task-2", "order_count": 10**60})

    with pytest.raises(RowInvalidError, match="tasks"):
        filled.write([Intent(intent_id="intent-2", text="x", subtask_ids=()), task])

    assert filled.count(Intent) == 1


def test_more_orders_than_64_bits_can_count_are_kept(filled: Warehouse) -> None:
    task = next(filled.read(Task)).model_copy(update={"task_id": "task-2", "order_count": 10**30 + 1})

    filled.write([task])

    assert next(filled.read(Task, "task_id = 'task-2'")).order_count == 10**30 + 1


def test_a_record_without_a_table_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(RowInvalidError, match="TaskGraph"):
        warehouse.write([TaskGraph(nodes=())])


def test_an_empty_id_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(RowInvalidError, match="intent_id"):
        warehouse.write([Intent(intent_id="", text="x", subtask_ids=())])


def test_records_are_selected_by_a_condition_with_parameters(sampled: Warehouse) -> None:
    found = list(sampled.read(Trajectory, "subtask_id = $name", {"name": "sheets.chart"}))

    assert [item.trajectory_id for item in found] == ["trajectory-2"]


def test_a_condition_cannot_smuggle_another_statement(filled: Warehouse) -> None:
    with pytest.raises((QueryRefusedError, QueryFailedError)):
        list(filled.read(Task, "true); DELETE FROM tasks; SELECT (1"))

    assert filled.count(Task) == 1


def test_a_version_keeps_its_state_while_the_pool_grows(filled: Warehouse, tmp_path: Path) -> None:
    first = filled.publish(description="first", settings={"size": 1})
    filled.write([Intent(intent_id="late", text="x", subtask_ids=())])
    second = filled.publish()
    filled.compact()

    with Warehouse(tmp_path / "warehouse", version="v1") as old:
        assert old.count(Intent) == 1
        with pytest.raises(WarehouseUnavailableError):
            old.write([Intent(intent_id="x", text="x", subtask_ids=())])
    assert (first.name, second.name, second.parent) == ("v1", "v2", "v1")
    assert first.counts["intents"] == 1
    assert second.counts["intents"] == 2
    assert filled.versions() == [first, second]


def test_a_version_name_is_taken_once(filled: Warehouse) -> None:
    filled.publish("release")

    with pytest.raises(VersionError, match="already published"):
        filled.publish("release")


def test_an_unknown_version_names_the_published_ones(filled: Warehouse, tmp_path: Path) -> None:
    filled.publish("release")

    with pytest.raises(VersionError, match="release"):
        Warehouse(tmp_path / "warehouse", version="relaese")


def test_reading_a_place_without_warehouse_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(WarehouseUnavailableError, match="no warehouse"):
        Warehouse(tmp_path / "nowhere", read_only=True)

    assert not (tmp_path / "nowhere").exists()


def test_a_warehouse_can_be_moved(filled: Warehouse, tmp_path: Path) -> None:
    filled.close()
    os.rename(tmp_path / "warehouse", tmp_path / "moved")

    with Warehouse(tmp_path / "moved", read_only=True) as moved:
        assert list(moved.read(Task)) == [item for item in records() if isinstance(item, Task)]


def test_a_damaged_picture_is_noticed(filled: Warehouse) -> None:
    Path(filled.screenshots.path(SCREENS[0].sha256)).write_bytes(b"torn")

    with pytest.raises(ScreenshotMissingError, match="damaged"):
        list(filled.read(Trajectory, pictures=True))
