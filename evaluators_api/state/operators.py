"""Wrong states made from right ones by operators over the tree of state, at the places that the work touched.

`editing` undoes a change or puts another value there. Here it is somewhere else: moved to a sibling,
exchanged with one, in two halves, at the other end; and of what was removed, a sibling is gone instead, or it
is only empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from taskloom.evaluators_api.state.editing import (
    Edited,
    change_of,
    spliced,
    text_at,
    undone,
    with_another,
    with_text,
    without_files,
)
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.nodes import Node, Span
from taskloom.evaluators_api.state.reading import all_formats, finished, read
from taskloom.evaluators_api.state.records import is_lines
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence

_SHOWN = 60
_ROWS = "rows"
_Address = tuple[str, ...]


def moved(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with the value in a sibling's place, or the new file under another name or in another folder."""
    text, change = text_at(end, effect.container), change_of(start, end, effect)
    if effect.kind == "added" and not effect.address:
        yield from _moved_file(start, end, effect.container)
    if effect.kind != "changed" or text is None or change is None or change.before is None:
        return
    own, form = change.after, all_formats()[effect.format]
    old = text_at(start, effect.container) or ""
    if own is None or own.value is None:
        return
    _, tree = read(effect.container, text)
    for address in _siblings(tree, effect.address):
        sibling = tree.at(address)
        written = None if sibling is None or sibling.value is None else form.encode(own.value, sibling, text)
        if sibling is None or written is None or sibling.value == own.value:
            continue
        before = old[change.before.raw[0] : change.before.raw[1]]
        edited = spliced(text, (sibling.raw, written), (own.raw, before))
        told = f"{effect.container}: {' / '.join(address)} became {own.value[:_SHOWN]!r} instead"
        yield Edited(f"{told} of {' / '.join(effect.address)}", with_text(end, effect.container, edited))


