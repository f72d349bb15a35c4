"""The subtask list, and the page of one subtask."""

import re
from collections.abc import Iterable, Sequence

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from taskloom.taskgraph.records.effect import PerformanceEffects
from taskloom.taskgraph.records.evaluation_function import (
    GENUINE_FAMILIES,
    EvaluationFunction,
    VerificationRound,
)
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.viewer.pages.recording_pages import calls_for
from taskloom.warehouse.viewer.website import Site, address

_PAGE_ROWS = 50
_LASTING = frozenset({"file", "directory", "clipboard"})
_MATCHES = (
    "($application = '' OR application = $application) AND ($text = ''"
    " OR contains(lower(instruction_template), lower($text)) OR contains(subtask_id, $text))"
)
_LIST = f"""
WITH page AS (
    SELECT subtask_id, application, instruction_template, origin, simulated,
        [item.category FOR item IN inputs] AS inputs, [item.category FOR item IN outputs] AS outputs
    FROM subtasks
    WHERE subtask_id > $after AND {_MATCHES}
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


def _natural_key(name: str) -> list[tuple[int, str]]:
    """A key that sorts ids by the numbers in them: `a:2` before `a:10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _effect_figures(performances: Sequence[PerformanceEffects]) -> dict[str, object]:
    """Effects of the performance compared with the most others, lasting ones separate from screen effects."""
    if not performances:
        return {"count": 0}
    chosen = max(performances, key=lambda item: item.compared)
    return {
        "count": len(performances),
        "compared": chosen.compared,
        "trajectory_id": chosen.trajectory_id,
        "left_out": chosen.left_out,
        "essential": [effect for effect in chosen.essential if effect.area in _LASTING],
        "incidental": [effect for effect in chosen.incidental if effect.area in _LASTING],
        "screen": [effect for effect in chosen.essential if effect.area not in _LASTING],
    }


def _numbers(names: Iterable[str | None]) -> dict[str | None, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names), 1)}


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/subtasks`, and the page of one subtask with its kill matrix."""

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
            total=site.store.query(f"SELECT count(*) FROM subtasks WHERE {_MATCHES}", chosen).scalar(),
            chosen=chosen,
            applications=applications.texts(),
            first=address("/subtasks", chosen) if after else "",
            following=last and address("/subtasks", {**chosen, "after": last}),
        )

    @application.get("/subtasks/{subtask_id:path}")
    def subtask(subtask_id: str, request: Request) -> HTMLResponse:
        store = site.store
        record = site.find_record(Subtask, "subtask_id", subtask_id, "subtask")
        functions = list(
            store.read(
                EvaluationFunction, "subtask_id = ?", [subtask_id], order_by="accepted DESC, function_id"
            )
        )
        rounds = sorted(
            store.read(VerificationRound, "subtask_id = ?", [subtask_id]),
            key=lambda item: _natural_key(item.verification_id),
        )
        function_ids = [item.function_id for item in functions]
        judging_ids = [item.function_id for item in rounds]
        return site.page(
            "subtask.html.jinja",
            subtask=record,
            functions=functions,
            function_numbers=_numbers(name for name in (*judging_ids, *function_ids) if name in function_ids),
            instance_numbers=_numbers(item.instance_id for item in rounds),
            rounds=rounds,
            effects=_effect_figures(
                list(store.read(PerformanceEffects, "subtask_id = ?", [subtask_id], order_by="trajectory_id"))
            ),
            genuine_families=GENUINE_FAMILIES,
            rejections=list(store.read(Rejection, "item_id = ? AND item_kind = 'subtask'", [subtask_id])),
            trajectories=store.query(_TRAJECTORIES, [subtask_id]).as_dicts(),
            tasks=store.query(_TASKS_WITH, [subtask_id]).as_dicts(),
            calls=calls_for(store, subtask_id),
        )
