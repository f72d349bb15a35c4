"""Screenshots beside the tables, each stored once under the hash of its bytes.

Pictures are kept as the PNG bytes that the environment made: their SHA-256 is the key that records, prompts and ledger
share, and re-encoding would break it. A picture is written aside and moved, so a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from warehouse.errors import ScreenshotMissing, WarehouseUnavailable


class ScreenshotFolder:
    """Pictures in a local folder, in 256 subfolders by the first two digits of the hash."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when the first picture is written."""
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Where the picture of a hash is, or would be.

        Raises:
            ScreenshotMissing: `sha256` is no SHA-256 in hexadecimal, so it could name a file elsewhere.
        """
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise ScreenshotMissing(f"{sha256!r} is not a SHA-256 in hexadecimal.")
        return self.folder / sha256[:2] / f"{sha256}.png"

    def write(self, sha256: str, png: bytes) -> None:
        """Store a picture; does nothing where it is stored already.

        Raises:
            WarehouseUnavailable: the hash is not that of the bytes, or the folder cannot be written.
        """
        target = self.path(sha256)
        if target.exists():
            return
        if hashlib.sha256(png).hexdigest() != sha256:
            raise WarehouseUnavailable(f"The picture given as {sha256} has other bytes; it was not stored.")
        aside = target.parent / f".{uuid.uuid4().hex}.part"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(png)
            aside.replace(target)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise WarehouseUnavailable(
                f"The picture {sha256} cannot be stored in {self.folder}: {error.strerror}"
            ) from None

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture.

        Raises:
            ScreenshotMissing: nothing is stored under the hash, or what is stored is damaged.
        """
        try:
            png = self.path(sha256).read_bytes()
        except OSError:
            raise ScreenshotMissing(f"No screenshot {sha256} in {self.folder}.") from None
        if hashlib.sha256(png).hexdigest() != sha256:
            raise ScreenshotMissing(f"The screenshot {sha256} in {self.folder} is damaged.")
        return png
