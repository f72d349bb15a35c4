"""Pages on which people accept and reject tasks, and that show how far they agree."""

import asyncio
import hashlib
import secrets
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import JsonValue
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from taskloom.resources.dimensions import DIMENSIONS, LEVELS
from taskloom.taskgraph.drawing import draw_svg
from taskloom.taskgraph.records.criticism import QUESTIONS, Review
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ReviewInvalidError
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.reviews import new_review
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter, choices, node_rows, numbers_of, title_of
from taskloom.warehouse.viewer.website import Site, address, form_of


class ReviewDesk:
    """Stores reviews in the present state of a warehouse. May be used from several threads.

    Each viewer makes its own token when it starts: a form without it was not made by this viewer.
    """

    def __init__(self, address: str | Path) -> None:
        """Write to the warehouse at `address`; it is opened for each review and closed again."""
        self.token = secrets.token_urlsafe(32)
        self._address = address
        self._lock = threading.Lock()

    def knows(self, token: str) -> bool:
        """Whether a form was made by this viewer."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def store(self, review: Review) -> None:
        """Store and commit a review, or raise."""
        with self._lock, Warehouse(self._address) as warehouse:
            warehouse.write([review])


class ExclusiveWrites:
    """Answers a POST when all other requests have ended, and delays new ones until then."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._gate = asyncio.Lock()
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST":
            async with self._gate:
                await self._idle.wait()
                await self._app(scope, receive, send)
            return
        async with self._gate:
            self._active += 1
            self._idle.clear()
        try:
            await self._app(scope, receive, send)
        finally:
            self._active -= 1
            if not self._active:
                self._idle.set()


_MEANING = {
    "natural": "Natural: a person could have written it",
    "graph": "Graph right: the words alone give the same graph",
    "executable": "Executable: it can be done from a fresh start",
    "sense": "Makes sense: somebody could want this",
}
_PEOPLE: Final = "SELECT reviewer, count(*) AS tasks FROM latest_reviews GROUP BY reviewer ORDER BY reviewer"


def add_pages(application: FastAPI, site: Site, desk: ReviewDesk | None) -> None:
    """Add the pages; without a desk they only show the reviews."""

    @application.get("/review")
    def reviews(request: Request) -> HTMLResponse:
        return site.page(
            "reviews.html.jinja",
            figures=site.store.query(named_query("acceptance").sql).as_dicts(),
            people=site.store.query(_PEOPLE).as_dicts(),
            enabled=desk is not None,
            chosen=TaskFilter.of(request.query_params).values,
            choices=site.cache.get("choices", lambda: choices(site.store)),
            dimensions=DIMENSIONS,
            levels=LEVELS,
        )

    if desk is None:
        return

    @application.get("/review/next")
    def next_task(request: Request) -> Response:
        parameters = request.query_params
        by = " ".join(parameters.get("by", "").split())
        if not by:
            return RedirectResponse(f"{site.base_path}/review", status_code=303)
        return _desk_page(site, desk, by, parameters)

    @application.post("/review")
    async def submit_review(request: Request) -> Response:
        form = await form_of(request)
        if not desk.knows(form.get("token", "")):
            raise HTTPException(
                403,
                "This form was made by another site, or before the viewer was restarted. Open it again.",
            )
        return await run_in_threadpool(_store_review, site, desk, form)


def _store_review(site: Site, desk: ReviewDesk, form: Mapping[str, str]) -> Response:
    filters = TaskFilter.of(form).values
    task_id, by = form.get("task", ""), " ".join(form.get("by", "").split())
    task = site.find_record(Task, "task_id", task_id, "task")
    failed = tuple(name for name in QUESTIONS if name in form.get("failed", "").split(","))
    try:
        if form.get("read", "") != _instruction_hash(task):
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
        address(f"{site.base_path}/review/next", {"by": review.reviewer, "after": task_id, **filters}),
        status_code=303,
    )


def _instruction_hash(task: Task) -> str:
    return hashlib.sha256(task.instruction.encode()).hexdigest()


