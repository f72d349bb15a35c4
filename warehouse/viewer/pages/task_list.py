"""The task list: filters as SQL, and pages by key, so that the last page costs no more than the first."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Self, get_args

from pydantic import JsonValue

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.records.task import TaskStatus
from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.store import Warehouse

PAGE_ROWS = 50
STATUSES: tuple[str, ...] = get_args(TaskStatus)
FILTERS: tuple[str, ...] = (
    *DIMENSIONS,
    "scenario",
    "application",
    "capability",
    "status",
    "replayed",
    "reviewed",
    "text",
)
"""Names of the filters, which are also the names of the page's parameters."""
REPLAYED: Final[dict[str, str]] = {
    "with success": "task_id IN (SELECT r.task_id FROM replays AS r WHERE r.success)",
    "without success": (
        "task_id IN (SELECT r.task_id FROM replays AS r WHERE NOT r.success AND NOT r.invalid)"
        " AND task_id NOT IN (SELECT r.task_id FROM replays AS r WHERE r.success)"
    ),
    "not yet": "task_id NOT IN (SELECT r.task_id FROM replays AS r WHERE r.success OR NOT r.invalid)",
}
"""What replays say of a task, each with its SQL condition."""
_REVIEWS = "(SELECT r.task_id, r.instruction FROM latest_reviews AS r"
REVIEWED: Final[dict[str, str]] = {
    "accepted": (
        f"(task_id, instruction) IN {_REVIEWS} WHERE r.accepted)"
        f" AND (task_id, instruction) NOT IN {_REVIEWS} WHERE NOT r.accepted)"
    ),
    "rejected": f"(task_id, instruction) IN {_REVIEWS} WHERE NOT r.accepted)",
    "not yet": f"(task_id, instruction) NOT IN {_REVIEWS})",
}
"""What people say of a task, each with its SQL condition; one rejection rejects."""
_EQUAL: Final[dict[str, str]] = {
    **{str(dimension): f"{dimension}_level = ?" for dimension in DIMENSIONS},
    "scenario": "scenario = ?",
    "status": "status = ?",
    "capability": "list_contains(capabilities, ?)",
    "application": "list_contains(applications, ?)",
}
"""Filters whose value is bound, with their conditions."""
_SAID: Final = {"replayed": REPLAYED, "reviewed": REVIEWED}
_ALLOWED: Final[Mapping[str, Collection[str]]] = {
    "status": STATUSES,
    "replayed": REPLAYED,
    "reviewed": REVIEWED,
}
"""The values of filters that have few, beside the levels."""
SORTS: Final[dict[str, str]] = {
    "fewest subtasks": "coalesce(node_count, 0)",
    "most subtasks": "-coalesce(node_count, 0)",
    "fewest dependencies": "coalesce(edge_count, 0)",
    "most dependencies": "-coalesce(edge_count, 0)",
    "shortest instruction": "length(instruction)",
    "longest instruction": "-length(instruction)",
}
"""Orders of the list, each with the number by which it goes; tasks with the same number go by id."""
_SHOWN = (
    "task_id, instruction, intent, scenario, status, node_count, edge_count, simulated, applications, "
    + ", ".join(f"{dimension}_level" for dimension in DIMENSIONS)
)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to list; an empty value allows all."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """The filter in a page's parameters; `SelectionInvalidError` for a level or status that does not
        exist."""
        values = {name: given.get(name, "").strip() for name in FILTERS}
        for name, value in values.items():
            known = LEVELS if name in DIMENSIONS else _ALLOWED.get(name, (value,))
            if value and value not in known:
                raise SelectionInvalidError(f"{name} is {value!r}; known: {', '.join(known)}.")
        return cls(values)

    def condition(self) -> tuple[str, list[str]]:
        """The filter as an SQL condition and its parameters."""
        given = {name: value for name, value in self.values.items() if value}
        parts = ["true", *(_EQUAL[name] for name in given if name in _EQUAL)]
        bound = [value for name, value in given.items() if name in _EQUAL]
        parts += [f"({known[given[name]]})" for name, known in _SAID.items() if name in given]
        if "text" in given:
            words = given["text"].split()
            pattern = " AND ".join(["contains(words, lower(?))"] * len(words))
            parts.append(f"(({pattern}) OR task_id = ?)")
            bound += [*words, given["text"]]
        return " AND ".join(parts), bound


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks of the list, and the ids from which the neighbouring pages are reached."""

    rows: tuple[dict[str, JsonValue], ...]
    before: str
    """Id that ends the page before this one; empty on the first page."""
    after: str
    """Id that begins the page after this one; empty on the last page."""


