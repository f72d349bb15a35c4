"""Tags, retention, and what is left over by processes that died."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import clean, tag


def _second(task: Task, name: str) -> Task:
    return task.model_copy(update={"task_id": name})


def test_a_tag_names_a_version_and_can_be_moved(published: Warehouse) -> None:
    (task,) = published.read(Task)
    published.write([_second(task, "task-2")])
    published.publish("v2")

    tag(published, "stable", "v1")
    with published.reopened("stable") as first:
        assert first.count(Task) == 1
    tag(published, "stable", "v2")
    with published.reopened("stable") as second:
        assert second.count(Task) == 2


def test_a_tag_of_nothing_or_with_a_taken_name_is_refused(published: Warehouse) -> None:
    for name, version in (("stable", "v9"), ("v1", "v1")):
        with pytest.raises(VersionError):
            tag(published, name, version)


def test_files_of_a_commit_that_never_ended_are_removed(filled: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "warehouse" / "data" / "main" / "tasks"
    (left,) = [folder / "ducklake-left-over.parquet"]
    left.write_bytes(b"PAR1")
    stored = {path for path in folder.rglob("*.parquet") if path != left}

    assert [Path(name).name for name in clean(filled, dry_run=True).orphan_files] == [left.name]
    assert left.exists()
    clean(filled)

    assert not left.exists()
    assert all(path.exists() for path in stored)
    assert filled.count(Task) == 1


@pytest.mark.slow
def test_old_versions_go_and_what_stays_can_be_read(filled: Warehouse) -> None:
    (task,) = filled.read(Task)
    for number in range(1, 5):
        filled.write([_second(task, f"task-v{number}")])
        filled.publish(f"v{number}")
    tag(filled, "paper", "v1")

    cleaning = clean(filled, keep=1, hours=0)

    assert cleaning.versions == ("v2", "v3")
    assert cleaning.states > 0
    assert [version.name for version in filled.versions()] == ["v1", "v4"]
    for name, count in (("paper", 2), ("v4", 5)):
        with filled.reopened(name) as version:
            assert version.count(Task) == count
    with pytest.raises(VersionError, match="v2"):
        filled.reopened("v2")
