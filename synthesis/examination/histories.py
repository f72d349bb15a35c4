"""Tables in which an application keeps what its records were, which repeat another table of the same
database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.evaluators_api.state.formats.database import COLUMNS, ROWS
from taskloom.evaluators_api.state.nodes import Node
from taskloom.evaluators_api.state.reading import read
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence

_DATABASE = "database"


def without_histories(found: Sequence[Effect], end: Evidence) -> list[Effect]:
    """`found` without what happened in the history of a table that was changed itself: that says what was
    done once more.

    Where the table itself was not changed but another one with a history was, an application may have noted a
    further version of a record that is as it was. Left out of that is what repeats the record, and what only
    the history has.
    """
    histories = {
        effect.container: _histories(effect.container, end)
        for effect in found
        if effect.format == _DATABASE and effect.address
    }
    touched = {(effect.container, effect.address[0]) for effect in found if effect.address}
    return [
        effect
        for effect in found
        if not _is_told_elsewhere(effect, histories.get(effect.container, {}), touched)
    ]


@dataclass(frozen=True, slots=True)
class _History:
    """A table that repeats another one."""

    table: Node
    repeated: Node

    def repeats(self, address: Sequence[str]) -> bool:
        """Whether what stands at this address of the table says nothing of a record but what it is now."""
        field = address[2] if len(address) > 2 else ""
        shared = _columns(self.repeated)
        if field and field not in shared:
            return True
        row = self.table.at(tuple(address[:2]))
        if row is None or address[0] != ROWS:
            return False
        told = _values(row, shared)
        rows = self.repeated.at((ROWS,))
        return rows is not None and any(_values(other, shared) == told for other in rows.children)


def _is_told_elsewhere(
    effect: Effect, histories: Mapping[str, _History], touched: set[tuple[str, str]]
) -> bool:
    history = histories.get(effect.address[0]) if effect.address else None
    if history is None:
        return False
    if (effect.container, history.repeated.name) in touched:
        return True
    versioned = {item.repeated.name for item in histories.values()}
    others = any(container == effect.container and table in versioned for container, table in touched)
    return others and history.repeats(effect.address[1:])


def _histories(path: str, end: Evidence) -> Mapping[str, _History]:
    """The tables of a database that repeat all columns of another one, have further ones, and are called
    after it."""
    file = end.file(path)
    if file is None or not file.text:
        return {}
    tables = [table for table in read(path, file.text)[1].children if table.at((COLUMNS,)) is not None]
    return {
        table.name: _History(table, other)
        for table in tables
        for other in tables
        if other.name in table.name and len(shared := _columns(other)) > 1 and shared < _columns(table)
    }


def _columns(table: Node) -> set[str]:
    held = table.at((COLUMNS,))
    return {child.name for child in held.children} if held is not None else set()


def _values(row: Node, columns: set[str]) -> dict[str, str]:
    return {child.name: child.content() for child in row.children if child.name in columns}
