"""Reads other people's JSON; refuses what is unreadable, ambiguous or nested too deeply, and names the place."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import JsonValue

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

    def unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for key, value in pairs:
            if key in found:
                raise ImportRefusedError(
                    shown, ".".join(filter(None, (place, key))), "occurs twice in one object"
                )
            found[key] = value
        return found

    def refuse(name: str) -> JsonValue:
        raise ImportRefusedError(shown, place, f"{name} is not a JSON value")

    try:
        value: JsonValue = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ImportRefusedError(
            shown, place or f"line {error.lineno}", f"is not JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise ImportRefusedError(shown, place, "is nested too deeply") from None
    return value


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
