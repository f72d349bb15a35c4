"""Evidence made from evidence by editing the state at the end: effects undone, or with another value. Its
files really hold the edited text, with its size and hash; an edit that cannot be expressed gives None."""

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from taskloom.evaluators_api.state.comparison import Change, match_parts
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.nodes import Node, Span
from taskloom.evaluators_api.state.reading import finished, read
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import CLIPBOARD, Evidence, FileState
from taskloom.taskgraph.text_folding import composed

_MARKS = frozenset("\"'< ")
_GAP = re.compile(r"\s*,?\s*")
_SLOTS = {"text": "text", "image": "image_sha256", "file": "file_name"}
"""Parts of the clipboard, and their fields."""
_WAYS: tuple[Callable[[str], str], ...] = (
    lambda value: value,
    lambda value: "'" + value.replace("'", "''") + "'",
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: '"' + value.replace('"', '""') + '"',
    lambda value: '"' + html.escape(value).replace("\n", "&#10;") + '"',
    lambda value: html.escape(value, quote=False),
    lambda value: f"<![CDATA[{value}]]>",
    lambda value: f" {value}",
    lambda value: f" {json.dumps(value, ensure_ascii=False)}",
    lambda value: f"{json.dumps(value, ensure_ascii=False)}\n",
)
"""How values are written: plainly, in quotation marks, with entities, apart from what stands around them."""


@dataclass(frozen=True, slots=True)
class Edited:
    """Evidence that was edited, and how."""

    description: str
    """What was done, as a person would say it."""
    evidence: Evidence
    start: Evidence | None = None
    """The state at the start, where that was edited as well."""


def undone(start: Evidence, end: Evidence, effect: Effect) -> Evidence | None:
    """`end` as it would be without a lasting `effect` and what lies inside of it."""
    if effect.area == "file":
        return _undone_in_file(start, end, effect)
    if effect.area == "directory":
        kept = [path for path in end.directories if path != effect.container]
        added = [effect.container] if effect.kind == "removed" else []
        return end.model_copy(update={"directories": tuple(sorted([*kept, *added]))})
    return _with_slot(end, effect, getattr(start.clipboard, _SLOTS[effect.address[0]]))


def replaced(start: Evidence, end: Evidence, effect: Effect, value: str) -> Evidence | None:
    """`end` with `value` where a lasting `effect` left its own; for a file as a whole, with that text."""
    if effect.kind == "removed" or effect.area == "directory":
        return None
    if effect.area != "file":
        return None if effect.address == ("image",) else _with_slot(end, effect, value)
    if not effect.address:
        return with_text(end, effect.container, value)
    change = change_of(start, end, effect)
    if change is None or change.after is None or change.after.value is None:
        return None
    return with_edits(end, effect.container, [(change.after, value)])


def with_text(evidence: Evidence, path: str, text: str) -> Evidence:
    """`evidence` with a file of this text at `path`, or with this text in the clipboard."""
    if path == CLIPBOARD:
        clipboard = evidence.clipboard.model_copy(update={"text": text})
        return evidence.model_copy(update={"clipboard": clipboard})
    content = text.encode("utf-8", "surrogatepass")
    digest, old = hashlib.sha256(content).hexdigest(), evidence.file(path)
    kind = None if old is None else old.content
    state = FileState(path=path, size=len(content), sha256=digest, text=text, content=kind)
    return with_file(without_files(evidence, {path}), state)


def with_file(evidence: Evidence, file: FileState) -> Evidence:
    """`evidence` with one more file."""
    files = sorted([*evidence.files, file], key=lambda item: item.path)
    return evidence.model_copy(update={"files": tuple(files)})


def without_files(evidence: Evidence, paths: set[str]) -> Evidence:
    """`evidence` without the files at `paths`."""
    left = tuple(file for file in evidence.files if file.path not in paths)
    return evidence.model_copy(update={"files": left})


def with_edits(evidence: Evidence, path: str, edits: Sequence[tuple[Node, str | None]]) -> Evidence | None:
    """`evidence` with the file at `path` rewritten."""
    text = text_at(evidence, path)
    edited = None if text is None else rewritten(path, text, edits)
    return None if edited is None else with_text(evidence, path, edited)


