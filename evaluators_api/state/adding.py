"""Evidence in which more was made than was asked for: another record, file, field, column, tag or folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from taskloom.evaluators_api.state.editing import Edited, with_text
from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.further_editing import kept_files
from taskloom.evaluators_api.state.noise import noise_between
from taskloom.evaluators_api.state.reading import all_formats, finished, read
from taskloom.evaluators_api.state.templates import is_generated, steady_path
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence, FileState

_EMPTY = frozenset({"", "NULL", "null"})
_DATABASE, _ROWS = "database", "rows"
_LEDGER = "ledger"
_COLUMNS, _ROW = "columns", 3


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


def one_more(
    end: Evidence, folder: str, except_for: set[str], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with one more record in another file below `folder`, and with one more file there, as a second
    piece of work leaves."""
    files = list(kept_files(end, folder, except_for))
    for file in files:
        text = _with_record(file)
        if text is not None:
            yield Edited(f"{file.path}: a record was added to it as well", with_text(end, file.path, text))
            break
    present = {file.path for file in end.files}
    for file in files:
        path = alter(file.path)
        if path not in present and file.text and "*" not in steady_path(file.path):
            yield Edited(f"{path} was made as well", with_text(end, path, file.text))
            break


def other_tables(
    end: Evidence, folder: str, is_touched: Callable[[str, str], bool], alter: Callable[[str], str]
) -> Iterator[Edited]:
    """`end` with one more row, and with another value in a row, in a table below `folder` of a database that
    is touched elsewhere."""
    noise = noise_between(end, end)
    for file in end.files:
        if not file.path.startswith(folder) or not is_touched(file.path, "") or file.text is None:
            continue
        form, tree = read(file.path, file.text)
        for table in tree.children if form == _DATABASE else ():
            rows = table.at((_ROWS,))
            if (
                is_touched(file.path, table.name)
                or noise.covers("file", file.path, (table.name, _ROWS, "*"), "added")
                or rows is None
                or not rows.children
            ):
                continue
            row = rows.children[0]
            more = all_formats()[form].insert(file.text, rows, 0, file.text[row.raw[0] : row.raw[1]])
            if more is not None:
                text = finished(form, file.text, more)
                told = f"{file.path}: a row was added to {table.name} as well"
                yield Edited(told, with_text(end, file.path, text))
            cell = next((item for item in reversed(row.children) if (item.value or "").isalpha()), None)
            written = (
                None if cell is None else all_formats()[form].encode(alter(cell.value or ""), cell, file.text)
            )
            if cell is not None and written is not None and cell.value not in _EMPTY:
                text = file.text[: cell.raw[0]] + written + file.text[cell.raw[1] :]
                told = f"{file.path}: {cell.name} of a row of {table.name} was changed as well"
                yield Edited(told, with_text(end, file.path, text))
            return


def filled_field(end: Evidence, effect: Effect, except_for: set[str], value: str) -> Iterator[Edited]:
    """`end` with a field filled that is empty in a new record, or that only others of its kind have; none of
    those in `except_for`."""
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
        form != _DATABASE
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


def _alike(one: str, two: str) -> bool:
    """Whether two files lie in one folder and have the same ending."""
    return [one.rpartition("/")[0], one.rpartition(".")[2]] == [
        two.rpartition("/")[0],
        two.rpartition(".")[2],
    ]


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
