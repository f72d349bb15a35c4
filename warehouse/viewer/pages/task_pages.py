"""The task list (filters as SQL, and pages by key, so that the last page costs no more than the first), and
the page of one task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, get_args

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.drawing import draw_svg
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.task import Rejection, Replay, Task, TaskStatus, Validation
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.recording_pages import Frame, calls_for, read_strip, step_of
from taskloom.warehouse.viewer.website import Site, address


def title_of(task: Task) -> str:
    """What the task is for; if no intent says so, how large it is and which applications it uses."""
    if task.intent:
        return task.intent
    names = sorted({node.application for node in task.graph.nodes if node.application})
    size = len(task.graph.nodes)
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
    return f"{size} {'subtask' if size == 1 else 'subtasks'}" + (f" in {listed}" if listed else "")


def numbers_of(task: Task) -> dict[str, int]:
    """Numbers of the subtasks on a page: their positions in the first successful order."""
    names = [node.instance_id for node in task.graph.nodes]
    order = task.successful_orders[0] if task.successful_orders else ()
    return {name: number for number, name in enumerate(dict.fromkeys((*order, *names)), 1)}


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
"""The filters by the page's parameters, with their SQL conditions: one that binds any value, or one for each
possible value; words of `text` have one each. One person's rejection rejects."""
SORTS: Final[dict[str, str]] = {
    "fewest subtasks": "coalesce(node_count, 0)",
    "most subtasks": "-coalesce(node_count, 0)",
    "fewest dependencies": "coalesce(edge_count, 0)",
    "most dependencies": "-coalesce(edge_count, 0)",
    "shortest instruction": "length(instruction)",
    "longest instruction": "-length(instruction)",
}
"""Orders of the list, each with the number that it sorts by; equal tasks are sorted by id."""
_LIST_COLUMNS = (
    "task_id, instruction, intent, scenario, status, node_count, edge_count, simulated, applications, "
    + ", ".join(f"{dimension}_level" for dimension in DIMENSIONS)
)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to list; an empty value allows all."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The filter in a page's parameters; `SelectionInvalidError` for a level or status that does not
        exist."""
        values = {name: parameters.get(name, "").strip() for name in FILTERS}
        for name, value in values.items():
            known = FILTERS[name]
            if value and isinstance(known, dict) and value not in known:
                raise SelectionInvalidError(f"{name} is {value!r}; known: {', '.join(known)}.")
        return cls(values)

    def condition(self) -> tuple[str, list[str]]:
        """The filter as an SQL condition and its parameters."""
        chosen = {name: value for name, value in self.values.items() if value}
        parts, parameters = ["true"], []
        for name, value in chosen.items():
            conditions = FILTERS[name]
            if name == "text":
                words = value.split()
                pattern = " AND ".join(["contains(words, lower(?))"] * len(words))
                parts.append(f"(({pattern}) OR task_id = ?)")
                parameters += [*words, value]
            elif isinstance(conditions, dict):
                parts.append(f"({conditions[value]})")
            else:
                parts.append(conditions)
                parameters.append(value)
        return " AND ".join(parts), parameters


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks of the list, and the ids from which the neighbouring pages are reached."""

    rows: tuple[dict[str, JsonValue], ...]
    before: str
    """Id that ends the page before this one; empty on the first page."""
    after: str
    """Id that begins the page after this one; empty on the last page."""


def sort_in(parameters: Mapping[str, str]) -> str:
    """The order named in a page's parameters, empty for id order; `SelectionInvalidError` for an unknown
    one."""
    name = parameters.get("sort", "").strip()
    if name and name not in SORTS:
        raise SelectionInvalidError(f"sort is {name!r}; known: {', '.join(SORTS)}.")
    return name


def read_page(
    warehouse: Warehouse, chosen: TaskFilter, *, sort: str = "", after: str = "", before: str = ""
) -> TaskPage:
    """The tasks that follow the task with the id `after`, or the last ones before that with the id `before`.

    Ids are found first and the rest is read for those alone, so a page out of a million tasks touches few
    bytes.
    """
    condition, parameters = chosen.condition()
    backwards = bool(before)
    comparison, direction = ("<", " DESC") if backwards else (">", "")
    edge = before or after
    order = f"task_id{direction}"
    if not sort:
        condition += f" AND task_id {comparison} ?"
        parameters.append(edge)
    else:
        number = SORTS[sort]
        order = f"{number}{direction}, {order}"
        if edge:
            edge_number = f"(SELECT {number} FROM tasks WHERE task_id = ?)"
            same_number = f"{number} = {edge_number} AND task_id {comparison} ?"
            condition += f" AND ({number} {comparison} {edge_number} OR ({same_number}))"
            parameters += [edge] * 3
    ids = warehouse.query(
        f"SELECT task_id FROM tasks WHERE {condition} ORDER BY {order} LIMIT {PAGE_ROWS + 1}", parameters
    ).texts()
    has_more = len(ids) > PAGE_ROWS
    page_ids = ids[:PAGE_ROWS][:: -1 if backwards else 1]
    if not page_ids:
        return TaskPage((), before=after, after=before)
    rows = warehouse.query(
        f"SELECT {_LIST_COLUMNS} FROM tasks WHERE task_id BETWEEN ? AND ? AND task_id IN (SELECT"
        " unnest(?::VARCHAR[]))",
        [min(page_ids), max(page_ids), page_ids],
    ).as_dicts()
    by_id = {str(row["task_id"]): row for row in rows}
    earlier = has_more if backwards else bool(after)
    later = True if backwards else has_more
    return TaskPage(
        tuple(by_id[name] for name in page_ids if name in by_id),
        page_ids[0] if earlier else "",
        page_ids[-1] if later else "",
    )


