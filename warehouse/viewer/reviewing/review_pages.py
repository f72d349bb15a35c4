"""Pages on which people accept and reject tasks, and on which it is seen how far they agree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.drawing.svg import draw_svg
from taskloom.taskgraph.records.review import QUESTIONS, Review
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ReviewInvalidError
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.reviews import new_review
from taskloom.warehouse.viewer.pages.task_list import TaskFilter, choices
from taskloom.warehouse.viewer.pages.task_pages import node_rows
from taskloom.warehouse.viewer.pages.task_words import numbers_of, title_of
from taskloom.warehouse.viewer.reviewing.desk import ReviewDesk
from taskloom.warehouse.viewer.reviewing.queue import progress_of, queue_of, reviewed_by
from taskloom.warehouse.viewer.website import Site, address

_MOST_BYTES = 64 * 1024
_FORM = "application/x-www-form-urlencoded"
_MEANING = {
    "natural": "Natural: a person could have written it",
    "graph": "Graph right: the words alone give the same graph",
    "executable": "Executable: it can be done from a fresh start",
    "sense": "Makes sense: somebody could want this",
}
"""The questions of the rubric, as asked."""


def add_pages(application: FastAPI, site: Site, desk: ReviewDesk | None) -> None:
    """Add the pages; without a desk they only show what people said."""

    @application.get("/review")
    def reviews(request: Request) -> HTMLResponse:
        rows = site.store.query(named_query("acceptance").sql).as_dicts()
        return site.page(
            "reviews.html.jinja",
            figures=rows,
            people=_people(site),
            enabled=desk is not None,
            chosen=TaskFilter.of(request.query_params).values,
            choices=site.memory.get("choices", lambda: choices(site.store)),
            dimensions=DIMENSIONS,
            levels=LEVELS,
        )

    if desk is None:
        return

    @application.get("/review/next")
    def next_task(request: Request) -> Response:
        given = request.query_params
        by = " ".join(given.get("by", "").split())
        if not by:
            return RedirectResponse(f"{site.at}/review", status_code=303)
        return _desk_page(site, desk, by, given)

    @application.post("/review")
    async def take_review(request: Request) -> Response:
        form = await _form_of(request)
        if not desk.knows(form.get("token", "")):
            raise HTTPException(
                403,
                "This form was made by another site, or before the viewer was started anew. Open it again.",
            )
        return await run_in_threadpool(_take, site, desk, form)


async def _form_of(request: Request) -> dict[str, str]:
    """The fields of a form; of one with several values, joined with commas.

    Raises:
        HTTPException: it is no form, or too long.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise HTTPException(415, "A review is sent as a form.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "This review is too long.")
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=60)
    except ValueError:
        raise HTTPException(400, "This form cannot be read.") from None
    return {name: ",".join(values) for name, values in fields.items()}


def _take(site: Site, desk: ReviewDesk, form: Mapping[str, str]) -> Response:
    filters = TaskFilter.of(form).values
    task_id, by = form.get("task", ""), " ".join(form.get("by", "").split())
    task = _task(site, task_id)
    failed = tuple(name for name in QUESTIONS if name in form.get("failed", "").split(","))
    try:
        if form.get("read", "") != _mark(task):
            raise ReviewInvalidError(
                "This review was not stored: the instruction has changed since the page was opened. Read it"
                " again."
            )
        review = new_review(
            task_id, task.instruction, by, form.get("verdict", ""), failed, form.get("note", "")
        )
    except ReviewInvalidError as error:
        return _desk_page(site, desk, by, {**form, "task": task_id}, problem=str(error))
    desk.store(review)
    return RedirectResponse(
        address(f"{site.at}/review/next", {"by": review.reviewer, "after": task_id, **filters}),
        status_code=303,
    )


def _mark(task: Task) -> str:
    return hashlib.sha256(task.instruction.encode()).hexdigest()


def _task(site: Site, task_id: str) -> Task:
    found = next(site.store.read(Task, "task_id = ?", [task_id]), None)
    if found is None:
        raise HTTPException(404, f"There is no task {task_id} in the warehouse.")
    return found


def _desk_page(
    site: Site, desk: ReviewDesk, by: str, given: Mapping[str, str], problem: str = ""
) -> HTMLResponse:
    chosen = TaskFilter.of(given)
    queue = site.memory.get(("queue", *chosen.values.values()), lambda: queue_of(site.store, chosen))
    progress = progress_of(queue, reviewed_by(site.store, by), given.get("after", ""))
    task_id = given.get("task", "") or progress.task_id
    mine = list(
        site.store.read(
            Review,
            "reviewer = ? AND (task_id, reviewed_at) IN (SELECT (task_id, reviewed_at) FROM latest_reviews)",
            [by],
            order_by="reviewed_at DESC",
        )
    )
    filters = chosen.values
    if not task_id:
        return site.page(
            "review_done.html.jinja", by=by, progress=progress, filtered=any(filters.values()), last=mine[:1]
        )
    task = _task(site, task_id)
    numbers = numbers_of(task)
    earlier = next((item for item in mine if item.task_id == task_id), None)
    kept = {"failed": tuple(given.get("failed", "").split(",")), "note": given.get("note", "")}
    if not problem and earlier is not None:
        kept = {"failed": earlier.failed, "note": earlier.note}
    return site.page(
        "review.html.jinja",
        400 if problem else 200,
        by=by,
        problem=problem,
        task=task,
        title=title_of(task),
        drawing=draw_svg(task.graph, numbers),
        rows=node_rows(task, numbers),
        earlier=earlier,
        others=_others(site, task, by) if earlier is not None else [],
        kept=kept,
        last=next((item for item in mine if item.task_id != task_id), None),
        progress=progress,
        filters=filters,
        questions=_MEANING,
        token=desk.token,
        mark=_mark(task),
        skip=address("/review/next", {"by": by, "after": task_id, **filters}),
        query=address("", {"by": by, **filters}).removeprefix("?"),
    )


def _others(site: Site, task: Task, by: str) -> list[dict[str, object]]:
    """What others said of the task; shown only to those who have said something themselves."""
    return [
        dict(row)
        for row in site.store.query(
            "SELECT reviewer, accepted, failed, note FROM latest_reviews"
            " WHERE task_id = ? AND instruction = ? AND reviewer <> ? ORDER BY reviewer",
            [task.task_id, task.instruction, by],
        ).as_dicts()
    ]


def _people(site: Site) -> list[dict[str, object]]:
    return [
        dict(row)
        for row in site.store.query(
            "SELECT reviewer, count(*) AS tasks FROM latest_reviews GROUP BY reviewer ORDER BY reviewer"
        ).as_dicts()
    ]
