"""Attempts of agents in a run; experiments: leaderboards, agents side by side, attempts step by step."""

import json

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from taskloom.taskgraph.drawing import draw_svg
from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep, Experiment, Standing
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.viewer.pages.recording_pages import read_strip, step_of
from taskloom.warehouse.viewer.website import Site

_ROWS_SHOWN = 1000
_EXPERIMENTS = (
    "SELECT e.name, e.protocol, e.agents, len(e.task_ids) AS tasks, e.attempts, e.status, e.holds,"
    " e.started_at, (SELECT count(*) FROM agent_runs AS r WHERE r.experiment_id = e.experiment_id) AS made"
    " FROM experiments AS e ORDER BY e.started_at DESC, e.name"
)
_STANDINGS_SO_FAR = (
    "SELECT agent, count(DISTINCT task_id) AS tasks, count(*) AS attempts, count(*) FILTER (WHERE ended ="
    " 'invalid') AS invalid, avg(success::INT) FILTER (WHERE ended <> 'invalid') AS success,"
    " avg(coverage_rate) FILTER (WHERE ended <> 'invalid') AS coverage_rate FROM agent_runs WHERE"
    " experiment_id = ? GROUP BY agent ORDER BY success DESC, coverage_rate DESC, agent"
)
_ATTEMPTS = (
    "SELECT r.agent_run_id, r.agent, r.task_id, r.variant, r.repeat, r.ended, r.success, r.clean, r.held,"
    " r.coverage_rate, r.logical_consistency, r.steps, r.seconds, r.cost_usd, r.message, t.instruction"
    " FROM agent_runs AS r LEFT JOIN tasks AS t USING (task_id) WHERE r.experiment_id = $name AND ($agent ="
    f" '' OR r.agent = $agent) ORDER BY r.task_id, r.variant, r.repeat, r.agent, r.agent_run_id"
    f" LIMIT {_ROWS_SHOWN}"
)
_ATTEMPT_PAIRS = (
    "SELECT a.task_id, t.instruction, a.variant, a.repeat, a.agent_run_id AS first_id, a.ended AS first_end,"
    " a.coverage_rate AS first_rate, a.steps AS first_steps, b.agent_run_id AS second_id, b.ended AS"
    " second_end, b.coverage_rate AS second_rate, b.steps AS second_steps FROM agent_runs AS a JOIN"
    " agent_runs AS b USING (task_id, variant, repeat)"
    " LEFT JOIN tasks AS t ON t.task_id = a.task_id WHERE a.experiment_id = $name AND"
    " b.experiment_id = $other AND a.agent = $first AND b.agent = $second"
    " ORDER BY a.coverage_rate - b.coverage_rate, a.task_id, a.variant, a.repeat, first_id, second_id LIMIT"
    f" {_ROWS_SHOWN}"
)
_AGENT_PAIRS = (
    "SELECT a.agent AS first, b.agent AS second, count(*) AS attempts, avg(a.success::INT) AS first_success,"
    " avg(b.success::INT) AS second_success, avg(a.coverage_rate) AS first_rate, avg(b.coverage_rate) AS"
    " second_rate FROM agent_runs AS a JOIN agent_runs AS b USING (task_id, variant, repeat) WHERE"
    " a.experiment_id = $name AND b.experiment_id = $other AND a.ended <> 'invalid' AND b.ended <> 'invalid'"
    " GROUP BY a.agent, b.agent ORDER BY a.agent <> b.agent, a.agent, b.agent"
    f" LIMIT {_ROWS_SHOWN}"
)
"""Each agent of one experiment compared with each of another, over the attempts that both made."""
_ATTEMPTS_SHOWN = 500
_ATTEMPTS_OF_AGENT = (
    "SELECT a.agent_run_id, a.task_id, a.trajectory_id, a.success, a.outcome, a.coverage_rate, a.steps,"
    " a.seconds, a.side_effects.total AS side_effects, t.instruction FROM agent_runs AS a LEFT JOIN tasks AS"
    " t ON t.task_id = a.task_id WHERE a.agent = ? AND a.run_id = ? ORDER BY a.success, a.coverage_rate,"
    f" a.agent_run_id LIMIT {_ATTEMPTS_SHOWN}"
)
_METRICS = ("success", "clean", "held", "answered", "coverage_rate", "logical_consistency")


