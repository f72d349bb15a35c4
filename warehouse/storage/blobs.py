"""Screenshots beside the tables, each stored once under the hash of its bytes.

Pictures are kept as the PNG bytes that the environment made: their SHA-256 is the key that records, prompts
and ledger share, and re-encoding would break it. A reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from taskloom.warehouse.errors import ScreenshotMissingError, WarehouseUnavailableError


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
