"""The page for SQL queries: a table, and bars for labels with numbers; results and tasks as files."""

import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError
from taskloom.warehouse.queries import named_queries
from taskloom.warehouse.schema import TABLES
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.bounded_queries import query_bounded, save_bounded
from taskloom.warehouse.viewer.charts import Chart, chart
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, count_tasks
from taskloom.warehouse.viewer.website import Site

MAX_ROWS = 1000
"""Rows shown of a result; the database stops there."""
MAX_SECONDS = 10.0
MAX_CHARACTERS = 600
"""Characters shown of one value: a thousand lists of controls would be ten megabytes of page."""
MAX_TASKS: Final = 100_000
_FILE_SECONDS: Final = 60.0
_TASKS_SECONDS: Final = 300.0
"""Writing a hundred thousand tasks with their graphs takes longer than a query may."""
_MEDIA_TYPES: Final = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_MAX_BARS = 60
_CAN_BE_LIMITED = re.compile(r"\s*(?:--[^\n]*\n\s*)*(select|with|from|values)\b", re.IGNORECASE)
_EXAMPLE = "SELECT scenario, count(*) AS tasks\nFROM tasks\nGROUP BY scenario\nORDER BY tasks DESC"


@dataclass(frozen=True, slots=True)
class SqlResult:
    """The first rows of a result, and its chart if it can be drawn as bars."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    truncated: bool
    seconds: float
    chart: Chart | None


def run_query(
    warehouse: Warehouse, sql: str, *, max_rows: int = MAX_ROWS, max_seconds: float = MAX_SECONDS
) -> SqlResult:
    """The first rows of the result of `sql`; no others are computed. Raises what `query_bounded` does."""
    statement = sql.strip().rstrip(";").strip()
    if _CAN_BE_LIMITED.match(statement):
        statement = f"SELECT * FROM (\n{statement}\n) LIMIT {max_rows + 1}"
    started = time.perf_counter()
    columns, rows = query_bounded(warehouse, statement, max_rows=max_rows + 1, max_seconds=max_seconds)
    return SqlResult(
        columns=columns,
        numeric=tuple(
            all(value is None or _is_number(value) for value in column) for column in zip(*rows, strict=True)
        )
        or (False,) * len(columns),
        rows=rows[:max_rows],
        truncated=len(rows) > max_rows,
        seconds=time.perf_counter() - started,
        chart=_bars(columns, rows),
    )


def _bars(columns: tuple[str, ...], rows: tuple[tuple[JsonValue, ...], ...]) -> Chart | None:
    if len(columns) != 2 or not 1 <= len(rows) <= _MAX_BARS:
        return None
    if not all(_is_number(row[1]) for row in rows):
        return None
    return chart(f"{columns[1]} by {columns[0]}", "", [(str(label), amount) for label, amount in rows])


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/sql?q=…`, where a refused or failed query gives status 400 and the reason, and the files."""

    @application.get("/sql")
    def sql(request: Request) -> HTMLResponse:
        statement = request.query_params.get("q", "").strip()
        answer, problem = None, ""
        if statement:
            try:
                answer = run_query(site.store, statement)
            except (QueryFailedError, QueryRefusedError) as error:
                problem = str(error)
        return site.page(
            "sql.html.jinja",
            400 if problem else 200,
            statement=statement or _EXAMPLE,
            answer=answer,
            problem=problem,
            queries=[query for query in named_queries().values() if not query.parameters],
            tables=TABLES,
            max_rows=MAX_ROWS,
            max_characters=MAX_CHARACTERS,
            max_seconds=MAX_SECONDS,
        )

    @application.get("/tasks.{ending}")
    def tasks(ending: str, request: Request) -> Response:
        chosen = TaskFilter.of(request.query_params)
        if count_tasks(site.store, chosen) > MAX_TASKS:
            raise QueryFailedError(
                f'More than {MAX_TASKS:,} tasks match; `taskloom sql "SELECT * FROM tasks" --parquet FILE`'
                " writes any number."
            )
        condition, parameters = chosen.condition()
        # Not sorted, because sorting would need all tasks with their graphs in memory.
        return _file(
            site.store, f"SELECT * FROM tasks WHERE {condition}", "tasks", ending, parameters, _TASKS_SECONDS
        )

    @application.get("/sql.{ending}")
    def answer(ending: str, request: Request) -> Response:
        statement = request.query_params.get("q", "").strip()
        if not statement:
            raise HTTPException(400, "The address names no query.")
        return _file(site.store, statement, "answer", ending)


def _file(
    store: Warehouse,
    sql: str,
    name: str,
    ending: str,
    parameters: Sequence[str] = (),
    seconds: float = _FILE_SECONDS,
) -> Response:
    if ending not in _MEDIA_TYPES:
        raise HTTPException(404, f"Only {' and '.join(_MEDIA_TYPES)} files are available.")
    with tempfile.TemporaryDirectory(prefix="taskloom-") as folder:
        path = Path(folder) / f"{name}.{ending}"
        save_bounded(store, sql, path, parameters=parameters, max_seconds=seconds)
        content = path.read_bytes()
    headers = {"content-disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(content, media_type=_MEDIA_TYPES[ending], headers=headers)
