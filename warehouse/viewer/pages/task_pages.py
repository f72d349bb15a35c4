"""The task list and the page of one task."""

from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.drawing import draw_svg
from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.taskgraph.records.task import Rejection, Replay, Task, Validation
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.viewer.pages.model_call_pages import calls_for
from taskloom.warehouse.viewer.pages.strips import Frame, read_strip, step_of
from taskloom.warehouse.viewer.pages.task_list import TaskFilter, choices, count_tasks, read_page, sort_in
from taskloom.warehouse.viewer.pages.task_words import numbers_of, title_of
from taskloom.warehouse.viewer.website import Site, address

_ORDERS_SHOWN = 12
_REVIEWS = (
    "SELECT reviewer, accepted, failed, note, reviewed_at, instruction FROM latest_reviews WHERE task_id = ?"
    " ORDER BY reviewed_at, reviewer"
)


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/tasks` (filters, pages by key), and the page of one task with its graph."""

    @application.get("/tasks")
    def tasks(request: Request) -> HTMLResponse:
        given = request.query_params
        chosen = TaskFilter.of(given)
        sort = sort_in(given)
        page = read_page(
            site.store, chosen, sort=sort, after=given.get("after", ""), before=given.get("before", "")
        )
        key = ("count", *chosen.values.values())
        return site.page(
            "tasks.html.jinja",
            page=page,
            total=site.memory.get(key, lambda: count_tasks(site.store, chosen)),
            chosen={**chosen.values, "sort": sort},
            filtered=any(chosen.values.values()),
            choices=site.memory.get("choices", lambda: choices(site.store)),
            dimensions=DIMENSIONS,
            levels=LEVELS,
            previous=page.before
            and address("/tasks", {**chosen.values, "sort": sort, "before": page.before}),
            following=page.after and address("/tasks", {**chosen.values, "sort": sort, "after": page.after}),
            query=address("", chosen.values),
        )

    @application.get("/tasks/{task_id:path}")
    def task(task_id: str, request: Request) -> HTMLResponse:
        found = site.one(Task, "task_id", task_id, "task")
        replays = list(site.store.read(Replay, "task_id = ?", [task_id]))
        shown = _shown_replay(replays, request.query_params.get("replay", ""))
        numbers = numbers_of(found)
        return site.page(
            "task.html.jinja",
            task=found,
            title=title_of(found),
            drawing=draw_svg(found.graph, numbers),
            rows=node_rows(found, numbers),
            numbers=numbers,
            orders=[
                [numbers.get(name, "?") for name in order]
                for order in found.successful_orders[:_ORDERS_SHOWN]
            ],
            validations=list(site.store.read(Validation, "task_id = ?", [task_id], order_by="round")),
            rejections=list(
                site.store.read(Rejection, "item_id = ? AND item_kind IN ('task', 'replay')", [task_id])
            ),
            replays=replays,
            shown=shown,
            frames=_strip(site, shown),
            step=step_of(request.query_params.get("step", "")),
            attempts=list(
                site.store.read(AgentRun, "task_id = ?", [task_id], order_by="agent, run_id, agent_run_id")
            ),
            calls=calls_for(site.store, task_id),
            reviews=site.store.query(_REVIEWS, [task_id]).as_dicts(),
        )


def _shown_replay(replays: Sequence[Replay], wanted: str) -> Replay | None:
    best = next((replay for replay in replays if replay.success), replays[0] if replays else None)
    return next((replay for replay in replays if replay.replay_id == wanted), best)


def _strip(site: Site, replay: Replay | None) -> tuple[Frame, ...]:
    if replay is None:
        return ()
    recording = site.store.find(Trajectory, "trajectory_id", replay.trajectory_id)
    return read_strip(site.store, recording, replay.subtasks) if recording else ()


def node_rows(task: Task, numbers: Mapping[str, int]) -> list[dict[str, object]]:
    """The subtasks of a task by their numbers on the page, with the numbers of those that each `needs`."""
    rows: list[dict[str, object]] = []
    for node in sorted(task.graph.nodes, key=lambda node: numbers[node.instance_id]):
        number = numbers[node.instance_id]
        said = (*task.low_level_instructions[number - 1 : number], node.instruction)[0]
        needs = sorted(numbers[first] for first, then in task.graph.pairs if then == node.instance_id)
        rows.append({"number": number, "node": node, "instruction": said, "needs": needs})
    return rows
