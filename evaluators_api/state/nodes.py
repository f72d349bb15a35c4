"""The tree into which every format is read: values at addresses, each with its range in the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from taskloom.taskgraph.text_folding import composed

Naming = Literal["field", "record", "position", "schema"]
"""What a node's name is: a key or column, the id of a record, or only a position among its siblings. `schema`
is a field that describes the sibling records: the names of the columns, the number of rows."""
Span = tuple[int, int]
"""Range in the text: start and end (exclusive)."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value, or a group of them."""

    name: str
    """Segment of the address; unique among its siblings."""
    naming: Naming
    """What the name is."""
    raw: Span
    """The value in the text, quotation marks included."""
    value: str | None = None
    """Text of a leaf, decoded; None for a group."""
    children: tuple[Node, ...] = ()
    """Parts of a group, in the order of the text."""
    extent: Span | None = None
    """What to cut from the text to remove the node, with separators; None if it cannot be removed alone."""
    whole: Span | None = None
    """The node with its key, without separators; None if that equals `raw`."""
    digest: int = 0
    """Equal for nodes of equal content, whatever their names."""

    def walk(self, address: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """This node, at `address`, and all nodes below it, outermost first."""
        pending = [(address, self)]
        while pending:
            where, node = pending.pop()
            yield where, node
            pending.extend(((*where, child.name), child) for child in reversed(node.children))

    def at(self, address: tuple[str, ...]) -> Node | None:
        """The node at `address` below this one, or None."""
        node: Node | None = self
        for name in address:
            children = node.children if node is not None else ()
            node = next((child for child in children if child.name == name), None) or _list_item(
                children, name
            )
        return node

    def parts(self, address: tuple[str, ...]) -> tuple[Node, ...]:
        """The children of the node at `address`; none if there is no such node."""
        node = self.at(address)
        return () if node is None else node.children

    def content(self) -> str:
        """The value of a leaf, or the values of a group as JSON."""
        if self.value is not None:
            return self.value
        return json.dumps(_plain_value(self), ensure_ascii=False)


def _list_item(items: tuple[Node, ...], name: str) -> Node | None:
    """The item of a list with this position, or the only one with this value."""
    if not items or items[0].naming not in ("position", "record"):
        return None
    if name.isdecimal() and int(name) < len(items):
        return items[int(name)]
    found = [node for node in items if any(child.value == name for child in node.children)]
    return found[0] if len(found) == 1 else None


def _plain_value(node: Node) -> object:
    if node.value is not None:
        return node.value
    if all(child.naming == "position" for child in node.children):
        return [_plain_value(child) for child in node.children]
    return {child.name: _plain_value(child) for child in node.children}


def leaf(
    name: str, naming: Naming, raw: Span, value: str, extent: Span | None = None, whole: Span | None = None
) -> Node:
    """A node with a value, in the normal form of texts: an escape may have hidden decomposed accents."""
    value = composed(value)
    return Node(name, naming, raw, value, (), extent, whole, hash(value))


def group(
    name: str, naming: Naming, raw: Span, children: tuple[Node, ...], extent: Span | None = None
) -> Node:
    """A node with children."""
    content = tuple(
        (child.name if child.naming in ("field", "schema") else "", child.digest) for child in children
    )
    return Node(name, naming, raw, None, children, extent, None, hash(content))


NOTHING = group("", "field", (0, 0), ())
"""The tree of an empty text."""


def item_extents(spans: list[Span]) -> list[Span]:
    """The extents of list items at `spans`: each with the next separator, the last with the previous one."""
    if len(spans) < 2:
        return list(spans)
    extents = [(start, spans[index + 1][0]) for index, (start, _) in enumerate(spans[:-1])]
    return [*extents, (spans[-2][1], spans[-1][1])]


def trimmed(text: str, start: int, end: int) -> Span:
    """The range from `start` to `end` without white space around it; empty at `start` if nothing is left.

    >>> trimmed("a:  b ", 2, 6), trimmed("a:  ", 2, 4)
    ((4, 5), (2, 2))
    """
    part = text[start:end]
    bare = part.strip()
    begin = start + (len(part) - len(part.lstrip()) if bare else 0)
    return begin, begin + len(bare)


def unique_names(names: list[str]) -> list[str]:
    """`names`, in the normal form of texts, with a number after each that occurred before.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    names = list(map(composed, names))
    counts: dict[str, int] = {}
    used = set(names)
    result = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        unique = name
        while counts[name] > 1 and (unique == name or unique in used):
            unique = f"{name} ({counts[name]})"
            counts[name] += unique in used
        used.add(unique)
        result.append(unique)
    return result


def uniquely_named(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """`nodes` with `unique_names`."""
    nodes = tuple(nodes)
    names = unique_names([node.name for node in nodes])
    return tuple(
        node if node.name == name else replace(node, name=name)
        for node, name in zip(nodes, names, strict=True)
    )


def named_items(
    items: Sequence[Node], extents: Iterable[Span | None], wholes: Iterable[Span | None] | None = None
) -> tuple[Node, ...]:
    """The items of a list, named by the member that identifies them, otherwise by their positions."""
    names = _identities(items)
    naming: Naming = "record" if names else "position"
    return tuple(
        replace(item, name=name, naming=naming, extent=extent, whole=whole)
        for item, name, extent, whole in zip(
            items, names or map(str, range(len(items))), extents, wholes or [None] * len(items), strict=True
        )
    )


def _identities(items: Sequence[Node]) -> list[str] | None:
    """What identifies the objects of a list, as the first column identifies the rows of a table: the first
    member that all of them have, each with another value. None if there is none, or only one object."""
    if len(items) < 2 or any(item.value is not None for item in items):
        return None
    for name in (child.name for child in items[0].children):
        values = [child.value for item in items for child in item.children if child.name == name]
        present = list(filter(None, values))
        if len(set(present)) == len(present) == len(items):
            return present
    return None


def table_rows(
    names: Sequence[str],
    rows: Sequence[tuple[Sequence[tuple[str, Span]], Span, Span]],
    keys: Sequence[int] = (0,),
) -> tuple[list[str], tuple[Node, ...]]:
    """Unique names of all columns of a table, and its rows, each given by its cells, range and extent. Rows
    are named by their cells in the columns `keys` if these identify all, otherwise by their positions."""
    widest = max((len(cells) for cells, _, _ in rows), default=0)
    columns = unique_names([*names, *(f"column {number + 1}" for number in range(len(names), widest))])
    row_names = [
        ", ".join(cells[key][0] for key in keys) if len(cells) > max(keys) else "" for cells, _, _ in rows
    ]
    have_names = len(set(row_names)) == len(row_names) and all(row_names)
    naming: Naming = "record" if have_names else "position"
    nodes = []
    for name, (cells, raw, extent) in zip(
        row_names if have_names else map(str, range(len(rows))), rows, strict=True
    ):
        named_cells = zip(columns, cells, strict=False)
        fields = tuple(leaf(column, "field", span, value) for column, (value, span) in named_cells)
        nodes.append(group(name, naming, raw, fields, extent))
    return columns, tuple(nodes)


def identity(record: Node) -> str:
    """The id by which other records may refer to a record: its name, if a field holds it; otherwise empty."""
    has_id = record.naming == "record" and any(child.value == record.name for child in record.children)
    return record.name if has_id else ""
