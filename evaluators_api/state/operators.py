"""Operators that turn right states into wrong ones at the places that the work touched: a value is moved,
exchanged, split or put first; what was removed is only emptied, or a sibling is removed instead. A new value
has the same shape as the old one."""

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

_LONGEST_SHOWN = 60
_ROWS = "rows"
_MARK = "zq7"
_OPPOSITE = {"true": "false", "0": "1", "on": "off", "rectangle": "ellipse"}
_OPPOSITE |= {other: value for value, other in _OPPOSITE.items()}
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_NEXT_DIGIT = str.maketrans("0123456789abcdef", "123456789abcdef0")
_Address = tuple[str, ...]


def altered(value: str) -> str:
    """Another value of the same shape: another number, another digest, a path with another file name, or a
    text with another end.

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
        return f"{stem}{_MARK}.{suffix}"
    return f"{value.rstrip()}{_MARK}"


def moved(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with the value moved to a sibling, or the new file with another name or in another folder."""
    text, change = text_at(end, effect.container), change_of(start, end, effect)
    if effect.kind == "added" and not effect.address:
        yield from _moved_file(start, end, effect.container)
    if effect.kind != "changed" or text is None or change is None or change.after is None:
        return
    own, old_value = change.after, None if change.before is None else change.before.value
    if own.value is None or old_value is None:
        return
    for address, sibling in _siblings(read(effect.container, text)[1], effect.address):
        edits = [(sibling, own.value), (own, old_value)]
        edited = with_edits(end, effect.container, edits) if sibling.value != own.value else None
        if edited is not None:
            description = f"{' / '.join(address)} became {own.value[:_LONGEST_SHOWN]!r} instead"
            yield Edited(f"{effect.container}: {description} of {' / '.join(effect.address)}", edited)


