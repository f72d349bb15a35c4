"""A dataset folder for Hugging Face: Parquet with native nested types, embedded images, sets, and a dataset card.

Configurations: `tasks`, `subtasks`, `evaluation_functions` and `trajectory_steps` (one row per step, with its
screenshot). `datasets.load_dataset(folder, "tasks")` reads it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from resources.record import Record
from taskgraph.records.evaluation_function import EvaluationFunction
from taskgraph.records.subtask import Subtask
from taskgraph.records.task import Task
from warehouse.exporting.dataset_card import STEPS, write_card
from warehouse.exporting.dialogues import recordings
from warehouse.exporting.exported_actions import paper_action, points_of
from warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from warehouse.schema import TABLE_OF_RECORD
from warehouse.storage.field_codecs import Shared
from warehouse.storage.rows import encode_record

_ROWS_PER_GROUP = 20_000
_STEPS_PER_FILE = 2_000
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_STEP_SCHEMA = pa.schema(
    [
        ("trajectory_id", pa.string()),
        ("subtask_id", pa.string()),
        ("step", pa.int64()),
        ("instruction", pa.string()),
        ("screenshot", _IMAGE),
        ("description", pa.string()),
        ("thought", pa.string()),
        ("function", pa.string()),
        ("arguments", pa.string()),
        ("points", pa.list_(pa.list_(pa.int64()))),
        ("rectangle", pa.list_(pa.int64())),
        ("control_text", pa.string()),
    ]
)


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the Parquet files of every configuration, and the card."""
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    files: dict[str, dict[str, list[str]]] = {}
    tasks: dict[str, list[Record]] = {}
    for task in source.tasks():
        tasks.setdefault(source.split_of(task.task_id), []).append(task)
    set_of = source.split_of_subtask
    subtasks: dict[str, list[Record]] = {}
    for subtask in source.subtasks.values():
        subtasks.setdefault(set_of[subtask.subtask_id], []).append(subtask)
    functions: dict[str, list[Record]] = {}
    for function in source.functions.values():
        functions.setdefault(set_of[function.subtask_id], []).append(function)
    for name, record, by_set in (
        ("tasks", Task, tasks),
        ("subtasks", Subtask, subtasks),
        ("evaluation_functions", EvaluationFunction, functions),
    ):
        for split, members in by_set.items():
            path = folder / name / f"{split}-00000.parquet"
            _write_rows(path, _table(record, members))
            files.setdefault(name, {}).setdefault(split, []).append(path.relative_to(folder).as_posix())
            rows[name][split] = len(members)
    _write_steps(source, folder, options, files, rows[STEPS])
    write_card(folder, source, options, files, rows)
    return ExportOutcome(counts={name: found.total() for name, found in rows.items() if found})


def features_of(schema: pa.Schema) -> dict[str, object]:
    """The `datasets` features of an Arrow schema; structs of `bytes` and `path` are images."""
    return {item.name: _feature(item.type) for item in schema}


def _table(record: type[Record], members: list[Record]) -> pa.Table:
    table, shared = TABLE_OF_RECORD[record], Shared()
    return pa.Table.from_pylist([encode_record(table, item, shared) for item in members], schema=table.arrow)


def _write_steps(
    source: ExportSource,
    folder: Path,
    options: ExportOptions,
    files: dict[str, dict[str, list[str]]],
    counts: Counter[str],
) -> None:
    pending: dict[str, list[dict[str, object]]] = {}
    for split, row in _steps(source, options):
        rows = pending.setdefault(split, [])
        rows.append(row)
        counts[split] += 1
        if len(rows) >= _STEPS_PER_FILE:
            _flush_steps(folder, split, rows, files)
    for split, rows in pending.items():
        if rows:
            _flush_steps(folder, split, rows, files)


def _flush_steps(
    folder: Path, split: str, rows: list[dict[str, object]], files: dict[str, dict[str, list[str]]]
) -> None:
    names = files.setdefault(STEPS, {}).setdefault(split, [])
    path = folder / STEPS / f"{split}-{len(names):05}.parquet"
    _write_rows(path, pa.Table.from_pylist(rows, schema=_STEP_SCHEMA))
    names.append(path.relative_to(folder).as_posix())
    rows.clear()


def _steps(source: ExportSource, options: ExportOptions) -> Iterator[tuple[str, dict[str, object]]]:
    for trajectory, instruction, split in recordings(source, options):
        for step in trajectory.steps:
            action = paper_action(step)
            yield (
                split,
                {
                    "trajectory_id": trajectory.trajectory_id,
                    "subtask_id": trajectory.subtask_id,
                    "step": step.step,
                    "instruction": instruction,
                    "screenshot": {"bytes": step.observation_screenshot.png, "path": None},
                    "description": step.description,
                    "thought": step.thought,
                    "function": action["function"],
                    "arguments": json.dumps(action["args"], ensure_ascii=False),
                    "points": [list(point) for point in points_of(step)],
                    "rectangle": list(step.target_rectangle) if step.target_rectangle else None,
                    "control_text": action["control_text"],
                },
            )


def _write_rows(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    features = {"info": {"features": features_of(table.schema)}}
    described = table.replace_schema_metadata({"huggingface": json.dumps(features)})
    pyarrow.parquet.write_table(
        described, path, compression="zstd", compression_level=3, row_group_size=_ROWS_PER_GROUP
    )


def _feature(arrow: pa.DataType) -> object:
    if arrow == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(arrow):
        return {"feature": _feature(arrow.value_type), "_type": "List"}
    if pa.types.is_struct(arrow):
        return {item.name: _feature(item.type) for item in arrow}
    if pa.types.is_decimal(arrow):
        return {"dtype": f"decimal128({arrow.precision}, {arrow.scale})", "_type": "Value"}
    names = {"string": "string", "int64": "int64", "double": "float64", "bool": "bool", "binary": "binary"}
    return {"dtype": names[str(arrow)], "_type": "Value"}
