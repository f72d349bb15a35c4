"""The task list: filters as SQL, and pages by key, so that the last page costs no more than the first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self, get_args

from pydantic import JsonValue

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.records.task import TaskStatus
from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.store import Warehouse

PAGE_ROWS = 50
_REVIEWS = "(SELECT r.task_id, r.instruction FROM latest_reviews AS r"
FILTERS: Final[dict[str, str | dict[str, str]]] = {
    **{row: {level: f"{row}_level = '{level}'" for level in LEVELS} for row in map(str, DIMENSIONS)},
    "scenario": "scenario = ?",
    "application": "list_contains(applications, ?)",
    "capability": "list_contains(capabilities, ?)",
    "status": {name: f"status = '{name}'" for name in get_args(TaskStatus)},
    "replayed": {
        "with success": "task_id IN (SELECT r.task_id FROM replays AS r WHERE r.success)",
        "without success": (
            "task_id IN (SELECT r.task_id FROM replays AS r WHERE NOT r.success AND NOT r.invalid)"
            " AND task_id NOT IN (SELECT r.task_id FROM replays AS r WHERE r.success)"
        ),
        "not yet": "task_id NOT IN (SELECT r.task_id FROM replays AS r WHERE r.success OR NOT r.invalid)",
    },
    "reviewed": {
        "accepted": (
            f"(task_id, instruction) IN {_REVIEWS} WHERE r.accepted)"
            f" AND (task_id, instruction) NOT IN {_REVIEWS} WHERE NOT r.accepted)"
        ),
        "rejected": f"(task_id, instruction) IN {_REVIEWS} WHERE NOT r.accepted)",
        "not yet": f"(task_id, instruction) NOT IN {_REVIEWS})",
    },
    "text": "",
}
"""The filters, named as the page's parameters are, with their SQL conditions: one that binds any value, or
one for each value there is; words of `text` have one each. One person's rejection rejects."""
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
            known = FILTERS[name]
            if value and isinstance(known, dict) and value not in known:
                raise SelectionInvalidError(f"{name} is {value!r}; known: {', '.join(known)}.")
        return cls(values)

    def condition(self) -> tuple[str, list[str]]:
        """The filter as an SQL condition and its parameters."""
        given = {name: value for name, value in self.values.items() if value}
        parts, bound = ["true"], []
        for name, value in given.items():
            known = FILTERS[name]
            if name == "text":
                words = value.split()
                pattern = " AND ".join(["contains(words, lower(?))"] * len(words))
                parts.append(f"(({pattern}) OR task_id = ?)")
                bound += [*words, value]
            elif isinstance(known, dict):
                parts.append(f"({known[value]})")
            else:
                parts.append(known)
                bound.append(value)
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
        **{name: list(FILTERS[name]) for name in ("status", "replayed", "reviewed")},
        "sort": list(SORTS),
    }
