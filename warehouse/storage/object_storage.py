"""S3-compatible object storage: access for DuckDB, and the pictures stored there."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

import duckdb
from pyarrow.fs import FileType, S3FileSystem

from taskloom.warehouse.errors import ScreenshotMissingError, WarehouseUnavailableError
from taskloom.warehouse.storage.extensions import quoted
from taskloom.warehouse.storage.locations import Location
from taskloom.warehouse.storage.storage_access import reason_of, storage_access

_AT_ONCE: Final = 8
"""Pictures written at the same time."""
_CONNECT_SECONDS: Final = 10.0
_READ_FROM_ENVIRONMENT: Final = (
    "s3_access_key_id",
    "s3_secret_access_key",
    "s3_session_token",
    "s3_endpoint",
    "s3_region",
)


def give_access(connection: duckdb.DuckDBPyConnection, prefix: str) -> None:
    """Give a connection access to the objects below `prefix` only.

    DuckDB shows a secret's key redacted. What it read from the environment into its settings, which any query
    could read, is emptied.

    Raises:
        WarehouseUnavailableError: the environment lacks the keys.
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
    given = ", ".join(f"{name} '{quoted(value)}'" for name, value in fields.items())
    try:
        connection.execute(
            f"CREATE SECRET object_storage (TYPE s3, {given}, USE_SSL {str(access.encrypted).lower()})"
        )
    except duckdb.Error as error:
        raise WarehouseUnavailableError(
            f"The access to object storage cannot be set up: {reason_of(error)}"
        ) from None


def open_screenshots(location: Location) -> Screenshots:
    """The pictures of a warehouse, wherever they are."""
    if location.data_folder is not None:
        return ScreenshotFolder(Path(location.screenshots))
    return ScreenshotBucket(location.screenshots.removeprefix("s3://"))


class ScreenshotBucket:
    """Pictures in a bucket. An object appears whole or not at all."""

    def __init__(self, prefix: str) -> None:
        """Use `prefix`: bucket and path, with a final slash."""
        self.prefix = prefix

    def write_all(self, pictures: Mapping[str, bytes]) -> None:
        """Store pictures by hash; those that are stored already are left as they are.

        Raises:
            WarehouseUnavailableError: a hash is not that of its bytes, or the storage cannot be written.
        """
        for sha256, png in pictures.items():
            check_hash(sha256, png)
        if not pictures:
            return
        with ThreadPoolExecutor(min(_AT_ONCE, len(pictures))) as several:
            list(several.map(lambda item: self._write(*item), pictures.items()))

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash, or what is stored is damaged.
        """
        png = self._read(sha256, None)
        if hashlib.sha256(png).hexdigest() != sha256:
            raise ScreenshotMissingError(f"The screenshot {sha256} in s3://{self.prefix} is damaged.")
        return png

    def head(self, sha256: str, size: int) -> bytes:
        """The first `size` bytes of a picture, unchecked.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash.
        """
        return self._read(sha256, size)

    @cached_property
    def _storage(self) -> S3FileSystem:
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
        place = self.prefix + file_name(sha256)
        try:
            if self._storage.get_file_info(place).type == FileType.NotFound:
                with self._storage.open_output_stream(
                    place, metadata={"Content-Type": "image/png"}
                ) as stream:
                    stream.write(png)
        except OSError as error:
            raise WarehouseUnavailableError(
                f"The picture {sha256} cannot be stored in s3://{self.prefix}: {reason_of(error)}"
            ) from None

    def _read(self, sha256: str, size: int | None) -> bytes:
        place = self.prefix + file_name(sha256)
        try:
            with self._storage.open_input_file(place) as stream:
                return bytes(stream.read(size))
        except FileNotFoundError:
            raise ScreenshotMissingError(f"No screenshot {sha256} in s3://{self.prefix}.") from None
        except OSError as error:
            raise WarehouseUnavailableError(
                f"The screenshots in s3://{self.prefix} cannot be read: {reason_of(error)}"
            ) from None


class Screenshots(Protocol):
    """Stores pictures by the hash of their bytes; thread-safe."""

    def write_all(self, pictures: Mapping[str, bytes]) -> None:
        """Store pictures by hash; those that are stored already are left as they are.

        Raises:
            WarehouseUnavailableError: a hash is not that of its bytes, or the place cannot be written.
        """

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash, or what is stored is damaged.
        """

    def head(self, sha256: str, size: int) -> bytes:
        """The first `size` bytes of a picture, unchecked.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash.
        """


def file_name(sha256: str) -> str:
    """Where the picture of a hash lies below its folder: 256 subfolders by the first two digits.

    Raises:
        ScreenshotMissingError: `sha256` is no SHA-256 in hexadecimal, so it could name a file elsewhere.
    """
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ScreenshotMissingError(f"{sha256!r} is not a SHA-256 in hexadecimal.")
    return f"{sha256[:2]}/{sha256}.png"


def check_hash(sha256: str, png: bytes) -> None:
    """Refuse bytes whose hash differs.

    Raises:
        WarehouseUnavailableError: the hash is not that of the bytes.
    """
    if hashlib.sha256(png).hexdigest() != sha256:
        raise WarehouseUnavailableError(f"The picture given as {sha256} has other bytes; it was not stored.")


class ScreenshotFolder:
    """Pictures in a folder. Each is written to a temporary file, then moved."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is created with the first picture."""
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Where the picture of a hash is, or would be.

        Raises:
            ScreenshotMissingError: `sha256` is no SHA-256 in hexadecimal.
        """
        return self.folder / file_name(sha256)

    def write_all(self, pictures: Mapping[str, bytes]) -> None:
        """Store pictures by hash; those that are stored already are left as they are.

        Raises:
            WarehouseUnavailableError: a hash is not that of its bytes, or the folder cannot be written.
        """
        for sha256, png in pictures.items():
            self._write(sha256, png)

    def _write(self, sha256: str, png: bytes) -> None:
        target = self.path(sha256)
        if target.exists():
            return
        check_hash(sha256, png)
        aside = target.parent / f".{uuid.uuid4().hex}.part"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(png)
            aside.replace(target)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise WarehouseUnavailableError(
                f"The picture {sha256} cannot be stored in {self.folder}: {error.strerror}"
            ) from None

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash, or what is stored is damaged.
        """
        try:
            png = self.path(sha256).read_bytes()
        except OSError:
            raise ScreenshotMissingError(f"No screenshot {sha256} in {self.folder}.") from None
        if hashlib.sha256(png).hexdigest() != sha256:
            raise ScreenshotMissingError(f"The screenshot {sha256} in {self.folder} is damaged.")
        return png

    def head(self, sha256: str, size: int) -> bytes:
        """The first `size` bytes of a picture, unchecked.

        Raises:
            ScreenshotMissingError: nothing is stored under the hash.
        """
        try:
            with self.path(sha256).open("rb") as file:
                return file.read(size)
        except OSError:
            raise ScreenshotMissingError(f"No screenshot {sha256} in {self.folder}.") from None
