"""Runs one SELECT in a process of its own, with limits on time and memory.

DuckDB's own limit on memory does not count texts under construction; the operating system's limit on the
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

MAX_BYTES = 1024 << 20
"""Memory that a statement may take in addition to the database itself."""
_START_SECONDS = 60.0
_ROWS_AT_ONCE = 500
_OUT_OF_MEMORY = ("out of memory", "failed to allocate", "bad_alloc", "could not allocate", "cannot allocate")


def query_bounded(
    warehouse: Warehouse,
    sql: str,
    *,
    max_rows: int,
    max_seconds: float,
) -> tuple[tuple[str, ...], tuple[tuple[JsonValue, ...], ...]]:
    """The columns and the first `max_rows` rows of the result; `QueryRefusedError` if `sql` could leave
    the warehouse, `QueryFailedError` if it fails or exceeds a limit."""
    response = _run_in_process(warehouse, sql, max_seconds, max_rows=max_rows)
    return tuple(response["columns"]), tuple(map(tuple, response["rows"]))


def save_bounded(
    warehouse: Warehouse,
    sql: str,
    path: Path,
    *,
    parameters: Sequence[str] = (),
    max_seconds: float,
) -> None:
    """Write the result of `sql` to `path`, Parquet or CSV by its ending; raises what `query_bounded` does."""
    _run_in_process(warehouse, sql, max_seconds, parameters=list(parameters), save=str(path))


def _run_in_process(
    warehouse: Warehouse, sql: str, max_seconds: float, **options: JsonValue
) -> dict[str, Any]:
    request = {
        "address": str(warehouse.address),
        "version": warehouse.version,
        "sql": sql,
        "max_seconds": max_seconds,
        "max_bytes": MAX_BYTES,
        **options,
    }
    too_long = QueryFailedError(f"The query took longer than {max_seconds:.0f} s and was stopped.")
    try:
        process = subprocess.run(
            [sys.executable, "-m", "taskloom.warehouse.viewer.bounded_queries"],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=max_seconds + _START_SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
    except subprocess.TimeoutExpired:
        raise too_long from None
    try:
        response: dict[str, Any] = json.loads(process.stdout)
    except ValueError:  # it was killed, or could not even report that it was out of memory
        response = {"too_large": True}
    if "refused" in response:
        raise QueryRefusedError(response["refused"])
    if "failed" in response:
        raise QueryFailedError(response["failed"])
    if "too_large" in response:
        raise QueryFailedError(
            f"The query needs more than {MAX_BYTES >> 20} MB of memory and was stopped; query fewer rows"
            " or columns at once."
        )
    return response


def _run_query(request: dict[str, JsonValue]) -> dict[str, object]:
    sql, seconds = str(request["sql"]), float(str(request["max_seconds"]))
    values = request.get("parameters")
    parameters = values if isinstance(values, list) else []
    try:
        reader = _open_reader(str(request["address"]), request["version"])
        # Memory of the database itself does not count towards the statement's limit.
        reader.query("SELECT 1")
        _limit_memory(int(str(request["max_bytes"])))
        if "save" in request:
            path = Path(str(request["save"]))
            save = functools.partial(_save_parquet if path.suffix == ".parquet" else _save_csv, path)
            reader.stream(sql, save, parameters, seconds, _ROWS_AT_ONCE)
            return {}
        result, _ = reader.first_rows(sql, parameters, seconds, int(str(request["max_rows"])), None)
        return {"columns": result.columns, "rows": list(result.rows())}
    except QueryRefusedError as error:
        return {"refused": str(error)}
    except QueryFailedError as error:
        message = str(error)
        too_large = any(phrase in message.lower() for phrase in _OUT_OF_MEMORY)
        return {"too_large": True} if too_large else {"failed": message}
    except MemoryError:
        return {"too_large": True}


def _open_reader(address: str, version: JsonValue) -> Reader:
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


def _limit_memory(more: int) -> None:
    """Limit this process to `more` bytes beyond its present use.

    Addresses are limited at twice that: DuckDB reserves more than it uses.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2 * more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    try:
        text = json.dumps(_run_query(request), default=str)
    except MemoryError:
        text = json.dumps({"too_large": True})
    sys.stdout.write(text)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    _main()
