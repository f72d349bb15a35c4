"""Answers as files: CSV for people, Parquet with all types."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from taskloom.warehouse.errors import QueryFailedError
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.bounded_queries import save_bounded
from taskloom.warehouse.viewer.pages.task_list import TaskFilter, count_tasks
from taskloom.warehouse.viewer.website import Site

MOST_TASKS: Final = 100_000
"""Tasks of a download at most."""
_SECONDS: Final = 60.0
_SECONDS_OF_TASKS: Final = 300.0
"""Writing a hundred thousand tasks with their graphs takes longer than a query may."""
_KINDS: Final = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def add_pages(application: FastAPI, site: Site) -> None:
    """Add the addresses of the files."""

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
