"""Evidence in which something else was changed or shown as well, or the right thing stands at the wrong end
of a text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice

from taskloom.evaluators_api.state.editing import Edited, with_text
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.nodes import ID_KEYS
from taskloom.evaluators_api.state.reading import all_formats, read
from taskloom.evaluators_api.state.records import changed_fields
from taskloom.evaluators_api.state.templates import is_generated
from taskloom.evaluators_api.text_matching import has_phrase, is_passing, shown_exactly
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState, is_open_document
from taskloom.taskgraph.records.interaction import Control

_LONG = 12
_MOST = 2
_LEDGER = "ledger"
_DATABASE = "database"
_CANVAS = "Custom"
_IN_RECORD = 2
"""Length from which on an address leads to a field of a record."""


def put_first(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a line that was added to a text, or an entry that was added to a ledger, at its
    beginning."""
    old, new = start.file(effect.container), end.file(effect.container)
    if effect.area != "file" or not effect.address or old is None or new is None or new.text is None:
        return
    name, changes = file_changes(old, new)
    change = next((item for item in changes if item.address == effect.address and item.kind == "added"), None)
    if change is None or change.after is None or change.parents is None:
        return
    parent, added, extent = change.parents[1], change.after, change.after.extent
    told = added.value if added.value is not None or name != _LEDGER else added.content()
    if extent is None or added.naming != "position" or told is None or parent.children[0] is added:
        return
    begin, finish = extent
    line = new.text[added.raw[0] : added.raw[1]].rstrip("\n")
    first = parent.children[0].raw[0]
    text = new.text[:first] + line + "\n" + new.text[first:begin] + new.text[finish:]
    if read(effect.container, text)[0] == name:
        yield Edited(
            f"{effect.container}: {told[:60]!r} stands at the beginning instead of the end",
            with_text(end, effect.container, text),
        )


