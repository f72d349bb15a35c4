"""Evidence made from evidence by editing the state at the end: effects undone, altered, moved; something
beside them lost.

Every edit gives new, valid evidence whose files really hold the edited text, with its size and hash. An edit
that cannot be expressed (a value that the format cannot hold there, a picture) gives None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from taskloom.evaluators_api.state.comparison import Change, match_parts
from taskloom.evaluators_api.state.effects import changed_paths, file_changes, shown_controls
from taskloom.evaluators_api.state.nodes import Node, Span
from taskloom.evaluators_api.state.reading import Format, all_formats, finished, read
from taskloom.evaluators_api.state.templates import is_generated
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState, is_open_document

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
    text = _text(end, effect.container)
    change = _change(start, end, effect)
    if text is None or change is None or change.after is None or change.after.value is None:
        return None
    written = all_formats()[effect.format].encode(value, change.after, text)
    return (
        None
        if written is None
        else with_text(end, effect.container, _spliced(text, change.after.raw, written))
    )


def moved(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with the same change somewhere else: the value in a sibling's place, the new file under another
    name."""
    if effect.area != "file" or effect.kind == "removed":
        return
    if not effect.address:
        yield from _moved_file(start, end, effect)
    elif effect.kind == "changed":
        yield from _moved_value(start, end, effect)


def losses(start: Evidence, end: Evidence) -> Iterator[Edited]:
    """`end` with something lost that was there at the start and that the performance had left alone.

    For each changed file: one unchanged part, and all unchanged parts; then one other file, and all other
    files.
    """
    for path in changed_paths(start, end):
        yield from _lost_parts(start, end, path)
    changed = set(changed_paths(start, end))
    others = [file.path for file in end.files if file.path not in changed and not is_open_document(file.path)]
    if others:
        yield Edited(f"{others[0]} was deleted as well", without_files(end, {others[0]}))
    if len(others) > 1:
        yield Edited("all other files were deleted", without_files(end, set(others)))


def with_text(evidence: Evidence, path: str, text: str) -> Evidence:
    """`evidence` with a file of this text at `path`, whether there was one or not."""
    content = text.encode("utf-8", "surrogatepass")
    state = FileState(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest(), text=text)
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
    change, text = _change(start, end, effect), _text(end, effect.container)
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
            return _spliced(after, new.extent, "")
        emptied = form.encode("", new, after)  # a field of a new row cannot go alone, but it can be empty
        return None if emptied is None else _spliced(after, new.raw, emptied)
    if before is None or change.before is None:
        return None
    if change.kind == "changed":
        return (
            None
            if change.after is None
            else _spliced(after, change.after.raw, _cut(before, change.before.raw))
        )
    if change.parents is None:
        return None
    old_parent, new_parent = change.parents
    pairs, _, _ = match_parts(old_parent.children, new_parent.children)
    position = old_parent.children.index(change.before)
    earlier = {id(node) for node in old_parent.children[:position]}
    places = [new_parent.children.index(new) + 1 for old, new in pairs if id(old) in earlier]
    raw = _cut(before, change.before.whole or change.before.raw)
    return form.insert(after, new_parent, max(places, default=0), raw)


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


def _moved_file(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    file = end.file(effect.container)
    if file is None or effect.kind != "added":
        return
    folder, _, name = file.path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    other_name = f"{stem or suffix} (2){dot}{suffix if stem else ''}"
    others = sorted({path.rpartition("/")[0] for path in (item.path for item in start.files)} - {folder})
    for path in (
        f"{folder}/{other_name}".lstrip("/"),
        *(f"{other}/{name}".lstrip("/") for other in others[:1]),
    ):
        if any(item.path == path for item in end.files):
            continue
        files = [*(item for item in end.files if item is not file), file.model_copy(update={"path": path})]
        files.sort(key=lambda item: item.path)
        yield Edited(
            f"the file is {path} instead of {file.path}", end.model_copy(update={"files": tuple(files)})
        )


def _moved_value(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    text, change = _text(end, effect.container), _change(start, end, effect)
    old = _text(start, effect.container)
    if text is None or old is None or change is None or change.after is None or change.before is None:
        return
    if change.after.value is None:
        return
    before = _cut(old, change.before.raw)
    form, value = all_formats()[effect.format], change.after.value
    _, tree = read(effect.container, text)
    for address in _siblings(tree, effect.address):
        sibling = tree.at(address)
        if sibling is None or sibling.value is None or sibling.value == value:
            continue
        written = form.encode(value, sibling, text)
        if written is None:
            continue
        edited = _both(text, (sibling.raw, written), (change.after.raw, before))
        where = " / ".join(address)
        yield Edited(
            f"{effect.container}: {where} became {value[:60]!r} instead of {' / '.join(effect.address)}",
            with_text(end, effect.container, edited),
        )


def _siblings(tree: Node, address: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
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


def _lost_parts(start: Evidence, end: Evidence, path: str) -> Iterator[Edited]:
    before, after = _text(start, path), _text(end, path)
    if before is None or after is None:
        return
    name, tree = read(path, after)
    old_name, old = read(path, before)
    if name != old_name:
        return
    unchanged = [node for node in _unchanged(old, tree) if node.extent is not None]
    spans = [node.extent for node in unchanged if node.extent is not None]
    if spans:
        edited = with_text(end, path, finished(name, after, _spliced(after, spans[0], "")))
        named = "" if is_generated(unchanged[0].name) else f"{unchanged[0].name}: "
        yield Edited(f"{path}: {named}{unchanged[0].content()[:60]!r} was lost as well", edited)
    if len(spans) > 1:
        text = after
        for span in sorted(spans, reverse=True):
            text = _spliced(text, span, "")
        yield Edited(
            f"{path}: all that was there before was lost", with_text(end, path, finished(name, after, text))
        )


def _unchanged(old: Node, new: Node) -> Iterator[Node]:
    pairs, _, _ = match_parts(old.children, new.children)
    for before, after in pairs:
        if before.digest == after.digest and after.extent is not None:
            yield after
        elif before.children and after.children:
            yield from _unchanged(before, after)


def _change(start: Evidence, end: Evidence, effect: Effect) -> Change | None:
    old = start.file(effect.container)
    new = end.file(effect.container)
    _, changes = file_changes(old, new)
    return next(
        (item for item in changes if item.address == effect.address and item.kind == effect.kind), None
    )


def _text(evidence: Evidence, path: str) -> str | None:
    file = evidence.file(path)
    return file.text if file is not None else None


def _both(text: str, *edits: tuple[Span, str]) -> str:
    for span, written in sorted(edits, reverse=True):
        text = _spliced(text, span, written)
    return text


def _spliced(text: str, span: Span, written: str) -> str:
    return text[: span[0]] + written + text[span[1] :]


def _cut(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