def sort_in(given: Mapping[str, str]) -> str:
    """The order named in a page's parameters, empty for that of ids; `SelectionInvalidError` for no such
    order."""
    name = given.get("sort", "").strip()
    if name and name not in SORTS:
        raise SelectionInvalidError(f"sort is {name!r}; known: {', '.join(SORTS)}.")
    return name


def read_page(
    warehouse: Warehouse, chosen: TaskFilter, *, sort: str = "", after: str = "", before: str = ""
) -> TaskPage:
    """The tasks that follow the task with the id `after`, or the last ones before that with the id `before`.

    Ids are found first and the rest is read for those alone, so that a page of a million tasks touches few
    bytes.
    """
    condition, bound = chosen.condition()
    backwards = bool(before)
    place, down = ("<", " DESC") if backwards else (">", "")
    edge = before or after
    order = f"task_id{down}"
    if not sort:
        condition += f" AND task_id {place} ?"
        bound.append(edge)
    else:
        number = SORTS[sort]
        order = f"{number}{down}, {order}"
        if edge:
            at = f"(SELECT {number} FROM tasks WHERE task_id = ?)"
            condition += f" AND ({number} {place} {at} OR ({number} = {at} AND task_id {place} ?))"
            bound += [edge] * 3
    found = warehouse.query(
        f"SELECT task_id FROM tasks WHERE {condition} ORDER BY {order} LIMIT {PAGE_ROWS + 1}", bound
    ).texts()
    more = len(found) > PAGE_ROWS
    shown = found[:PAGE_ROWS][:: -1 if backwards else 1]
    if not shown:
        return TaskPage((), before=after, after=before)
    rows = warehouse.query(
        f"SELECT {_SHOWN} FROM tasks WHERE task_id BETWEEN ? AND ? AND task_id IN (SELECT"
        " unnest(?::VARCHAR[]))",
        [min(shown), max(shown), shown],
    ).as_dicts()
    by_id = {str(row["task_id"]): row for row in rows}
    earlier = more if backwards else bool(after)
    later = True if backwards else more
    return TaskPage(
        tuple(by_id[name] for name in shown if name in by_id),
        shown[0] if earlier else "",
        shown[-1] if later else "",
    )


def count_tasks(warehouse: Warehouse, chosen: TaskFilter) -> int:
    """How many tasks the filter allows."""
    condition, bound = chosen.condition()
    return warehouse.query(f"SELECT count(*) FROM tasks WHERE {condition}", bound).number()


def choices(warehouse: Warehouse) -> dict[str, list[str]]:
    """What can be chosen for each filter that the data decides."""

    def column(sql: str) -> list[str]:
        return [str(row[0]) for row in warehouse.query(sql).rows() if row[0]]

    return {
        "scenario": column("SELECT DISTINCT scenario FROM tasks ORDER BY 1"),
        "application": column("SELECT DISTINCT unnest(applications) FROM tasks ORDER BY 1"),
        "capability": column("SELECT DISTINCT unnest(capabilities) FROM tasks ORDER BY 1"),
        "status": list(STATUSES),
        "replayed": list(REPLAYED),
        "reviewed": list(REVIEWED),
        "sort": list(SORTS),
    }
