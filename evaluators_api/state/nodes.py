"""The tree that every format is read into: values at addresses, each with its place in the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from taskloom.taskgraph.text_folding import composed

Naming = Literal["field", "record", "position", "schema"]
"""What a node's name is: a key or column, the id of a record, or a mere position among its siblings. `schema`
is a field that describes the records beside it: the names of the columns, the number of rows."""
Span = tuple[int, int]
"""Where something stands in the text: start, and end (exclusive)."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value, or a group of them."""

    name: str
    """Segment of the address; unique among its siblings."""
    naming: Naming
    """What the name is."""
    raw: Span
    """The value as it stands in the text, quotation marks included."""
    value: str | None = None
    """Text of a leaf, decoded; None for a group."""
    children: tuple[Node, ...] = ()
    """Parts of a group, in the order of the text."""
    extent: Span | None = None
    """What goes from the text with the node, separators included; None where it cannot go alone."""
    whole: Span | None = None
    """The node with its key, without separators; None where that is `raw`."""
    digest: int = 0
    """Equal for nodes of equal content, whatever their names."""

    def walk(self, address: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """This node at `address` and all below it, outermost first."""
        pending = [(address, self)]
        while pending:
            where, node = pending.pop()
            yield where, node
            pending.extend(((*where, child.name), child) for child in reversed(node.children))

    def at(self, address: tuple[str, ...]) -> Node | None:
        """The node at `address` below this one, or None."""
        node: Node | None = self
        for name in address:
            inner = node.children if node is not None else ()
            node = next((child for child in inner if child.name == name), None) or _item(inner, name)
        return node

    def parts(self, address: tuple[str, ...]) -> tuple[Node, ...]:
        """The parts of the group at `address`; none where there is none."""
        found = self.at(address)
        return () if found is None else found.children

    def content(self) -> str:
        """The value of a leaf, or the values of a group as JSON."""
        if self.value is not None:
            return self.value
        return json.dumps(_plain(self), ensure_ascii=False)


def _item(parts: tuple[Node, ...], name: str) -> Node | None:
    """The part of a list that is meant by its position, or by a value that no other one has."""
    if not parts or parts[0].naming not in ("position", "record"):
        return None
    if name.isdecimal() and int(name) < len(parts):
        return parts[int(name)]
    found = [item for item in parts if any(child.value == name for child in item.children)]
    return found[0] if len(found) == 1 else None


def _plain(node: Node) -> object:
    if node.value is not None:
        return node.value
    if all(child.naming == "position" for child in node.children):
        return [_plain(child) for child in node.children]
    return {child.name: _plain(child) for child in node.children}


def leaf(
    name: str, naming: Naming, raw: Span, value: str, extent: Span | None = None, whole: Span | None = None
) -> Node:
    """A node with a value, in the normal form of texts: an escape may have hidden decomposed accents."""
    value = composed(value)
    return Node(name, naming, raw, value, (), extent, whole, hash(value))


def group(
    name: str, naming: Naming, raw: Span, children: tuple[Node, ...], extent: Span | None = None
) -> Node:
    """A node with parts."""
    names = tuple(
        (child.name if child.naming in ("field", "schema") else "", child.digest) for child in children
    )
    return Node(name, naming, raw, None, children, extent, None, hash(names))


NOTHING = group("", "field", (0, 0), ())
"""The tree of an empty text."""


def separated(spans: list[Span]) -> list[Span]:
    """The extents of list items at `spans`: each with the separator behind it, the last with that before."""
    if len(spans) < 2:
        return list(spans)
    extents = [(start, spans[index + 1][0]) for index, (start, _) in enumerate(spans[:-1])]
    return [*extents, (spans[-2][1], spans[-1][1])]


def trimmed(text: str, start: int, end: int) -> Span:
    """The part of `text` from `start` to `end` without white space around it; empty at `start` without any.

    >>> trimmed("a:  b ", 2, 6), trimmed("a:  ", 2, 4)
    ((4, 5), (2, 2))
    """
    part = text[start:end]
    bare = part.strip()
    begin = start + (len(part) - len(part.lstrip()) if bare else 0)
    return begin, begin + len(bare)


def unique_names(names: list[str]) -> list[str]:
    """`names`, in the normal form of texts, with a number behind each that occurred before.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    names = list(map(composed, names))
    seen: dict[str, int] = {}
    taken = set(names)
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique = name
        while seen[name] > 1 and (unique == name or unique in taken):
            unique = f"{name} ({seen[name]})"
            seen[name] += unique in taken
        taken.add(unique)
        found.append(unique)
    return found


def called(parts: Iterable[Node]) -> tuple[Node, ...]:
    """`parts` with `unique_names`."""
    parts = tuple(parts)
    names = unique_names([part.name for part in parts])
    return tuple(
        part if part.name == name else replace(part, name=name)
        for part, name in zip(parts, names, strict=True)
    )


def listed(
    items: Sequence[Node], extents: Iterable[Span | None], wholes: Iterable[Span | None] | None = None
) -> tuple[Node, ...]:
    """The items of a list, called by what tells them apart, else by their positions."""
    names = _identities(items)
    called_by: Naming = "record" if names else "position"
    return tuple(
        replace(item, name=name, naming=called_by, extent=extent, whole=whole)
        for item, name, extent, whole in zip(
            items, names or map(str, range(len(items))), extents, wholes or [None] * len(items), strict=True
        )
    )


def _identities(items: Sequence[Node]) -> list[str] | None:
    """What tells the objects of a list apart, as a table's rows are told apart by their first column: the
    first member that all of them have, each with another value. None where nothing does, or there is one."""
    if len(items) < 2 or any(item.value is not None for item in items):
        return None
    for name in (child.name for child in items[0].children):
        values = [child.value for item in items for child in item.children if child.name == name]
        named = list(filter(None, values))
        if len(set(named)) == len(named) == len(items):
            return named
    return None


def table_rows(
    names: Sequence[str],
    rows: Sequence[tuple[Sequence[tuple[str, Span]], Span, Span]],
    keys: Sequence[int] = (0,),
) -> tuple[list[str], tuple[Node, ...]]:
    """Unique names of all columns of a table, and its rows, each given by its cells, its place and what goes
    with it: called by their cells in the columns `keys` if these tell all apart, else by their positions."""
    widest = max((len(cells) for cells, _, _ in rows), default=0)
    columns = unique_names([*names, *(f"column {number + 1}" for number in range(len(names), widest))])
    called = [
        ", ".join(cells[key][0] for key in keys) if len(cells) > max(keys) else "" for cells, _, _ in rows
    ]
    named = len(set(called)) == len(called) and all(called)
    naming: Naming = "record" if named else "position"
    found = []
    for name, (cells, raw, extent) in zip(called if named else map(str, range(len(rows))), rows, strict=True):
        parts = zip(columns, cells, strict=False)
        fields = tuple(leaf(column, "field", span, value) for column, (value, span) in parts)
        found.append(group(name, naming, raw, fields, extent))
    return columns, tuple(found)


def identity(record: Node) -> str:
    """What others may call a record: what it is called by, if one of its fields holds that; else empty."""
    named = record.naming == "record" and any(child.value == record.name for child in record.children)
    return record.name if named else ""
