"""Wrong states made from right ones by operators over the tree of state, at the places that the work touched:
a value moved, exchanged, in two halves, at the other end; of what was removed, a sibling gone instead, or it
is only empty. What is put in the place of a value has the same shape."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from taskloom.evaluators_api.state.editing import (
    Edited,
    change_of,
    rewritten,
    spliced,
    text_at,
    undone,
    with_another,
    with_edits,
    with_file,
    with_text,
    without_files,
)
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import finished, read
from taskloom.evaluators_api.state.records import is_lines
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence

_SHOWN = 60
_ROWS = "rows"
_OTHER = "zq7"
_OPPOSITE = {"true": "false", "0": "1", "on": "off", "rectangle": "ellipse"}
_OPPOSITE |= {other: value for value, other in _OPPOSITE.items()}
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_NEXT_DIGIT = str.maketrans("0123456789abcdef", "123456789abcdef0")
_Address = tuple[str, ...]


def altered(value: str) -> str:
    """Another value of the same shape: a number is another number, a digest another digest, of a path the
    file name is changed, else the end.

    >>> altered("Documents/report.csv"), altered("Buy milk"), altered("12.50"), altered("true")
    ('Documents/reportzq7.csv', 'Buy milkzq7', '23.61', 'false')
    """
    if value.casefold() in _OPPOSITE:
        return _OPPOSITE[value.casefold()]
    if _DIGEST.fullmatch(value):
        return value.translate(_NEXT_DIGIT)
    if value.replace(".", "", 1).isdigit():
        return "".join(str((int(digit) + 1) % 10) if digit.isdigit() else digit for digit in value)
    stem, dot, suffix = value.rpartition(".")
    if dot and stem and not stem.endswith("/") and suffix.isalnum():
        return f"{stem}{_OTHER}.{suffix}"
    return f"{value.rstrip()}{_OTHER}"


def moved(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with the value in a sibling's place, or the new file under another name or in another folder."""
    text, change = text_at(end, effect.container), change_of(start, end, effect)
    if effect.kind == "added" and not effect.address:
        yield from _moved_file(start, end, effect.container)
    if effect.kind != "changed" or text is None or change is None or change.after is None:
        return
    own, was = change.after, None if change.before is None else change.before.value
    if own.value is None or was is None:
        return
    for address, sibling in _siblings(read(effect.container, text)[1], effect.address):
        edits = [(sibling, own.value), (own, was)]
        there = with_edits(end, effect.container, edits) if sibling.value != own.value else None
        if there is not None:
            told = f"{effect.container}: {' / '.join(address)} became {own.value[:_SHOWN]!r} instead"
            yield Edited(f"{told} of {' / '.join(effect.address)}", there)


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
    path, text = effect.container, text_at(restored, effect.container)
    sibling = "" if effect.address else _sibling_file(start, restored, path)
    if sibling:
        yield Edited(f"{sibling} was removed instead of {path}", without_files(restored, {sibling}))
    if text is None:
        return
    tree, before = (read(path, now or "")[1] for now in (text, text_at(start, path)))
    own, parent = tree.at(effect.address), tree.at(effect.address[:-1])
    former = before.at(effect.address[:-1])
    if effect.address and parent is not None and former is not None:
        known = {node.digest for node in former.children} - {0 if own is None else own.digest}
        there = (node for node in parent.children if node.extent is not None and node.digest in known)
        for node in there:
            without = with_edits(restored, path, [(node, None)])
            if without is not None:
                yield Edited(f"{path}: {node.content()[:_SHOWN]!r} was removed instead", without)
                break
    left = with_edits(restored, path, list(_emptied(own)))
    if left is not None and text_at(left, path) != text:
        yield Edited(f"{effect.where} is still there and only empty", left)


