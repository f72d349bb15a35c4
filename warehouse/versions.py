"""Comparison of dataset versions: their differences, the scores that one invalidates, and the counts that
gates compare; and removal of files of unfinished commits, old states and old versions.

Writers hold the writer lock from their first file to their commit, so under that lock a file that no
state references is left over from a process that died.
"""

from contextlib import suppress
from typing import Final

import duckdb
from pydantic import Field, JsonValue

from taskloom.resources.record import Record
from taskloom.warehouse.errors import TableMissingError, VersionError
from taskloom.warehouse.records import VersionTag
from taskloom.warehouse.schema import TABLES, Table
from taskloom.warehouse.storage.database import LAKE, first_row
from taskloom.warehouse.store import Warehouse

_BULKY = frozenset({"trajectory_steps", "file_texts", "control_lists"})
"""Tables whose rows never change under one key, so that comparing their content would only cost time."""


class TableChange(Record):
    """What changed in one table between two versions."""

    table: str
    """The table."""
    added: int
    """Rows that only the later version has."""
    removed: int
    """Rows that only the earlier version has."""
    changed: int
    """Rows of both versions whose content differs."""


def differences(warehouse: Warehouse, earlier: str, later: str) -> list[TableChange]:
    """Rows added, removed and changed from one published version to another, for every table with a
    difference."""
    first, second = warehouse.snapshot_of(earlier), warehouse.snapshot_of(later)
    changes = []
    for table in TABLES:
        if table.name in ("dataset_versions", "version_tags"):
            continue
        in_first, in_second = (_exists(warehouse, table, snapshot) for snapshot in (first, second))
        both = in_first and in_second
        comparable = both and table.name not in _BULKY
        change = TableChange(
            table=table.name,
            added=_count_only_in(warehouse, table, second, first if both else None) if in_second else 0,
            removed=_count_only_in(warehouse, table, first, second if both else None) if in_first else 0,
            changed=_count_changed(warehouse, table, first, second) if comparable else 0,
        )
        if change.added or change.removed or change.changed:
            changes.append(change)
    return changes


def _exists(warehouse: Warehouse, table: Table, snapshot: int) -> bool:
    try:
        warehouse.query(f"SELECT 1 FROM {table.name} AT (VERSION => {snapshot}) LIMIT 0")
    except TableMissingError:
        return False
    return True


def _count_only_in(warehouse: Warehouse, table: Table, snapshot: int, other: int | None) -> int:
    key = ", ".join(f'"{name}"' for name in table.key)
    sql = f"SELECT {key} FROM {table.name} AT (VERSION => {snapshot})"
    if other is not None:
        sql += f" EXCEPT SELECT {key} FROM {table.name} AT (VERSION => {other})"
    return warehouse.query(f"SELECT count(*) FROM ({sql})").number()


def _count_changed(warehouse: Warehouse, table: Table, first: int, second: int) -> int:
    key = ", ".join(f'"{name}"' for name in table.key)
    sql = (
        f"SELECT count(*) FROM (SELECT * FROM {table.name} AT (VERSION => {first})) AS a JOIN (SELECT * FROM"
        f" {table.name} AT (VERSION => {second})) AS b USING ({key}) WHERE hash(a) <> hash(b)"
    )
    return warehouse.query(sql).number()


REASONS: Final[dict[str, str]] = {
    "gone": "the task is gone, or no longer validated",
    "instruction": "its instruction changed",
    "graph": "its subtasks, their values or dependencies changed",
    "function": "the evaluation function of a subtask changed",
    "fixture": "an application starts with other files, settings or another version",
}
"""Why a score on a task no longer counts."""

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
    """Those whose score no longer counts."""