def put_before(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a new file that continues another one the other way round: first what was added, then what
    the other held."""
    new = end.file(effect.container)
    if effect.area != "file" or effect.address or start.file(effect.container) is not None:
        return
    lines = (new.text or "").splitlines() if new is not None else []
    for source in start.files:
        held = (source.text or "").rstrip().splitlines()
        behind = [line for line in lines[len(held) :] if line.strip()]
        if held and behind and lines[: len(held)] == held:
            yield Edited(
                f"{effect.container}: {behind[0][:60]!r} stands before what {source.path} held, and not at"
                " the end",
                with_text(end, effect.container, "\n".join([*behind, *held, ""])),
            )


def emptied_texts(end: Evidence, folder: str, except_for: set[str]) -> Iterator[Edited]:
    """`end` with a text in another file below `folder` emptied, as by cutting it out instead of copying
    it."""
    emptied = ((file, _rewritten(file, _nothing)) for file in kept_files(end, folder, except_for))
    for file, text in islice(((file, text) for file, text in emptied if text is not None), _MOST):
        yield Edited(f"{file.path}: a text in it was emptied as well", with_text(end, file.path, text))


def altered_texts(
    end: Evidence, folder: str, except_for: set[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with a text in one other file below `folder` altered."""
    for file in kept_files(end, folder, except_for):
        text = _rewritten(file, alter, lines=True)
        if text is not None:
            yield Edited(f"{file.path}: a text in it was changed as well", with_text(end, file.path, text))
            return


def other_field(
    start: Evidence, end: Evidence, effect: Effect, except_for: set[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with another field of the record altered that `effect` changed; none of those in `except_for`."""
    old, new = start.file(effect.container), end.file(effect.container)
    if (
        effect.area != "file"
        or effect.kind != "changed"
        or len(effect.address) < _IN_RECORD
        or not (old and new)
    ):
        return
    name, changes = file_changes(old, new)
    if new.text is None or effect.address[-1] not in changed_fields(changes):
        return
    tree, place = read(new.path, new.text)[1], effect.address[:-1]
    record, before = tree.at(place), None if old.text is None else read(old.path, old.text)[1].at(place)
    for field in record.children if record is not None and before is not None else ():
        was = next((child for child in before.children if child.name == field.name), None) if before else None
        if (
            field.value is None
            or was is None
            or was.value != field.value
            or field.name in except_for
            or field.name.casefold() in ID_KEYS
            or not any(map(str.isalpha, field.value))
            or is_generated(field.value)
        ):
            continue
        written = all_formats()[name].encode(alter(field.value), field, new.text)
        if written is not None:
            text = new.text[: field.raw[0]] + written + new.text[field.raw[1] :]
            yield Edited(
                f"{new.path}: {' / '.join((*place, field.name))} was changed as well",
                with_text(end, new.path, text),
            )
            return


def shown_twice(end: Evidence, text: str) -> Iterator[Edited]:
    """`end` with what is called `text` on the screen once more, as by doing the work a second time."""
    shown = [control for control in end.controls if shown_exactly(text, control.text)]
    around = {(control.parent_text, control.parent_type) for control in shown}
    again = next((item for item in shown if (item.text, item.control_type) not in around), None)
    if again is not None:
        controls = (*end.controls, again.model_copy(update={"label": f"{again.label}b"}))
        yield Edited(f"{text[:60]!r} is there twice", end.model_copy(update={"controls": controls}))


def more_drawn(
    start: Evidence, end: Evidence, texts: Collection[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with one more text on the canvas on which one of `texts` was drawn, alone or with others."""
    before = {(item.text, item.control_type) for item in start.controls}
    for canvas in end.controls:
        own = (canvas.text, canvas.control_type)
        drawn = next((text for text in texts if has_phrase(text, canvas.text)), None)
        if canvas.control_type != _CANVAS or own in before or drawn is None:
            continue
        other = alter(drawn)
        says = f"{canvas.text} {other}"
        inside = [item for item in end.controls if (item.parent_text, item.parent_type) == own]
        moved = [item.model_copy(update={"parent_text": says}) for item in inside]
        new = [canvas.text, other] if not inside else [other]
        moved += [
            canvas.model_copy(
                update={"text": text, "control_type": "Text", "parent_text": says, "parent_type": _CANVAS}
            )
            for text in new
        ]
        kept = [item for item in end.controls if item is not canvas and item not in inside]
        around = canvas.model_copy(update={"text": says})
        yield Edited(
            f"{other!r} was drawn as well", end.model_copy(update={"controls": (*kept, around, *moved)})
        )
        return


def rows_alike(start: Evidence, end: Evidence) -> Iterator[Edited]:
    """`end` with another row in the state into which the performance brought one."""
    before, after = _rows(start), _rows(end)
    moved = next((name for name, texts in after.items() if name in before and before[name] != texts), None)
    if moved is None:
        return
    gone, new = before[moved] - after[moved], sorted(after[moved] - before[moved])
    other = next(
        (
            name
            for name, texts in after.items()
            if name != moved and before.get(name) == texts and gone <= texts
        ),
        None,
    )
    if other is None or not new:
        return
    controls: list[Control] = []
    left = list(new)
    for control in end.controls:
        if control.row == other and control.text in gone:
            if left:
                controls.append(control.model_copy(update={"text": left.pop(0)}))
        else:
            controls.append(control)
    yield Edited(
        f"the row {other!r} shows {new[0]!r} now as well",
        end.model_copy(update={"controls": tuple(controls)}),
    )


def kept_files(end: Evidence, folder: str, except_for: set[str]) -> Iterator[FileState]:
    """Files below `folder` that were not touched and that applications do not write for themselves."""
    for file in end.files:
        if file.path.startswith(folder) and file.path not in except_for and not is_open_document(file.path):
            yield file


def _nothing(value: str) -> str:
    return value[:0]


def _rewritten(file: FileState, alter: Callable[[str], str], *, lines: bool = False) -> str | None:
    """The text of a file with its longest text altered; None where there is none that can be. Plain texts
    only with `lines`."""
    if file.text is None or file.truncated:
        return None
    name, tree = read(file.path, file.text)
    if name == _DATABASE or (name == "lines" and not lines):
        return None
    values = [
        node
        for _, node in tree.walk()
        if node.value is not None
        and len(node.value) >= _LONG
        and node.naming != "schema"
        and not is_generated(node.value)
    ]
    for node in sorted(values, key=lambda item: -len(item.value or "")):
        written = all_formats()[name].encode(alter(node.value or ""), node, file.text)
        if written is not None:
            return file.text[: node.raw[0]] + written + file.text[node.raw[1] :]
    return None


def _rows(evidence: Evidence) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for control in evidence.controls:
        if control.row and control.text and not is_passing(control.text):
            found.setdefault(control.row, set()).add(control.text)
    return {name: frozenset(texts) for name, texts in found.items()}
