from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from taskloom.warehouse.errors import WarehouseUnavailableError
from taskloom.warehouse.storage import extensions
from taskloom.warehouse.storage.locations import parse_location, reason_of, storage_access, without_secrets


def test_a_path_is_a_local_folder(tmp_path: Path) -> None:
    location = parse_location(tmp_path / "w")

    assert location.folder == tmp_path / "w"
    assert location.catalogue == f"sqlite:{tmp_path}/w/catalog.sqlite"


def test_a_postgres_address_says_where_catalogue_and_data_are() -> None:
    location = parse_location("postgresql://l%27oom@host:6543/d%20b?data=s3://bucket/a/b/&sslmode=require")

    assert location.catalogue == (
        "postgres:host='host' port='6543' dbname='d b' user='l\\'oom' sslmode='require'"
    )
    assert (location.tables, location.screenshots) == (
        "s3://bucket/a/b/data/",
        "s3://bucket/a/b/screenshots/",
    )
    assert location.folder is None and location.data_folder is None
    assert location.label == "postgresql://host:6543/d b?data=s3://bucket/a/b"


def test_data_of_a_postgres_catalogue_may_lie_in_a_folder() -> None:
    assert parse_location("postgres://host/db?data=/mnt/shared").data_folder == Path("/mnt/shared")


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me:hunter2@host/db",
        "s3://bucket/x",
        "postgresql://host/db",
        "postgresql://host/db?data=",
        "postgresql://host/db?data=gs://bucket",
        "postgresql://host/db?data=s3://",
        "postgresql://host/db?data=s3://bucket/a'b",
        "postgresql://host/db?data=relative",
        "postgresql://host?data=s3://bucket",
        "postgresql:///db?data=s3://bucket",
        "postgresql://host:port/db?data=s3://bucket",
        "postgresql://host/db?data=s3://bucket&password=hunter2",
        "postgresql://host/db?data=s3://bucket&colour=red",
        "postgresql://me:hunter2@host/db?data=s3://bucket/prefix",
        "postgresql://me:hunter2@host:port/db",
    ],
)
def test_other_addresses_are_refused_with_the_form_and_without_password(address: str) -> None:
    with pytest.raises(
        WarehouseUnavailableError, match=r"postgresql://user@host:5432/database\?data=s3://"
    ) as caught:
        parse_location(address)

    assert "hunter2" not in str(caught.value)


def test_a_missing_extension_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extensions, "find_spec", lambda name: None)
    connection = duckdb.connect(":memory:", config={"extension_directory": str(tmp_path)})

    with pytest.raises(WarehouseUnavailableError, match=r"pip install 'taskloom\[remote-warehouse\]'"):
        extensions.load(connection, "httpfs")


def test_access_to_storage_comes_from_the_environment_and_is_not_shown() -> None:
    access = storage_access(
        {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "a-secret",
            "AWS_SESSION_TOKEN": "a-token",
            "AWS_DEFAULT_REGION": "eu-1",
            "AWS_ENDPOINT_URL": "https://elsewhere",
            "AWS_ENDPOINT_URL_S3": "http://host:9000/",
        }
    )

    assert (access.secret, access.token) == ("a-secret", "a-token")
    assert (access.region, access.endpoint, access.encrypted) == ("eu-1", "host:9000", False)
    assert "a-secret" not in repr(access) and "a-token" not in repr(access)


def test_messages_of_other_programs_lose_secrets_and_further_lines() -> None:
    environment = {"PGPASSWORD": "hunter2", "AWS_SECRET_ACCESS_KEY": "x"}

    assert without_secrets("exit hunter2", environment) == "exit ***"
    assert reason_of(OSError('Unable to connect to Postgres at "host=a": no\nmore')) == "no"