def put_first(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a line that was added at the end of a text moved to its beginning."""
    text, change = text_at(end, effect.container), change_of(start, end, effect)
    if not effect.address or text is None or change is None or change.parents is None or change.after is None:
        return
    parent, added, extent = change.parents[1], change.after, change.after.extent
    if extent is None or added.value is None or added.naming != "position":
        return
    if parent.children[-1] is not added or parent.children[0] is added:
        return
    start_of_text, line = parent.children[0].raw[0], text[added.raw[0] : added.raw[1]].rstrip("\n")
    edited = spliced(text, ((start_of_text, start_of_text), f"{line}\n"), (extent, ""))
    if read(effect.container, edited)[0] == effect.format:
        description = f"{added.content()[:_LONGEST_SHOWN]!r} stands at the beginning instead of the end"
        yield Edited(f"{effect.container}: {description}", with_text(end, effect.container, edited))


def removed_otherwise(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a sibling removed instead of what `effect` removed, or with the latter only emptied."""
    restored = undone(start, end, effect) if effect.area == "file" and effect.kind == "removed" else None
    if restored is None:
        return
    path, text = effect.container, text_at(restored, effect.container)
    sibling = "" if effect.address else _sibling_file(start, restored, path)
    if sibling:
        yield Edited(f"{sibling} was removed instead of {path}", without_files(restored, {sibling}))
    if text is None:
        return
    tree, before = (read(path, content or "")[1] for content in (text, text_at(start, path)))
    own, parent = tree.at(effect.address), tree.at(effect.address[:-1])
    former = before.at(effect.address[:-1])
    if effect.address and parent is not None and former is not None:
        known = {node.digest for node in former.children} - {0 if own is None else own.digest}
        siblings = (node for node in parent.children if node.extent is not None and node.digest in known)
        for node in siblings:
            without = with_edits(restored, path, [(node, None)])
            if without is not None:
                yield Edited(f"{path}: {node.content()[:_LONGEST_SHOWN]!r} was removed instead", without)
                break
    emptied = with_edits(restored, path, list(_emptied(own)))
    if emptied is not None and text_at(emptied, path) != text:
        yield Edited(f"{effect.where} is still there and only empty", emptied)


def exchanged(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with two values that `wanted` left in one record exchanged, or in one field of two records."""
    for path, text, leaves in _new_values(start, end, wanted):
        tree = read(path, text)[1]
        for one, two in _neighbours(leaves):
            first, second = leaves[one], leaves[two]
            apart = first.raw[1] <= second.raw[0] or second.raw[1] <= first.raw[0]
            if first.value == second.value or not apart or _only_reorders(tree, one, two):
                continue
            edited = with_edits(end, path, [(first, second.value), (second, first.value)])
            if edited is not None:
                description = f"{path}: {' / '.join(one)} and {' / '.join(two)} have each other's value"
                yield Edited(description, edited)


def halved(start: Evidence, end: Evidence, wanted: Collection[Effect]) -> Iterator[Edited]:
    """`end` with half of the values in the added record altered, and a record, there from the start, with the
    other half altered: what is wrong in one is right in the other."""
    for path, text, leaves in _new_values(start, end, wanted):
        before, name = text_at(start, path), read(path, text)[0]
        for change in file_changes(start, end, path)[1]:
            record, address = change.after, change.address
            own = [node for leaf_address, node in leaves.items() if leaf_address[: len(address)] == address]
            if change.kind != "added" or record is None or len(own) < 2 or before is None:
                continue
            if record.naming not in ("record", "position") or change.parents is None:
                continue
            former, parent = change.parents
            key = [child for child in record.children if child.value == record.name and child not in own][:1]
            half = len(own) // 2
            record_text = _altered_record(path, text, record, own[:half])
            other_text = _altered_record(path, text, record, [*own[half:], *key])
            if record_text is None or other_text is None or not former.children:
                continue
            groups = ((before, former), (text, parent))
            end_text = with_another(text, record, other_text, *groups)
            start_text = with_another(before, former.children[-1], other_text, *groups)
            if end_text is None or start_text is None or end_text[: record.raw[1]] != text[: record.raw[1]]:
                continue
            end_text = finished(name, text, spliced(end_text, (record.raw, record_text)))
            start_text = finished(name, before, start_text)
            if read(path, end_text)[0] == name == read(path, start_text)[0]:
                shown = record.content()[:_LONGEST_SHOWN]
                description = f"{path}: {shown} has half of its values, another one the others"
                yield Edited(description, with_text(end, path, end_text), with_text(start, path, start_text))


def _moved_file(start: Evidence, end: Evidence, path: str) -> Iterator[Edited]:
    file = end.file(path)
    if file is None:
        return
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    other_folders = sorted({item.path.rpartition("/")[0] for item in start.files} - {folder})
    places = [f"{folder}/{stem or suffix} (2){dot}{suffix if stem else ''}"]
    for place in (*places, *(f"{other}/{name}" for other in other_folders[:1])):
        place = place.lstrip("/")
        if end.file(place) is None:
            edited = with_file(without_files(end, {path}), file.model_copy(update={"path": place}))
            yield Edited(f"the file is {place} instead of {path}", edited)


def _sibling_file(start: Evidence, restored: Evidence, path: str) -> str:
    folder, _, name = path.rpartition("/")
    hashes = {file.path: file.sha256 for file in restored.files}
    unchanged = (file.path for file in start.files if hashes.get(file.path) == file.sha256)
    siblings = (other for other in unchanged if other != path and other.rpartition("/")[0] == folder)
    suffix = name.rpartition(".")[2]
    return next((other for other in siblings if other.rpartition(".")[2] == suffix), "")


def _emptied(own: Node | None) -> Iterator[tuple[Node, str | None]]:
    """The edits that remove the rows of a table, or the longest text of a group other than its name."""
    if own is not None and own.at((_ROWS,)) is not None:
        yield from ((node, None) for node in own.parts((_ROWS,)))
    elif own is not None and own.value is None:
        own_lines = [own] if is_lines(own) else []
        others = (node for _, node in own.walk() if node is not own and node.value != own.name)
        texts = own_lines or [node for node in others if node.value or is_lines(node)]
        for longest in sorted(texts, key=lambda node: node.raw[0] - node.raw[1])[:1]:
            yield from [(longest, "")] if longest.value else ((line, None) for line in longest.children)


def _siblings(tree: Node, address: _Address) -> Iterator[tuple[_Address, Node]]:
    """Where the value could be by mistake: the same field of another record, another field of this one."""
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
    """Each value with the next one in its record, and with that of the same field in the next record."""
    last: dict[tuple[_Address, str], _Address] = {}
    for address in leaves:
        for group in ((address[:-1], ""), (address[:-2], address[-1])):
            if group in last and (group[1] == "" or len(address) > 1):
                yield last[group], address
            last[group] = address


def _only_reorders(tree: Node, one: _Address, two: _Address) -> bool:
    """Whether exchanging two values of unnamed records merely swaps the records."""
    first, second = tree.at(one[:-1]), tree.at(two[:-1])
    if one[:-1] == two[:-1] or first is None or second is None or first.naming != "position":
        return False
    values, other_values = ({child.name: child.digest for child in item.children} for item in (first, second))
    return {**values, one[-1]: 0} == {**other_values, one[-1]: 0}


def _altered_record(path: str, text: str, record: Node, nodes: Sequence[Node]) -> str | None:
    begin, end = record.raw
    edited = rewritten(path, text, [(node, altered(node.value or "")) for node in nodes])
    inside = all(begin <= node.raw[0] <= node.raw[1] <= end for node in nodes)
    return None if edited is None or not inside else edited[begin : end + len(edited) - len(text)]
