"""Evidence in which more was done than was asked for, or the right thing at the wrong end of a text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice

from evaluators_api.state.editing import Edited, with_text
from evaluators_api.state.effects import file_changes
from evaluators_api.state.nodes import ID_KEYS
from evaluators_api.state.reading import all_formats, finished, read
from evaluators_api.state.records import changed_fields
from evaluators_api.state.volatility import is_generated, is_passing, is_passing_file
from evaluators_api.text_matching import has_phrase, shown_exactly
from taskgraph.records.effect import Effect
from taskgraph.records.evidence import Evidence, FileState
from taskgraph.records.interaction import Control

_LONG = 12
_MOST = 2
_LEDGER = "ledger"
_CANVAS = "Custom"
_EMPTY = frozenset({"", "NULL", "null"})
_COLUMNS, _ROW = "columns", 3
_IN_RECORD = 2
"""Length from which on an address leads to a field of a record."""


def put_first(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a line that was added to a text, or an entry that was added to a ledger, at its beginning."""
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
    """`end` with a new file that continues another one the other way round: first what was added, then what the other held."""
    new = end.file(effect.container)
    if effect.area != "file" or effect.address or start.file(effect.container) is not None:
        return
    lines = (new.text or "").splitlines() if new is not None else []
    for source in start.files:
        held = (source.text or "").rstrip().splitlines()
        behind = [line for line in lines[len(held) :] if line.strip()]
        if held and behind and lines[: len(held)] == held:
            yield Edited(
                f"{effect.container}: {behind[0][:60]!r} stands before what {source.path} held, and not at the end",
                with_text(end, effect.container, "\n".join([*behind, *held, ""])),
            )


def done_twice(start: Evidence, end: Evidence, effect: Effect) -> Iterator[Edited]:
    """`end` with a record that was added to a file there twice."""
    old, new = start.file(effect.container), end.file(effect.container)
    if effect.area != "file" or effect.kind != "added" or old is None or new is None or new.text is None:
        return
    name, changes = file_changes(old, new)
    change = next((item for item in changes if item.address == effect.address and item.kind == "added"), None)
    if change is None or change.after is None or change.parents is None or change.after.naming == "field":
        return
    parent, added = change.parents[1], change.after
    raw = new.text[added.raw[0] : added.raw[1]]
    text = all_formats()[name].insert(new.text, parent, parent.children.index(added), raw)
    if text is not None:
        text = finished(name, new.text, text)
        yield Edited(
            f"{effect.container}: {' / '.join(effect.address[:-1])}: {added.content()[:60]} was added twice",
            with_text(end, effect.container, text),
        )


def emptied_texts(end: Evidence, folder: str, except_for: set[str]) -> Iterator[Edited]:
    """`end` with a text in another file below `folder` emptied, as by cutting it out instead of copying it."""
    emptied = ((file, _rewritten(file, _nothing)) for file in _kept_files(end, folder, except_for))
    for file, text in islice(((file, text) for file, text in emptied if text is not None), _MOST):
        yield Edited(f"{file.path}: a text in it was emptied as well", with_text(end, file.path, text))