def rewritten(path: str, text: str, edits: Sequence[tuple[Node, str | None]]) -> str | None:
    """The text of a file with other values in some leaves of its tree, and without the parts that have None.

    How a value is written is tried, first as the old one was: the leaves must say what they should and all
    others what they said. None where no way does, and where the file would be none of its format.
    """
    name = read(path, text)[0]
    values = [(node.raw, composed(value)) for node, value in edits if value is not None]
    cuts = [(node.extent, "") for node, value in edits if value is None and node.extent is not None]
    places = _written_out(path, text, values) if len(values) + len(cuts) == len(edits) else None
    if places is None:
        return None
    edited = spliced(text, *places)
    edited = finished(name, text, spliced(text, *places, *cuts)) if cuts else edited
    return edited if not edited or read(path, edited)[0] == name else None


def _written_out(path: str, text: str, values: Sequence[tuple[Span, str]]) -> list[tuple[Span, str]] | None:
    """Every value as it can be written in its place, and nothing around them changed: all as their old ones
    look, or those of one kind in one way, or each in its own."""
    each = []
    kinds: dict[tuple[object, ...], list[tuple[Span, str]]] = {}
    for place, value in values:
        old = _cut(text, place)
        each.append((place, sorted((way(value) for way in _WAYS), key=partial(_is_unlike, old))))
        # how the old one begins and what is in the new one decide how it is written
        begins = old[:1] if old[:1] in _MARKS else old[:1].isdigit()
        kind = (begins, value[:1].isdigit(), value.isalnum(), html.escape(value) == value)
        kinds.setdefault(kind, []).append((place, value))
    for rank in range(len(_WAYS) if len(kinds) == 1 else 1):
        places = [(place, ways[rank]) for place, ways in each]
        if not values or _says(path, text, spliced(text, *places), dict(values)):
            return places
    if len(values) < 2:
        return None
    half = len(values) // 2
    found: list[tuple[Span, str]] = []
    for part in kinds.values() if len(kinds) > 1 else (values[:half], values[half:]):
        written = _written_out(path, text, part)
        if written is None:
            return None
        found += written
    return found if _says(path, text, spliced(text, *found), dict(values)) else None


def _is_unlike(old: str, new: str) -> bool:
    """Whether two writings begin, or end, otherwise: with a quotation mark, a tag, a space before nothing."""
    marks = (old[:1] or " ", new[:1])
    return (marks[0] != marks[1] and not _MARKS.isdisjoint(marks)) or old.endswith("\n") != new.endswith("\n")


def _says(path: str, before: str, after: str, values: Mapping[Span, str]) -> bool:
    """Whether leaves say the `values`, and all others what they said before, each in its place; where a value
    is empty, in their order, because an empty leaf may be left out."""
    wanted = [(where, values.get(place, said)) for where, place, said in _leaves(path, before)]
    found = [(where, said) for where, _, said in _leaves(path, after)]
    if all(values.values()):
        return wanted == found
    return [said for _, said in wanted if said] == [said for _, said in found if said]


@lru_cache(maxsize=8)
def _leaves(path: str, text: str) -> tuple[tuple[tuple[int, ...], Span, str], ...]:
    found: list[tuple[tuple[int, ...], Span, str]] = []
    pending: list[tuple[tuple[int, ...], Node]] = [((), read(path, text)[1])]
    while pending:
        where, node = pending.pop()
        if node.value is not None:
            found.append((where, node.raw, node.value))
        pending.extend(reversed([((*where, number), child) for number, child in enumerate(node.children)]))
    return tuple(found)


def _undone_in_file(start: Evidence, end: Evidence, effect: Effect) -> Evidence | None:
    old = start.file(effect.container)
    if not effect.address:
        rest = without_files(end, {effect.container})
        return rest if old is None else with_file(rest, old)
    change, text = change_of(start, end, effect), text_at(end, effect.container)
    if change is None or text is None:
        return None
    edited = undo_change(effect.container, None if old is None else old.text, text, change)
    done = None if edited is None else finished(effect.format, text, edited)
    return None if done is None else with_text(end, effect.container, done)


