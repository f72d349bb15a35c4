"""A dataset folder for Hugging Face: Parquet with native nested types, embedded images, sets, and a dataset
card.

Configurations: `tasks`, `subtasks`, `evaluation_functions` and `trajectory_steps` (one row per step, with its
screenshot). `datasets.load_dataset(folder, "tasks")` reads it.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet
from jinja2 import Environment, StrictUndefined

from taskloom.resources.dimensions import LEVELS, TABLE
from taskloom.resources.record import Record
from taskloom.taskgraph.measures.acceptance_rates import as_markdown
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.recordings import paper_action, points_of, recordings
from taskloom.warehouse.field_codecs import Shared
from taskloom.warehouse.schema import TABLE_NAMED, TABLE_OF_RECORD
from taskloom.warehouse.sets.key_table import SPLITS
from taskloom.warehouse.storage.rows import encode_record
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import ERROR_RATES_UNKNOWN, error_rates, task_quality
from taskloom.warehouse.versions import REASONS, ScoreValidity, score_validity

_IMAGE: Final = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""The type of pictures in `datasets`."""
_MOST_ROWS: Final = 200_000
_MOST_BYTES: Final = 500_000_000
_RECORDS_PER_PART = 1_000
_STEPS_PER_BATCH = 100
_STEPS: Final = "trajectory_steps"
"""The configuration whose rows are single steps."""
_STEP_COLUMNS: Final[dict[str, tuple[pa.DataType, str]]] = {
    "trajectory_id": (pa.string(), "The recording it belongs to."),
    "subtask_id": (pa.string(), "The subtask that was performed, or `task:` and the task."),
    "step": (pa.int64(), "Number of the step, from 1."),
    "instruction": (pa.string(), "Instruction that the recording follows."),
    "screenshot": (_IMAGE, "The screen before the action."),
    "description": (pa.string(), "The agent's description of the screen."),
    "thought": (pa.string(), "The agent's reason for the action."),
    "slip": (
        pa.string(),
        "`slip` for a harmless mistake made on purpose, to be left out of the loss; `recovery` for taking it"
        " back.",
    ),
    "function": (pa.string(), "The operation (Table 10 of the paper)."),
    "arguments": (pa.string(), "Its arguments, as JSON."),
    "points": (
        pa.list_(pa.list_(pa.int64())),
        "Points of the action on the screenshot, in pixels; several for a drag.",
    ),
    "rectangle": (
        pa.list_(pa.int64()),
        "Rectangle of the control acted on, in pixels: left, top, right, bottom.",
    ),
    "control_text": (pa.string(), "Text of that control."),
}
"""Columns of that configuration, with their meaning."""
_STEP_SCHEMA = pa.schema([(name, kind) for name, (kind, _) in _STEP_COLUMNS.items()])


class ParquetFiles:
    """Files `<configuration>/<set>-<number>.parquet`; a new one begins when one gets too large."""

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
        writer, path, rows = self._open.pop(key, (None, Path(), 0))
        if writer is not None and (rows + table.num_rows > _MOST_ROWS or path.stat().st_size > _MOST_BYTES):
            writer.close()
            writer = None
        if writer is None:
            names = self.files.setdefault(configuration, {}).setdefault(split, [])
            path = self._folder / configuration / f"{split}-{len(names):05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            metadata = {"huggingface": json.dumps({"info": {"features": _feature(pa.struct(schema))}})}
            writer = pyarrow.parquet.ParquetWriter(
                path, schema.with_metadata(metadata), compression="zstd", compression_level=3
            )
            names.append(path.relative_to(self._folder).as_posix())
            rows = 0
        writer.write_table(table.cast(schema))
        self._open[key] = (writer, path, rows + table.num_rows)
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
                selected = [item for key, item in members.items() if set_of[key] == split]
                for start in range(0, len(selected), _RECORDS_PER_PART):
                    part = selected[start : start + _RECORDS_PER_PART]
                    parquet.add(configuration, split, _table(record, part), schema)
        for name, rows in _batched(_steps(source, options)):
            parquet.add(_STEPS, name, pa.Table.from_pylist(rows, schema=_STEP_SCHEMA), _STEP_SCHEMA)
    (folder / "README.md").write_text(_card(source, options, parquet), encoding="utf-8")
    return ExportOutcome(counts={name: counts.total() for name, counts in parquet.rows.items() if counts})


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
    pending: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for split, row in steps:
        pending[split].append(row)
        if len(pending[split]) == _STEPS_PER_BATCH:
            yield split, pending.pop(split)
    yield from pending.items()


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


_CHOSEN_SQL: Final = """
WITH listed AS (SELECT unnest($ids::VARCHAR[]) AS task_id, unnest($sets::VARCHAR[]) AS split),
chosen AS (SELECT *, task_id IN (SELECT task_id FROM replays WHERE success) AS replayed FROM tasks JOIN listed USING (task_id)),
of_nodes AS (SELECT unnest(nodes).subtask_id AS name, replayed FROM chosen),
of_applications AS (SELECT unnest(applications) AS name FROM chosen)
"""  # noqa: E501
_SUMS_SQL: Final = r"""
SELECT min(node_count) AS least_nodes, max(node_count) AS most_nodes, avg(node_count) AS mean_nodes,
    min(word_count) AS least_words, max(word_count) AS most_words, avg(word_count) AS mean_words,
    count(*) FILTER (simulated) AS simulated, count(*) FILTER (covered) AS covered, count(*) FILTER (replayed) AS replayed,
    (SELECT count(DISTINCT name) FROM of_nodes WHERE replayed) AS replayed_subtasks
FROM (SELECT *, len(regexp_extract_all(coalesce(instruction, ''), '[^\s\p{Z}]+')) AS word_count FROM chosen)
"""  # noqa: E501


