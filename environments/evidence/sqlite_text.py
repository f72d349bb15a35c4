"""A SQLite database as SQL text, so that its records can be checked like the text of a file."""

import shutil
import sqlite3
import tempfile
from pathlib import Path

from taskloom.taskgraph.text_folding import cut_text

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
        statements, whole = _table(connection, table, left // (len(tables) - position))
        complete = complete and whole
        for statement in statements:
            if len(statement) > left:
                complete = False
                break
            left -= len(statement)
            kept.append(statement)
    return "".join(kept), complete


def _table(connection: sqlite3.Connection, table: str, limit: int) -> tuple[list[str], bool]:
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
