"""Other versions beside the one the viewer was opened at, old ones included, and rows that are no whole
records."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from benchmarks.task_columns import write_task_columns
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.sample_parts import bare_tasks
from tests.warehouse.viewer.conftest import client_of

STORED = Path(__file__).parents[1] / "stored"


@pytest.fixture(scope="module")
def place(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("versions") / "warehouse"
    shutil.copytree(filled_template, folder)
    with Warehouse(folder) as opened:
        opened.publish("v1")
        write_task_columns(opened, [bare_tasks("bare", "odd/id?")])
        opened.publish("v2")
        sample = next(opened.read(Task, "task_id = 'task-1'"))
        opened.write([sample.model_copy(update={"task_id": "empty", "graph": TaskGraph(nodes=())})])
    return folder


@pytest.fixture(scope="module")
def present(place: Path) -> Iterator[TestClient]:
    with Warehouse(place, read_only=True) as opened:
        yield client_of(opened)


def rows(client: TestClient, path: str) -> int:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.text.count("<li data-row>")


def test_every_version_has_pages_of_its_own(present: TestClient) -> None:
    assert [rows(present, path) for path in ("/at/v1/tasks", "/at/v2/tasks", "/tasks")] == [1, 3, 4]


def test_links_stay_within_a_version(present: TestClient) -> None:
    text = present.get("/at/v1/tasks").text

    assert 'href="/at/v1/tasks/task-1"' in text and 'action="/at/v1/tasks"' in text
    assert 'href="/tasks/' not in text
    for path in (
        "/",
        "/complexity",
        "/subtasks",
        "/costs",
        "/sql",
        "/tasks/task-1",
        "/subtasks/notes.create",
    ):
        assert present.get(f"/at/v1{path}").status_code == 200


def test_all_versions_and_the_present_state_can_be_chosen(present: TestClient, place: Path) -> None:
    text = present.get("/tasks").text
    for link in ('href="/tasks" aria-current', 'href="/at/v1/tasks"', 'href="/at/v2/tasks"'):
        assert link in text

    with Warehouse(place, version="v1") as opened:
        old = client_of(opened)
        assert rows(old, "/tasks") == 1
        assert 'href="/at/-/tasks"' in old.get("/tasks").text
        assert rows(old, "/at/-/tasks") == 4
        assert rows(old, "/at/v2/tasks") == 3
        assert old.get("/play", follow_redirects=False).headers["location"] == "/at/-/play"
        assert "No attempt waits" in old.get("/at/-/play").text


@pytest.mark.parametrize("path", ["/at/v9/tasks", "/at/", "/at/..%2f..%2fetc/", "/at/v1'%20OR%201=1/tasks"])
def test_an_unknown_version_is_no_address(present: TestClient, path: str) -> None:
    assert present.get(path).status_code == 404


def test_a_version_is_shown_to_this_machine_alone(present: TestClient) -> None:
    assert present.get("/at/v1/tasks", headers={"host": "evil.example"}).status_code == 403
    assert "default-src 'none'" in present.get("/at/v1/tasks").headers["content-security-policy"]


def test_a_task_without_subtasks_has_a_page(present: TestClient) -> None:
    assert present.get("/tasks/empty").status_code == 200


@pytest.mark.parametrize("name", ["osworld", "crab", "omnibench"])
def test_every_imported_task_has_a_page(name: str, tmp_path: Path, warehouse: Warehouse) -> None:
    run_import(warehouse, name, getattr(foreign, name)(tmp_path / "in"), skip_broken=True)
    client = client_of(warehouse)

    for task in warehouse.read(Task):
        assert client.get(f"/tasks/{task.task_id.replace('/', '%2F')}").status_code == 200, task.task_id


@pytest.mark.slow
@pytest.mark.parametrize("sample", sorted(STORED.glob("schema_*.zip")), ids=lambda path: path.stem)
def test_versions_of_earlier_schemas_are_shown(tmp_path: Path, sample: Path) -> None:
    with zipfile.ZipFile(sample) as packed:
        packed.extractall(tmp_path / "old")

    with Warehouse(tmp_path / "old") as opened:
        client = client_of(opened)
        for at in ("", "/at/first"):
            for path in ("/", "/complexity", "/tasks/task-1", "/subtasks", "/costs"):
                assert client.get(at + path).status_code == 200, at + path
            assert rows(client, f"{at}/tasks?application=sheets") == 1
            assert rows(client, f"{at}/tasks?application=nowhere") == 0


@pytest.mark.slow
def test_two_versions_stand_side_by_side(filled: Warehouse) -> None:
    (task,) = filled.read(Task)
    filled.write([task.model_copy(update={"task_id": "gone"})])
    filled.publish("v1")
    filled.change(lambda connection: connection.execute("DELETE FROM tasks WHERE task_id = 'gone'"))
    filled.write(
        [
            task.model_copy(update={"instruction": "Said in other words"}),
            task.model_copy(update={"task_id": "new"}),
        ],
        replace=True,
    )
    filled.publish("v2")
    filled.close()
    with Warehouse(filled.address, read_only=True, version="v1") as store:
        answer = client_of(store).get("/compare?first=v1&second=v2", follow_redirects=False)
    assert answer.headers["location"] == "/at/-/compare?first=v1&second=v2"
    with Warehouse(filled.address, read_only=True) as store:
        pages = client_of(store)
        text = pages.get("/compare?first=v1&second=v2").text
        assert "/at/v1/tasks/gone" in text and "/at/v2/tasks/new" in text
        assert "/at/v1/tasks/new" not in text
        assert "Said in other words" in text and task.instruction[:10] in text
        assert "No common task" in pages.get("/compare?first=v2&second=v2").text
        assert pages.get("/compare?first=v1&second=v9").status_code == 404
        assert 'name="second"' in pages.get("/").text