def put_first(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a line that was added at the end of a text at its beginning."""
    text, change = text_at(end, effect.container), change_of(start, end, effect)
    if not effect.address or text is None or change is None or change.parents is None or change.after is None:
        return
    parent, added, extent = change.parents[1], change.after, change.after.extent
    if extent is None or added.value is None or added.naming != "position":
        return
    if parent.children[-1] is not added or parent.children[0] is added:
        return
    first, line = parent.children[0].raw[0], text[added.raw[0] : added.raw[1]].rstrip("\n")
    edited = spliced(text, ((first, first), f"{line}\n"), (extent, ""))
    if read(effect.container, edited)[0] == effect.format:
        told = f"{effect.container}: {added.content()[:_SHOWN]!r} stands at the beginning instead of the end"
        yield Edited(told, with_text(end, effect.container, edited))


def removed_otherwise(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a sibling gone instead of what `effect` removed, and with that still there but empty."""
    restored = undone(start, end, effect) if effect.area == "file" and effect.kind == "removed" else None
    if restored is None:
        return
    text = text_at(restored, effect.container)
    if not effect.address:
        sibling = _sibling_file(start, restored, effect.container)
        if sibling:
            rest = without_files(restored, {sibling})
            yield Edited(f"{sibling} was removed instead of {effect.container}", rest)
    if text is None:
        return
    name, tree = read(effect.container, text)
    own = tree.at(effect.address)
    if effect.address:
        parent = tree.at(effect.address[:-1])
        before = read(effect.container, text_at(start, effect.container) or "")[1].at(effect.address[:-1])
        known = {node.digest for node in before.children} if before is not None else set()
        known -= {own.digest} if own is not None else set()
        for node in parent.children if parent is not None else ():
            if node.extent is None or node.digest not in known:
                continue
            edited = finished(name, text, spliced(text, (node.extent, "")))
            if read(effect.container, edited)[0] == name:
                told = f"{effect.container}: {node.content()[:_SHOWN]!r} was removed instead"
                yield Edited(told, with_text(restored, effect.container, edited))
                break
    emptied = _emptied(text, own)
    if emptied is not None and emptied != text:
        edited = finished(name, text, emptied)
        told = ": ".join(part for part in (effect.container, " / ".join(effect.address)) if part)
        if not edited or read(effect.container, edited)[0] == name:
            left = with_text(restored, effect.container, edited)
            yield Edited(f"{told} is still there and only empty", left)


def exchanged(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with two of the values that `wanted` left in one record exchanged, or those of one field in two
    records."""
    for path, name, text, leaves in _new_values(start, end, wanted):
        form, tree = all_formats()[name], read(path, text)[1]
        for one, two in _neighbours(leaves):
            first, second = leaves[one], leaves[two]
            there = form.encode(second.value or "", first, text)
            back = form.encode(first.value or "", second, text)
            if first.value == second.value or there is None or back is None or _only_order(tree, one, two):
                continue
            if first.raw[0] < second.raw[1] and second.raw[0] < first.raw[1]:
                continue
            edited = spliced(text, (first.raw, there), (second.raw, back))
            if read(path, edited)[0] == name:
                told = f"{path}: {' / '.join(one)} and {' / '.join(two)} have each other's value"
                yield Edited(told, with_text(end, path, edited))


def halved(
    start: Evidence, end: Evidence, wanted: Collection[Effect], other: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with one half of the values in the record that was added and `other` ones for the rest, where a
    record with the other half has been there from the start: what is wrong here is right there."""
    for path, name, text, leaves in _new_values(start, end, wanted):
        tree = read(path, text)[1]
        for change in file_changes(start.file(path), end.file(path))[1]:
            record, address = change.after, change.address
            own = [node for place, node in leaves.items() if place[: len(address)] == address]
            parent = tree.at(address[:-1])
            before = text_at(start, path)
            if change.kind != "added" or record is None or len(own) < 2 or parent is None or before is None:
                continue
            if record.naming not in ("record", "position") or change.parents is None:
                continue
            key = [child for child in record.children if child.value == record.name and child not in own][:1]
            here = _with_others(text, name, record, own[: len(own) // 2], other)
            there = _with_others(text, name, record, [*own[len(own) // 2 :], *key], other)
            if here is None or there is None:
                continue
            former = change.parents[0]
            groups = ((before, former), (text, parent))
            last = former.children[-1] if former.children else None
            both = with_another(text, record, there, *groups)
            was = None if last is None else with_another(before, last, there, *groups)
            if both is None or was is None or both[: record.raw[1]] != text[: record.raw[1]]:
                continue
            both = finished(name, text, spliced(both, (record.raw, here)))
            was = finished(name, before, was)
            if read(path, both)[0] == name == read(path, was)[0]:
                told = f"{path}: {record.content()[:_SHOWN]} has half of its values, another one the others"
                yield Edited(told, with_text(end, path, both), with_text(start, path, was))


def _moved_file(start: Evidence, end: Evidence, path: str) -> Iterator[Edited]:
    file = end.file(path)
    if file is None:
        return
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    others = sorted({item.path.rpartition("/")[0] for item in start.files} - {folder})
    places = [f"{folder}/{stem or suffix} (2){dot}{suffix if stem else ''}"]
    for place in (*places, *(f"{other}/{name}" for other in others[:1])):
        place = place.lstrip("/")
        if end.file(place) is None:
            there = file.model_copy(update={"path": place})
            files = [*(item for item in end.files if item is not file), there]
            files.sort(key=lambda item: item.path)
            told = f"the file is {place} instead of {path}"
            yield Edited(told, end.model_copy(update={"files": tuple(files)}))


def _sibling_file(start: Evidence, restored: Evidence, path: str) -> str:
    """Another file of the folder, with the same ending, that was there and is unchanged; else nothing."""
    folder, _, name = path.rpartition("/")
    left = {file.path: file.sha256 for file in restored.files}
    return next(
        (
            file.path
            for file in start.files
            if file.path != path
            and file.path.rpartition("/")[0] == folder
            and file.path.rpartition(".")[2] == name.rpartition(".")[2]
            and left.get(file.path) == file.sha256
        ),
        "",
    )


def _emptied(text: str, own: Node | None) -> str | None:
    """The text without the rows of a table, or the longest text in a group."""
    rows = None if own is None else own.at((_ROWS,))
    if rows is not None:
        return spliced(text, *((node.extent, "") for node in rows.children if node.extent is not None))
    if own is None or own.value is not None:
        return None
    texts = [node for _, node in own.walk() if node.value is not None or is_lines(node)]
    longest = max(texts, key=lambda node: node.raw[1] - node.raw[0], default=None)
    return "" if longest is None or longest is own else spliced(text, (longest.raw, ""))


def _siblings(tree: Node, address: _Address) -> Iterator[_Address]:
    """Where the same value could have gone by mistake: the same field of another record, another field of
    this record."""
    if len(address) > 1:
        records = tree.at(address[:-2])
        for record in records.children if records is not None else ():
            if record.name != address[-2] and record.at(address[-1:]) is not None:
                yield (*address[:-2], record.name, address[-1])
    fields = tree.at(address[:-1])
    for item in fields.children if fields is not None else ():
        if item.name != address[-1] and item.value is not None:
            yield (*address[:-1], item.name)


def _new_values(
    start: Evidence, end: Evidence, wanted: Collection[Effect]
) -> Iterator[tuple[str, str, str, dict[_Address, Node]]]:
    """Each changed file with its format, its text, and the values that `wanted` left in it, in the order of
    the text."""
    for path in dict.fromkeys(effect.container for effect in wanted if effect.area == "file"):
        new = end.file(path)
        if new is None or new.text is None or new.truncated:
            continue
        name, changes = file_changes(start.file(path), new)
        addresses = {effect.address for effect in wanted if effect.container == path}
        leaves = {
            change.address: change.after
            for change in changes
            if change.after is not None
            and (change.after.value or "").strip()
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
    first, second = tree.at(one[:-1]), tree.at(two[:-1])
    if one[:-1] == two[:-1] or first is None or second is None or first.naming != "position":
        return False
    rest = [
        {child.name: child.digest for child in record.children if child.name != one[-1]}
        for record in (first, second)
    ]
    return rest[0] == rest[1]


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
    return spliced(text[begin:end], *edits)
