"""Reads the text in pictures: lazily, and each picture at most once per machine.

Tesseract is used if its program is installed, else RapidOCR if its package is; without either, the picture
cannot be read and the check says so. Readings are cached in memory and, when a folder is given, on disk by
the hash of the picture, so recorded evidence is read again without the picture.
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, cast

from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.taskgraph.records.interaction import Screenshot

_GAP = 1.4
"""A gap wider than so many text heights separates two controls that stand on one line."""


class TextReader(Protocol):
    """What reads pictures."""

    def read(self, screenshot: Screenshot) -> tuple[str, ...]:
        """Texts in the picture: each piece between wide gaps, then each block as a whole.

        Raises:
            CheckUnavailableError: no OCR engine is installed, or the picture was not kept.
        """
        ...


class ScreenReader:
    """Reads pictures with whichever OCR engine is installed. Thread-safe."""

    def __init__(self, cache_folder: Path | None = None, *, timeout_seconds: float = 15.0) -> None:
        """Keep readings under `cache_folder`, or in memory only; one reading may take `timeout_seconds`."""
        self._cache_folder = cache_folder
        self._timeout_seconds = timeout_seconds
        self._readings: dict[str, tuple[str, ...]] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def read(self, screenshot: Screenshot) -> tuple[str, ...]:
        """Texts in the picture; see `TextReader.read`."""
        with self._lock:
            lock = self._locks.setdefault(screenshot.sha256, Lock())
        with lock:
            found = self._readings.get(screenshot.sha256)
            if found is None:
                found = self._stored(screenshot.sha256)
            if found is None:
                found = self._read_anew(screenshot)
            self._readings[screenshot.sha256] = found
            return found

    def _read_anew(self, screenshot: Screenshot) -> tuple[str, ...]:
        if not screenshot.png:
            raise CheckUnavailableError(
                "The picture of the last screen was not kept with this evidence, so its text cannot be read;"
                " use check_text_exists_via_control."
            )
        engine = available_engine()
        if engine is None:
            raise CheckUnavailableError(
                "No OCR program is installed on this machine (tesseract, or the package rapidocr); use"
                " check_text_exists_via_control."
            )
        reading = (
            _tesseract(screenshot.png, self._timeout_seconds)
            if engine == "tesseract"
            else _rapidocr(screenshot.png)
        )
        self._store(screenshot.sha256, reading)
        return reading

    def _stored(self, sha256: str) -> tuple[str, ...] | None:
        if self._cache_folder is None:
            return None
        try:
            stored = json.loads((self._cache_folder / f"{sha256}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return tuple(str(text) for text in stored) if isinstance(stored, list) else None

    def _store(self, sha256: str, reading: tuple[str, ...]) -> None:
        if self._cache_folder is None:
            return
        self._cache_folder.mkdir(parents=True, exist_ok=True)
        partial = self._cache_folder / f"{sha256}.{os.getpid()}.partial"
        partial.write_text(json.dumps(reading, ensure_ascii=False), encoding="utf-8")
        partial.replace(self._cache_folder / f"{sha256}.json")


def available_engine() -> str | None:
    """`tesseract`, `rapidocr`, or None where neither is installed."""
    if shutil.which("tesseract"):
        return "tesseract"
    return "rapidocr" if importlib.util.find_spec("rapidocr") else None


def _tesseract(png: bytes, timeout_seconds: float) -> tuple[str, ...]:
    try:
        finished = subprocess.run(
            ["tesseract", "stdin", "stdout", "--psm", "11", "tsv"],
            input=png,
            capture_output=True,
            timeout=timeout_seconds,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CheckUnavailableError(
            f"The OCR program did not read the picture: {str(error)[:200]}."
        ) from error
    words = csv.DictReader(
        io.StringIO(finished.stdout.decode("utf-8", "replace")), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    return texts_of_words(row for row in words if row.get("level") == "5")


def texts_of_words(words: Iterator[dict[str, str]]) -> tuple[str, ...]:
    """Pieces and blocks of a page from its words with their boxes, as Tesseract lists them."""
    pieces: list[list[str]] = []
    blocks: dict[str, list[str]] = {}
    line, right = "", 0
    for word in words:
        text = (word.get("text") or "").strip()
        if not text:
            continue
        left, width, height = int(word["left"]), int(word["width"]), int(word["height"])
        key = f"{word['block_num']}.{word['par_num']}.{word['line_num']}"
        if key != line or left - right > _GAP * height:
            pieces.append([])
        pieces[-1].append(text)
        blocks.setdefault(word["block_num"], []).append(text)
        line, right = key, left + width
    texts = [" ".join(piece) for piece in pieces] + [" ".join(block) for block in blocks.values()]
    return tuple(dict.fromkeys(texts))


def _rapidocr(png: bytes) -> tuple[str, ...]:
    try:
        return tuple(str(text) for text in _rapidocr_engine()(png).txts or ())
    except Exception as error:
        raise CheckUnavailableError(
            f"The OCR package did not read the picture: {str(error)[:200]}."
        ) from error


@functools.cache
def _rapidocr_engine() -> Callable[[bytes], Any]:
    """The engine, loaded once: loading its models takes far longer than reading a picture."""
    from rapidocr import RapidOCR

    return cast("Callable[[bytes], Any]", RapidOCR(params={"Global.log_level": "error"}))