def altered_texts(
    end: Evidence, folder: str, except_for: set[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with a text in one other file below `folder` altered."""
    for file in _kept_files(end, folder, except_for):
        text = _rewritten(file, alter)
        if text is not None:
            yield Edited(f"{file.path}: a text in it was changed as well", with_text(end, file.path, text))
            return


def one_more(
    end: Evidence, folder: str, except_for: set[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with one more record in another file below `folder`, and with one more file there, as a second piece of work leaves."""
    files = list(_kept_files(end, folder, except_for))
    for file in files:
        text = _with_record(file)
        if text is not None:
            yield Edited(f"{file.path}: a record was added to it as well", with_text(end, file.path, text))
            break
    present = {file.path for file in end.files}
    for file in files:
        path = alter(file.path)
        if path not in present and file.text:
            yield Edited(f"{path} was made as well", with_text(end, path, file.text))
            break


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


def filled_field(end: Evidence, effect: Effect, except_for: set[str], value: str) -> Iterator[Edited]:
    """`end` with a field filled that is empty in a new record, or that only others of its kind have; none of those in `except_for`."""
    file = end.file(effect.container)
    if effect.area != "file" or file is None or file.text is None or file.truncated:
        return
    name, tree = read(file.path, file.text)
    record = tree.at(effect.address)
    if record is None or record.naming == "schema":
        return
    if not any(child.naming == "field" for child in record.children):
        return
    for field in record.children:
        if field.naming != "field" or field.value is None or field.value.strip() not in _EMPTY:
            continue
        written = None if field.name in except_for else all_formats()[name].encode(value, field, file.text)
        if written is None:
            continue
        text = file.text[: field.raw[0]] + written + file.text[field.raw[1] :]
        now = read(file.path, text)[1].at((*effect.address, field.name))
        if now is not None and now.value == value:
            yield Edited(f"{file.path}: {field.name} was filled as well", with_text(end, file.path, text))
            return
    own = {child.name for child in record.children} | except_for
    for other in end.files:
        if effect.address or other.path == file.path or not _alike(other.path, file.path) or not other.text:
            continue
        for field in read(other.path, other.text)[1].children:
            if field.name in own or field.value is None or not field.value.strip() or field.whole is None:
                continue
            if is_generated(field.value):
                continue
            raw = other.text[field.whole[0] : field.whole[1]]
            inserted = all_formats()[name].insert(file.text, record, 1, raw)
            if inserted is not None:
                yield Edited(
                    f"{file.path}: {field.name} was filled as well", with_text(end, file.path, inserted)
                )
                return


def one_more_column(start: Evidence, end: Evidence, effect: Effect, name: str) -> Iterator[Edited]:
    """`end` with another column in the table, which was there at the start, into which `effect` put a row."""
    old, new = start.file(effect.container), end.file(effect.container)
    if effect.kind != "added" or len(effect.address) != _ROW or not (old and new and old.text and new.text):
        return
    columns = (effect.address[0], _COLUMNS)
    form, tree = read(new.path, new.text)
    held = tree.at(columns)
    if (
        form != "database"
        or held is None
        or not held.children
        or read(old.path, old.text)[1].at(columns) is None
    ):
        return
    place = held.children[-1].raw[1]
    text = f'{new.text[:place]}, "{name}"{new.text[place:]}'
    yield Edited(f"{new.path}: {effect.address[0]} has another column", with_text(end, new.path, text))


def tagged(end: Evidence, effect: Effect, tag: str) -> Iterator[Edited]:
    """`end` with a tag behind the first line of an entry that was added to a ledger."""
    file = end.file(effect.container)
    if effect.format != _LEDGER or effect.kind != "added" or file is None or file.text is None:
        return
    record = read(file.path, file.text)[1].at(effect.address)
    if record is not None and record.children and record.at(("rest",)) is None and len(effect.address) == 1:
        place = file.text.find("\n", record.raw[0])
        text = f"{file.text[:place]} #{tag}{file.text[place:]}"
        yield Edited(f"{file.path}: the entry has the tag #{tag} as well", with_text(end, file.path, text))


def _alike(one: str, two: str) -> bool:
    """Whether two files lie in one folder and have the same ending."""
    return [one.rpartition("/")[0], one.rpartition(".")[2]] == [
        two.rpartition("/")[0],
        two.rpartition(".")[2],
    ]


def one_more_folder(end: Evidence, path: str) -> Iterator[Edited]:
    """`end` with another folder called like the one at `path`, in another folder of the user."""
    name = path.rpartition("/")[2]
    tops = sorted(
        {file.partition("/")[0] for file in (*end.directories, *end.files_by_path()) if "/" in file or file}
    )
    for top in tops:
        other = f"{top}/{name}"
        if (
            top.startswith(".")
            or path.startswith(f"{top}/")
            or other in end.directories
            or top in end.files_by_path()
        ):
            continue
        made = tuple(sorted({*end.directories, other}))
        yield Edited(f"the folder {other} was made as well", end.model_copy(update={"directories": made}))
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


def _kept_files(end: Evidence, folder: str, except_for: set[str]) -> Iterator[FileState]:
    """Files below `folder` that were not touched and that applications do not write for themselves."""
    for file in end.files:
        if file.path.startswith(folder) and file.path not in except_for and not is_passing_file(file.path):
            yield file


def _nothing(value: str) -> str:
    return value[:0]


def _with_record(file: FileState) -> str | None:
    """The text of a file with one of its records there twice; None where it has none that can be."""
    if file.text is None or file.truncated:
        return None
    name, tree = read(file.path, file.text)
    if name == "lines":
        return None
    for _, node in tree.walk():
        for index, child in enumerate(node.children):
            if child.naming == "field" or child.naming == "schema" or not child.children:
                continue
            text = all_formats()[name].insert(file.text, node, index, file.text[child.raw[0] : child.raw[1]])
            if text is not None:
                return finished(name, file.text, text)
    return None


def _rewritten(file: FileState, alter: Callable[[str], str]) -> str | None:
    """The text of a file with its longest text altered; None where there is none that can be."""
    if file.text is None or file.truncated:
        return None
    name, tree = read(file.path, file.text)
    if name in ("lines", "database"):
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