def _desk_page(
    site: Site, desk: ReviewDesk, by: str, parameters: Mapping[str, str], problem: str = ""
) -> HTMLResponse:
    chosen = TaskFilter.of(parameters)
    queue = site.cache.get_or_update(
        ("queue", *chosen.values.values()), lambda previous: queue_of(site.store, chosen, previous)
    )
    progress = progress_of(queue, reviewed_by(site.store, by), parameters.get("after", ""))
    task_id = parameters.get("task", "") or progress.task_id
    own_reviews = list(
        site.store.read(
            Review,
            "reviewer = ? AND (task_id, reviewed_at) IN (SELECT (task_id, reviewed_at) FROM latest_reviews)",
            [by],
            order_by="reviewed_at DESC, task_id",
        )
    )
    filters = chosen.values
    if not task_id:
        return site.page(
            "review_done.html.jinja",
            by=by,
            progress=progress,
            filtered=any(filters.values()),
            last=own_reviews[:1],
        )
    task = site.find_record(Task, "task_id", task_id, "task")
    numbers = numbers_of(task)
    earlier = next((item for item in own_reviews if item.task_id == task_id), None)
    draft = {"failed": tuple(parameters.get("failed", "").split(",")), "note": parameters.get("note", "")}
    if not problem and earlier is not None:
        draft = {"failed": earlier.failed, "note": earlier.note}
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
        others=_reviews_of_others(site, task, by) if earlier is not None else [],
        draft=draft,
        last=next((item for item in own_reviews if item.task_id != task_id), None),
        progress=progress,
        filters=filters,
        questions=_MEANING,
        token=desk.token,
        mark=_instruction_hash(task),
        skip=address("/review/next", {"by": by, "after": task_id, **filters}),
        query=address("", {"by": by, **filters}).removeprefix("?"),
    )


def _reviews_of_others(site: Site, task: Task, by: str) -> list[dict[str, JsonValue]]:
    """Other people's reviews of the task, shown only to those who have reviewed it themselves."""
    return site.store.query(
        "SELECT reviewer, accepted, failed, note FROM latest_reviews"
        " WHERE task_id = ? AND instruction = ? AND reviewer <> ? ORDER BY reviewer",
        [task.task_id, task.instruction, by],
    ).as_dicts()


MAX_TASKS: Final = 1000
_FINISHED: Final = "status IN ('validated', 'imported')"


@dataclass(frozen=True, slots=True)
class Progress:
    """A person's progress in a queue."""

    done: int
    """Tasks of the queue that the person has reviewed."""
    total: int
    task_id: str
    """The task to review next; empty when all are reviewed."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The tasks that a filter allows, in the order in which people get them."""

    order: tuple[str, ...] = ()
    """Ids of all tasks that have been in the queue since the viewer started."""
    present: frozenset[str] = frozenset()


def queue_of(warehouse: Warehouse, chosen: TaskFilter, former: Queue | None = None) -> Queue:
    """The tasks that the filter allows: one of each combination of levels, then the others, shuffled.

    Those of the `former` queue keep their order, and new ones follow. Unfinished tasks are left out
    unless the filter names a status. Otherwise the order depends on the ids alone.
    """
    known = former.order if former else ()
    condition, parameters = chosen.condition()
    if not chosen.values["status"]:
        condition += f" AND {_FINISHED}"
    cell = ", ".join(f"{name}_level" for name in DIMENSIONS)
    present = warehouse.query(
        f"SELECT task_id FROM (SELECT task_id, md5(task_id) AS lot, row_number() OVER (PARTITION BY {cell}"
        f" ORDER BY md5(task_id), task_id) AS place FROM tasks WHERE {condition}) ORDER BY task_id NOT IN"
        f" (SELECT unnest(?::VARCHAR[])), place > 1, lot, task_id LIMIT {MAX_TASKS}",
        [*parameters, list(known)],
    ).texts()
    return Queue(tuple(dict.fromkeys([*known, *present])), frozenset(present))


def reviewed_by(warehouse: Warehouse, reviewer: str) -> set[str]:
    """Tasks with a valid review by this person."""
    rows = warehouse.query(
        "SELECT r.task_id FROM latest_reviews AS r"
        " JOIN tasks AS t ON t.task_id = r.task_id AND t.instruction = r.instruction WHERE r.reviewer = ?",
        [reviewer],
    ).texts()
    return set(rows)


def progress_of(queue: Queue, reviewed: Collection[str], after: str = "") -> Progress:
    """The progress, with the first task to review after `after`, wrapping around at the end.

    >>> queue = Queue(("a", "gone", "b", "c"), frozenset("abc"))
    >>> progress_of(queue, {"b"}, after="gone")
    Progress(done=1, total=3, task_id='c')
    >>> progress_of(queue, {"b", "c"}, after="b").task_id
    'a'
    """
    order = queue.order
    start = order.index(after) + 1 if after in order else 0
    rotated = (*order[start:], *order[:start])
    remaining = [name for name in rotated if name in queue.present and name not in reviewed]
    total = len(queue.present)
    return Progress(done=total - len(remaining), total=total, task_id=remaining[0] if remaining else "")
