"""Reads text and its places in a picture, with Tesseract if it is installed, else with RapidOCR."""

import csv
import functools
import importlib.util
import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from taskloom.environments.errors import PictureUnreadableError
from taskloom.taskgraph.records.interaction import Rectangle

_GAP = 1.4
"""A gap wider than this many text heights separates two controls on one line."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text between wide gaps of a line."""

    text: str
    block: str
    """Name of the block of text that it belongs to."""
    place: Rectangle


def available_engine() -> str | None:
    """`tesseract`, `rapidocr`, or None if neither is installed."""
    if shutil.which("tesseract"):
        return "tesseract"
    return "rapidocr" if importlib.util.find_spec("rapidocr") else None


def read_picture(png: bytes, timeout_seconds: float = 15.0) -> tuple[TextPiece, ...]:
    """The pieces of text in a picture, in reading order.

    Raises:
        PictureUnreadableError: no engine is installed, or it failed.
    """
    engine = available_engine()
    if engine is None:
        raise PictureUnreadableError(
            "No OCR program is installed on this machine (tesseract, or the package rapidocr)."
        )
    return _tesseract(png, timeout_seconds) if engine == "tesseract" else _rapidocr(png)


def _tesseract(png: bytes, timeout_seconds: float) -> tuple[TextPiece, ...]:
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
        raise PictureUnreadableError(
            f"The OCR program did not read the picture: {str(error)[:200]}."
        ) from error
    words = csv.DictReader(
        io.StringIO(finished.stdout.decode("utf-8", "replace")), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    return pieces_of_words(row for row in words if row.get("level") == "5")


def pieces_of_words(words: Iterable[dict[str, str]]) -> tuple[TextPiece, ...]:
    """Pieces of a page from its words with their boxes, as Tesseract lists them."""
    pieces: list[TextPiece] = []
    line, right = "", 0
    for word in words:
        text = (word.get("text") or "").strip()
        if not text:
            continue
        left, top = int(word["left"]), int(word["top"])
        width, height = int(word["width"]), int(word["height"])
        place = Rectangle(left=left, top=top, right=left + width, bottom=top + height)
        key = f"{word['block_num']}.{word['par_num']}.{word['line_num']}"
        if key != line or left - right > _GAP * height:
            pieces.append(TextPiece(text, word["block_num"], place))
        else:
            last = pieces.pop()
            pieces.append(TextPiece(f"{last.text} {text}", last.block, _union(last.place, place)))
        line, right = key, left + width
    return tuple(pieces)


def _union(one: Rectangle, other: Rectangle) -> Rectangle:
    return Rectangle(
        left=min(one.left, other.left),
        top=min(one.top, other.top),
        right=max(one.right, other.right),
        bottom=max(one.bottom, other.bottom),
    )


def _rapidocr(png: bytes) -> tuple[TextPiece, ...]:
    try:
        result = _rapidocr_engine()(png)
        texts = [str(text) for text in result.txts or ()]
        boxes = [[(round(x), round(y)) for x, y in box] for box in result.boxes] if texts else []
    except Exception as error:
        raise PictureUnreadableError(
            f"The OCR package did not read the picture: {str(error)[:200]}."
        ) from error
    pieces = []
    for number, (text, box) in enumerate(zip(texts, boxes, strict=True)):
        xs, ys = [x for x, _ in box], [y for _, y in box]
        place = Rectangle(left=min(xs), top=min(ys), right=max(xs), bottom=max(ys))
        pieces.append(TextPiece(text, str(number), place))
    return tuple(pieces)


@functools.cache
def _rapidocr_engine() -> Callable[[bytes], Any]:
    """The engine, loaded once, because loading its models takes far longer than reading a picture."""
    from rapidocr import RapidOCR

    return cast("Callable[[bytes], Any]", RapidOCR(params={"Global.log_level": "error"}))
