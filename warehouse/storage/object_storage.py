"""Storage of pictures, in a folder or in S3-compatible storage, and DuckDB's access to the latter."""

import hashlib
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Final

import duckdb
from pyarrow.fs import FileSystem, FileType, LocalFileSystem, S3FileSystem

from taskloom.warehouse.errors import ScreenshotMissingError, WarehouseUnavailableError
from taskloom.warehouse.storage.extensions import quoted
from taskloom.warehouse.storage.locations import reason_of, storage_access

_PARALLEL_WRITES: Final = 8
_CONNECT_SECONDS: Final = 10.0
_BUCKET: Final = "s3://"
_READ_FROM_ENVIRONMENT: Final = (
    "s3_access_key_id",
    "s3_secret_access_key",
    "s3_session_token",
    "s3_endpoint",
    "s3_region",
)


def give_access(connection: duckdb.DuckDBPyConnection, prefix: str) -> None:
    """Give a connection access to the objects below `prefix` only; refused if the environment lacks the
    keys.

    Settings that DuckDB filled from the environment are cleared, because any query could read them.
    """
    access = storage_access()
    for name in _READ_FROM_ENVIRONMENT:
        connection.execute(f"SET {name} = ''")
    fields = {
        "KEY_ID": access.key,
        "SECRET": access.secret,
        "REGION": access.region,
        **({"SESSION_TOKEN": access.token} if access.token else {}),
        **({"ENDPOINT": access.endpoint, "URL_STYLE": "path"} if access.endpoint else {}),
        "SCOPE": prefix,
    }
    options = ", ".join(f"{name} '{quoted(value)}'" for name, value in fields.items())
    try:
        connection.execute(
            f"CREATE SECRET object_storage (TYPE s3, {options}, USE_SSL {str(access.encrypted).lower()})"
        )
    except duckdb.Error as error:
        raise WarehouseUnavailableError(
            f"The access to object storage cannot be set up: {reason_of(error)}"
        ) from None


class Screenshots:
    """Pictures by hash, in a folder or a bucket; each is complete or absent. Thread-safe."""

    def __init__(self, place: str) -> None:
        """Use `place`: a folder, or `s3://` with bucket and path; either with a final slash."""
        self.place = place

    def write_all(self, pictures: Mapping[str, bytes]) -> None:
        """Store pictures by hash; those that are already stored are kept."""
        if self.place.startswith(_BUCKET) and pictures:
            with ThreadPoolExecutor(min(_PARALLEL_WRITES, len(pictures))) as pool:
                list(pool.map(self._write, pictures, pictures.values()))
        else:
            for sha256, png in pictures.items():
                self._write(sha256, png)

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture; `ScreenshotMissingError` if nothing is stored, or what is stored is
        damaged."""
        png = self.head(sha256, None)
        if hashlib.sha256(png).hexdigest() != sha256:
            raise ScreenshotMissingError(f"The screenshot {sha256} in {self.place} is damaged.")
        return png

    def head(self, sha256: str, size: int | None) -> bytes:
        """The first `size` bytes of a picture, unchecked; `ScreenshotMissingError` if it is not stored."""
        try:
            with self._storage.open_input_file(self.path(sha256)) as stream:
                return bytes(stream.read(size))
        except FileNotFoundError:
            raise ScreenshotMissingError(f"No screenshot {sha256} in {self.place}.") from None
        except OSError as error:
            raise WarehouseUnavailableError(
                f"The screenshots in {self.place} cannot be read: {reason_of(error)}"
            ) from None

    def path(self, sha256: str) -> str:
        """Where the picture of a hash is, or would be; `ScreenshotMissingError` for anything but a
        SHA-256 in hexadecimal, which could name a file outside."""
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ScreenshotMissingError(f"{sha256!r} is not a SHA-256 in hexadecimal.")
        return f"{self.place.removeprefix(_BUCKET)}{sha256[:2]}/{sha256}.png"

    @cached_property
    def _storage(self) -> FileSystem:
        if not self.place.startswith(_BUCKET):
            return LocalFileSystem()
        access = storage_access()
        return S3FileSystem(
            access_key=access.key,
            secret_key=access.secret,
            session_token=access.token or None,
            region=access.region,
            endpoint_override=access.endpoint or None,
            scheme="https" if access.encrypted else "http",
            connect_timeout=_CONNECT_SECONDS,
            allow_delayed_open=True,
        )

    def _write(self, sha256: str, png: bytes) -> None:
        path, storage = self.path(sha256), self._storage
        # A bucket shows only complete objects; in a folder a file is written aside and then moved.
        target = path if self.place.startswith(_BUCKET) else f"{path}.{uuid.uuid4().hex}.part"
        try:
            if storage.get_file_info(path).type != FileType.NotFound:
                return
            if hashlib.sha256(png).hexdigest() != sha256:
                raise WarehouseUnavailableError(
                    f"The picture given as {sha256} has other bytes; it was not stored."
                )
            if target != path:
                storage.create_dir(path.rpartition("/")[0])
            with storage.open_output_stream(target, metadata={"Content-Type": "image/png"}) as stream:
                stream.write(png)
            if target != path:
                storage.move(target, path)
        except OSError as error:
            if target != path:  # in a bucket, the object may be complete and another writer's
                with suppress(OSError):
                    storage.delete_file(target)
            raise WarehouseUnavailableError(
                f"The picture {sha256} cannot be stored in {self.place}: {reason_of(error)}"
            ) from None
