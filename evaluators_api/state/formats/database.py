"""SQLite databases in evidence: SQL text with the columns of the tables and their newest rows."""

import re
from collections.abc import Sequence
from itertools import takewhile

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.comparison import Change
from taskloom.evaluators_api.state.nodes import Node, Span, group, leaf, table_rows

SUFFIXES: frozenset[str] = frozenset()
COLUMNS, COUNT, ROWS = "columns", "count", "rows"
"""Parts of each table: its columns, the number of its rows, and the newest rows."""
_NAME = r'"((?:[^"]|"")*)"'
_START = re.compile(rf"\s*(?:CREATE TABLE {_NAME}\(|INSERT INTO {_NAME} VALUES\()")
_TABLE = re.compile(rf'CREATE TABLE {_NAME}\(((?:"(?:[^"]|"")*"|[^";)])*)\);[^\n]*\n?')
_ROW = re.compile(rf"INSERT INTO {_NAME} VALUES\(")
_CELL = re.compile(r"\s*(?:('(?:[^']|'')*')|([^',()\s]+|X'[0-9a-f]*'))\s*([,)])")
_COLUMN = re.compile(_NAME + "( PRIMARY KEY)?")
_COUNT = re.compile(r"\); -- (\d+) rows?")
_END = re.compile(r";[^\n]*(?:\n|\Z)")


def recognises(text: str) -> bool:
    """Whether the text begins like the SQL text of a database."""
    return _START.match(text) is not None


def parse(text: str) -> Node:
    """`(table, 'columns', column)`, `(table, 'count')` and `(table, 'rows', row, column)`; rows are named by
    their primary key, or by their first column if that identifies them."""
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
        terminator = _END.match(text, end)
        if terminator is None:
            raise StateUnreadableError(f"unterminated statement at {end}")
        table.rows.append((cells, (position, terminator.start() + 1), (position, terminator.end())))
        position = table.end = terminator.end()
    if not tables:
        raise StateUnreadableError("no tables")
    return group("", "field", (0, len(text)), tuple(table.node(name) for name, table in tables.items()))


def finish(before: str, after: str) -> str:
    """`after`, an edit of `before`, with its row counts brought up to date."""
    try:
        old, new = parse(before), parse(after)
    except StateUnreadableError:
        return after
    for table in reversed(new.children):
        count, rows = table.at((COUNT,)), table.at((ROWS,))
        old_count, old_rows = old.at((table.name, COUNT)), old.at((table.name, ROWS))
        if count is None or rows is None or old_count is None or old_rows is None or old_count.value is None:
            continue
        row_count = int(old_count.value) + len(rows.children) - len(old_rows.children)
        after = after[: count.raw[0]] + str(max(0, row_count)) + after[count.raw[1] :]
    return after


def without_shifts(old: Node, new: Node, changes: Sequence[Change]) -> tuple[Change, ...]:
    """`changes` without those that occur only because evidence holds the newest rows of a large table.

    A new row pushes out the oldest row, and a lost row lets an older one in; both come after all rows that
    are in both states. A changed row count that the changed rows explain is left out as well.
    """
    found = list(changes)
    for table in new.children:
        before = old.at((table.name,))
        if before is None:
            continue
        old_rows, new_rows = before.parts((ROWS,)), table.parts((ROWS,))
        is_cut = _row_count(before) > len(old_rows) or _row_count(table) > len(new_rows)
        common = {row.name for row in old_rows} & {row.name for row in new_rows}
        tails = (_tail(old_rows, common) | _tail(new_rows, common)) if is_cut and common else set()
        place = (table.name, ROWS)
        found = [
            item
            for item in found
            if item.kind == "changed" or item.address[:2] != place or item.address[2:3] not in tails
        ]
        if is_cut and {row.naming for row in (*old_rows, *new_rows)} == {"position"}:
            found = _without_pushed_out(found, before, table)
        kinds = [item.kind for item in found if item.address[:2] == place and len(item.address) == 3]
        if _row_count(table) - _row_count(before) == kinds.count("added") - kinds.count("removed"):
            found = [item for item in found if item.address != (table.name, COUNT)]
    return tuple(found)


def _without_pushed_out(changes: Sequence[Change], before: Node, table: Node) -> list[Change]:
    """`changes` of a table with unnamed rows, without the oldest rows that new ones push out: those that the
    row count does not account for."""
    rows = [item for item in changes if item.address[:2] == (table.name, ROWS) and len(item.address) == 3]
    lost = {int(item.address[2]): item for item in rows if item.kind == "removed"}
    growth = _row_count(table) - _row_count(before)
    surplus = sum(item.kind == "added" for item in rows) - len(lost) - growth
    oldest = range(len(before.parts((ROWS,))) - 1, -1, -1)
    pushed = [lost[index] for index in takewhile(lost.__contains__, oldest)][: max(0, -surplus)]
    return [item for item in changes if item not in pushed]


def _row_count(table: Node) -> int:
    count = table.at((COUNT,))
    return len(table.parts((ROWS,))) if count is None or count.value is None else int(count.value)


def _tail(rows: Sequence[Node], common: set[str]) -> set[tuple[str, ...]]:
    names = [row.name for row in rows]
    last = max(index for index, name in enumerate(names) if name in common)
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
        named_columns = zip(columns, self.columns, strict=False)
        schema = tuple(leaf(column, "field", span, "") for column, (_, span) in named_columns)
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
