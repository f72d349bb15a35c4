"""Evidence made by editing the state at the end: with effects undone, or with other values. Its files contain
the edited text, with its size and hash; an edit that cannot be expressed gives None."""

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

_LEADING_MARKS = frozenset("\"'< ")
_SEPARATOR = re.compile(r"\s*,?\s*")
_CLIPBOARD_FIELDS = {"text": "text", "image": "image_sha256", "file": "file_name"}
"""Fields of the clipboard, by address."""
_NOTATIONS: tuple[Callable[[str], str], ...] = (
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
"""Ways to write a value: plainly, in quotation marks, with entities, with white space around it."""


@dataclass(frozen=True, slots=True)
class Edited:
    """Evidence that was edited, and how."""

    description: str
    """What was done, in words."""
    evidence: Evidence
    start: Evidence | None = None
    """The state at the start, if it was edited as well."""


def undone(start: Evidence, end: Evidence, effect: Effect) -> Evidence | None:
    """`end` as it would be without a lasting `effect` and everything inside it."""
    if effect.area == "file":
        return _undone_in_file(start, end, effect)
    if effect.area == "directory":
        kept = [path for path in end.directories if path != effect.container]
        restored = [effect.container] if effect.kind == "removed" else []
        return end.model_copy(update={"directories": tuple(sorted([*kept, *restored]))})
    return _with_clipboard(end, effect, getattr(start.clipboard, _CLIPBOARD_FIELDS[effect.address[0]]))


def replaced(start: Evidence, end: Evidence, effect: Effect, value: str) -> Evidence | None:
    """`end` with `value` where a lasting `effect` left another; for a whole file, with that text."""
    if effect.kind == "removed" or effect.area == "directory":
        return None
    if effect.area != "file":
        return None if effect.address == ("image",) else _with_clipboard(end, effect, value)
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
    digest, replaced_file = hashlib.sha256(content).hexdigest(), evidence.file(path)
    content_type = None if replaced_file is None else replaced_file.content
    state = FileState(path=path, size=len(content), sha256=digest, text=text, content=content_type)
    return with_file(without_files(evidence, {path}), state)


def with_file(evidence: Evidence, file: FileState) -> Evidence:
    """`evidence` with one more file."""
    files = sorted([*evidence.files, file], key=lambda item: item.path)
    return evidence.model_copy(update={"files": tuple(files)})


def without_files(evidence: Evidence, paths: set[str]) -> Evidence:
    """`evidence` without the files at `paths`."""
    files = tuple(file for file in evidence.files if file.path not in paths)
    return evidence.model_copy(update={"files": files})


def with_edits(evidence: Evidence, path: str, edits: Sequence[tuple[Node, str | None]]) -> Evidence | None:
    """`evidence` with the file at `path` rewritten."""
    text = text_at(evidence, path)
    edited = None if text is None else rewritten(path, text, edits)
    return None if edited is None else with_text(evidence, path, edited)


def rewritten(path: str, text: str, edits: Sequence[tuple[Node, str | None]]) -> str | None:
    """The text of a file with new values in some leaves of its tree, and without parts whose value is None.

    Notations are tried, starting with that of the old value, until the leaves have the new values and all
    others the old ones. None if no notation works, or the result is not in the file's format.
    """
    name = read(path, text)[0]
    values = [(node.raw, composed(value)) for node, value in edits if value is not None]
    cuts = [(node.extent, "") for node, value in edits if value is None and node.extent is not None]
    places = _value_edits(path, text, values) if len(values) + len(cuts) == len(edits) else None
    if places is None:
        return None
    edited = spliced(text, *places)
    edited = finished(name, text, spliced(text, *places, *cuts)) if cuts else edited
    return edited if not edited or read(path, edited)[0] == name else None


def _value_edits(path: str, text: str, values: Sequence[tuple[Span, str]]) -> list[tuple[Span, str]] | None:
    """The values written so that nothing else changes: all in the notation of the old values, or one notation
    per kind, or each in its own."""
    candidates = []
    kinds: dict[tuple[object, ...], list[tuple[Span, str]]] = {}
    for place, value in values:
        old = _text_of(text, place)
        notations = sorted((write(value) for write in _NOTATIONS), key=partial(_is_unlike, old))
        candidates.append((place, notations))
        # the beginning of the old value and the characters of the new one decide its notation
        start = old[:1] if old[:1] in _LEADING_MARKS else old[:1].isdigit()
        kind = (start, value[:1].isdigit(), value.isalnum(), html.escape(value) == value)
        kinds.setdefault(kind, []).append((place, value))
    for rank in range(len(_NOTATIONS) if len(kinds) == 1 else 1):
        edits = [(place, notations[rank]) for place, notations in candidates]
        if not values or _has_values(path, text, spliced(text, *edits), dict(values)):
            return edits
    if len(values) < 2:
        return None
    half = len(values) // 2
    edits = []
    for part in kinds.values() if len(kinds) > 1 else (values[:half], values[half:]):
        part_edits = _value_edits(path, text, part)
        if part_edits is None:
            return None
        edits += part_edits
    return edits if _has_values(path, text, spliced(text, *edits), dict(values)) else None


def _is_unlike(old: str, new: str) -> bool:
    """Whether two notations begin or end differently: with a quotation mark, a tag, a space, a line end."""
    marks = (old[:1] or " ", new[:1])
    begins_differently = marks[0] != marks[1] and not _LEADING_MARKS.isdisjoint(marks)
    return begins_differently or old.endswith("\n") != new.endswith("\n")


def _has_values(path: str, before: str, after: str, values: Mapping[Span, str]) -> bool:
    """Whether the leaves at the keys of `values` have these values and all others their former ones, each in
    its position; if a value is empty, only the order counts, because an empty leaf may be left out."""
    wanted = [(position, values.get(span, value)) for position, span, value in _leaves(path, before)]
    found = [(position, value) for position, _, value in _leaves(path, after)]
    if all(values.values()):
        return wanted == found
    return [value for _, value in wanted if value] == [value for _, value in found if value]


@lru_cache(maxsize=8)
def _leaves(path: str, text: str) -> tuple[tuple[tuple[int, ...], Span, str], ...]:
    found: list[tuple[tuple[int, ...], Span, str]] = []
    pending: list[tuple[tuple[int, ...], Node]] = [((), read(path, text)[1])]
    while pending:
        position, node = pending.pop()
        if node.value is not None:
            found.append((position, node.raw, node.value))
        pending.extend(reversed([((*position, number), child) for number, child in enumerate(node.children)]))
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
    completed = None if edited is None else finished(effect.format, text, edited)
    return None if completed is None else with_text(end, effect.container, completed)


def undo_change(path: str, before: str | None, after: str, change: Change) -> str | None:
    """The text `after` of a file without `change`, one of the changes from `before` to `after`."""
    old, new = change.before, change.after
    if new is not None and change.kind == "added":
        if new.extent is not None:
            return spliced(after, (new.extent, ""))
        # a field of a new row cannot be removed on its own, but it can be emptied
        return None if new.value is None else rewritten(path, after, [(new, "")])
    if before is None or old is None:
        return None
    if new is not None:
        edited = spliced(after, (new.raw, _text_of(before, old.raw)))
        if old.value is None or new.value is None or _has_values(path, after, edited, {new.raw: old.value}):
            return edited
        return rewritten(path, after, [(new, old.value)]) or edited
    return None if change.parents is None else _with_restored_part(before, after, *change.parents, old)


def _with_restored_part(before: str, after: str, old_group: Node, new_group: Node, lost: Node) -> str | None:
    """`after` with `lost`, a removed part of `old_group` in `before`: the old group without its other removed
    parts or, if anything else in it changed, with the part after the last one that preceded it."""
    pairs, removed, new = match_parts(old_group.children, new_group.children)
    extents = [node.extent for node in removed if node is not lost]
    if not new and all(old.digest == now.digest for old, now in pairs) and None not in extents:
        begin, end = old_group.raw
        cuts = [((max(cut[0], begin), min(cut[1], end)), "") for cut in extents if cut is not None]
        shorter = spliced(before, *cuts)
        return spliced(after, (new_group.raw, shorter[begin : end - len(before) + len(shorter)]))
    remaining = {id(old): now for old, now in pairs}
    position = next(index for index, node in enumerate(old_group.children) if node is lost)
    preceding = [remaining[id(old)] for old in old_group.children[:position] if id(old) in remaining]
    raw, separator = _text_of(before, _written_span(lost)), _separator_of(before, old_group.children)
    if preceding:
        return with_another(after, preceding[-1], raw, (before, old_group))
    if separator is None or not new_group.children:
        return None
    start = _written_span(new_group.children[0])[0]
    return spliced(after, ((start, start), raw + separator))


def with_another(text: str, previous: Node, raw: str, *groups: tuple[str, Node]) -> str | None:
    """`text` with another part, written as `raw`, after `previous`, separated like the parts of one of
    `groups`, each given with its text; None if these show no separator."""
    separators = (_separator_of(group_text, group.children) for group_text, group in groups)
    separator = next((found for found in separators if found is not None), None)
    end = _written_span(previous)[1]
    return None if separator is None else spliced(text, ((end, end), separator + raw))


def _written_span(node: Node) -> Span:
    return node.whole or node.raw


def _separator_of(text: str, parts: Sequence[Node]) -> str | None:
    """The first text between two parts that is only white space and a comma."""
    between = (text[_written_span(one)[1] : _written_span(other)[0]] for one, other in pairwise(parts))
    return next((found for found in between if _SEPARATOR.fullmatch(found)), None)


def _with_clipboard(end: Evidence, effect: Effect, value: str | None) -> Evidence:
    clipboard = end.clipboard.model_copy(update={_CLIPBOARD_FIELDS[effect.address[0]]: value})
    return end.model_copy(update={"clipboard": clipboard})


def change_of(start: Evidence, end: Evidence, effect: Effect) -> Change | None:
    """The change in a file that `effect` describes."""
    changes = file_changes(start, end, effect.container)[1]
    wanted = (effect.address, effect.kind)
    return next((item for item in changes if (item.address, item.kind) == wanted), None)


def text_at(evidence: Evidence, path: str) -> str | None:
    """The text of a file or of the clipboard; None if there is none."""
    if path == CLIPBOARD:
        return evidence.clipboard.text
    file = evidence.file(path)
    return file.text if file is not None else None


def spliced(text: str, *edits: tuple[Span, str]) -> str:
    """`text` with these spans, which do not overlap, replaced."""
    for (begin, end), written in sorted(edits, reverse=True):
        text = text[:begin] + written + text[end:]
    return text


def _text_of(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