def add_pages(application: FastAPI, site: Site) -> None:
    """Add the pages."""

    @application.get("/attempts")
    def attempts(request: Request) -> HTMLResponse:
        agent, run = request.query_params.get("agent", ""), request.query_params.get("run", "")
        rows = site.store.query(_ATTEMPTS_OF_AGENT, [agent, run]).as_dicts()
        if not rows:
            raise HTTPException(404, f"There is no attempt of the agent {agent!r} in the run {run!r}.")
        return site.page(
            "attempts.html.jinja", agent=agent, run=run, rows=rows, cut=len(rows) == _ATTEMPTS_SHOWN
        )

    @application.get("/experiments")
    def experiments() -> HTMLResponse:
        return site.page("experiments.html.jinja", rows=site.store.query(_EXPERIMENTS).as_dicts())

    @application.get("/experiments/{name}")
    def experiment(request: Request, name: str) -> HTMLResponse:
        record = site.find_record(Experiment, "experiment_id", name, "experiment")
        query = request.query_params
        first, second, agent, other = (query.get(part, "") for part in ("first", "second", "agent", "other"))
        peer = site.find_record(Experiment, "experiment_id", other, "experiment") if other else None
        pairs: list[dict[str, JsonValue]] = []
        if first and second:
            values = {"name": name, "other": peer.name if peer else name, "first": first, "second": second}
            pairs = site.store.query(_ATTEMPT_PAIRS, values).as_dicts()
        so_far = site.store.query(_STANDINGS_SO_FAR, [name]).as_dicts()
        return site.page(
            "experiment.html.jinja",
            experiment=record,
            made=sum(int(str(row["attempts"])) for row in so_far),
            so_far=so_far,
            figures=_figures(record.standings),
            metrics=[
                metric for metric in _METRICS if any(item.metric == metric for item in record.standings)
            ],
            comparisons=[item for item in record.comparisons if item.metric == "coverage_rate"],
            attempts=site.store.query(_ATTEMPTS, {"name": name, "agent": agent}).as_dicts(),
            pairs=pairs,
            other=peer,
            others=[row for row in site.store.query(_EXPERIMENTS).as_dicts() if row["name"] != name],
            agent_pairs=site.store.query(_AGENT_PAIRS, {"name": name, "other": peer.name}).as_dicts()
            if peer
            else [],
            differences=_differences(record, peer) if peer else (),
            agent=agent,
            first=first,
            second=second,
        )

    @application.get("/attempts/{attempt_id:path}")
    def attempt(request: Request, attempt_id: str) -> HTMLResponse:
        run = site.find_record(AgentRun, "agent_run_id", attempt_id, "attempt")
        task = site.store.find(Task, "task_id", run.task_id)
        trajectory = site.store.find(Trajectory, "trajectory_id", run.trajectory_id)
        steps = list(site.store.read(AgentStep, "agent_run_id = ?", [attempt_id], order_by="step"))
        frames = read_strip(site.store, trajectory) if trajectory else ()
        return site.page(
            "attempt.html.jinja",
            run=run,
            task=task,
            frames=frames,
            actions={frame.number: frame.action for frame in frames},
            step=step_of(request.query_params.get("step", "")),
            decisions=steps,
            drawing=draw_svg(task.graph) if task else "",
            states=json.dumps({str(item.step): item.states for item in steps}),
        )


def _differences(first: Experiment, second: Experiment) -> tuple[str, ...]:
    values = {"protocol": first.protocol, **first.hashes}, {"protocol": second.protocol, **second.hashes}
    return tuple(
        name
        for name in values[0]
        if name != "specification" and values[1].get(name, "") not in ("", values[0][name])
    )


def _figures(standings: tuple[Standing, ...]) -> dict[str, dict[str, Standing]]:
    figures: dict[str, dict[str, Standing]] = {}
    for item in standings:
        if item.group == "all":
            figures.setdefault(item.agent, {})[item.metric] = item

    def rank(agent: str) -> list[float]:
        standings_of_agent = (figures[agent].get(metric) for metric in ("success", "coverage_rate"))
        return [-((item.value if item else None) or 0.0) for item in standings_of_agent]

    return {agent: figures[agent] for agent in sorted(figures, key=rank)}
