"""The task list: filters as SQL, and pages by key, so that the last page costs no more than the first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from pydantic import JsonValue

from resources.dimensions import DIMENSIONS, LEVELS
from taskgraph.records.task import TaskStatus
from warehouse.errors import SelectionInvalidError
from warehouse.store import Warehouse

PAGE_ROWS = 50
"""Tasks on a page."""
STATUSES: tuple[str, ...] = get_args(TaskStatus)
"""What a task's status may be."""
FILTERS: tuple[str, ...] = (*DIMENSIONS, "scenario", "application", "capability", "status", "text")
"""Names of the filters, which are also the names of the page's parameters."""
_MEANING = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""Characters that mean something in an expression of DuckDB (RE2)."""
_SHOWN = (
    "task_id, instruction, intent, scenario, status, node_count, edge_count, simulated, applications, "
    + ", ".join(f"{dimension}_level" for dimension in DIMENSIONS)
)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to list; an empty value allows all."""

    values: Mapping[str, str]
    """Value by name of the filter."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> TaskFilter:
        """The filter in a page's parameters; others are left alone.

        Raises:
            SelectionInvalidError: a level or status that does not exist.
        """
        values = {name: given.get(name, "").strip() for name in FILTERS}
        for dimension in DIMENSIONS:
            if values[dimension] and values[dimension] not in LEVELS:
                raise SelectionInvalidError(
                    f"{dimension} is {values[dimension]!r}; the levels are {', '.join(LEVELS)}."
                )
        if values["status"] and values["status"] not in STATUSES:
            raise SelectionInvalidError(f"status is {values['status']!r}; known: {', '.join(STATUSES)}.")
        return cls(values)

    def condition(self) -> tuple[str, list[str]]:
        """The filter as an SQL condition and its parameters."""
        parts, bound = ["true"], []
        for dimension in DIMENSIONS:
            if self.values[dimension]:
                parts.append(f"{dimension}_level = ?")
                bound.append(self.values[dimension])
        for name in ("scenario", "status"):
            if self.values[name]:
                parts.append(f"{name} = ?")
                bound.append(self.values[name])
        if self.values["capability"]:
            parts.append("list_contains(capabilities, ?)")
            bound.append(self.values["capability"])
        if self.values["application"]:
            parts.append("list_contains(applications, ?)")
            bound.append(self.values["application"])
        if self.values["text"]:
            words = self.values["text"].split()
            pattern = " AND ".join(
                ["(regexp_matches(instruction, ?) OR regexp_matches(intent, ?))"] * len(words)
            )
            parts.append(f"(({pattern}) OR task_id = ?)")
            for word in words:
                bound.extend([anywhere(word)] * 2)
            bound.append(self.values["text"])
        return " AND ".join(parts), bound


def anywhere(word: str) -> str:
    r"""The expression that finds a word in upper or lower case, without a copy of the text in lower case.

    >>> anywhere("a.csv")
    '(?i)a\\.csv'
    """
    return "(?i)" + _MEANING.sub(r"\\\g<0>", word)


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks of the list, and the ids from which the neighbouring pages are reached."""

    rows: tuple[dict[str, JsonValue], ...]
    """The tasks, by id."""
    before: str
    """Id that ends the page before this one; empty on the first page."""
    after: str
    """Id that begins the page after this one; empty on the last page."""


def read_page(warehouse: Warehouse, chosen: TaskFilter, *, after: str = "", before: str = "") -> TaskPage:
    """The first tasks after the id `after`, or the last ones before the id `before`.

    Ids are found first and the rest is read for those alone, so that a page of a million tasks touches few bytes.
    """
    condition, bound = chosen.condition()
    backwards = bool(before)
    beyond = "task_id < ?" if backwards else "task_id > ?"
    found = [
        str(row[0])
        for row in warehouse.query(
            f"SELECT task_id FROM tasks WHERE {condition} AND {beyond}"
            f" ORDER BY task_id {'DESC' if backwards else ''} LIMIT {PAGE_ROWS + 1}",
            [*bound, before or after],
        ).rows()
    ]
    more = len(found) > PAGE_ROWS
    shown = sorted(found[:PAGE_ROWS])
    if not shown:
        return TaskPage((), before=after, after=before)
    rows = warehouse.query(
        f"SELECT {_SHOWN} FROM tasks WHERE task_id BETWEEN ? AND ? AND task_id IN (SELECT unnest(?::VARCHAR[]))"
        " ORDER BY task_id",
        [shown[0], shown[-1], shown],
    ).as_dicts()
    earlier = more if backwards else bool(after)
    later = True if backwards else more
    return TaskPage(tuple(rows), shown[0] if earlier else "", shown[-1] if later else "")


def count_tasks(warehouse: Warehouse, chosen: TaskFilter) -> int:
    """How many tasks the filter allows."""
    condition, bound = chosen.condition()
    return int(str(warehouse.query(f"SELECT count(*) FROM tasks WHERE {condition}", bound).scalar()))


def choices(warehouse: Warehouse) -> dict[str, list[str]]:
    """What can be chosen for each filter that the data decides."""

    def column(sql: str) -> list[str]:
        return [str(row[0]) for row in warehouse.query(sql).rows() if row[0]]

    return {
        "scenario": column("SELECT DISTINCT scenario FROM tasks ORDER BY 1"),
        "application": column("SELECT DISTINCT unnest(applications) FROM tasks ORDER BY 1"),
        "capability": column("SELECT DISTINCT unnest(capabilities) FROM tasks ORDER BY 1"),
        "status": list(STATUSES),
    }
