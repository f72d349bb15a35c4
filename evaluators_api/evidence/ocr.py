"""Reads the text in pictures for checks: lazily, and each picture once. Readings are kept in memory and, if a
folder is given, in files named by the hash of the picture, so recorded evidence needs no pictures."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol

from taskloom.environments.errors import PictureUnreadableError
from taskloom.environments.evidence.picture_text import TextPiece, read_picture
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.records.interaction import Screenshot

_TIMEOUT = 15.0
"""Maximum seconds per reading."""


class TextReader(Protocol):
    """Reads pictures."""

    def read(self, screenshot: Screenshot) -> tuple[str, ...]:
        """Read the picture: each piece between wide gaps, then each block as a whole.

        Raises:
            CheckUnavailableError: no OCR engine is installed, or the picture was not kept.
        """
        ...


class ScreenReader:
    """Reads pictures with whichever OCR engine is installed. Thread-safe."""

    def __init__(
        self, cache_folder: Path | None = None, *, pictures: Callable[[str], bytes] = lambda sha256: b""
    ) -> None:
        """Keep readings in `cache_folder`, or in memory only. `pictures` finds a picture by its hash if the
        evidence lacks it, and returns empty bytes if it has none."""
        self._cache_folder = cache_folder
        self._pictures = pictures
        self._readings: dict[str, tuple[str, ...]] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def read(self, screenshot: Screenshot) -> tuple[str, ...]:
        """See `TextReader.read`."""
        with self._lock:
            lock = self._locks.setdefault(screenshot.sha256, Lock())
        with lock:
            if screenshot.sha256 not in self._readings:
                known = self._stored_reading(screenshot.sha256)
                self._readings[screenshot.sha256] = self._read_png(screenshot) if known is None else known
            return self._readings[screenshot.sha256]

    def _read_png(self, screenshot: Screenshot) -> tuple[str, ...]:
        png = screenshot.png or self._pictures(screenshot.sha256)
        if not png:
            raise CheckUnavailableError(
                "The picture of the last screen was not kept with this evidence, so its text cannot be read;"
                " use check_text_exists_via_control."
            )
        try:
            pieces = read_picture(png, _TIMEOUT)
        except PictureUnreadableError as error:
            raise CheckUnavailableError(f"{error} Use check_text_exists_via_control.") from error
        reading = texts_of(pieces)
        if self._cache_folder is not None:
            self._cache_folder.mkdir(parents=True, exist_ok=True)
            file = self._cache_folder / f"{screenshot.sha256}.json"
            write_whole(file, json.dumps(reading, ensure_ascii=False))
        return reading

    def _stored_reading(self, sha256: str) -> tuple[str, ...] | None:
        if self._cache_folder is None:
            return None
        try:
            stored = json.loads((self._cache_folder / f"{sha256}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return tuple(str(text) for text in stored) if isinstance(stored, list) else None


def texts_of(pieces: Sequence[TextPiece]) -> tuple[str, ...]:
    """The pieces, then each block as a whole."""
    blocks: dict[str, list[str]] = {}
    for piece in pieces:
        blocks.setdefault(piece.block, []).append(piece.text)
    return tuple(dict.fromkeys([*(piece.text for piece in pieces), *map(" ".join, blocks.values())]))