def undo_change(path: str, before: str | None, after: str, change: Change) -> str | None:
    """The text `after` of a file without `change`, which is one of those that lead from `before` to it."""
    old, new = change.before, change.after
    if new is not None and change.kind == "added":
        if new.extent is not None:
            return spliced(after, (new.extent, ""))
        # a field of a new row cannot go alone, but it can be empty
        return None if new.value is None else rewritten(path, after, [(new, "")])
    if before is None or old is None:
        return None
    if new is not None:
        edited = spliced(after, (new.raw, _cut(before, old.raw)))
        if old.value is None or new.value is None or _says(path, after, edited, {new.raw: old.value}):
            return edited
        return rewritten(path, after, [(new, old.value)]) or edited
    return None if change.parents is None else _with_part(before, after, *change.parents, old)


def _with_part(before: str, after: str, old_group: Node, new_group: Node, lost: Node) -> str | None:
    """`after` with `lost`, a part of `old_group` in `before` that is no more: the group as it was without the
    others that are gone; where more than that changed, behind the last of those that stood before it."""
    pairs, gone, new = match_parts(old_group.children, new_group.children)
    extents = [node.extent for node in gone if node is not lost]
    if not new and all(old.digest == now.digest for old, now in pairs) and None not in extents:
        begin, end = old_group.raw
        cuts = [((max(cut[0], begin), min(cut[1], end)), "") for cut in extents if cut is not None]
        shorter = spliced(before, *cuts)
        return spliced(after, (new_group.raw, shorter[begin : end - len(before) + len(shorter)]))
    left = {id(old): now for old, now in pairs}
    position = next(index for index, node in enumerate(old_group.children) if node is lost)
    known = [left[id(old)] for old in old_group.children[:position] if id(old) in left]
    raw, gap = _cut(before, _written(lost)), _gap(before, old_group.children)
    if known:
        return with_another(after, known[-1], raw, (before, old_group))
    if gap is None or not new_group.children:
        return None
    place = _written(new_group.children[0])[0]
    return spliced(after, ((place, place), raw + gap))


def with_another(text: str, beside: Node, raw: str, *groups: tuple[str, Node]) -> str | None:
    """`text` with one more part, written `raw`, behind `beside`, as the parts of one of `groups`, each with
    the text that it is in, follow each other; None where they do not tell how."""
    gaps = (_gap(around, group.children) for around, group in groups)
    gap = next((found for found in gaps if found is not None), None)
    place = _written(beside)[1]
    return None if gap is None else spliced(text, ((place, place), gap + raw))


def _written(node: Node) -> Span:
    return node.whole or node.raw


def _gap(text: str, parts: Sequence[Node]) -> str | None:
    """What stands between two parts: the first that is no more than white space and a comma."""
    found = (text[_written(one)[1] : _written(other)[0]] for one, other in pairwise(parts))
    return next((gap for gap in found if _GAP.fullmatch(gap)), None)


def _with_slot(end: Evidence, effect: Effect, value: str | None) -> Evidence:
    clipboard = end.clipboard.model_copy(update={_SLOTS[effect.address[0]]: value})
    return end.model_copy(update={"clipboard": clipboard})


def change_of(start: Evidence, end: Evidence, effect: Effect) -> Change | None:
    """The change in a file that `effect` tells of."""
    changes = file_changes(start, end, effect.container)[1]
    wanted = (effect.address, effect.kind)
    return next((item for item in changes if (item.address, item.kind) == wanted), None)


def text_at(evidence: Evidence, path: str) -> str | None:
    """The text of a file, or of the clipboard; None where there is none."""
    if path == CLIPBOARD:
        return evidence.clipboard.text
    file = evidence.file(path)
    return file.text if file is not None else None


def spliced(text: str, *edits: tuple[Span, str]) -> str:
    """`text` with something else at these places, which do not overlap."""
    for (begin, end), written in sorted(edits, reverse=True):
        text = text[:begin] + written + text[end:]
    return text


def _cut(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