class ScoreValidity(Record):
    """Which scores of an earlier version a later one invalidates."""

    earlier: str
    """The version on which agents were scored."""
    later: str
    """The version that it is compared with."""
    tasks: int
    """Validated and imported tasks of the earlier version."""
    changed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tasks whose scores no longer count, with the reasons."""
    agents: tuple[AgentScores, ...] = ()
    """Attempts that the later version holds, by agent."""

    @property
    def reasons(self) -> dict[str, int]:
        """Number of tasks by reason."""
        counts = {name: sum(name in reasons for reasons in self.changed.values()) for name in REASONS}
        return {name: count for name, count in counts.items() if count}


def score_validity(warehouse: Warehouse, later: str = "", earlier: str = "") -> ScoreValidity:
    """Which scores of `earlier` do not count in `later`, by default the newest version and the one before it;
    `VersionError` if there is none."""
    published = warehouse.versions()
    if not published:
        raise VersionError("No version is published yet; `taskloom publish` publishes the present state.")
    later = later or published[-1].name
    second = warehouse.snapshot_of(later)
    if not earlier:
        before = [item.name for item in published if item.snapshot_id < second]
        if not before:
            raise VersionError(f"{later} is the first version: there are no earlier scores.")
        earlier = before[-1]
    first = warehouse.snapshot_of(earlier)
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


_REJECTED = (
    "SELECT DISTINCT item_id FROM rejections{at} WHERE item_kind = '{kind}' AND stage NOT IN ('import',"
    " 'recheck')"
)
_TASKS_REJECTED = _REJECTED.replace("{kind}", "task")
_SUBTASKS_REJECTED = _REJECTED.replace("{kind}", "subtask")
_COUNTS = {
    "tasks": "SELECT count(*) FROM tasks{at} WHERE status = 'validated'",
    "subtasks": "SELECT count(DISTINCT subtask_id) FROM evaluation_functions{at} WHERE accepted",
    "tasks_made": (
        f"SELECT count(*) FROM (SELECT task_id FROM tasks{{at}} WHERE status <> 'imported'"
        f" UNION {_TASKS_REJECTED})"
    ),
    "tasks_rejected": f"SELECT count(*) FROM ({_TASKS_REJECTED})",
    "subtasks_proposed": (
        f"SELECT count(*) FROM (SELECT subtask_id FROM subtasks{{at}} UNION {_SUBTASKS_REJECTED})"
    ),
    "subtasks_rejected": f"SELECT count(*) FROM ({_SUBTASKS_REJECTED})",
    "judge_trials": "SELECT count(*) FROM judge_trials{at}",
    "judge_noticed": "SELECT count(*) FROM judge_trials{at} WHERE noticed",
    "replays": "SELECT count(*) FROM replays{at} WHERE NOT invalid",
    "replays_failed": "SELECT count(*) FROM replays{at} WHERE NOT invalid AND NOT success",
}


class VersionFigures(Record):
    """Counts of one state."""

    tasks: int = 0
    """Validated tasks."""
    subtasks: int = 0
    """Verified subtasks."""
    tasks_made: int = 0
    """Tasks composed, whatever became of them."""
    tasks_rejected: int = 0
    """Those that were rejected; retired ones were not."""
    subtasks_proposed: int = 0
    """Subtasks proposed, whatever became of them."""
    subtasks_rejected: int = 0
    """Those that were rejected; retired ones were not."""
    judge_trials: int = 0
    """Spoilt instructions given to the judge."""
    judge_noticed: int = 0
    """Those that it noticed."""
    replays: int = 0
    """Replays that showed something."""
    replays_failed: int = 0
    """Those that failed."""


def version_figures(warehouse: Warehouse, version: str = "") -> VersionFigures:
    """The counts of the published `version`, or of the present state."""
    clause = _at_clause(warehouse, version)
    try:
        counts = _counts(warehouse, tuple(_COUNTS), clause)
    except TableMissingError:  # The version is older than a table, so it has no rows of it.
        counts = {}
        for name in _COUNTS:
            with suppress(TableMissingError):
                counts |= _counts(warehouse, (name,), clause)
    return VersionFigures.model_validate(counts)


def instructions_of(warehouse: Warehouse, version: str = "", beyond: str = "") -> list[str]:
    """Instructions of validated tasks of a version, or of the present state, in an order that depends on
    their ids alone; without those of the version `beyond`."""
    sql = f"SELECT instruction FROM tasks{_at_clause(warehouse, version)} WHERE status = 'validated'"
    if beyond:
        sql += (
            f" AND task_id NOT IN (SELECT task_id FROM tasks{_at_clause(warehouse, beyond)} WHERE status ="
            " 'validated')"
        )
    return warehouse.query(f"{sql} ORDER BY sha256(task_id)").texts()


def _at_clause(warehouse: Warehouse, version: str) -> str:
    return f" AT (VERSION => {warehouse.snapshot_of(version)})" if version else ""


def _counts(warehouse: Warehouse, names: tuple[str, ...], clause: str) -> dict[str, JsonValue]:
    columns = ", ".join(f"({_COUNTS[name].replace('{at}', clause)}) AS {name}" for name in names)
    return warehouse.query(f"SELECT {columns}").as_dicts()[0]


class Cleaning(Record):
    """What was removed, or would be."""

    orphan_files: tuple[str, ...] = ()
    """Files that no state references."""
    states: int = 0
    """States of the warehouse between versions that can no longer be read."""
    versions: tuple[str, ...] = ()
    """Versions that are no longer published."""


def clean(
    warehouse: Warehouse, *, keep: int | None = None, hours: float = 24.0, dry_run: bool = False
) -> Cleaning:
    """Remove orphan files, states that are neither published nor younger than `hours`, and old versions.

    The present state, tagged versions and the `keep` newest versions stay, at least one; without `keep`
    all do.
    """
    if keep is not None and keep < 1:
        raise VersionError(f"At least one version must stay; keep was {keep}.")
    tagged = {item.version for item in warehouse.read(VersionTag)}
    old = [] if keep is None else [item for item in warehouse.versions()[:-keep] if item.name not in tagged]
    if old and not dry_run:
        sql = "DELETE FROM dataset_versions WHERE list_contains($names, name)"
        names = {"names": [version.name for version in old]}
        warehouse.change(lambda connection: connection.execute(sql, names))
    kept = [version.snapshot_id for version in warehouse.versions() if version not in old]

    def sweep(connection: duckdb.DuckDBPyConnection) -> Cleaning:
        states = _expired_states(connection, kept, hours)
        if states and not dry_run:
            ids = ", ".join(map(str, states))
            connection.execute(f"CALL ducklake_expire_snapshots('{LAKE}', versions => [{ids}])")
            connection.execute(f"CALL ducklake_cleanup_old_files('{LAKE}', cleanup_all => true)")
        orphans = connection.execute(
            f"CALL ducklake_delete_orphaned_files('{LAKE}', cleanup_all => true, dry_run =>"
            f" {str(dry_run).lower()})"
        ).fetchall()
        return Cleaning(
            orphan_files=tuple(sorted(str(row[0]) for row in orphans)),
            states=len(states),
            versions=tuple(version.name for version in old),
        )

    return warehouse.maintain(sweep)


def tag(warehouse: Warehouse, name: str, version: str) -> VersionTag:
    """Give a version another name, or move the name to it; `VersionError` for an unknown version, or a name
    that is a version's own."""
    published = {item.name for item in warehouse.versions()}
    if version not in published:
        known = ", ".join(sorted(published)) or "none yet"
        raise VersionError(f"There is no dataset version {version!r}; published: {known}.")
    if name in published:
        raise VersionError(f"{name!r} is the name of a version; a tag needs another one.")
    record = VersionTag(tag=name, version=version)
    warehouse.write([record], replace=True)
    return record


def _expired_states(connection: duckdb.DuckDBPyConnection, kept: list[int], hours: float) -> list[int]:
    present = first_row(connection, f"SELECT max(snapshot_id) FROM ducklake_snapshots('{LAKE}')")
    rows = connection.execute(
        f"SELECT snapshot_id FROM ducklake_snapshots('{LAKE}')"
        " WHERE NOT list_contains($kept, snapshot_id) AND snapshot_id <> $present"
        " AND snapshot_time <= now() - to_seconds($seconds)",
        {"kept": kept, "present": present[0] if present else -1, "seconds": hours * 3600},
    ).fetchall()
    return [int(row[0]) for row in rows]
