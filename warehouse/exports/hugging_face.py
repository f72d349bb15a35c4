"""A dataset folder for Hugging Face: Parquet with native nested types, embedded images, sets, and a dataset
card.

Configurations: `tasks`, `subtasks`, `evaluation_functions` and `trajectory_steps` (one row per step, with its
screenshot). `datasets.load_dataset(folder, "tasks")` reads it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet

from taskloom.resources.record import Record
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.dataset_card import STEPS, card_text
from taskloom.warehouse.exporting.dialogues import recordings
from taskloom.warehouse.exporting.exported_actions import paper_action, points_of
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.schema import TABLE_OF_RECORD
from taskloom.warehouse.sets.key_table import SPLITS
from taskloom.warehouse.storage.rows import encode_record

_IMAGE: Final = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""How `datasets` keeps pictures."""
_MOST_ROWS: Final = 200_000
_MOST_BYTES: Final = 500_000_000
_RECORDS_PER_PART = 1_000
_STEPS_PER_BATCH = 100
_STEP_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("trajectory_id", "subtask_id")),
        ("step", pa.int64()),
        ("instruction", pa.string()),
        ("screenshot", _IMAGE),
        *((name, pa.string()) for name in ("description", "thought", "slip", "function", "arguments")),
        ("points", pa.list_(pa.list_(pa.int64()))),
        ("rectangle", pa.list_(pa.int64())),
        ("control_text", pa.string()),
    ]
)


class ParquetFiles:
    """Files `<configuration>/<set>-<number>.parquet`; a further one begins where one gets too large."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, dict[str, list[str]]] = {}
        """Files by configuration and set, relative to the folder."""
        self.rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Rows by configuration and set."""
        self._folder = folder
        self._open: dict[tuple[str, str], tuple[pyarrow.parquet.ParquetWriter, Path, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for writer, _, _ in self._open.values():
            writer.close()

    def add(self, configuration: str, split: str, table: pa.Table, schema: pa.Schema) -> None:
        """Append rows as a row group of their own."""
        key = (configuration, split)
        writer, path, held = self._open.pop(key, (None, Path(), 0))
        if writer is not None and (held + table.num_rows > _MOST_ROWS or path.stat().st_size > _MOST_BYTES):
            writer.close()
            writer = None
        if writer is None:
            names = self.files.setdefault(configuration, {}).setdefault(split, [])
            path = self._folder / configuration / f"{split}-{len(names):05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            described = {"huggingface": json.dumps({"info": {"features": _feature(pa.struct(schema))}})}
            writer = pyarrow.parquet.ParquetWriter(
                path, schema.with_metadata(described), compression="zstd", compression_level=3
            )
            names.append(path.relative_to(self._folder).as_posix())
            held = 0
        writer.write_table(table.cast(schema))
        self._open[key] = (writer, path, held + table.num_rows)
        self.rows[configuration][split] += table.num_rows


def _feature(arrow: pa.DataType) -> object:
    """The `datasets` feature of an Arrow type."""
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
                own = [item for key, item in members.items() if set_of[key] == split]
                for start in range(0, len(own), _RECORDS_PER_PART):
                    part = own[start : start + _RECORDS_PER_PART]
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