def dataset_counts(source: ExportSource) -> dict[str, object]:
    """The counts, under the card template's names.

    `sums` over all tasks, `tasks` by set, `levels` by set (or none), dimension and level, and how often
    each of the `applications`, `scenarios`, `subtasks` and `worlds` occurs in them, the most frequent
    first.
    """
    members = [(name, split) for split, names in source.by_set().items() for name in names]
    values = {"ids": [name for name, _ in members], "sets": [split for _, split in members]}

    def count_by(name: str, table: str = "chosen") -> Counter[str]:
        sql = f"SELECT {name}, count(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1"
        rows = source.warehouse.query(_CHOSEN_SQL + sql, values).rows()
        return Counter({str(value): int(str(count)) for value, count in rows if value is not None})

    levels: Counter[tuple[str, str, str]] = Counter()
    for row in TABLE:
        sql = f"SELECT split, {row.level_column}, count(*) FROM chosen GROUP BY ALL"
        for split, level, count in source.warehouse.query(_CHOSEN_SQL + sql, values).rows():
            for name in (str(split), ""):
                levels[name, row.name, str(level)] += int(str(count))
    return {
        "tasks": Counter(split for _, split in members),
        "sums": source.warehouse.query(_CHOSEN_SQL + _SUMS_SQL, values).as_dicts()[0],
        "levels": levels,
        "applications": count_by("name", "of_applications"),
        "scenarios": count_by("scenario"),
        "subtasks": count_by("name", "of_nodes"),
        "worlds": count_by("CASE WHEN coalesce(world, '') = '' THEN 'the first' ELSE world END"),
    }


_TITLE: Final = "Graph-structured tasks for computer-use agents"
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_NAMES_SHOWN: Final = 5
_MARKS: Final = re.compile(r"[\\|`\[\]]")
"""Marks of columns, code, links and pictures, and the backslash, which escapes them."""


def _card(source: ExportSource, options: ExportOptions, parquet: ParquetFiles) -> str:
    """The dataset card, written from the data: statistics, funnel, licence."""
    warehouse, total = source.warehouse, len(source.task_ids)
    rates = error_rates(warehouse)
    called = warehouse.query("SELECT DISTINCT provider, model FROM model_calls ORDER BY ALL").as_dicts()
    environment = Environment(  # noqa: S701 - Markdown
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "quoted": json.dumps,
        "plain": _plain,
        "percent": lambda share: "-" if share is None else f"{share:.1%}",
    }
    text = files("taskloom.warehouse.exporting").joinpath("card.md.jinja").read_text("utf-8")
    return environment.from_string(text).render(
        title=_TITLE,
        options=options,
        files=parquet.files,
        rows=parquet.rows,
        counts=dataset_counts(source),
        total=total,
        size=next((name for limit, name in _SIZES if total < limit), "n>1M"),
        models=[f"{row['provider']}/{row['model']}" for row in called],
        version=warehouse.version,
        splits=[name for name in SPLITS if any(name in sets for sets in parquet.files.values())],
        meanings={name: _meanings(name) for name in parquet.files},
        report=source.leakage,
        sets=[name for name in SPLITS if source.splits.get(name)],
        rates=rates,
        rates_table=as_markdown(rates) if rates else "",
        quality=task_quality(warehouse),
        scores=_earlier_scores(warehouse),
        funnel=warehouse.query("SELECT step, reason, items FROM funnel").as_dicts(),
        known=source.applications,
        dimensions=TABLE,
        levels=LEVELS,
        reasons=REASONS,
        rates_unknown=ERROR_RATES_UNKNOWN,
        most_frequent=_most_frequent,
    )


def _meanings(configuration: str) -> dict[str, str]:
    if configuration == _STEPS:
        return {name: meaning for name, (_, meaning) in _STEP_COLUMNS.items()}
    return {item.name: item.comment for item in TABLE_NAMED[configuration].columns}


def _plain(text: object) -> str:
    line = " ".join(str(text).split())
    return escape(_MARKS.sub(r"\\\g<0>", line), quote=False)


def _most_frequent(counts: Counter[str], total: int) -> str:
    return ", ".join(
        f"{_plain(name or 'none')} {count / total:.0%}" for name, count in counts.most_common(_NAMES_SHOWN)
    )


def _earlier_scores(warehouse: Warehouse) -> ScoreValidity | None:
    """Scores of the previous version that do not count in this one; None if there is no such version."""
    if warehouse.version is None:
        return None
    with warehouse.reopened() as present:
        names = [item.name for item in present.versions()]
        return score_validity(present, warehouse.version) if warehouse.version in names[1:] else None
