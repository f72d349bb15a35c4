"""What agents completed: figures per agent and run, the attempts of one of these, and those at one task."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from taskloom.taskgraph.records.agent_run import AgentRun
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.website import Site

_ATTEMPTS_SHOWN = 500
_ATTEMPTS = (
    "SELECT a.agent_run_id, a.task_id, a.trajectory_id, a.success, a.outcome, a.coverage_rate, a.steps,"
    " a.seconds, a.side_effects.total AS side_effects, t.instruction FROM agent_runs AS a LEFT JOIN tasks AS"
    " t ON t.task_id = a.task_id WHERE a.agent = ? AND a.run_id = ? ORDER BY a.success, a.coverage_rate,"
    f" a.agent_run_id LIMIT {_ATTEMPTS_SHOWN}"
)


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
