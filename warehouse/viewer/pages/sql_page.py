"""The page that asks SQL: a table, and bars for labels with numbers; answers and tasks as files."""

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
from taskloom.warehouse.viewer.bounded_queries import ask_bounded, save_bounded
from taskloom.warehouse.viewer.charts import Chart, chart
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, count_tasks
from taskloom.warehouse.viewer.website import Site

MOST_ROWS = 1000
"""Rows shown of an answer; the database stops there."""
MOST_SECONDS = 10.0
MOST_CHARACTERS = 600
"""Characters shown of one value: a thousand lists of controls would be ten megabytes of page."""
MOST_TASKS: Final = 100_000
_SECONDS: Final = 60.0
_SECONDS_OF_TASKS: Final = 300.0
"""Writing a hundred thousand tasks with their graphs takes longer than a query may."""
_KINDS: Final = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_MOST_BARS = 60
_WRAPPED = re.compile(r"\s*(?:--[^\n]*\n\s*)*(select|with|from|values)\b", re.IGNORECASE)
_FIRST = "SELECT scenario, count(*) AS tasks\nFROM tasks\nGROUP BY scenario\nORDER BY tasks DESC"


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, and whether it can be drawn as bars."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    cut: bool
    seconds: float
    chart: Chart | None


def ask(
    warehouse: Warehouse, sql: str, *, most_rows: int = MOST_ROWS, most_seconds: float = MOST_SECONDS
) -> Answer:
    """The first rows of the answer to `sql`, of which no others are made; raises what `ask_bounded` does."""
    asked = sql.strip().rstrip(";").strip()
    if _WRAPPED.match(asked):
        asked = f"SELECT * FROM (\n{asked}\n) LIMIT {most_rows + 1}"
    started = time.perf_counter()
    columns, rows = ask_bounded(warehouse, asked, most_rows=most_rows + 1, most_seconds=most_seconds)
    return Answer(
        columns=columns,
        numeric=tuple(
            all(value is None or _is_number(value) for value in column) for column in zip(*rows, strict=True)
        )
        or (False,) * len(columns),
        rows=rows[:most_rows],
        cut=len(rows) > most_rows,
        seconds=time.perf_counter() - started,
        chart=_bars(columns, rows),
    )


def _bars(columns: tuple[str, ...], rows: tuple[tuple[JsonValue, ...], ...]) -> Chart | None:
    if len(columns) != 2 or not 1 <= len(rows) <= _MOST_BARS:
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
        asked = request.query_params.get("q", "").strip()
        answer, problem = None, ""
        if asked:
            try:
                answer = ask(site.store, asked)
            except (QueryFailedError, QueryRefusedError) as error:
                problem = str(error)
        return site.page(
            "sql.html.jinja",
            400 if problem else 200,
            asked=asked or _FIRST,
            answer=answer,
            problem=problem,
            queries=[query for query in named_queries().values() if not query.parameters],
            tables=TABLES,
            most_rows=MOST_ROWS,
            most_characters=MOST_CHARACTERS,
            most_seconds=MOST_SECONDS,
        )

    @application.get("/tasks.{ending}")
    def tasks(ending: str, request: Request) -> Response:
        chosen = TaskFilter.of(request.query_params)
        if count_tasks(site.store, chosen) > MOST_TASKS:
            raise QueryFailedError(
                f'More than {MOST_TASKS:,} tasks match; `taskloom sql "SELECT * FROM tasks" --parquet FILE`'
                " writes any number."
            )
        condition, bound = chosen.condition()
        # Not sorted: all tasks with their graphs would have to be in memory for that.
        return _file(
            site.store, f"SELECT * FROM tasks WHERE {condition}", "tasks", ending, bound, _SECONDS_OF_TASKS
        )

    @application.get("/sql.{ending}")
    def answer(ending: str, request: Request) -> Response:
        asked = request.query_params.get("q", "").strip()
        if not asked:
            raise HTTPException(400, "The address names no query.")
        return _file(site.store, asked, "answer", ending)


def _file(
    store: Warehouse,
    sql: str,
    name: str,
    ending: str,
    parameters: Sequence[str] = (),
    seconds: float = _SECONDS,
) -> Response:
    if ending not in _KINDS:
        raise HTTPException(404, f"There are files of {' and '.join(_KINDS)} only.")
    with tempfile.TemporaryDirectory(prefix="taskloom-") as folder:
        path = Path(folder) / f"{name}.{ending}"
        save_bounded(store, sql, path, parameters=parameters, most_seconds=seconds)
        content = path.read_bytes()
    headers = {"content-disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(content, media_type=_KINDS[ending], headers=headers)