def count_tasks(warehouse: Warehouse, chosen: TaskFilter) -> int:
    """Number of tasks that the filter allows."""
    condition, parameters = chosen.condition()
    return warehouse.query(f"SELECT count(*) FROM tasks WHERE {condition}", parameters).number()


def choices(warehouse: Warehouse) -> dict[str, list[str]]:
    """The choices of each list filter, and of the order."""

    def column(sql: str) -> list[str]:
        return [str(row[0]) for row in warehouse.query(sql).rows() if row[0]]

    return {
        "scenario": column("SELECT DISTINCT scenario FROM tasks ORDER BY 1"),
        "application": column("SELECT DISTINCT unnest(applications) FROM tasks ORDER BY 1"),
        "capability": column("SELECT DISTINCT unnest(capabilities) FROM tasks ORDER BY 1"),
        **{name: list(FILTERS[name]) for name in ("status", "replayed", "reviewed")},
        "sort": list(SORTS),
    }


_ORDERS_SHOWN = 12
_REVIEWS_OF_TASK = (
    "SELECT reviewer, accepted, failed, note, reviewed_at, instruction FROM latest_reviews WHERE task_id = ?"
    " ORDER BY reviewed_at, reviewer"
)


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/tasks` (filters, pages by key), and the page of one task with its graph."""

    @application.get("/tasks")
    def tasks(request: Request) -> HTMLResponse:
        query = request.query_params
        chosen = TaskFilter.of(query)
        sort = sort_in(query)
        page = read_page(
            site.store, chosen, sort=sort, after=query.get("after", ""), before=query.get("before", "")
        )
        key = ("count", *chosen.values.values())
        return site.page(
            "tasks.html.jinja",
            page=page,
            total=site.cache.get(key, lambda: count_tasks(site.store, chosen)),
            chosen={**chosen.values, "sort": sort},
            filtered=any(chosen.values.values()),
            choices=site.cache.get("choices", lambda: choices(site.store)),
            dimensions=DIMENSIONS,
            levels=LEVELS,
            previous=page.before
            and address("/tasks", {**chosen.values, "sort": sort, "before": page.before}),
            following=page.after and address("/tasks", {**chosen.values, "sort": sort, "after": page.after}),
            query=address("", chosen.values),
        )

    @application.get("/tasks/{task_id:path}")
    def task(task_id: str, request: Request) -> HTMLResponse:
        record = site.find_record(Task, "task_id", task_id, "task")
        replays = list(site.store.read(Replay, "task_id = ?", [task_id]))
        selected = _select_replay(replays, request.query_params.get("replay", ""))
        numbers = numbers_of(record)
        return site.page(
            "task.html.jinja",
            task=record,
            title=title_of(record),
            drawing=draw_svg(record.graph, numbers),
            rows=node_rows(record, numbers),
            numbers=numbers,
            orders=[
                [numbers.get(name, "?") for name in order]
                for order in record.successful_orders[:_ORDERS_SHOWN]
            ],
            validations=list(site.store.read(Validation, "task_id = ?", [task_id], order_by="round")),
            rejections=list(
                site.store.read(Rejection, "item_id = ? AND item_kind IN ('task', 'replay')", [task_id])
            ),
            replays=replays,
            selected=selected,
            frames=_strip(site, selected),
            step=step_of(request.query_params.get("step", "")),
            attempts=list(
                site.store.read(AgentRun, "task_id = ?", [task_id], order_by="agent, run_id, agent_run_id")
            ),
            calls=calls_for(site.store, task_id),
            reviews=site.store.query(_REVIEWS_OF_TASK, [task_id]).as_dicts(),
        )


def _select_replay(replays: Sequence[Replay], wanted: str) -> Replay | None:
    default = next((replay for replay in replays if replay.success), replays[0] if replays else None)
    return next((replay for replay in replays if replay.replay_id == wanted), default)


def _strip(site: Site, replay: Replay | None) -> tuple[Frame, ...]:
    if replay is None:
        return ()
    recording = site.store.find(Trajectory, "trajectory_id", replay.trajectory_id)
    return read_strip(site.store, recording, replay.subtasks) if recording else ()


def node_rows(task: Task, numbers: Mapping[str, int]) -> list[dict[str, object]]:
    """The subtasks of a task by their numbers on the page, each with the numbers of those that it `needs`."""
    rows: list[dict[str, object]] = []
    for node in sorted(task.graph.nodes, key=lambda node: numbers[node.instance_id]):
        number = numbers[node.instance_id]
        instruction = (*task.low_level_instructions[number - 1 : number], node.instruction)[0]
        needs = sorted(numbers[first] for first, second in task.graph.pairs if second == node.instance_id)
        rows.append({"number": number, "node": node, "instruction": instruction, "needs": needs})
    return rows
