"""The result of a query: rows for programs; CSV, JSON and Parquet for people."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

import pyarrow as pa

from taskloom.warehouse.errors import WarehouseUnavailableError

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Columns and rows of an answer, held in memory."""

    table: pa.Table
    """The answer as an Arrow table, whose columns have different names."""

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """The answer in `table`; columns with the same name, as from a join, are numbered."""
        taken: set[str] = set()
        names = []
        for name in table.column_names:
            number, unique = 0, name
            while unique in taken or (number and unique in table.column_names):
                number += 1
                unique = f"{name}_{number}"
            taken.add(unique)
            names.append(unique)
        return cls(table.rename_columns(names))

    @classmethod
    def first(
        cls, reader: pa.RecordBatchReader, most_rows: int | None, most_bytes: int | None
    ) -> tuple[Self, bool]:
        """At most the first `most_rows`, cut at the batch that exceeds `most_bytes`, and whether there are
        more."""
        batches, rows, size = [], 0, 0
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if (most_rows is not None and rows > most_rows) or (most_bytes is not None and size > most_bytes):
                break
        cut = (most_rows is not None and rows > most_rows) or next(iter(reader), None) is not None
        return cls.of(pa.Table.from_batches(batches, reader.schema).slice(0, most_rows)), cut

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def rows(self) -> Iterator[tuple[JsonValue, ...]]:
        """Rows as JSON values; see `json_value`."""
        for batch in self.table.to_batches(max_chunksize=10_000):
            columns = [
                column.to_pylist() if _is_json(column.type) else list(map(json_value, column.to_pylist()))
                for column in batch.columns
            ]
            yield from zip(*columns, strict=True)

    def as_dicts(self) -> list[dict[str, JsonValue]]:
        """Rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def texts(self) -> list[str]:
        """The first column as texts."""
        return [str(value) for value, *_ in self.rows()]

    def number(self) -> int:
        """The first value of the first row, a whole number."""
        return int(str(self.scalar()))

    def scalar(self) -> JsonValue:
        """The first value of the first row, or None."""
        return next(self.rows(), (None,))[0]

    def to_csv(self) -> str:
        """The answer as CSV with a header line; nested values are JSON."""
        out = io.StringIO()
        self.write_csv_rows(out, header=True)
        return out.getvalue()

    def write_csv_rows(self, out: TextIO, header: bool) -> None:
        """Write the rows to `out` as CSV, with a `header` line where one is wanted."""
        writer = csv.writer(out, lineterminator="\n")
        if header:
            writer.writerow(self.columns)
        for row in self.rows():
            writer.writerow(
                json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
                for value in row
            )

    def write_parquet(self, path: Path) -> None:
        """Write the answer to a Parquet file, complete or not at all (`WarehouseUnavailableError`)."""
        import pyarrow.parquet

        aside = path.with_name(f".{path.name}.part")
        try:
            pyarrow.parquet.write_table(self.table, aside, compression="zstd")
            aside.replace(path)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise WarehouseUnavailableError(f"{path} cannot be written: {error.strerror or error}") from None


def _is_json(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_is_json(field.type) for field in kind.fields)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_json(kind.value_type)
    return any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
    )


def json_value(value: object) -> JsonValue:
    """A database value as a JSON value: NaN and infinities as null, moments in ISO 8601, whole decimals as
    integers, bytes in hex."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
