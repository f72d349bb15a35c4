"""A dataset folder for Hugging Face: Parquet with native nested types, embedded images, sets, and a dataset
card.

Configurations: `tasks`, `subtasks`, `evaluation_functions` and `trajectory_steps` (one row per step, with its
screenshot). `datasets.load_dataset(folder, "tasks")` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.dataset_card import STEPS, card_text
from taskloom.warehouse.exporting.dialogues import recordings
from taskloom.warehouse.exporting.exported_actions import paper_action, points_of
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.parquet_files import IMAGE, ParquetFiles
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.sets.names import SPLITS
from taskloom.warehouse.storage.rows import encode_record

_RECORDS_PER_PART = 1_000
_STEPS_PER_BATCH = 100
_STEP_SCHEMA = pa.schema(
    [
        ("trajectory_id", pa.string()),
        ("subtask_id", pa.string()),
        ("step", pa.int64()),
        ("instruction", pa.string()),
        ("screenshot", IMAGE),
        ("description", pa.string()),
        ("thought", pa.string()),
        ("slip", pa.string()),
        ("function", pa.string()),
        ("arguments", pa.string()),
        ("points", pa.list_(pa.list_(pa.int64()))),
        ("rectangle", pa.list_(pa.int64())),
        ("control_text", pa.string()),
    ]
)


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write the Parquet files of every configuration, and the card."""
    with ParquetFiles(folder) as parquet:
        _write_tasks(source, parquet)
        set_of = source.split_of_subtask
        for configuration, record, members in (
            ("subtasks", Subtask, source.subtasks),
            ("evaluation_functions", EvaluationFunction, source.functions),
        ):
            schema = TABLE_OF_RECORD[record].arrow
            for split in SPLITS:
                for part in _parts([item for key, item in members.items() if set_of[key] == split]):
                    parquet.add(configuration, split, _table(record, part), schema)
        for name, rows in _batched(_steps(source, options)):
            parquet.add(STEPS, name, pa.Table.from_pylist(rows, schema=_STEP_SCHEMA), _STEP_SCHEMA)
    card = card_text(source, options, parquet.files, parquet.rows)
    (folder / "README.md").write_text(card, encoding="utf-8")
    return ExportOutcome(counts={name: found.total() for name, found in parquet.rows.items() if found})


def _write_tasks(source: ExportSource, parquet: ParquetFiles) -> None:
    table = TABLE_OF_RECORD[Task]
    schema = pa.schema([column for column in table.arrow if column.name not in table.prepared])
    for split, columns in source.task_columns(schema.names):
        parquet.add("tasks", split, columns.cast(schema), schema)


def _table(record: type[Record], members: Sequence[Record]) -> pa.Table:
    table, shared = TABLE_OF_RECORD[record], Shared()
    return pa.Table.from_pylist([encode_record(table, item, shared) for item in members], schema=table.arrow)


def _parts(members: Sequence[Record]) -> Iterator[Sequence[Record]]:
    for start in range(0, len(members), _RECORDS_PER_PART):
        yield members[start : start + _RECORDS_PER_PART]


def _batched(
    steps: Iterator[tuple[str, dict[str, object]]],
) -> Iterator[tuple[str, list[dict[str, object]]]]:
    pending: dict[str, list[dict[str, object]]] = {}
    for split, row in steps:
        rows = pending.setdefault(split, [])
        rows.append(row)
        if len(rows) >= _STEPS_PER_BATCH:
            yield split, rows
            pending[split] = []
    for split, rows in pending.items():
        if rows:
            yield split, rows


def _steps(source: ExportSource, options: ExportOptions) -> Iterator[tuple[str, dict[str, object]]]:
    for trajectory, instruction, split, _ in recordings(source, options):
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
                    "slip": step.slip,
                    "function": action["function"],
                    "arguments": json.dumps(action["args"], ensure_ascii=False),
                    "points": [list(point) for point in points_of(step)],
                    "rectangle": list(step.target_rectangle) if step.target_rectangle else None,
                    "control_text": action["control_text"],
                },
            )
