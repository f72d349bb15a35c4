"""A SQLite database as SQL text, so that the records in it can be checked like the text of a file."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

_MAGIC = b"SQLite format 3\0"
_LONGEST_CELL = 400
_MOST_ROWS = 200


def is_database(content: bytes) -> bool:
    """Whether a file with this content is a SQLite database."""
    return content.startswith(_MAGIC)


def render_database(file: Path, limit: int) -> str | None:
    """The newest rows of every table as INSERT statements, in about `limit` characters, or None if it cannot be read.

    A copy is read, log included, so the application that has it open is not disturbed. Each table gets an equal
    share of the limit, and its newest rows come first, because what an agent added is what a check looks for.
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


def _render(connection: sqlite3.Connection, limit: int) -> str:
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    tables = [row[0] for row in connection.execute(names)]
    parts: list[str] = []
    left = limit
    for position, table in enumerate(tables):
        share = left // (len(tables) - position)
        text = _table(connection, table, share)
        left -= len(text)
        parts.append(text)
    return "".join(parts)[:limit]


def _table(connection: sqlite3.Connection, table: str, limit: int) -> str:
    quoted = '"' + table.replace('"', '""') + '"'
    try:
        rows = connection.execute(f"SELECT * FROM {quoted} ORDER BY rowid DESC LIMIT {_MOST_ROWS}")  # noqa: S608
    except sqlite3.Error:
        try:
            rows = connection.execute(f"SELECT * FROM {quoted} LIMIT {_MOST_ROWS}")  # noqa: S608
        except sqlite3.Error:
            return ""
    lines: list[str] = []
    size = 0
    for row in rows:
        line = f"INSERT INTO {quoted} VALUES({', '.join(_literal(cell) for cell in row)});\n"
        size += len(line)
        if lines and size > limit:
            break
        lines.append(line)
    return "".join(lines)


def _literal(cell: object) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return f"X'{cell[:32].hex()}'"
    if isinstance(cell, int | float):
        return repr(cell)
    text = str(cell)
    cut = text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…"
    return "'" + cut.replace("'", "''") + "'"
