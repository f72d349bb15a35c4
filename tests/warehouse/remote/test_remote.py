"""A Postgres catalogue with object storage does what a local folder does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from fastapi.testclient import TestClient
from pyarrow.fs import FileSelector, S3FileSystem
from typer.testing import CliRunner

from benchmarks.warehouse_kills import run as run_kills
from taskloom.cli.main import create_app
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Intent, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import (
    QueryFailedError,
    QueryRefusedError,
    ScreenshotMissingError,
    VersionError,
    WarehouseError,
    WarehouseUnavailableError,
)
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.records import DatasetVersion
from taskloom.warehouse.schema import SCHEMA_VERSION, TABLE_OF_RECORD
from taskloom.warehouse.storage import database, extensions, object_storage
from taskloom.warehouse.storage.locations import parse_location
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.server import create_application
from tests.limits import LONGEST_SECONDS
from tests.warehouse.remote.conftest import BUCKET, KEY, SECRET, Places
from tests.warehouse.remote.services import PASSWORD, Postgres
from tests.warehouse.sample_parts import SCREENS
from tests.warehouse.samples import records
from tests.warehouse.test_guard import LEAVING

pytestmark = pytest.mark.slow

KINDS = (Trajectory, Task)
"""Records with pictures, and with everything that is nested; local tests read all kinds."""


def database_of(place: str) -> str:
    return place.split("?")[0].rsplit("/", 1)[1]


def objects(storage: S3FileSystem, place: str) -> list[str]:
    found = storage.get_file_info(FileSelector(f"{BUCKET}/{database_of(place)}", recursive=True))
    return [item.path for item in found if item.is_file]


def intents(prefix: str, count: int = 20) -> list[Record]:
    return [Intent(intent_id=f"{prefix}-{number}", text="x", subtask_ids=()) for number in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_records_read_back_equal_the_ones_written(remote: Warehouse, kind: type[Record]) -> None:
    key = TABLE_OF_RECORD[kind].key
    written = [item for item in records() if type(item) is kind]
    found = list(remote.read(kind, pictures=True))

    assert len(found) == len(written)
    if all(name in kind.model_fields for name in key):
        order = {tuple(getattr(item, name) for name in key): item for item in written}
        assert [order[tuple(getattr(item, name) for name in key)] for item in found] == found


def test_pictures_lie_in_the_bucket_each_once_under_its_hash(
    remote: Warehouse, storage: S3FileSystem, filled_place: str
) -> None:
    pictures = [name for name in objects(storage, filled_place) if name.endswith(".png")]

    assert sorted(Path(name).stem for name in pictures) == sorted(screen.sha256 for screen in SCREENS)
    assert remote.screenshots.read(SCREENS[0].sha256) == SCREENS[0].png
    assert remote.screenshots.head(SCREENS[0].sha256, 8) == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ScreenshotMissingError):
        remote.screenshots.read("0" * 64)
    with pytest.raises(ScreenshotMissingError):
        remote.screenshots.read("../../secret")


def test_a_picture_with_another_hash_is_never_stored(remote: Warehouse, storage: S3FileSystem) -> None:
    with pytest.raises(WarehouseUnavailableError, match="other bytes"):
        remote.screenshots.write_all({"1" * 64: b"x"})
    with pytest.raises(ScreenshotMissingError):
        remote.screenshots.head("1" * 64, 1)


def test_versions_stay_while_the_pool_grows_and_files_are_merged(
    new_place: Places, storage: S3FileSystem
) -> None:
    place = new_place()
    with Warehouse(place) as opened:
        opened.write(intents("a"))
        opened.publish("v1")
        for part in range(4):
            opened.write(intents(f"b{part}"))
        before = sum("/intents/" in name for name in objects(storage, place))
        opened.publish("v2")
        with pytest.raises(VersionError):
            opened.publish("v1")
        merged = opened.query("SELECT count(*) FROM intents").scalar()

    with Warehouse(place, version="v1") as first, Warehouse(place, version="v2") as second:
        assert (first.count(Intent), second.count(Intent), merged) == (20, 100, 100)
    assert before == 5


@pytest.mark.parametrize("sql", LEAVING)
def test_a_query_cannot_leave_the_warehouse(remote: Warehouse, sql: str) -> None:
    with pytest.raises((QueryRefusedError, QueryFailedError)):
        remote.query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO taskloom.intents (intent_id) VALUES ('x')",
        "CALL postgres_execute('__ducklake_metadata_taskloom', 'DROP TABLE ducklake_table')",
        f"SELECT * FROM read_blob('s3://{BUCKET}/elsewhere.txt')",
        f"COPY (SELECT 1 AS a) TO 's3://{BUCKET}/elsewhere.csv'",
        "ATTACH 'host=127.0.0.1' AS other (TYPE postgres)",
        "SET enable_external_access = true",
    ],
)
def test_the_connection_that_asks_is_closed_without_the_guard_too(
    remote: Warehouse, storage: S3FileSystem, filled_place: str, sql: str
) -> None:
    with storage.open_output_stream(f"{BUCKET}/elsewhere.txt") as stream:
        stream.write(b"another's")
    connection = database.connect_reader(parse_location(filled_place))

    with pytest.raises(duckdb.Error):
        connection.execute(sql)

    assert not [name for name in objects(storage, filled_place) if "elsewhere" in name]


def test_no_secret_can_be_read_through_sql_or_the_connection(filled_place: str, remote: Warehouse) -> None:
    connection = database.connect_reader(parse_location(filled_place))
    seen = repr(connection.execute("FROM duckdb_settings()").fetchall())
    seen += repr(connection.execute("FROM duckdb_secrets()").fetchall())
    seen += repr(connection.execute("FROM duckdb_databases()").fetchall())

    assert SECRET not in seen and PASSWORD not in seen
    assert all(word not in repr(remote.location) for word in (SECRET, PASSWORD, KEY))


def test_no_secret_is_stored(server: Postgres, storage: S3FileSystem, filled_place: str) -> None:
    name = database_of(filled_place)
    tables = server.ask(name, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'").split()
    stored = "\n".join(server.ask(name, f"SELECT * FROM {table}") for table in tables).encode()
    for item in objects(storage, filled_place):
        stored += storage.open_input_file(item).read()

    assert tables
    assert SECRET.encode() not in stored and PASSWORD.encode() not in stored


def messages(place: str, monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    with monkeypatch.context() as patch, pytest.raises(WarehouseUnavailableError) as caught:
        for name, value in environment.items():
            patch.setenv(name, value)
        Warehouse(place)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_errors_name_the_place_and_no_secret(
    new_place: Places, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = new_place()
    port = re.search(r":(\d+)/", place)
    assert port
    cases = {
        "Connection refused": messages(place.replace(port[1], "1"), monkeypatch),
        "does not exist": messages(place.replace(database_of(place) + "?", "nowhere?"), monkeypatch),
        "http": messages(place, monkeypatch, AWS_ENDPOINT_URL="ftp://host"),
        "404": messages(f"{server.create_database('errors')}?data=s3://no-such-bucket/x", monkeypatch),
        "password authentication failed": messages(place, monkeypatch, PGPASSWORD="another-wrong-password"),
    }
    for part, message in cases.items():
        assert part.lower() in message.lower(), message
        for secret in (SECRET, PASSWORD, "another-wrong-password"):
            assert secret not in message


def test_missing_keys_are_named(filled_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(WarehouseUnavailableError, match="needs AWS_SECRET_ACCESS_KEY in the environment"):
        Warehouse(filled_place, read_only=True)


def test_reading_where_no_warehouse_is_makes_none(server: Postgres, storage: S3FileSystem) -> None:
    place = f"{server.create_database('bare')}?data=s3://{BUCKET}/bare"

    with pytest.raises(WarehouseUnavailableError, match="There is no warehouse at"):
        Warehouse(place, read_only=True)

    assert server.ask("bare", "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0"


def test_a_failed_commit_leaves_nothing(new_place: Places) -> None:
    def broken(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("INSERT INTO intents (intent_id) VALUES ('half')")
        raise WarehouseError("stop")

    with Warehouse(new_place()) as opened:
        with pytest.raises(WarehouseError, match="stop"):
            opened.change(broken)
        opened.write(intents("whole", 1))

        assert opened.count(Intent) == 1


def test_the_same_id_from_two_processes_is_stored_once(new_place: Places) -> None:
    place = new_place()
    Warehouse(place).close()
    code = (
        "import sys\n"
        "from tests.warehouse.remote.test_remote import intents\n"
        "from taskloom.warehouse.store import Warehouse\n"
        "with Warehouse(sys.argv[1]) as opened:\n"
        "    for part in range(4):\n"
        "        opened.write(intents(f'same{part}'))\n"
    )
    command = [sys.executable, "-c", code, place]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[3]) for _ in range(2)]

    assert [process.wait(timeout=LONGEST_SECONDS) for process in processes] == [0, 0]
    with Warehouse(place, read_only=True) as opened:
        assert opened.count(Intent) == 80


def test_killed_writers_lose_double_and_tear_nothing(new_place: Places, tmp_path: Path) -> None:
    found = run_kills(tmp_path, kills=2, writers=2, mean_life=0.3, location=new_place())

    assert int(str(found["batches"])) > 0
    for fault in ("lost", "doubled", "torn", "in_one_table_only", "torn_reads", "torn_versions"):
        assert found[fault] == 0, found


def test_data_may_lie_in_a_folder_that_all_writers_see(
    server: Postgres, storage: S3FileSystem, tmp_path: Path
) -> None:
    place = f"{server.create_database('shared')}?data={tmp_path}/shared"
    with Warehouse(place) as opened:
        opened.write(records())

    with Warehouse(place, read_only=True) as again:
        assert next(again.read(Trajectory, pictures=True)).steps[0].observation_screenshot.png
    assert len(list((tmp_path / "shared" / "screenshots").rglob("*.png"))) == len(SCREENS)


def test_commands_exports_and_pages_work_on_a_remote_warehouse(
    remote: Warehouse, filled_place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TASKLOOM_WAREHOUSE", filled_place)
    answer = CliRunner().invoke(
        create_app(), ["sql", "SELECT task_id FROM tasks", "--version", "first", "--json"]
    )
    export(remote, "omnibench", tmp_path / "out")
    pages = TestClient(create_application(remote), base_url="http://127.0.0.1")

    assert json.loads(answer.stdout) == [{"task_id": "task-1"}]
    assert len(list((tmp_path / "out" / "tasks").glob("*.json"))) == remote.count(Task)
    assert pages.get("/trajectories/trajectory-1").status_code == 200
    assert pages.get(f"/screenshots/{SCREENS[0].sha256}.png").content == SCREENS[0].png
    assert [version.name for version in remote.read(DatasetVersion)] == ["first"]


def test_the_documented_line_opens_the_same_data_in_plain_duckdb(empty_place: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / "remote-warehouse.md").read_text()
    block = re.search(r"```sql\n(.+?)```", text, re.S)
    assert block
    location = parse_location(empty_place)
    connection = duckdb.connect(":memory:")
    for name in ("ducklake", "postgres_scanner", "httpfs"):
        extensions.load(connection, name)
    object_storage.give_access(connection, location.data)
    attach = next(line for line in block[1].splitlines() if line.startswith("ATTACH"))
    attach = attach.replace(
        "host=db.example dbname=taskloom user=loom", location.connection.replace("'", "''")
    )

    connection.execute(attach)
    connection.execute("USE taskloom")

    assert connection.execute("SELECT version FROM warehouse_schema").fetchall() == [(SCHEMA_VERSION,)]
    assert connection.execute("SELECT * FROM funnel").fetchall()
