"""Which scores of an earlier dataset version a later one makes invalid: the tasks that are not the same to an
agent any more."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.warehouse.errors import VersionError
from taskloom.warehouse.store import Warehouse

REASONS: Final[dict[str, str]] = {
    "gone": "the task is gone, or no longer validated",
    "instruction": "its instruction changed",
    "graph": "its subtasks, their values or dependencies changed",
    "function": "the evaluation function of a subtask changed",
    "fixture": "an application starts with other files, settings or another version",
}
"""Why a score on a task does not count any more."""

_STATE: Final = """
    SELECT
        t.task_id,
        any_value(t.instruction) AS instruction,
        any_value(hash(t.nodes, t.edges)) AS graph,
        list_sort(list(DISTINCT (n.subtask_id, f.sources))) AS functions,
        list_sort(list(DISTINCT (n.application, a.start))) AS starts
    FROM (
        SELECT task_id, instruction, nodes, edges, unnest(nodes) AS n
        FROM tasks AT (VERSION => {snapshot}) WHERE status IN ('validated', 'imported')
    ) AS t
    LEFT JOIN (
        SELECT subtask_id, list_sort(list(source)) AS sources
        FROM evaluation_functions AT (VERSION => {snapshot}) WHERE accepted GROUP BY subtask_id
    ) AS f ON f.subtask_id = t.n.subtask_id
    LEFT JOIN (
        SELECT name, hash(version, launch, preparation, fixtures) AS start FROM applications AT (VERSION => {snapshot})
    ) AS a ON a.name = t.n.application
    GROUP BY t.task_id
"""  # noqa: E501


class AgentScores(Record):
    """Attempts of one agent."""

    agent: str
    """The agent."""
    attempts: int
    """Its attempts on tasks of the earlier version."""
    invalid: int
    """Those whose score does not count any more."""


class ScoreValidity(Record):
    """What a version makes of the scores of an earlier one."""

    earlier: str
    """The version on which agents were scored."""
    later: str
    """The version that is asked."""
    tasks: int
    """Validated and imported tasks of the earlier version."""
    changed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tasks whose scores do not count any more, with the reasons."""
    agents: tuple[AgentScores, ...] = ()
    """Attempts that the later version holds, by agent."""

    @property
    def reasons(self) -> dict[str, int]:
        """Number of tasks by reason."""
        found = {name: sum(name in given for given in self.changed.values()) for name in REASONS}
        return {name: count for name, count in found.items() if count}


def score_validity(warehouse: Warehouse, later: str = "", earlier: str = "") -> ScoreValidity:
    """Which scores of `earlier` do not count in `later`.

    Without names it is the newest version against the one before it.

    Raises:
        VersionError: a version is not published, or there is none before the later one.
    """
    published = [item.name for item in warehouse.versions()]
    if not published:
        raise VersionError("No version is published yet; `taskloom publish` publishes the present state.")
    later = later or published[-1]
    if not earlier:
        at = published.index(later) if later in published else 0
        if later in published and at == 0:
            raise VersionError(f"{later} is the first version: there are no earlier scores.")
        earlier = published[at - 1]
    first, second = warehouse.snapshot_of(earlier), warehouse.snapshot_of(later)
    rows = warehouse.query(
        "SELECT a.task_id, b.task_id IS NULL AS gone, a.instruction <> b.instruction AS instruction, a.graph"
        " <> b.graph AS graph, a.functions IS DISTINCT FROM b.functions AS function, a.starts IS DISTINCT"
        f" FROM b.starts AS fixture FROM ({_STATE.format(snapshot=first)}) AS a LEFT JOIN"
        f" ({_STATE.format(snapshot=second)}) AS b USING (task_id) ORDER BY a.task_id"
    ).as_dicts()
    changed = {}
    for row in rows:
        reasons = ("gone",) if row["gone"] else tuple(name for name in REASONS if row[name])
        if reasons:
            changed[str(row["task_id"])] = reasons
    agents = warehouse.query(
        "SELECT agent, count(*) AS attempts,"
        " count(*) FILTER (WHERE task_id IN (SELECT unnest($changed::VARCHAR[]))) AS invalid"
        f" FROM agent_runs AT (VERSION => {second})"
        " WHERE task_id IN (SELECT unnest($known::VARCHAR[])) GROUP BY agent ORDER BY agent",
        {"changed": list(changed), "known": [str(row["task_id"]) for row in rows]},
    ).as_dicts()
    return ScoreValidity(
        earlier=earlier,
        later=later,
        tasks=len(rows),
        changed=changed,
        agents=tuple(AgentScores.model_validate(row) for row in agents),
    )
