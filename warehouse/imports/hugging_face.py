"""Our own Hugging Face dataset folder: tasks, subtasks and functions by row, trajectories from their steps.

Trajectories have pictures, actions and places but no evidence, so they cannot be judged again.
"""

import json
from pathlib import Path
from typing import Any

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.warehouse.errors import BROKEN, Fault, ImportRefusedError, RowInvalidError
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.importing.imported_tasks import PaperAction, imported_trajectory, read_action
from taskloom.warehouse.importing.items import BrokenItem, Item, Kind, Records, table_rows, unreadable_item
from taskloom.warehouse.importing.json_reading import inner_json
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.storage.rows import decode_record

_CONFIGURATIONS: tuple[tuple[str, type[Record], Kind], ...] = (
    ("subtasks", Subtask, "subtask"),
    ("evaluation_functions", EvaluationFunction, "evaluation_function"),
    ("tasks", Task, "task"),
)
_STEPS = "trajectory_steps"
_BATCH_ROWS = 200


def read(path: Path) -> Records:
    """The records of a folder that the export of the same name wrote."""
    names = [*(name for name, _, _ in _CONFIGURATIONS), _STEPS]
    if not any((path / name).is_dir() for name in names):
        raise ImportRefusedError(str(path), "", f"holds none of the folders {', '.join(names)}")
    for name, record, kind in _CONFIGURATIONS:
        for file in sorted((path / name).glob("*.parquet")):
            yield from _rows(file, f"{name}/{file.name}", record, kind)
    yield from _trajectories(path)


def _rows(file: Path, label: str, record: type[Record], kind: Kind) -> Records:
    table = TABLE_OF_RECORD[record]
    known = {column.name for column in table.columns}
    try:
        for number, row in enumerate(table_rows(file, label, _BATCH_ROWS)):
            place = f"{label}:[{number}]"
            unknown = sorted(set(row) - known)
            try:
                if unknown:
                    raise RowInvalidError(f"has the unknown column {unknown[0]!r}")
                yield decode_record(table, {column: row.get(column) for column in known}, Shared())
            except RowInvalidError as error:
                fault = Fault(label, f"[{number}]", str(error))
                name = str(row.get(table.key[0]) or place)
                yield BrokenItem(
                    name, kind, place, (fault,), BROKEN, json.loads(json.dumps(row, default=str))
                )
    except ImportRefusedError as error:
        yield unreadable_item(error, label, kind=kind)


def _trajectories(path: Path) -> Records:
    """The trajectories, whose steps are consecutive in the files; one with an unreadable part is broken."""
    pending: list[dict[str, Any]] = []
    label, gap = "", False
    for file in sorted((path / _STEPS).glob("*.parquet")):
        label = f"{_STEPS}/{file.name}"
        try:
            for row in table_rows(file, label, _BATCH_ROWS):
                if pending and row.get("trajectory_id") != pending[0].get("trajectory_id"):
                    yield _trajectory(pending, label, gap)
                    pending, gap = [], False
                pending.append(row)
        except ImportRefusedError as error:
            yield unreadable_item(error, label, kind="trajectory")
            if pending:
                yield _broken_trajectory(pending[0], label, "the file with its last steps cannot be read")
            pending, gap = [], True
    if pending:
        yield _trajectory(pending, label, gap)


def _broken_trajectory(row: dict[str, Any], label: str, reason: str) -> BrokenItem:
    name = str(row.get("trajectory_id") or "")
    return BrokenItem(name or label, "trajectory", label, (Fault(label, name, reason),), BROKEN, None)


def _trajectory(rows: list[dict[str, Any]], label: str, after_a_gap: bool) -> Record | BrokenItem:
    first = rows[0]
    if after_a_gap and first.get("step") != 1:
        return _broken_trajectory(first, label, "the file with its first steps cannot be read")
    name = str(first.get("trajectory_id") or "")
    try:
        steps = tuple(_step(row, label, name) for row in rows)
        return imported_trajectory(name, first["subtask_id"], first["instruction"], steps)
    except ImportRefusedError as error:
        return BrokenItem(name or label, "trajectory", label, error.faults, error.code, None)
    except (KeyError, ValueError, TypeError) as error:
        return _broken_trajectory(first, label, f"breaks the format: {error}")


def _step(row: dict[str, Any], label: str, name: str) -> TrajectoryStep:
    action: dict[str, Any] = {"function": row["function"], "args": inner_json(row["arguments"])}
    item, rectangle = Item(label, action, f"{name}#{row.get('step')}"), row.get("rectangle")
    return TrajectoryStep(
        step=row["step"],
        observation_screenshot=Screenshot.of(row["screenshot"]["bytes"] or b""),
        description=row.get("description") or "",
        thought=row.get("thought") or "",
        slip=row.get("slip") or "",
        action=read_action(item.parse(PaperAction), item),
        target=ControlQuery(text=row["control_text"]) if row.get("control_text") else None,
        target_rectangle=tuple(rectangle) if rectangle else None,
        evidence=Evidence(step=row["step"]),
    )
