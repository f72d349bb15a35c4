"""The model calls behind an item: who was asked, what was said, what it cost."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue

from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.website import Site

_MOST_CALLS = 200
_OF_ITEM = (
    "SELECT call_id, stage, role, provider, model, purpose, outcome, input_tokens, output_tokens, cost_usd,"
    " latency_seconds FROM model_calls WHERE item_id = ? ORDER BY finished_at, call_id"
    f" LIMIT {_MOST_CALLS}"
)


ReadCall = Callable[[str], object]
"""What was said in the call with this key, its `messages` with `role` and `content` and its `reply`, as the
template shows it; None where it is not known."""


def calls_for(warehouse: Warehouse, item_id: str) -> list[dict[str, JsonValue]]:
    """Calls that a subtask, task or application was the first to need, oldest first; at most 200."""
    return warehouse.query(_OF_ITEM, [item_id]).as_dicts()


def add_pages(application: FastAPI, site: Site, read_call: ReadCall | None) -> None:
    """Add the page of one call; `read_call` finds what was said, where it was kept."""

    @application.get("/calls/{call_id:path}")
    def call(call_id: str, request: Request) -> HTMLResponse:
        found = site.one(ModelCallRecord, "call_id", call_id, "model call")
        return site.page(
            "call.html.jinja",
            call=found,
            said=read_call(found.key) if read_call else None,
            is_task=bool(site.store.query("SELECT 1 FROM tasks WHERE task_id = ?", [found.item_id]).scalar()),
            is_subtask=bool(
                site.store.query("SELECT 1 FROM subtasks WHERE subtask_id = ?", [found.item_id]).scalar()
            ),
        )
