"""Files of applications as text: what people see of them, and nothing that the program chooses, counts or
dates. Bookmarks of Chromium, journals of Xournal++, playlists in XSPF, projects of Planner, workbooks of
Gnumeric, wallets of HomeBank, and SQLite databases as SQL."""

import csv
import hashlib
import html
import io
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from taskloom.taskgraph.text_folding import cut_text

_DEEPEST = 50
_ROOTS = "roots"
_BAR = "bookmark_bar"
_KEYS = frozenset({"checksum", _ROOTS, "sync_metadata", "version"})
"""What a file of bookmarks holds; one with more is another file."""


def render_bookmarks(content: bytes) -> str | None:
    """JSON with a bookmark or folder per record, in their order: its `id`, by which it is the same one under
    another name, the `folder` that it is in, with those around it, its `name`, and of a bookmark the
    `address`. None for anything else than a file of bookmarks."""
    if not content.lstrip().startswith(b"{") or b'"roots"' not in content:
        return None
    try:
        held = json.loads(content)
        roots = held.get(_ROOTS)
        if not isinstance(roots, dict) or _BAR not in roots or not held.keys() <= _KEYS:
            return None
        told = [item for root in roots.values() if isinstance(root, dict) for item in _below(root, "", 0)]
    except (ValueError, RecursionError):
        return None
    return json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()


def _below(folder: dict[str, object], above: str, depth: int) -> Iterator[dict[str, str]]:
    place = f"{above}/{folder.get('name', '')}".lstrip("/")
    children = folder.get("children")
    for item in children if isinstance(children, list) and depth < _DEEPEST else ():
        if not isinstance(item, dict):
            continue
        told = {"id": str(item.get("guid", "")), "folder": place, "name": str(item.get("name", ""))}
        if item.get("type") != "folder":
            told["address"] = str(item.get("url", ""))
        yield told
        yield from _below(item, place, depth + 1)


_STROKE, _TEXT = "stroke", "text"


def render_journal(root: ElementTree.Element) -> str:
    """Per page its `background` (`plain`, `lined`, `pdf` and others), the `file` it shows, and what was put
    on it, in the order of its writing: a `text`, a `stroke` by its tool, or something else by a hash of its
    data.

    Fonts, colours, places and the preview are left out.
    """
    told = {"pages": [_page(page) for page in root.findall("page")]}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _page(page: ElementTree.Element) -> dict[str, object]:
    background = page.find("background")
    found: dict[str, object] = {}
    if background is not None:
        found["background"] = background.get("style") or background.get("type", "")
        shown = {"file": background.get("filename"), "page": background.get("pageno")}
        found |= {name: value for name, value in shown.items() if value}
    return found | {"content": [_item(item) for layer in page.findall("layer") for item in layer]}


def _item(item: ElementTree.Element) -> dict[str, str]:
    if item.tag == _TEXT:
        return {_TEXT: item.text or ""}
    if item.tag == _STROKE:
        return {_STROKE: item.get("tool", "")}
    return {item.tag: hashlib.sha256((item.text or "").strip().encode()).hexdigest()[:16]}


_SPACE = "{http://xspf.org/ns/0/}"
_FILE = "file://"


def render_playlist(root: ElementTree.Element) -> str | None:
    """A line per track: the path of its file, or the address where it is no file; titles and durations are
    left out. None for a document of another kind."""
    listed = root.find(_SPACE + "trackList")
    if listed is None:
        return None
    tracks = (track.findtext(_SPACE + "location", "") for track in listed.findall(_SPACE + "track"))
    return "".join(f"{_place(location)}\n" for location in tracks)


def _place(location: str) -> str:
    location = " ".join(location.split())
    path = unquote(location.removeprefix(_FILE)) if location.startswith(_FILE) else location
    return path.replace("\n", " ")


_SECONDS_OF_AN_HOUR = 3600
_TOLD = ("note", "priority")
"""What is told of a task where it is not what every new task has."""


