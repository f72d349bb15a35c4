"""The subtask list, the page of one subtask, and the page of one trajectory."""

import re
from collections.abc import Iterable, Sequence

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from taskloom.taskgraph.records.effect import Effect, PerformanceEffects
from taskloom.taskgraph.records.evaluation_function import (
    GENUINE_FAMILIES,
    EvaluationFunction,
    VerificationRound,
)
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.model_call_pages import calls_for
from taskloom.warehouse.viewer.pages.strips import read_strip, step_of
from taskloom.warehouse.viewer.website import Site, address

_PAGE_ROWS = 50
_LASTING = frozenset({"file", "directory", "clipboard"})
_REPLAYED = "task:"
"""What the subtask id of a replay's trajectory begins with, before the id of the task."""
_CHOSEN = (
    "($application = '' OR application = $application) AND ($text = ''"
    " OR contains(lower(instruction_template), lower($text)) OR contains(subtask_id, $text))"
)
_LIST = f"""
WITH page AS (
    SELECT subtask_id, application, instruction_template, origin, simulated,
        [item.category FOR item IN inputs] AS inputs, [item.category FOR item IN outputs] AS outputs
    FROM subtasks
    WHERE subtask_id > $after AND {_CHOSEN}
    ORDER BY subtask_id
    LIMIT {_PAGE_ROWS + 1}
)
SELECT
    page.*,
    exists(SELECT 1 FROM evaluation_functions AS f WHERE f.subtask_id = page.subtask_id AND f.accepted) AS verified,
    (SELECT count(*) FROM verifications AS v WHERE v.subtask_id = page.subtask_id) AS rounds
FROM page
ORDER BY subtask_id
"""  # noqa: E501
_TRAJECTORIES = (
    "SELECT trajectory_id, instruction, termination, step_count, attempt FROM trajectories WHERE subtask_id ="
    " ? ORDER BY trajectory_id LIMIT 100"
)
_TASKS_WITH = (
    "SELECT task_id, instruction FROM tasks WHERE list_contains([node.subtask_id FOR node IN nodes], ?)"
    " ORDER BY task_id LIMIT 10"
)


def _task_of(store: Warehouse, trajectory: Trajectory) -> str:
    """The task of a replay or an attempt; empty for the trajectory of a subtask."""
    name = trajectory.subtask_id
    if name.startswith(_REPLAYED):
        return name.removeprefix(_REPLAYED)
    return str(store.query("SELECT coalesce(max(task_id), '') FROM tasks WHERE task_id = ?", [name]).scalar())


def _in_order(name: str) -> list[tuple[int, str]]:
    """A key that sorts ids by the numbers in them: `a:2` before `a:10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _shown_effects(performances: Sequence[PerformanceEffects]) -> dict[str, object]:
    """Effects of the performance compared with most others, lasting ones apart from those of the screen."""
    if not performances:
        return {"count": 0}
    chosen = max(performances, key=lambda item: item.compared)
    groups: dict[str, list[Effect]] = {"essential": [], "incidental": [], "screen": []}
    for effect in chosen.essential:
        groups["essential" if effect.area in _LASTING else "screen"].append(effect)
    groups["incidental"] = [effect for effect in chosen.incidental if effect.area in _LASTING]
    return {
        "count": len(performances),
        "compared": chosen.compared,
        "trajectory_id": chosen.trajectory_id,
        "left_out": chosen.left_out,
        **groups,
    }


def _numbered(names: Iterable[str | None]) -> dict[str | None, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names), 1)}


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/subtasks`, the page of one subtask with its kill matrix, and the page of one trajectory."""

    @application.get("/subtasks")
    def subtasks(request: Request) -> HTMLResponse:
        chosen = {name: request.query_params.get(name, "").strip() for name in ("application", "text")}
        after = request.query_params.get("after", "")
        rows = site.store.query(_LIST, {**chosen, "after": after}).as_dicts()
        last = str(rows[_PAGE_ROWS - 1]["subtask_id"]) if len(rows) > _PAGE_ROWS else ""
        applications = site.store.query("SELECT DISTINCT application FROM subtasks ORDER BY 1")
        return site.page(
            "subtasks.html.jinja",
            rows=rows[:_PAGE_ROWS],
            total=site.store.query(f"SELECT count(*) FROM subtasks WHERE {_CHOSEN}", chosen).scalar(),
            chosen=chosen,
            applications=applications.texts(),
            first=address("/subtasks", chosen) if after else "",
            following=last and address("/subtasks", {**chosen, "after": last}),
        )

    @application.get("/subtasks/{subtask_id:path}")
    def subtask(subtask_id: str, request: Request) -> HTMLResponse:
        store = site.store
        found = site.one(Subtask, "subtask_id", subtask_id, "subtask")
        functions = list(
            store.read(
                EvaluationFunction, "subtask_id = ?", [subtask_id], order_by="accepted DESC, function_id"
            )
        )
        rounds = sorted(
            store.read(VerificationRound, "subtask_id = ?", [subtask_id]),
            key=lambda item: _in_order(item.verification_id),
        )
        known = [item.function_id for item in functions]
        judged = [item.function_id for item in rounds]
        return site.page(
            "subtask.html.jinja",
            subtask=found,
            functions=functions,
            function_numbers=_numbered(name for name in (*judged, *known) if name in known),
            instance_numbers=_numbered(item.instance_id for item in rounds),
            rounds=rounds,
            effects=_shown_effects(
                list(store.read(PerformanceEffects, "subtask_id = ?", [subtask_id], order_by="trajectory_id"))
            ),
            genuine_families=GENUINE_FAMILIES,
            rejections=list(store.read(Rejection, "item_id = ? AND item_kind = 'subtask'", [subtask_id])),
            trajectories=store.query(_TRAJECTORIES, [subtask_id]).as_dicts(),
            tasks=store.query(_TASKS_WITH, [subtask_id]).as_dicts(),
            calls=calls_for(store, subtask_id),
        )

    @application.get("/trajectories/{trajectory_id:path}")
    def trajectory(trajectory_id: str, request: Request) -> HTMLResponse:
        found = site.one(Trajectory, "trajectory_id", trajectory_id, "trajectory")
        return site.page(
            "trajectory.html.jinja",
            trajectory=found,
            task_id=_task_of(site.store, found),
            frames=read_strip(site.store, found),
            step=step_of(request.query_params.get("step", "")),
        )
