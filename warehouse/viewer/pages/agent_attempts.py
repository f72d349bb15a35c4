"""What agents completed: figures per agent and run, and the attempts at one task."""

from __future__ import annotations

from pydantic import JsonValue

from taskgraph.records.agent_run import AgentRun
from warehouse.store import Warehouse

_RUNS_SHOWN = 50
_BY_AGENT = (
    "SELECT agent, run_id, count(*) AS attempts, count(DISTINCT task_id) AS tasks,"
    " avg(CASE WHEN success THEN 1.0 ELSE 0.0 END) AS success_rate, avg(coverage_rate) AS coverage_rate,"
    " avg(logical_consistency) AS logical_consistency, count(logical_consistency) AS consistency_defined,"
    " avg(CASE WHEN side_effects IS NOT NULL THEN CASE WHEN success AND side_effects.total = 0 THEN 1.0 ELSE 0.0 END END)"
    " AS clean_success_rate, avg(side_effects.total) AS side_effects,"
    " avg(steps) AS steps, avg(seconds) AS seconds"
    f" FROM agent_runs WHERE outcome <> 'invalid' GROUP BY agent, run_id ORDER BY run_id DESC, agent LIMIT {_RUNS_SHOWN}"
)


def agent_figures(warehouse: Warehouse) -> list[dict[str, JsonValue]]:
    """A row per agent and run, the latest first: valid attempts, and means of what section 4.1 measures and of side effects.

    `logical_consistency` is the mean over the `consistency_defined` attempts for which it is defined, None without any.
    """
    return warehouse.query(_BY_AGENT).as_dicts()


def attempts_at(warehouse: Warehouse, task_id: str) -> list[AgentRun]:
    """Attempts of agents at one task, by agent and run."""
    return list(warehouse.read(AgentRun, "task_id = ?", [task_id], order_by="agent, run_id, agent_run_id"))