def exchanged(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with two values that `wanted` left in one record exchanged, or in one field of two records."""
    for path, text, leaves in _new_values(start, end, wanted):
        tree = read(path, text)[1]
        for one, two in _neighbours(leaves):
            first, second = leaves[one], leaves[two]
            apart = first.raw[1] <= second.raw[0] or second.raw[1] <= first.raw[0]
            if first.value == second.value or not apart or _only_order(tree, one, two):
                continue
            there = with_edits(end, path, [(first, second.value), (second, first.value)])
            if there is not None:
                told = f"{path}: {' / '.join(one)} and {' / '.join(two)} have each other's value"
                yield Edited(told, there)


def halved(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with one half of the values in the record that was added and altered ones for the rest, where a
    record with the other half has been there from the start: what is wrong here is right there."""
    for path, text, leaves in _new_values(start, end, wanted):
        before, name = text_at(start, path), read(path, text)[0]
        for change in file_changes(start, end, path)[1]:
            record, address = change.after, change.address
            own = [node for place, node in leaves.items() if place[: len(address)] == address]
            if change.kind != "added" or record is None or len(own) < 2 or before is None:
                continue
            if record.naming not in ("record", "position") or change.parents is None:
                continue
            former, parent = change.parents
            key = [child for child in record.children if child.value == record.name and child not in own][:1]
            half = len(own) // 2
            here = _with_others(path, text, record, own[:half])
            there = _with_others(path, text, record, [*own[half:], *key])
            if here is None or there is None or not former.children:
                continue
            groups = ((before, former), (text, parent))
            both = with_another(text, record, there, *groups)
            was = with_another(before, former.children[-1], there, *groups)
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
            there = with_file(without_files(end, {path}), file.model_copy(update={"path": place}))
            yield Edited(f"the file is {place} instead of {path}", there)


def _sibling_file(start: Evidence, restored: Evidence, path: str) -> str:
    folder, _, name = path.rpartition("/")
    left = {file.path: file.sha256 for file in restored.files}
    unchanged = (file.path for file in start.files if left.get(file.path) == file.sha256)
    beside = (other for other in unchanged if other != path and other.rpartition("/")[0] == folder)
    ending = name.rpartition(".")[2]
    return next((other for other in beside if other.rpartition(".")[2] == ending), "")


def _emptied(own: Node | None) -> Iterator[tuple[Node, str | None]]:
    """The edits that leave a table without rows, or a group without its longest text but the one that it is
    called by, without which it would be another."""
    if own is not None and own.at((_ROWS,)) is not None:
        yield from ((node, None) for node in own.parts((_ROWS,)))
    elif own is not None and own.value is None:
        own_lines = [own] if is_lines(own) else []
        others = (node for _, node in own.walk() if node is not own and node.value != own.name)
        texts = own_lines or [node for node in others if node.value or is_lines(node)]
        for longest in sorted(texts, key=lambda node: node.raw[0] - node.raw[1])[:1]:
            yield from [(longest, "")] if longest.value else ((line, None) for line in longest.children)


def _siblings(tree: Node, address: _Address) -> Iterator[tuple[_Address, Node]]:
    """Where the value could have gone by mistake: the same field of another record, another field of this."""
    for record in tree.parts(address[:-2]) if len(address) > 1 else ():
        field = record.at(address[-1:]) if record.name != address[-2] else None
        if field is not None and field.value is not None:
            yield (*address[:-2], record.name, address[-1]), field
    for item in tree.parts(address[:-1]):
        if item.name != address[-1] and item.value is not None:
            yield (*address[:-1], item.name), item


def _new_values(
    start: Evidence, end: Evidence, wanted: Collection[Effect]
) -> Iterator[tuple[str, str, dict[_Address, Node]]]:
    for path in dict.fromkeys(effect.container for effect in wanted if effect.area == "file"):
        new = end.file(path)
        if new is None or new.text is None or new.truncated:
            continue
        changes = file_changes(start, end, path)[1]
        addresses = {effect.address for effect in wanted if effect.container == path}
        found = ((item.address, item.after) for item in changes if item.address in addresses)
        leaves = {
            address: node
            for address, node in found
            if node is not None and node.naming == "field" and (node.value or "").strip()
        }
        if leaves:
            yield path, new.text, leaves


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
    held, others = ({child.name: child.digest for child in item.children} for item in (first, second))
    return {**held, one[-1]: 0} == {**others, one[-1]: 0}


def _with_others(path: str, text: str, record: Node, nodes: Sequence[Node]) -> str | None:
    begin, end = record.raw
    edited = rewritten(path, text, [(node, altered(node.value or "")) for node in nodes])
    within = all(begin <= node.raw[0] <= node.raw[1] <= end for node in nodes)
    return None if edited is None or not within else edited[begin : end + len(edited) - len(text)]
