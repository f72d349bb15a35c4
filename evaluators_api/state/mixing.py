"""Evidence in which the right values are there, but not together: two of them exchanged, or a record in two
halves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from taskloom.evaluators_api.state.editing import Edited, with_text
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.nodes import Node, Span
from taskloom.evaluators_api.state.reading import all_formats, finished, read
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence

_SHOWN = 40
_Address = tuple[str, ...]


def exchanged(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with two of the values that `wanted` left in one record exchanged, or those of one field in two
    records."""
    for path, name, text, leaves in _new_values(start, end, wanted):
        form, tree = all_formats()[name], read(path, text)[1]
        for one, two in _neighbours(leaves):
            first, second = leaves[one], leaves[two]
            if first.value == second.value or _only_order(tree, one, two):
                continue
            there = form.encode(second.value or "", first, text)
            back = form.encode(first.value or "", second, text)
            if there is None or back is None or _overlap(first.raw, second.raw):
                continue
            edited = _edited(text, ((first.raw, there), (second.raw, back)))
            if read(path, edited)[0] == name:
                yield Edited(
                    f"{path}: {' / '.join(one)} and {' / '.join(two)} have each other's value,"
                    f" {_told(second)} and {_told(first)}",
                    with_text(end, path, edited),
                )


def halved(
    start: Evidence, end: Evidence, wanted: Collection[Effect], other: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with a record that `wanted` added there twice, each with one half of its values and `other` ones
    for the rest."""
    for path, name, text, leaves in _new_values(start, end, wanted):
        form, tree = all_formats()[name], read(path, text)[1]
        for address, record in _added_records(start, end, path):
            own = [node for place, node in leaves.items() if place[: len(address)] == address]
            parent = tree.at(address[:-1])
            if len(own) < 2 or parent is None:
                continue
            halves = [
                _with_others(text, name, record, part, other)
                for part in (own[: len(own) // 2], [*own[len(own) // 2 :], *_key(record, own)])
            ]
            if halves[0] is None or halves[1] is None:
                continue
            index = [child.name for child in parent.children].index(record.name)
            both = form.insert(text, parent, index + 1, halves[1])
            if both is None or both[: record.raw[1]] != text[: record.raw[1]]:
                continue
            both = finished(name, text, _edited(both, ((record.raw, halves[0]),)))
            if read(path, both)[0] == name:
                yield Edited(
                    f"{path}: {_told(record)} is there in two halves, each with something else for the rest",
                    with_text(end, path, both),
                )


def _new_values(
    start: Evidence, end: Evidence, wanted: Collection[Effect]
) -> Iterator[tuple[str, str, str, dict[_Address, Node]]]:
    """Each changed file with its format, its text, and the values that `wanted` left in it, in the order of
    the text."""
    for path in dict.fromkeys(effect.container for effect in wanted if effect.area == "file"):
        old, new = start.file(path), end.file(path)
        if new is None or new.text is None or new.truncated:
            continue
        name, changes = file_changes(old, new)
        addresses = {effect.address for effect in wanted if effect.container == path}
        leaves = {
            change.address: change.after
            for change in changes
            if change.after is not None
            and change.after.value is not None
            and change.after.value.strip()
            and change.after.naming == "field"
            and change.address in addresses
        }
        if leaves:
            yield path, name, new.text, leaves


def _neighbours(leaves: Mapping[_Address, Node]) -> Iterator[tuple[_Address, _Address]]:
    """Each value with the next one of its record, and with that of the same field in the next record."""
    last: dict[tuple[_Address, str], _Address] = {}
    for address in leaves:
        for group in ((address[:-1], ""), (address[:-2], address[-1])):
            if group in last and (group[1] == "" or len(address) > 1):
                yield last[group], address
            last[group] = address


def _only_order(tree: Node, one: _Address, two: _Address) -> bool:
    """Whether exchanging two values of records without a name does no more than exchanging the records."""
    records = tree.at(one[:-1]), tree.at(two[:-1])
    if one[:-1] == two[:-1] or records[0] is None or records[1] is None:
        return False
    rest = [
        {child.name: child.digest for child in record.children if child.name != one[-1]}
        for record in records
        if record is not None
    ]
    return records[0].naming == "position" and rest[0] == rest[1]


def _added_records(start: Evidence, end: Evidence, path: str) -> Iterator[tuple[_Address, Node]]:
    for change in file_changes(start.file(path), end.file(path))[1]:
        if (
            change.kind == "added"
            and change.after is not None
            and change.after.naming in ("record", "position")
            and change.after.children
        ):
            yield change.address, change.after


def _key(record: Node, own: list[Node]) -> list[Node]:
    """What the record is called by, if that is not among `own`: two records have two keys."""
    if record.naming != "record":
        return []
    return [child for child in record.children if child.value == record.name and child not in own][:1]


def _with_others(
    text: str, name: str, record: Node, altered: list[Node], other: Callable[[str], str]
) -> str | None:
    """The text of `record` with other values in `altered`, which lie inside of it."""
    begin, end = record.raw
    edits: list[tuple[Span, str]] = []
    for node in altered:
        written = all_formats()[name].encode(other(node.value or ""), node, text)
        if written is None or not begin <= node.raw[0] <= node.raw[1] <= end:
            return None
        edits.append(((node.raw[0] - begin, node.raw[1] - begin), written))
    return _edited(text[begin:end], tuple(edits))


def _edited(text: str, edits: tuple[tuple[Span, str], ...]) -> str:
    for (begin, end), written in sorted(edits, reverse=True):
        text = text[:begin] + written + text[end:]
    return text


def _overlap(one: Span, two: Span) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def _told(node: Node) -> str:
    content = node.content()
    return repr(content if len(content) <= _SHOWN else f"{content[:_SHOWN]}…")
