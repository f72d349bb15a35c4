"""Evidence made from evidence by editing the state at the end: effects undone, or with another value.

Every edit gives new, valid evidence whose files really hold the edited text, with its size and hash. An edit
that cannot be expressed (a value that the format cannot hold there, a picture) gives None.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from taskloom.evaluators_api.state.comparison import Change, match_parts
from taskloom.evaluators_api.state.effects import file_changes, shown_controls
from taskloom.evaluators_api.state.nodes import Node, Span
from taskloom.evaluators_api.state.reading import Format, all_formats, finished
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState

_GAP = re.compile(r"\s*,?\s*")
_SLOTS = {
    ("clipboard", "text"): "text",
    ("clipboard", "image"): "image_sha256",
    ("clipboard", "file"): "file_name",
    ("window", "application"): "active_application",
    ("window", "title"): "window_title",
    ("window", "address"): "url",
}


@dataclass(frozen=True, slots=True)
class Edited:
    """Evidence that was edited, and how."""

    description: str
    """What was done, as a person would say it."""
    evidence: Evidence
    """The edited evidence."""
    start: Evidence | None = None
    """The state at the start, where that was edited as well."""


def undone(start: Evidence, end: Evidence, effect: Effect) -> Evidence | None:
    """`end` as it would be without `effect` and what lies inside of it."""
    if effect.area == "file":
        return _undone_in_file(start, end, effect)
    if effect.area == "directory":
        kept = [path for path in end.directories if path != effect.container]
        added = [effect.container] if effect.kind == "removed" else []
        return end.model_copy(update={"directories": tuple(sorted([*kept, *added]))})
    if effect.area == "screen":
        return _undone_on_screen(start, end, effect)
    return _with_slot(
        end, effect, getattr(_slot_owner(start, effect), _SLOTS[effect.area, effect.address[0]])
    )


def replaced(start: Evidence, end: Evidence, effect: Effect, value: str) -> Evidence | None:
    """`end` with `value` where `effect` left its own; for a file as a whole, with that text."""
    if effect.kind == "removed":
        return None
    if effect.area == "screen":
        return _shown_otherwise(end, effect, value)
    if effect.area != "file":
        return None if effect.area == "directory" else _with_slot(end, effect, value)
    if not effect.address:
        return with_text(end, effect.container, value)
    text = text_at(end, effect.container)
    change = change_of(start, end, effect)
    if text is None or change is None or change.after is None or change.after.value is None:
        return None
    written = all_formats()[effect.format].encode(value, change.after, text)
    return (
        None
        if written is None
        else with_text(end, effect.container, spliced(text, (change.after.raw, written)))
    )


def with_text(evidence: Evidence, path: str, text: str) -> Evidence:
    """`evidence` with a file of this text at `path`, whether there was one or not."""
    content = text.encode("utf-8", "surrogatepass")
    digest, old = hashlib.sha256(content).hexdigest(), evidence.file(path)
    kind = None if old is None else old.content
    state = FileState(path=path, size=len(content), sha256=digest, text=text, content=kind)
    files = [*(file for file in evidence.files if file.path != path), state]
    return evidence.model_copy(update={"files": tuple(sorted(files, key=lambda file: file.path))})


def without_files(evidence: Evidence, paths: set[str]) -> Evidence:
    """`evidence` without the files at `paths`."""
    return evidence.model_copy(
        update={"files": tuple(file for file in evidence.files if file.path not in paths)}
    )


def _undone_in_file(start: Evidence, end: Evidence, effect: Effect) -> Evidence | None:
    old = start.file(effect.container)
    if not effect.address:
        rest = without_files(end, {effect.container})
        if old is None:
            return rest
        files = sorted([*rest.files, old], key=lambda file: file.path)
        return end.model_copy(update={"files": tuple(files)})
    change, text = change_of(start, end, effect), text_at(end, effect.container)
    if change is None or text is None:
        return None
    edited = undo_change(all_formats()[effect.format], None if old is None else old.text, text, change)
    if edited is None:
        return None
    return with_text(end, effect.container, finished(effect.format, text, edited))


def undo_change(form: Format, before: str | None, after: str, change: Change) -> str | None:
    """The text `after` without `change`, which is one of those that lead from `before` to it."""
    if change.kind == "added":
        new = change.after
        if new is None or (new.extent is None and new.value is None):
            return None
        if new.extent is not None:
            return spliced(after, (new.extent, ""))
        emptied = form.encode("", new, after)  # a field of a new row cannot go alone, but it can be empty
        return None if emptied is None else spliced(after, (new.raw, emptied))
    if before is None or change.before is None:
        return None
    if change.kind == "changed":
        if change.after is None:
            return None
        place = change.after.raw
        sample = form.encode("0", change.after, after) or "" if place[0] == place[1] else ""
        gap = sample[: len(sample) - len(sample.lstrip())]
        return spliced(after, (place, gap + _cut(before, change.before.raw)))
    if change.parents is None:
        return None
    return _with_part(before, after, *change.parents, change.before)


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
    if gap is None or not new_group.children:
        return None
    if known:
        place = _written(known[-1])[1]
        return spliced(after, ((place, place), gap + raw))
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


def _undone_on_screen(start: Evidence, end: Evidence, effect: Effect) -> Evidence:
    position = list(shown_controls(end.controls)).index(effect.address) if effect.kind != "removed" else None
    shown = [control for control in end.controls if control.application != "environment"]
    if position is None:
        old = _control(start, effect)
        return end.model_copy(update={"controls": (*end.controls, *old)})
    target = shown[position]
    restored = _control(start, effect) if effect.kind == "changed" else ()
    controls: list[object] = []
    for control in end.controls:
        controls.extend(restored if control is target else (control,))
    return end.model_copy(update={"controls": tuple(controls)})


def _control(evidence: Evidence, effect: Effect) -> tuple[object, ...]:
    shown = [control for control in evidence.controls if control.application != "environment"]
    position = list(shown_controls(evidence.controls)).index(effect.address)
    return (shown[position],)


def _shown_otherwise(end: Evidence, effect: Effect, value: str) -> Evidence:
    shown = [control for control in end.controls if control.application != "environment"]
    target = shown[list(shown_controls(end.controls)).index(effect.address)]
    change = {"value": value} if effect.after else {"text": value}
    return end.model_copy(
        update={
            "controls": tuple(
                control.model_copy(update=change) if control is target else control
                for control in end.controls
            )
        }
    )


def _slot_owner(evidence: Evidence, effect: Effect) -> object:
    return evidence.clipboard if effect.area == "clipboard" else evidence


def _with_slot(end: Evidence, effect: Effect, value: str | None) -> Evidence:
    name = _SLOTS[effect.area, effect.address[0]]
    if effect.area == "clipboard":
        return end.model_copy(update={"clipboard": end.clipboard.model_copy(update={name: value})})
    return end.model_copy(update={name: value or ""})


def change_of(start: Evidence, end: Evidence, effect: Effect) -> Change | None:
    """The change in a file that `effect` tells of."""
    old = start.file(effect.container)
    new = end.file(effect.container)
    _, changes = file_changes(old, new)
    return next(
        (item for item in changes if item.address == effect.address and item.kind == effect.kind), None
    )


def text_at(evidence: Evidence, path: str) -> str | None:
    """The text of a file; None where there is none."""
    file = evidence.file(path)
    return file.text if file is not None else None


def spliced(text: str, *edits: tuple[Span, str]) -> str:
    """`text` with something else at these places, which do not overlap."""
    for (begin, end), written in sorted(edits, reverse=True):
        text = text[:begin] + written + text[end:]
    return text


def _cut(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
