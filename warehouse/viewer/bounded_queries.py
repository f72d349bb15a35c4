"""Runs one SELECT in a process of its own, with limits on time and memory.

DuckDB's own limit on memory does not count texts while they are made; the operating system's limit on the
process does. `python -m taskloom.warehouse.viewer.bounded_queries` is that process.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError
from taskloom.warehouse.querying import QueryResult, Reader, open_quickly

if TYPE_CHECKING:
    from pydantic import JsonValue

    from taskloom.warehouse.store import Warehouse

MOST_BYTES = 1024 << 20
"""Memory that a statement may take beside the database itself."""
_START_SECONDS = 60.0
_ROWS_AT_ONCE = 500
_OUT_OF_MEMORY = ("out of memory", "failed to allocate", "bad_alloc", "could not allocate", "cannot allocate")


def ask_bounded(
    warehouse: Warehouse,
    sql: str,
    *,
    most_rows: int,
    most_seconds: float,
) -> tuple[tuple[str, ...], tuple[tuple[JsonValue, ...], ...]]:
    """The columns and the first `most_rows` rows of the answer to `sql`; a `QueryRefusedError` where it could
    leave the warehouse, a `QueryFailedError` where it fails or takes too much."""
    answer = _in_a_process(warehouse, sql, most_seconds, most_rows=most_rows)
    return tuple(answer["columns"]), tuple(map(tuple, answer["rows"]))


def save_bounded(
    warehouse: Warehouse,
    sql: str,
    path: Path,
    *,
    parameters: Sequence[str] = (),
    most_seconds: float,
) -> None:
    """Write the answer to `sql` to `path`, Parquet or CSV by its ending; raises what `ask_bounded` does."""
    _in_a_process(warehouse, sql, most_seconds, parameters=list(parameters), save=str(path))


def _in_a_process(warehouse: Warehouse, sql: str, most_seconds: float, **more: JsonValue) -> dict[str, Any]:
    question = {
        "address": str(warehouse.address),
        "version": warehouse.version,
        "sql": sql,
        "most_seconds": most_seconds,
        "most_bytes": MOST_BYTES,
        **more,
    }
    too_long = QueryFailedError(f"The query took longer than {most_seconds:.0f} s and was stopped.")
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "taskloom.warehouse.viewer.bounded_queries"],
            input=json.dumps(question).encode(),
            capture_output=True,
            timeout=most_seconds + _START_SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
    except subprocess.TimeoutExpired:
        raise too_long from None
    try:
        answer: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:  # it was killed, or could not even say that its memory was used up
        answer = {"too_large": True}
    if "refused" in answer:
        raise QueryRefusedError(answer["refused"])
    if "failed" in answer:
        raise QueryFailedError(answer["failed"])
    if "too_large" in answer:
        raise QueryFailedError(
            f"The query needs more than {MOST_BYTES >> 20} MB of memory and was stopped; ask for less of it"
            " at once."
        )
    return answer


def _answer(question: dict[str, JsonValue]) -> dict[str, object]:
    sql, seconds = str(question["sql"]), float(str(question["most_seconds"]))
    values = question.get("parameters")
    bound = values if isinstance(values, list) else []
    try:
        opened = _opened(str(question["address"]), question["version"])
        # What the database itself takes is no part of what the statement may take.
        opened.query("SELECT 1")
        _bound_memory(int(str(question["most_bytes"])))
        if "save" in question:
            path = Path(str(question["save"]))
            save = functools.partial(_save_parquet if path.suffix == ".parquet" else _save_csv, path)
            opened.stream(sql, save, bound, seconds, _ROWS_AT_ONCE)
            return {}
        found, _ = opened.first_rows(sql, bound, seconds, int(str(question["most_rows"])), None)
        return {"columns": found.columns, "rows": list(found.rows())}
    except QueryRefusedError as error:
        return {"refused": str(error)}
    except QueryFailedError as error:
        said = str(error)
        too_large = any(words in said.lower() for words in _OUT_OF_MEMORY)
        return {"too_large": True} if too_large else {"failed": said}
    except MemoryError:
        return {"too_large": True}


def _opened(address: str, version: JsonValue) -> Reader:
    quick = open_quickly(address) if version is None else None
    if quick is not None:
        return quick
    from taskloom.warehouse.store import Warehouse

    return Warehouse(address, read_only=True, version=str(version) if version else None)


def _save_csv(path: Path, reader: pa.RecordBatchReader) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        QueryResult.of(reader.schema.empty_table()).write_csv_rows(out, header=True)
        for batch in reader:
            QueryResult(pa.Table.from_batches([batch])).write_csv_rows(out, header=False)


def _save_parquet(path: Path, reader: pa.RecordBatchReader) -> None:
    schema = QueryResult.of(reader.schema.empty_table()).table.schema
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as out:
        for batch in reader:
            out.write_table(pa.Table.from_batches([batch]).rename_columns(schema.names))


def _bound_memory(more: int) -> None:
    """Limit this process to `more` bytes beyond what it uses now.

    Addresses are limited at twice that: DuckDB reserves more than it uses.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2 * more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _main() -> None:
    question = json.loads(sys.stdin.buffer.read())
    try:
        text = json.dumps(_answer(question), default=str)
    except MemoryError:
        text = json.dumps({"too_large": True})
    sys.stdout.write(text)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    _main()
