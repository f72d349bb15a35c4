"""Reading other people's JSON: every field that is missing or of the wrong type is refused with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from taskgraph.reading.faults import json_kind
from warehouse.errors import ImportRefusedError
from warehouse.importing.json_reading import parse_json, read_text


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
            raise self.refused(name, f"must be text, not {json_kind(value)}")
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
            raise self.refused(name, f"must be a list, not {json_kind(value)}")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        found: list[str] = []
        for position, item in enumerate(self.items(name)):
            if not isinstance(item, str):
                raise self.refused(f"{name}[{position}]", f"must be text, not {json_kind(item)}")
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
            raise self.refused(name, f"must be a whole number, not {json_kind(value)}")
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
            raise self.refused(name, f"must be an object, not {json_kind(value)}")
        return Fields(value, self.file, ".".join(part for part in (self.place, name) if part))


def read_lines(path: Path, shown: str) -> Iterator[tuple[int, Fields]]:
    """The objects of a file with one JSON object per line, or with one list of objects, numbered from 1.

    Raises:
        ImportRefusedError: as `read_json`; the line is named.
    """
    text = read_text(path, shown)
    if text.lstrip().startswith("["):
        whole = parse_json(text, shown)
        for number, item in enumerate(whole if isinstance(whole, list) else [], start=1):
            if not isinstance(item, dict):
                raise ImportRefusedError(
                    shown, f"[{number - 1}]", f"must be an object, not {json_kind(item)}"
                )
            yield number, Fields(item, shown, f"[{number - 1}]")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = parse_json(line, shown, f"line {number}")
        if not isinstance(value, dict):
            raise ImportRefusedError(shown, f"line {number}", f"must be an object, not {json_kind(value)}")
        yield number, Fields(value, shown, f"line {number}")
