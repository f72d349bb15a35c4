"""Reading other people's JSON: every field that is missing or of the wrong type is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from warehouse.errors import ImportRefusedError


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object and where it stands."""

    values: Mapping[str, JsonValue]
    """The object."""
    file: str
    """File it comes from, for messages."""
    place: str = ""
    """Place in the file, for messages."""

    def text(self, name: str, *, empty: bool = False) -> str:
        """A text; empty only where allowed.

        Raises:
            ImportRefusedError: missing, no text, or empty.
        """
        value = self._required(name)
        if not isinstance(value, str):
            raise self.refused(name, f"must be text, not {kind_of(value)}")
        if not value.strip() and not empty:
            raise self.refused(name, "must not be empty")
        return value

    def optional_text(self, name: str, default: str = "") -> str:
        """A text, or `default` where it is missing or null."""
        return default if self.values.get(name) is None else self.text(name, empty=True)

    def items(self, name: str) -> list[JsonValue]:
        """A list."""
        value = self._required(name)
        if not isinstance(value, list):
            raise self.refused(name, f"must be a list, not {kind_of(value)}")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        found: list[str] = []
        for position, item in enumerate(self.items(name)):
            if not isinstance(item, str):
                raise self.refused(f"{name}[{position}]", f"must be text, not {kind_of(item)}")
            found.append(item)
        return found

    def fields(self, name: str) -> Fields:
        """An object."""
        return self._object(self._required(name), name)

    def each(self, name: str) -> Iterator[Fields]:
        """The objects of a list."""
        for position, item in enumerate(self.items(name)):
            yield self._object(item, f"{name}[{position}]")

    def number(self, name: str) -> int:
        """A whole number."""
        value = self._required(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.refused(name, f"must be a whole number, not {kind_of(value)}")
        return value

    def refused(self, name: str, reason: str) -> ImportRefusedError:
        """The refusal of a field."""
        return ImportRefusedError(self.file, ".".join(part for part in (self.place, name) if part), reason)

    def _required(self, name: str) -> JsonValue:
        if name not in self.values:
            raise self.refused(name, "is missing")
        return self.values[name]

    def _object(self, value: JsonValue, name: str) -> Fields:
        if not isinstance(value, dict):
            raise self.refused(name, f"must be an object, not {kind_of(value)}")
        return Fields(value, self.file, ".".join(part for part in (self.place, name) if part))


def read_json(path: Path, shown: str) -> JsonValue:
    """The JSON value of a file.

    Raises:
        ImportRefusedError: unreadable, no UTF-8, no JSON, or a key that stands twice.
    """
    return parse_json(_read_text(path, shown), shown)


def read_object(path: Path, shown: str) -> Fields:
    """The JSON object of a file.

    Raises:
        ImportRefusedError: as `read_json`, or another value than an object.
    """
    value = read_json(path, shown)
    if not isinstance(value, dict):
        raise ImportRefusedError(shown, "", f"must hold an object, not {kind_of(value)}")
    return Fields(value, shown)


def read_lines(path: Path, shown: str) -> Iterator[tuple[int, Fields]]:
    """The objects of a file with one JSON object per line, or with one list of objects, numbered from 1.

    Raises:
        ImportRefusedError: as `read_json`; the line is named.
    """
    text = _read_text(path, shown)
    if text.lstrip().startswith("["):
        whole = parse_json(text, shown)
        for number, item in enumerate(whole if isinstance(whole, list) else [], start=1):
            if not isinstance(item, dict):
                raise ImportRefusedError(shown, f"[{number - 1}]", f"must be an object, not {kind_of(item)}")
            yield number, Fields(item, shown, f"[{number - 1}]")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = parse_json(line, shown, f"line {number}")
        if not isinstance(value, dict):
            raise ImportRefusedError(shown, f"line {number}", f"must be an object, not {kind_of(value)}")
        yield number, Fields(value, shown, f"line {number}")


def parse_json(text: str, shown: str, place: str = "") -> JsonValue:
    """The JSON value of a text.

    Raises:
        ImportRefusedError: no JSON, a key that stands twice in one object, or a number such as NaN.
    """

    def unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for key, value in pairs:
            if key in found:
                raise ImportRefusedError(
                    shown, ".".join(filter(None, (place, key))), "stands twice in one object"
                )
            found[key] = value
        return found

    def refuse(name: str) -> JsonValue:
        raise ImportRefusedError(shown, place, f"{name} is no JSON value")

    try:
        value: JsonValue = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ImportRefusedError(shown, place or f"line {error.lineno}", f"is no JSON: {error.msg}") from None
    except RecursionError:
        raise ImportRefusedError(shown, place, "is nested too deeply") from None
    return value


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


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


def _read_text(path: Path, shown: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefusedError(shown, "", f"is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ImportRefusedError(shown, "", f"cannot be read: {error.strerror}") from None