def render_project(root: ElementTree.Element) -> str | None:
    """Name, company and manager of the project; its tasks in their order with their work in hours and how
    many percent are complete, each with the names of those it waits for and of the task that it is a part of;
    its resources. None for a project of another program.

    Calendars, numbers of records and the dates that follow from all this are left out.
    """
    if not root.get("mrproject-version"):
        return None
    names = {task.get("id", ""): task.get("name", "") for task in root.iter("task")}
    told = {
        "project": {name: root.get(name, "") for name in ("name", "company", "manager")},
        "tasks": [
            _task(task, names, above)
            for above in (*root.iter("tasks"), *root.iter("task"))
            for task in above.findall("task")
        ],
        "resources": [
            {name: value for name in ("name", "email", "note") if (value := item.get(name))}
            for item in root.iter("resource")
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _task(task: ElementTree.Element, names: dict[str, str], above: ElementTree.Element) -> dict[str, object]:
    try:
        hours = f"{int(task.get('work', '0')) / _SECONDS_OF_AN_HOUR:g}"
    except (ValueError, OverflowError):
        hours = ""
    complete = task.get("percent-complete", "0")
    found: dict[str, object] = {"name": task.get("name", ""), "hours": hours, "complete": complete}
    found |= {name: value for name in _TOLD if (value := task.get(name, "")) not in ("", "0")}
    if above.tag == "task":
        found["part of"] = above.get("name", "")
    waits = [
        names.get(item.get("predecessor-id", ""), "") for item in task.findall("predecessors/predecessor")
    ]
    return {**found, "after": waits} if waits else found


_MOST_CELLS = 100_000
"""Places of a table that are written, empty ones too."""
_SHEET = re.compile(r"<gnm:Sheet [^>]*>.*?</gnm:Sheet>", re.DOTALL)
_NAME = re.compile(r"<gnm:Name>([^<]*)</gnm:Name>")
_CELL = re.compile(r"<gnm:Cell ([^>]*[^>/])>([^<]*)</gnm:Cell>")
_PLACE = re.compile(r'\b(Row|Col)="(\d{1,6})"')


def render_workbook(text: str) -> str | None:
    """One line per row of a workbook in Gnumeric's XML; formulas as they are written. None for anything else.

    The sheets of a workbook with several follow each other, each below a line with its name. Fonts, widths,
    views and the names of single sheets are left out.
    """
    if "<gnm:Workbook" not in text[:600]:
        return None
    sheets = [match.group() for match in _SHEET.finditer(text)]
    tables = [_table(sheet) for sheet in sheets]
    if any(table is None for table in tables):
        return None
    if len(sheets) < 2:
        return "".join(table or "" for table in tables)
    named = [_NAME.search(sheet) for sheet in sheets]
    names = [html.unescape(name.group(1)) if name else "" for name in named]
    return "\n".join(f"[{name}]\n{table}" for name, table in zip(names, tables, strict=True))


def _table(sheet: str) -> str | None:
    """The cells of a sheet as lines of equal length; None where there are too many."""
    cells: dict[tuple[int, int], str] = {}
    for match in _CELL.finditer(sheet):
        place = {name: int(number) for name, number in _PLACE.findall(match.group(1))}
        if len(place) == 2 and match.group(2):
            cells[place["Row"], place["Col"]] = html.unescape(match.group(2))
    rows, columns = (1 + max((place[axis] for place in cells), default=-1) for axis in (0, 1))
    if rows * columns > _MOST_CELLS:
        return None
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerows([cells.get((row, column), "") for column in range(columns)] for row in range(rows))
    return written.getvalue()


_STATES = {"1": "cleared", "2": "reconciled", "3": "remind", "4": "void"}
_INCOME, _CLOSED = 2, 2
"""Marks of a category, and of an account."""
_Names = Mapping[str, Mapping[str, str]]


def render_wallet(root: ElementTree.Element) -> str | None:
    """Title of the wallet; its accounts, payees and categories; its transactions by date, and those kept as
    templates, each with the names of what it refers to, its date as in 2026-03-12, and its amount, which is
    negative for expenses. None for a file of another program.

    Numbers of records, their order in the file, currencies and settings of the program are left out.
    """
    properties = root.find("properties")
    if not root.get("d") or properties is None:
        return None
    names = {
        kind: {item.get("key", ""): item.get("name", "") for item in root.findall(kind)}
        for kind in ("account", "pay", "cat")
    }
    told = {
        "wallet": properties.get("title", ""),
        "accounts": [_account(item) for item in root.findall("account")],
        "payees": [{"name": item.get("name", "")} for item in root.findall("pay")],
        "categories": [_category(item, names["cat"]) for item in root.findall("cat")],
        "transactions": _transactions(root.findall("ope"), names),
        "templates": _transactions(root.findall("fav"), names),
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _account(item: ElementTree.Element) -> dict[str, str]:
    return _filled(
        name=item.get("name", ""),
        initial=_amount(item.get("initial", "0")),
        bank=item.get("bankname", ""),
        number=item.get("number", ""),
        closed="yes" if _whole(item.get("flags", "0")) & _CLOSED else "",
    )


def _category(item: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    income = _whole(item.get("flags", "0")) & _INCOME
    above = names.get(item.get("parent", ""), "")
    return _filled(
        **{"name": item.get("name", ""), "part of": above, "kind": "income" if income else "expense"}
    )


def _transactions(items: Iterable[ElementTree.Element], names: _Names) -> list[dict[str, str]]:
    found = (_transaction(item, names) for item in items)
    return sorted(found, key=lambda told: (told.get("date", ""), *told.values()))


def _transaction(item: ElementTree.Element, names: _Names) -> dict[str, str]:
    def named(kind: str, field: str) -> str:
        return names[kind].get(item.get(field, ""), "")

    return _filled(
        memo=item.get("wording", ""),
        date=_date(item.get("date", "")),
        amount=_amount(item.get("amount", "")),
        account=named("account", "account"),
        to=named("account", "dst_account"),
        payee=named("pay", "payee"),
        category=named("cat", "category"),
        info=item.get("info", ""),
        tags=item.get("tags", ""),
        state=_STATES.get(item.get("st", ""), ""),
    )


def _filled(**fields: str) -> dict[str, str]:
    """`fields` without those that are empty, except the name and the amount."""
    return {name: value for name, value in fields.items() if value or name in ("name", "amount")}


def _amount(text: str) -> str:
    try:
        return f"{float(text):.2f}"
    except (ValueError, OverflowError):
        return ""


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _date(text: str) -> str:
    try:
        return date.fromordinal(_whole(text)).isoformat()
    except (ValueError, OverflowError):
        return ""


_MAGIC = b"SQLite format 3\0"
_LONGEST_CELL = 2_000
_LONGEST_BLOB = 32
_MOST_ROWS = 200
_DERIVED = "shadow"
"""What SQLite calls the tables in which a virtual table, such as a full-text index, keeps its content."""


def is_database(content: bytes) -> bool:
    """Whether a file with this content is a SQLite database."""
    return content.startswith(_MAGIC)


def render_database(file: Path, limit: int) -> tuple[str, bool] | None:
    """The tables with their newest rows, in about `limit` characters, and whether every row is in the text;
    None if the file cannot be read. Per table, CREATE TABLE with its row count, then INSERT statements.

    Reads a copy, including the log, so the application that has it open is not disturbed. Each table gets an
    equal share of the limit, newest rows first, because checks look for what an agent added. Empty tables are
    included. Long values are cut and end with a hash of the whole.
    """
    with tempfile.TemporaryDirectory(prefix="taskloom-database-") as folder:
        copy = Path(folder, "copy.db")
        try:
            shutil.copyfile(file, copy)
            log = file.with_name(file.name + "-wal")
            if log.exists():
                shutil.copyfile(log, copy.with_name("copy.db-wal"))
            connection = sqlite3.connect(copy)
        except (OSError, sqlite3.Error):
            return None
        try:
            return _render(connection, limit)
        except (sqlite3.Error, UnicodeError):
            return None
        finally:
            connection.close()


def _render(connection: sqlite3.Connection, limit: int) -> tuple[str, bool]:
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    derived = {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == _DERIVED}
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    tables = [name for (name,) in connection.execute(names) if name not in derived]
    kept: list[str] = []
    left = limit
    complete = True
    for position, table in enumerate(tables):
        statements, whole = _statements(connection, table, left // (len(tables) - position))
        complete = complete and whole
        for statement in statements:
            if len(statement) > left:
                complete = False
                break
            left -= len(statement)
            kept.append(statement)
    return "".join(kept), complete


def _statements(connection: sqlite3.Connection, table: str, limit: int) -> tuple[list[str], bool]:
    quoted = _quoted(table)
    try:
        count = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0]  # noqa: S608
        columns = ", ".join(
            _quoted(name) + (" PRIMARY KEY" if key else "")
            for _, name, _, _, _, key in connection.execute(f"PRAGMA table_info({quoted})")
        )
    except sqlite3.Error:
        return [], False  # a virtual table whose module is not here
    lines = [f"CREATE TABLE {quoted}({columns}); -- {count} row{'' if count == 1 else 's'}\n"]
    try:
        rows = connection.execute(f"SELECT * FROM {quoted} ORDER BY rowid DESC LIMIT {_MOST_ROWS}")  # noqa: S608
    except sqlite3.Error:
        rows = connection.execute(f"SELECT * FROM {quoted} LIMIT {_MOST_ROWS}")  # noqa: S608
    size = len(lines[0])
    for row in rows:
        line = f"INSERT INTO {quoted} VALUES({', '.join(_literal(cell) for cell in row)});\n"
        size += len(line)
        if len(lines) > 1 and size > limit:
            break
        lines.append(line)
    return lines, len(lines) - 1 == count


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(cell: object) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return (
            f"X'{cell.hex()}'"
            if len(cell) <= _LONGEST_BLOB
            else "'" + cut_text(cell.hex(), 2 * _LONGEST_BLOB) + "'"
        )
    if isinstance(cell, int | float):
        return repr(cell)
    return "'" + cut_text(str(cell), _LONGEST_CELL).replace("'", "''") + "'"
