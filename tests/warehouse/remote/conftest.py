from __future__ import annotations

import itertools
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem, copy_files

from taskloom.warehouse.store import Warehouse
from tests.warehouse.remote.services import PASSWORD, Postgres, ServiceMissingError, postgres
from tests.warehouse.samples import records

KEY, SECRET = "AKIATESTKEY", "a-storage-secret-for-tests"
BUCKET = "taskloom-tests"
Places = Callable[[], str]


@pytest.fixture(scope="package")
def server() -> Iterator[Postgres]:
    for wheel in ("postgres_scanner", "httpfs"):
        pytest.importorskip(f"duckdb_extension_{wheel}", reason="the extra remote-warehouse is not installed")
    # A short folder that the server's own account may enter, which pytest's temporary folders are not.
    folder = Path(tempfile.mkdtemp(prefix="taskloom-postgres-"))
    folder.chmod(0o755)
    try:
        with postgres(folder / "server") as running:
            yield running
    except ServiceMissingError as missing:
        pytest.skip(str(missing))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def storage() -> Iterator[S3FileSystem]:
    """An S3-compatible server with one bucket, and the environment that names it."""
    moto = pytest.importorskip("moto.server", reason="moto's server is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    _, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("PGPASSWORD", PASSWORD)
        client = S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{port}",
            allow_bucket_creation=True,
        )
        client.create_dir(BUCKET)
        yield client
    running.stop()


@pytest.fixture(scope="package")
def empty_place(server: Postgres, storage: S3FileSystem) -> str:
    """A remote warehouse without records, to be copied only."""
    place = f"{server.create_database('empty')}?data=s3://{BUCKET}/empty"
    Warehouse(place).close()
    return place


@pytest.fixture(scope="package")
def new_place(server: Postgres, storage: S3FileSystem, empty_place: str) -> Places:
    """Makes copies of an empty remote warehouse, which is quicker than making new ones."""
    numbers = itertools.count()

    def place() -> str:
        name = f"lake{next(numbers)}"
        copy_files(
            f"{BUCKET}/empty", f"{BUCKET}/{name}", source_filesystem=storage, destination_filesystem=storage
        )
        return f"{server.create_database(name, template='empty')}?data=s3://{BUCKET}/{name}"

    return place


@pytest.fixture(scope="package")
def filled_place(new_place: Places) -> str:
    """A remote warehouse with the sample records and the version `first`, to be read only."""
    place = new_place()
    with Warehouse(place) as opened:
        opened.write(records())
        opened.publish("first")
    return place


@pytest.fixture(scope="package")
def remote(filled_place: str) -> Iterator[Warehouse]:
    with Warehouse(filled_place, read_only=True) as opened:
        yield opened
