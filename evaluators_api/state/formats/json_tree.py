"""JSON and formats based on it: notebooks, flows, drawings. Objects in lists are named by their id."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import (
    Naming,
    Node,
    group,
    item_extents,
    leaf,
    named_items,
    uniquely_named,
)

SUFFIXES: frozenset[str] = frozenset(
    [".json", ".ipynb", ".excalidraw", ".excalidrawlib", ".geojson", ".webmanifest"]
)
_DEEPEST = 200
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


def recognises(text: str) -> bool:
    """Whether the text begins and ends like an object or a list, and `json` reads it."""
    bare = text.strip()
    try:
        return bare[:1] + bare[-1:] in ("{}", "[]") and json.loads(bare) is not None
    except (ValueError, RecursionError):
        return False


def parse(text: str) -> Node:
    """Members by their keys, items of lists by their ids or positions, decoded scalars as leaves."""
    start = _after_space(text, 0)
    tree = _Scanner(text).value("", "field", start, 0)
    if _after_space(text, tree.raw[1]) != len(text):
        raise StateUnreadableError("something follows the value")
    if tree.value is not None:
        return group("", "field", tree.raw, (leaf("value", "field", tree.raw, tree.value),))
    return tree


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text, self._end = text, 0

    def value(self, name: str, naming: Naming, start: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise StateUnreadableError("nested too deeply")
        character = self._text[start : start + 1]
        if character == '"':
            value, end = self._string(start)
            return leaf(name, naming, (start, end), value)
        if character == "{":
            return self._object(name, naming, start, depth)
        if character == "[":
            return self._list(name, naming, start, depth)
        match = _SCALAR.match(self._text, start)
        if match is None:
            raise StateUnreadableError(f"no value at {start}")
        return leaf(name, naming, match.span(), match.group())

    def _object(self, name: str, naming: Naming, start: int, depth: int) -> Node:
        found: list[tuple[int, Node]] = []
        for begin in self._item_starts(start, "}"):
            key, position = self._string(begin)
            position = _after_space(self._text, position)
            self._expect(position, ":")
            child = self.value(key, "field", _after_space(self._text, position + 1), depth + 1)
            found.append((begin, child))
            self._end = child.raw[1]
        wholes = [(begin, child.raw[1]) for begin, child in found]
        children = (
            replace(child, extent=extent, whole=whole)
            for (_, child), extent, whole in zip(found, item_extents(wholes), wholes, strict=True)
        )
        return group(name, naming, (start, self._end), uniquely_named(children))

    def _list(self, name: str, naming: Naming, start: int, depth: int) -> Node:
        found: list[Node] = []
        for begin in self._item_starts(start, "]"):
            found.append(self.value(str(len(found)), "position", begin, depth + 1))
            self._end = found[-1].raw[1]
        extents = item_extents([child.raw for child in found])
        return group(name, naming, (start, self._end), named_items(found, extents))

    def _item_starts(self, start: int, closing: str) -> Iterator[int]:
        """Yield the start of each item; the caller sets `_end` to its end. Then set `_end` for the whole."""
        position = first = _after_space(self._text, start + 1)
        while self._text[position : position + 1] != closing:
            if position != first:
                self._expect(position, ",")
                position = _after_space(self._text, position + 1)
            yield position
            position = _after_space(self._text, self._end)
        self._end = position + 1

    def _string(self, start: int) -> tuple[str, int]:
        self._expect(start, '"')
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except ValueError as error:
            raise StateUnreadableError(str(error)) from None
        return str(value), end

    def _expect(self, position: int, character: str) -> None:
        if self._text[position : position + 1] != character:
            raise StateUnreadableError(f"no {character!r} at {position}")
