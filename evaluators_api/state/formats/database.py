"""SQLite databases as evidence holds them: SQL text with the tables' columns and their newest rows."""

import re
from collections.abc import Sequence
from itertools import takewhile

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.comparison import Change
from taskloom.evaluators_api.state.nodes import Node, Span, group, leaf, table_rows

SUFFIXES: frozenset[str] = frozenset()
COLUMNS, COUNT, ROWS = "columns", "count", "rows"
"""What each table has: its columns, the number of its rows, and the newest of them."""
_NAME = r'"((?:[^"]|"")*)"'
_START = re.compile(rf"\s*(?:CREATE TABLE {_NAME}\(|INSERT INTO {_NAME} VALUES\()")
_TABLE = re.compile(rf'CREATE TABLE {_NAME}\(((?:"(?:[^"]|"")*"|[^";)])*)\);[^\n]*\n?')
_ROW = re.compile(rf"INSERT INTO {_NAME} VALUES\(")
_CELL = re.compile(r"\s*(?:('(?:[^']|'')*')|([^',()\s]+|X'[0-9a-f]*'))\s*([,)])")
_COLUMN = re.compile(_NAME + "( PRIMARY KEY)?")
_COUNT = re.compile(r"\); -- (\d+) rows?")
_END = re.compile(r";[^\n]*(?:\n|\Z)")


def recognises(text: str) -> bool:
    """Whether it begins as the SQL text of a database does."""
    return _START.match(text) is not None


def parse(text: str) -> Node:
    """`(table, 'columns', column)`, `(table, 'count')` and `(table, 'rows', row, column)`, rows by their
    primary key, or by their first column if that tells them apart."""
    tables: dict[str, _Table] = {}
    position = 0
    while position < len(text):
        head = _TABLE.match(text, position)
        if head is not None:
            table = tables.setdefault(_unquoted(head.group(1)), _Table(position))
            for number, item in enumerate(_COLUMN.finditer(head.group(2))):
                span = (item.start() + head.start(2), item.end(1) + 1 + head.start(2))
                table.columns.append((_unquoted(item.group(1)), span))
                if item.group(2):
                    table.keys.append(number)
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


def finish(before: str, after: str) -> str:
    """`after`, an edit of `before`, with the numbers of rows that it has now."""
    try:
        old, new = parse(before), parse(after)
    except StateUnreadableError:
        return after
    for table in reversed(new.children):
        count, rows = table.at((COUNT,)), table.at((ROWS,))
        was_count, was_rows = old.at((table.name, COUNT)), old.at((table.name, ROWS))
        if count is None or rows is None or was_count is None or was_rows is None or was_count.value is None:
            continue
        now = int(was_count.value) + len(rows.children) - len(was_rows.children)
        after = after[: count.raw[0]] + str(max(0, now)) + after[count.raw[1] :]
    return after


def without_shifts(old: Node, new: Node, changes: Sequence[Change]) -> tuple[Change, ...]:
    """`changes` without what only shows that evidence holds the newest rows of a large table.

    A new row pushes the oldest one out of sight, a lost row lets an older one in; both stand behind all rows
    that are in both states. A number of rows that the changes of rows explain is left out as well.
    """
    found = list(changes)
    for table in new.children:
        before = old.at((table.name,))
        if before is None:
            continue
        old_rows, new_rows = before.parts((ROWS,)), table.parts((ROWS,))
        hidden = _count(before) > len(old_rows) or _count(table) > len(new_rows)
        known = {row.name for row in old_rows} & {row.name for row in new_rows}
        tails = (_tail(old_rows, known) | _tail(new_rows, known)) if hidden and known else set()
        place = (table.name, ROWS)
        found = [
            item
            for item in found
            if item.kind == "changed" or item.address[:2] != place or item.address[2:3] not in tails
        ]
        if hidden and {row.naming for row in (*old_rows, *new_rows)} == {"position"}:
            found = _without_pushed_out(found, before, table)
        kinds = [item.kind for item in found if item.address[:2] == place and len(item.address) == 3]
        if _count(table) - _count(before) == kinds.count("added") - kinds.count("removed"):
            found = [item for item in found if item.address != (table.name, COUNT)]
    return tuple(found)


def _without_pushed_out(changes: Sequence[Change], before: Node, table: Node) -> list[Change]:
    """Without the oldest rows that new ones push out of sight, of a table whose rows have no names: as many
    as its number of rows does not tell of."""
    rows = [item for item in changes if item.address[:2] == (table.name, ROWS) and len(item.address) == 3]
    lost = {int(item.address[2]): item for item in rows if item.kind == "removed"}
    more = sum(item.kind == "added" for item in rows) - len(lost) - (_count(table) - _count(before))
    oldest = range(len(before.parts((ROWS,))) - 1, -1, -1)
    pushed = [lost[index] for index in takewhile(lost.__contains__, oldest)][: max(0, -more)]
    return [item for item in changes if item not in pushed]


def _count(table: Node) -> int:
    count = table.at((COUNT,))
    return len(table.parts((ROWS,))) if count is None or count.value is None else int(count.value)


def _tail(rows: Sequence[Node], known: set[str]) -> set[tuple[str, ...]]:
    names = [row.name for row in rows]
    last = max(index for index, name in enumerate(names) if name in known)
    return {(name,) for name in names[last + 1 :]}


class _Table:
    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.columns: list[tuple[str, Span]] = []
        self.keys: list[int] = []
        self.count: tuple[str, Span] | None = None
        self.rows: list[tuple[list[tuple[str, Span]], Span, Span]] = []

    def node(self, name: str) -> Node:
        columns, rows = table_rows([column for column, _ in self.columns], self.rows, self.keys or [0])
        begin = self.rows[0][1][0] if self.rows else self.end
        told = zip(columns, self.columns, strict=False)
        schema = tuple(leaf(column, "field", span, "") for column, (_, span) in told)
        parts = [group(COLUMNS, "schema", (self.start, self.start), schema)]
        if self.count is not None:
            parts.append(leaf(COUNT, "schema", self.count[1], self.count[0]))
        parts.append(group(ROWS, "field", (begin, self.end), rows))
        whole = (self.start, self.end)
        return group(name, "field", whole, tuple(parts), whole)


def _cells(text: str, position: int) -> tuple[list[tuple[str, Span]], int]:
    cells: list[tuple[str, Span]] = []
    while True:
        match = _CELL.match(text, position)
        if match is None:
            raise StateUnreadableError(f"no value at {position}")
        quoted = match.group(1)
        cells.append(
            (quoted[1:-1].replace("''", "'"), match.span(1)) if quoted else (match.group(2), match.span(2))
        )
        position = match.end()
        if match.group(3) == ")":
            return cells, position


def _unquoted(name: str) -> str:
    return name.replace('""', '"')
