"""Counts of a state of the warehouse that gates compare: of the present one, or of a published version."""

from __future__ import annotations

from contextlib import suppress

from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.warehouse.errors import TableMissingError
from taskloom.warehouse.store import Warehouse

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
        "SELECT count(*) FROM (SELECT task_id FROM tasks{at} WHERE status <> 'imported' UNION "
        + _TASKS_REJECTED
        + ")"
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
    """The counts of the published `version`, or of the present state.

    Raises:
        VersionError: no such version.
    """
    at = _at(warehouse, version)
    try:
        counts = _counts(warehouse, tuple(_COUNTS), at)
    except TableMissingError:  # A version that is older than a table, of which it has nothing.
        counts = {}
        for name in _COUNTS:
            with suppress(TableMissingError):
                counts |= _counts(warehouse, (name,), at)
    return VersionFigures.model_validate(counts)


def instructions_of(warehouse: Warehouse, version: str = "", beyond: str = "") -> list[str]:
    """Instructions of the validated tasks of a version, or of the present state, in an order that nothing but
    their ids decides.

    Args:
        warehouse: where they are.
        version: the version; the present state if empty.
        beyond: a version whose tasks are left out.

    Raises:
        VersionError: no such version.
    """
    sql = f"SELECT instruction FROM tasks{_at(warehouse, version)} WHERE status = 'validated'"
    if beyond:
        sql += (
            f" AND task_id NOT IN (SELECT task_id FROM tasks{_at(warehouse, beyond)} WHERE status ="
            " 'validated')"
        )
    return [str(row[0]) for row in warehouse.query(f"{sql} ORDER BY sha256(task_id)").rows()]


def _at(warehouse: Warehouse, version: str) -> str:
    return f" AT (VERSION => {warehouse.snapshot_of(version)})" if version else ""


def _counts(warehouse: Warehouse, names: tuple[str, ...], at: str) -> dict[str, JsonValue]:
    columns = ", ".join(f"({_COUNTS[name].replace('{at}', at)}) AS {name}" for name in names)
    return warehouse.query(f"SELECT {columns}").as_dicts()[0]
