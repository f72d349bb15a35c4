"""Records to rows and rows to records, validated both ways."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
from pydantic import ValidationError

from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import RowInvalidError
from taskloom.warehouse.field_codecs import Shared, decode_fields, encode_fields
from taskloom.warehouse.schema import TABLE_NAMED, TABLE_OF_RECORD, Table
from taskloom.warehouse.storage.database import registered


@dataclass(slots=True)
class Batch:
    """Rows of several tables, ready for one commit."""

    rows: dict[str, dict[tuple[object, ...], dict[str, Any]]] = field(default_factory=dict)
    """Rows by table and unique key."""
    shared: Shared = field(default_factory=Shared)

    def arrow(self) -> dict[str, pa.Table]:
        """One Arrow table for each table that has rows; `RowInvalidError` for a value that its column cannot
        hold."""
        rows = {name: list(keyed.values()) for name, keyed in self.rows.items()}
        if self.shared.texts:
            rows["file_texts"] = [{"text_id": key, "text": text} for key, text in self.shared.texts.items()]
        if self.shared.controls:
            rows["control_lists"] = [
                {"controls_id": key, "controls": items} for key, items in self.shared.controls.items()
            ]
        return {name: _arrow_table(TABLE_NAMED[name], items) for name, items in rows.items() if items}


def batch_of(records: Iterable[Record]) -> Batch:
    """Rows of `records`; of several records with the same id, the first is kept.

    Every row is decoded into its record before it is accepted; `RowInvalidError` if that fails.
    """
    batch = Batch()
    for record in records:
        table = table_of(type(record))
        row = encode_record(table, record, batch.shared)
        key = _key(table, row)
        keyed = batch.rows.setdefault(table.name, {})
        if key in keyed:
            continue
        steps: list[dict[str, Any]] = []
        if isinstance(record, Trajectory):
            name, fields = record.trajectory_id, TABLE_NAMED["trajectory_steps"].fields
            steps = [
                {"trajectory_id": name, **encode_fields(fields, step, batch.shared)} for step in record.steps
            ]
        decode_record(table, row, batch.shared, steps)
        keyed[key] = row
        step_rows = batch.rows.setdefault("trajectory_steps", {}) if steps else {}
        for step_row in steps:
            step_rows[(record.trajectory_id, step_row["step"])] = step_row  # type: ignore[attr-defined]
    return batch


def table_of(record: type[Record]) -> Table:
    """The table that keeps records of a class; `RowInvalidError` if none does."""
    table = TABLE_OF_RECORD.get(record)
    if table is None or record is TrajectoryStep:
        known = ", ".join(sorted(item.__name__ for item in TABLE_OF_RECORD if item is not TrajectoryStep))
        raise RowInvalidError(f"No table keeps {record.__name__} records by themselves; known: {known}.")
    return table


def encode_record(table: Table, record: Record, shared: Shared) -> dict[str, Any]:
    """The row of `record`; values that are stored once are added to `shared`."""
    row = encode_fields(table.fields, record, shared)
    for name, codecs in table.flattened.items():
        row.update(encode_fields(codecs, getattr(record, name), shared))
    if isinstance(record, Trajectory):
        row["step_count"] = len(record.steps)
    if isinstance(record, Task):
        row["applications"] = sorted(
            {*(node.application for node in record.graph.nodes), *record.other_applications}
        )
    if table.name == "rejections":
        content = json.dumps(row, sort_keys=True, ensure_ascii=False, default=str)
        row["rejection_id"] = hashlib.sha256(content.encode()).hexdigest()[:32]
    return row


def decode_record(
    table: Table, row: Mapping[str, Any], shared: Shared, steps: Sequence[Mapping[str, Any]] = ()
) -> Record:
    """The record of a row, plus its steps for a trajectory; `RowInvalidError` names table, id and field."""
    if table.record is None:
        raise RowInvalidError(f"The table {table.name} keeps no records.")
    try:
        values = decode_fields(table.fields, row, shared)
        for name, codecs in table.flattened.items():
            values[name] = decode_fields(codecs, row, shared)
        if table.record is Trajectory:
            step_codecs = TABLE_NAMED["trajectory_steps"].fields
            values["steps"] = [decode_fields(step_codecs, step, shared) for step in steps]
            if row.get("step_count") not in (None, len(steps)):
                raise RowInvalidError(
                    f"trajectories {_key(table, row)}: {len(steps)} of {row.get('step_count')} steps are"
                    " stored."
                )
        return table.record.model_validate(values)
    except KeyError as error:
        raise RowInvalidError(
            f"{table.name} {_key(table, row)}: refers to {error}, which is not stored."
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "row"
        raise RowInvalidError(f"{table.name} {_key(table, row)}: {place}: {first['msg']}") from None


def references(node: object) -> tuple[set[str], set[str]]:
    """Ids of the texts and of the lists of controls that stored rows refer to."""
    texts: set[str] = set()
    controls: set[str] = set()
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            for name, value in item.items():
                if isinstance(value, (dict, list)):
                    stack.append(value)
                elif value is not None and name == "text_id":
                    texts.add(value)
                elif value is not None and name in ("controls_id", "observation_controls_id"):
                    controls.add(value)
    return texts, controls


def _key(table: Table, row: Mapping[str, Any]) -> tuple[object, ...]:
    key = tuple(row.get(name) for name in table.key)
    if any(part is None or (part == "" and not table.empty_key) for part in key):
        raise RowInvalidError(f"A row of {table.name} has no {' or no '.join(table.key)}.")
    return key


def _arrow_table(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    try:
        return pa.Table.from_pylist(rows, schema=table.arrow)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError) as error:
        raise RowInvalidError(f"A row of {table.name} does not fit its columns: {error}") from None


def insert_rows(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table], replace: bool) -> None:
    """Insert the rows whose ids are not stored yet; with `replace`, replace those that are.

    Whether steps are new is decided by their trajectory, so they are inserted before it.
    """
    for name, rows in tables.items() if replace else ():
        if TABLE_NAMED[name].record is None or name == "trajectory_steps":
            continue
        key = ", ".join(f'"{part}"' for part in TABLE_NAMED[name].key)
        with registered(connection, incoming=rows):
            for target in (name, "trajectory_steps") if name == "trajectories" else (name,):
                connection.execute(f"DELETE FROM {target} WHERE ({key}) IN (SELECT ({key}) FROM incoming)")
    for name in sorted(tables, key=lambda name: name != "trajectory_steps"):
        table = TABLE_NAMED[name]
        key = ", ".join(f'"{part}"' for part in (table.key if name != "trajectory_steps" else table.key[:1]))
        stored = name if name != "trajectory_steps" else "trajectories"
        prepared = ", ".join(f'{sql} AS "{column}"' for column, sql in table.prepared.items())
        columns = f"* REPLACE ({prepared})" if prepared else "*"
        with registered(connection, incoming=tables[name]):
            connection.execute(
                f"INSERT INTO {name} BY NAME SELECT {columns} FROM incoming ANTI JOIN {stored} USING ({key})"
            )
