"""Reads other people's JSON; refuses what is unreadable, ambiguous or nested too deeply, and names the place."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import JsonValue

from resources.errors import JsonInvalidError
from resources.reading.json_text import parse_json as strict_json
from warehouse.errors import ImportRefusedError


def read_json(path: Path, shown: str) -> JsonValue:
    """The JSON value of a file.

    Raises:
        ImportRefusedError: unreadable, no UTF-8, no JSON, or a key that occurs twice.
    """
    return parse_json(read_text(path, shown), shown)


def parse_json(text: str, shown: str, place: str = "") -> JsonValue:
    """The JSON value of a text.

    Raises:
        ImportRefusedError: no JSON, a key that occurs twice in one object, or a number such as NaN.
    """
    try:
        return strict_json(text)
    except JsonInvalidError as error:
        at = place or (f"line {error.line}" if error.line else "")
        raise ImportRefusedError(shown, at, str(error)) from None


def as_text(value: JsonValue) -> str:
    """A value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def json_files(path: Path) -> list[Path]:
    """The JSON files of a folder and its subfolders, sorted, or the one file.

    Raises:
        ImportRefusedError: nothing is there.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ImportRefusedError(str(path), "", "does not exist")
    found = sorted(item for item in path.rglob("*.json") if item.is_file())
    if not found:
        raise ImportRefusedError(str(path), "", "holds no JSON file")
    return found


def read_text(path: Path, shown: str) -> str:
    """The text of a file.

    Raises:
        ImportRefusedError: unreadable, or no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefusedError(shown, "", f"is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ImportRefusedError(shown, "", f"cannot be read: {error.strerror}") from None
