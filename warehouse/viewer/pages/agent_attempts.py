"""What agents completed: figures per agent and run, the attempts of one of these, and those at one task."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.website import Site

_RUNS_SHOWN = 50
_ATTEMPTS_SHOWN = 500
_ATTEMPTS = (
    "SELECT a.agent_run_id, a.task_id, a.trajectory_id, a.success, a.outcome, a.coverage_rate, a.steps,"
    " a.seconds, a.side_effects.total AS side_effects, t.instruction FROM agent_runs AS a LEFT JOIN tasks AS"
    " t ON t.task_id = a.task_id WHERE a.agent = ? AND a.run_id = ? ORDER BY a.success, a.coverage_rate,"
    f" a.agent_run_id LIMIT {_ATTEMPTS_SHOWN}"
)
_BY_AGENT = (
    "SELECT agent, run_id, count(*) AS attempts, count(DISTINCT task_id) AS tasks, avg(CASE WHEN success"
    " THEN 1.0 ELSE 0.0 END) AS success_rate, avg(coverage_rate) AS coverage_rate, avg(logical_consistency)"
    " AS logical_consistency, count(logical_consistency) AS consistency_defined, avg(CASE WHEN side_effects"
    " IS NOT NULL THEN CASE WHEN success AND side_effects.total = 0 THEN 1.0 ELSE 0.0 END END) AS"
    " clean_success_rate, avg(side_effects.total) AS side_effects, avg(steps) AS steps, avg(seconds) AS"
    " seconds FROM agent_runs WHERE outcome <> 'invalid' GROUP BY agent, run_id ORDER BY run_id DESC, agent"
    f" LIMIT {_RUNS_SHOWN}"
)


def agent_figures(warehouse: Warehouse) -> list[dict[str, JsonValue]]:
    """A row per agent and run, the latest first: valid attempts, and means of what section 4.1 measures and
    of side effects.

    `logical_consistency` is the mean over the `consistency_defined` attempts for which it is defined, None
    without any.
    """
    return warehouse.query(_BY_AGENT).as_dicts()


def attempts_at(warehouse: Warehouse, task_id: str) -> list[AgentRun]:
    """Attempts of agents at one task, by agent and run."""
    return list(warehouse.read(AgentRun, "task_id = ?", [task_id], order_by="agent, run_id, agent_run_id"))


def add_pages(application: FastAPI, site: Site) -> None:
    """Add the page."""

    @application.get("/attempts")
    def attempts(request: Request) -> HTMLResponse:
        agent, run = request.query_params.get("agent", ""), request.query_params.get("run", "")
        rows = site.store.query(_ATTEMPTS, [agent, run]).as_dicts()
        if not rows:
            raise HTTPException(404, f"There is no attempt of the agent {agent!r} in the run {run!r}.")
        return site.page(
            "attempts.html.jinja", agent=agent, run=run, rows=rows, cut=len(rows) == _ATTEMPTS_SHOWN
        )
