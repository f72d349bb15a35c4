"""Renders files of applications as text: what users see of them, without anything that the program chooses,
counts or dates. Bookmarks of Chromium, journals of Xournal++, playlists in XSPF, projects of Planner,
workbooks of Gnumeric, wallets of HomeBank, and SQLite databases as SQL."""

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

_MOST_LEVELS = 50
_ROOTS = "roots"
_BAR = "bookmark_bar"
_TOP_LEVEL_KEYS = frozenset({"checksum", _ROOTS, "sync_metadata", "version"})
"""Keys of a file of bookmarks; a file with others is another kind."""


def render_bookmarks(content: bytes) -> str | None:
    """JSON with a record per bookmark or folder, in their order: its `id`, which survives renaming,
    the path of the `folder` that holds it, its `name`, and the `address` of a bookmark. None for anything but
    a file of bookmarks."""
    if not content.lstrip().startswith(b"{") or b'"roots"' not in content:
        return None
    try:
        document = json.loads(content)
        roots = document.get(_ROOTS)
        if not isinstance(roots, dict) or _BAR not in roots or not document.keys() <= _TOP_LEVEL_KEYS:
            return None
        folders = (root for root in roots.values() if isinstance(root, dict))
        bookmarks = [item for folder in folders for item in _bookmarks_in(folder, "", 0)]
    except (ValueError, RecursionError):
        return None
    return json.dumps(bookmarks, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()


def _bookmarks_in(folder: dict[str, object], parent: str, depth: int) -> Iterator[dict[str, str]]:
    path = f"{parent}/{folder.get('name', '')}".lstrip("/")
    children = folder.get("children")
    for item in children if isinstance(children, list) and depth < _MOST_LEVELS else ():
        if not isinstance(item, dict):
            continue
        bookmark = {"id": str(item.get("guid", "")), "folder": path, "name": str(item.get("name", ""))}
        if item.get("type") != "folder":
            bookmark["address"] = str(item.get("url", ""))
        yield bookmark
        yield from _bookmarks_in(item, path, depth + 1)


_STROKE, _TEXT = "stroke", "text"


def render_journal(root: ElementTree.Element) -> str:
    """JSON with, per page, its `background` (`plain`, `lined`, `pdf` and others), the `file` it shows, and
    its content in the order written: a `text`, a `stroke` by its tool, or anything else by a hash of its
    data.

    Fonts, colours, places and the preview are left out.
    """
    pages = [_page(page) for page in root.findall("page")]
    return json.dumps({"pages": pages}, ensure_ascii=False, indent=1)


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


_XSPF = "{http://xspf.org/ns/0/}"
_FILE_SCHEME = "file://"


def render_playlist(root: ElementTree.Element) -> str | None:
    """A line per track: the path of its file, or its address if it is not a file; titles and durations are
    left out. None for a document of another kind."""
    track_list = root.find(_XSPF + "trackList")
    if track_list is None:
        return None
    tracks = (track.findtext(_XSPF + "location", "") for track in track_list.findall(_XSPF + "track"))
    return "".join(f"{_path_or_address(location)}\n" for location in tracks)


def _path_or_address(location: str) -> str:
    location = " ".join(location.split())
    path = unquote(location.removeprefix(_FILE_SCHEME)) if location.startswith(_FILE_SCHEME) else location
    return path.replace("\n", " ")


_SECONDS_PER_HOUR = 3600
_OPTIONAL_FIELDS = ("note", "priority")
"""Fields of a task that are shown unless they have the default."""


def render_project(root: ElementTree.Element) -> str | None:
    """JSON with the name, company and manager of the project; its tasks in their order, with work in hours,
    percentage completed, and the names of their predecessors and of their parent task; its resources. None
    for a project of another program.

    Calendars, record numbers and computed dates are left out.
    """
    if not root.get("mrproject-version"):
        return None
    names = {task.get("id", ""): task.get("name", "") for task in root.iter("task")}
    project = {
        "project": {name: root.get(name, "") for name in ("name", "company", "manager")},
        "tasks": [
            _task(task, names, parent)
            for parent in (*root.iter("tasks"), *root.iter("task"))
            for task in parent.findall("task")
        ],
        "resources": [
            {name: value for name in ("name", "email", "note") if (value := item.get(name))}
            for item in root.iter("resource")
        ],
    }
    return json.dumps(project, ensure_ascii=False, indent=1)


def _task(task: ElementTree.Element, names: dict[str, str], parent: ElementTree.Element) -> dict[str, object]:
    try:
        hours = f"{int(task.get('work', '0')) / _SECONDS_PER_HOUR:g}"
    except (ValueError, OverflowError):
        hours = ""
    complete = task.get("percent-complete", "0")
    found: dict[str, object] = {"name": task.get("name", ""), "hours": hours, "complete": complete}
    found |= {name: value for name in _OPTIONAL_FIELDS if (value := task.get(name, "")) not in ("", "0")}
    if parent.tag == "task":
        found["part of"] = parent.get("name", "")
    predecessors = [
        names.get(item.get("predecessor-id", ""), "") for item in task.findall("predecessors/predecessor")
    ]
    return {**found, "after": predecessors} if predecessors else found


_MOST_CELLS = 100_000
"""Cells of a table that are written, empty ones included."""
_SHEET = re.compile(r"<gnm:Sheet [^>]*>.*?</gnm:Sheet>", re.DOTALL)
_NAME = re.compile(r"<gnm:Name>([^<]*)</gnm:Name>")
_CELL = re.compile(r"<gnm:Cell ([^>]*[^>/])>([^<]*)</gnm:Cell>")
_PLACE = re.compile(r'\b(Row|Col)="(\d{1,6})"')


def render_workbook(text: str) -> str | None:
    """One line of CSV per row of a workbook in Gnumeric's XML; formulas as written. None for anything else.

    Several sheets follow each other, each below a line with its name. Fonts, widths, views and the name of a
    single sheet are left out.
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
    """The cells of a sheet as CSV with rows of equal length; None if there are too many."""
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
"""Flags of a category and of an account."""
_NamesByKind = Mapping[str, Mapping[str, str]]


def render_wallet(root: ElementTree.Element) -> str | None:
    """JSON with the title of the wallet; its accounts, payees and categories; its transactions by date, and
    its templates of transactions. Each has the names of what it refers to, a date such as 2026-03-12, and an
    amount, which is negative for expenses. None for a file of another program.

    Record numbers, their order in the file, currencies and settings of the program are left out.
    """
    properties = root.find("properties")
    if not root.get("d") or properties is None:
        return None
    names = {
        kind: {item.get("key", ""): item.get("name", "") for item in root.findall(kind)}
        for kind in ("account", "pay", "cat")
    }
    wallet = {
        "wallet": properties.get("title", ""),
        "accounts": [_account(item) for item in root.findall("account")],
        "payees": [{"name": item.get("name", "")} for item in root.findall("pay")],
        "categories": [_category(item, names["cat"]) for item in root.findall("cat")],
        "transactions": _transactions(root.findall("ope"), names),
        "templates": _transactions(root.findall("fav"), names),
    }
    return json.dumps(wallet, ensure_ascii=False, indent=1)


def _account(item: ElementTree.Element) -> dict[str, str]:
    return _without_empty(
        name=item.get("name", ""),
        initial=_amount(item.get("initial", "0")),
        bank=item.get("bankname", ""),
        number=item.get("number", ""),
        closed="yes" if _integer(item.get("flags", "0")) & _CLOSED else "",
    )


def _category(item: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    income = _integer(item.get("flags", "0")) & _INCOME
    parent = names.get(item.get("parent", ""), "")
    return _without_empty(
        **{"name": item.get("name", ""), "part of": parent, "kind": "income" if income else "expense"}
    )


def _transactions(items: Iterable[ElementTree.Element], names: _NamesByKind) -> list[dict[str, str]]:
    found = (_transaction(item, names) for item in items)
    return sorted(found, key=lambda transaction: (transaction.get("date", ""), *transaction.values()))


def _transaction(item: ElementTree.Element, names: _NamesByKind) -> dict[str, str]:
    def named(kind: str, field: str) -> str:
        return names[kind].get(item.get(field, ""), "")

    return _without_empty(
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


def _without_empty(**fields: str) -> dict[str, str]:
    """`fields` without empty ones, except `name` and `amount`."""
    return {name: value for name, value in fields.items() if value or name in ("name", "amount")}


def _amount(text: str) -> str:
    try:
        return f"{float(text):.2f}"
    except (ValueError, OverflowError):
        return ""


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _date(text: str) -> str:
    try:
        return date.fromordinal(_integer(text)).isoformat()
    except (ValueError, OverflowError):
        return ""


_MAGIC = b"SQLite format 3\0"
_LONGEST_CELL = 2_000
_LONGEST_BLOB = 32
_MOST_ROWS = 200
_SHADOW_TABLE = "shadow"
"""SQLite's type of tables in which a virtual table, such as a full-text index, keeps its content."""


def is_database(content: bytes) -> bool:
    """Whether a file with this content is a SQLite database."""
    return content.startswith(_MAGIC)


def render_database(file: Path, limit: int) -> tuple[str, bool] | None:
    """The tables with their newest rows, in about `limit` characters, and whether the text has every row;
    None if the file cannot be read. Per table, CREATE TABLE with its row count, then INSERT statements.

    Reads a copy, including the log, so that an application using it is not disturbed. Each table gets an
    equal share of the limit, newest rows first, because checks look for what an agent added. Empty tables are
    included. Long values are cut and end with a hash of the whole value.
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
    shadow_tables = {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == _SHADOW_TABLE}
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    tables = [name for (name,) in connection.execute(names) if name not in shadow_tables]
    rendered: list[str] = []
    remaining = limit
    complete = True
    for position, table in enumerate(tables):
        statements, all_rows = _statements(connection, table, remaining // (len(tables) - position))
        complete = complete and all_rows
        for statement in statements:
            if len(statement) > remaining:
                complete = False
                break
            remaining -= len(statement)
            rendered.append(statement)
    return "".join(rendered), complete


def _statements(connection: sqlite3.Connection, table: str, limit: int) -> tuple[list[str], bool]:
    quoted = _quote_identifier(table)
    try:
        count = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0]  # noqa: S608
        columns = ", ".join(
            _quote_identifier(name) + (" PRIMARY KEY" if key else "")
            for _, name, _, _, _, key in connection.execute(f"PRAGMA table_info({quoted})")
        )
    except sqlite3.Error:
        return [], False  # a virtual table whose module is missing
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


def _quote_identifier(name: str) -> str:
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
