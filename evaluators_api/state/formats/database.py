"""SQLite databases as evidence holds them: SQL text with the tables' columns and their newest rows."""

from __future__ import annotations

import re

from evaluators_api.errors import StateUnreadableError
from evaluators_api.state.nodes import Node, Span, group, leaf, unique_names

SUFFIXES: frozenset[str] = frozenset()
_NAME = r'"((?:[^"]|"")*)"'
_START = re.compile(rf"\s*(?:CREATE TABLE {_NAME}\(|INSERT INTO {_NAME} VALUES\()")
_TABLE = re.compile(rf'CREATE TABLE {_NAME}\(((?:"(?:[^"]|"")*"|[^";)])*)\);[^\n]*\n?')
_ROW = re.compile(rf"INSERT INTO {_NAME} VALUES\(")
_CELL = re.compile(r"\s*(?:('(?:[^']|'')*')|([^',()\s]+|X'[0-9a-f]*'))\s*([,)])")
_COLUMN = re.compile(_NAME)
_COUNT = re.compile(r"\); -- (\d+) rows?")
_END = re.compile(r";[^\n]*(?:\n|\Z)")


def recognises(text: str) -> bool:
    """Whether it begins as the SQL text of a database does."""
    return _START.match(text) is not None


def parse(text: str) -> Node:
    """`(table, 'columns', column)`, `(table, 'count')` and `(table, 'rows', row, column)`, rows by their first column."""
    tables: dict[str, _Table] = {}
    position = 0
    while position < len(text):
        head = _TABLE.match(text, position)
        if head is not None:
            table = tables.setdefault(_unquoted(head.group(1)), _Table(position))
            table.columns = [
                (_unquoted(item.group(1)), (item.start() + head.start(2), item.end() + head.start(2)))
                for item in _COLUMN.finditer(head.group(2))
            ]
            count = _COUNT.search(head.group())
            if count is not None:
                table.count = (count.group(1), (count.start(1) + position, count.end(1) + position))
            position = table.end = head.end()
            continue
        match = _ROW.match(text, position)
        if match is None:
            if not text[position:].strip():
                break
            raise StateUnreadableError(f"no statement at {position}")
        table = tables.setdefault(_unquoted(match.group(1)), _Table(position))
        cells, end = _cells(text, match.end())
        ended = _END.match(text, end)
        if ended is None:
            raise StateUnreadableError(f"a statement that does not end, at {end}")
        table.rows.append((cells, (position, ended.start() + 1), (position, ended.end())))
        position = table.end = ended.end()
    if not tables:
        raise StateUnreadableError("no tables")
    return group("", "field", (0, len(text)), tuple(table.node(name) for name, table in tables.items()))


def encode(value: str, node: Node, text: str) -> str | None:
    """A number for a number, else a text literal."""
    old = text[node.raw[0] : node.raw[1]]
    if text[max(0, node.raw[0] - 6) : node.raw[0]].endswith("); -- "):
        return value if re.fullmatch(r"[0-9]+", value) else None
    if old[:1].isdigit() or (old[:1] == "-" and len(old) > 1):
        return value if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value) else "'" + value.replace("'", "''") + "'"
    if old[:1] == '"':
        return '"' + value.replace('"', '""') + '"'
    return "'" + value.replace("'", "''") + "'"


def insert(text: str, parent: Node, index: int, raw: str) -> str | None:
    """One more row."""
    if parent.name != "rows":
        return None
    place = parent.children[index].raw[0] if index < len(parent.children) else parent.raw[1]
    return text[:place] + raw + "\n" + text[place:]


class _Table:
    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.columns: list[tuple[str, Span]] = []
        self.count: tuple[str, Span] | None = None
        self.rows: list[tuple[list[tuple[str, Span]], Span, Span]] = []

    def node(self, name: str) -> Node:
        widest = max((len(cells) for cells, _, _ in self.rows), default=0)
        names = [column for column, _ in self.columns]
        columns = unique_names([*names, *(f"column {number + 1}" for number in range(len(names), widest))])
        firsts = [cells[0][0] if cells else "" for cells, _, _ in self.rows]
        named = len(set(firsts)) == len(firsts) and all(firsts)
        rows = tuple(
            group(
                firsts[index] if named else str(index),
                "record" if named else "position",
                raw,
                tuple(
                    leaf(column, "field", span, value)
                    for column, (value, span) in zip(columns, cells, strict=False)
                ),
                extent,
            )
            for index, (cells, raw, extent) in enumerate(self.rows)
        )
        begin = self.rows[0][1][0] if self.rows else self.end
        parts = [
            group(
                "columns",
                "schema",
                (self.start, self.start),
                tuple(
                    leaf(column, "field", span, "")
                    for column, (_, span) in zip(columns, self.columns, strict=False)
                ),
            )
        ]
        if self.count is not None:
            parts.append(leaf("count", "schema", self.count[1], self.count[0]))
        parts.append(group("rows", "field", (begin, self.end), rows))
        whole = (self.start, self.end)
        return group(name, "field", whole, tuple(parts), whole)


def _cells(text: str, position: int) -> tuple[list[tuple[str, Span]], int]:
    cells: list[tuple[str, Span]] = []
    while True:
        match = _CELL.match(text, position)
        if match is None:
            raise StateUnreadableError(f"no value at {position}")
        if match.group(1) is not None:
            cells.append((match.group(1)[1:-1].replace("''", "'"), match.span(1)))
        else:
            cells.append((match.group(2), match.span(2)))
        position = match.end()
        if match.group(3) == ")":
            return cells, position


def _unquoted(name: str) -> str:
    return name.replace('""', '"')
