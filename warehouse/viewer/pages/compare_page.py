"""Two versions side by side: how many rows of what, and which tasks are new, gone or changed."""

from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import TableChange, differences
from taskloom.warehouse.viewer.website import Site

TASKS_SHOWN: Final = 50


def task_changes(warehouse: Warehouse, first: int, second: int) -> dict[str, list[dict[str, JsonValue]]]:
    """The tasks that differ between two snapshots: `added`, `removed`, and `changed` with both states."""

    def only_in(here: int, there: int) -> list[dict[str, JsonValue]]:
        return warehouse.query(
            f"SELECT task_id, instruction, status FROM tasks AT (VERSION => {here})"
            f" WHERE task_id NOT IN (SELECT task_id FROM tasks AT (VERSION => {there}))"
            f" ORDER BY task_id LIMIT {TASKS_SHOWN}"
        ).as_dicts()

    changed = warehouse.query(
        "SELECT task_id, a.instruction AS instruction_before, b.instruction AS instruction_after, a.status"
        " AS status_before, b.status AS status_after, len(a.nodes) AS nodes_before, len(b.nodes) AS"
        " nodes_after, hash(a.nodes, a.edges) <> hash(b.nodes, b.edges) AS graph FROM (SELECT * FROM tasks"
        f" AT (VERSION => {first})) AS a JOIN (SELECT * FROM tasks AT (VERSION => {second})) AS b USING"
        " (task_id) WHERE a.instruction <> b.instruction OR a.status <> b.status OR hash(a.nodes, a.edges)"
        f" <> hash(b.nodes, b.edges) ORDER BY task_id LIMIT {TASKS_SHOWN}"
    )
    return {
        "added": only_in(second, first),
        "removed": only_in(first, second),
        "changed": changed.as_dicts(),
    }


def add_pages(application: FastAPI, site: Site) -> None:
    """Add the page, which asks the present state about both versions."""

    @application.get("/compare")
    def compare(request: Request) -> HTMLResponse:
        first, second = request.query_params.get("first", ""), request.query_params.get("second", "")
        versions = {item.name: item for item in site.store.versions()}
        for name in (first, second):
            if name not in versions:
                known = ", ".join(versions) or "none yet"
                raise HTTPException(404, f"There is no dataset version {name!r}; published: {known}.")
        before, after = versions[first], versions[second]
        changes = {item.table: item for item in differences(site.store, first, second)}
        tables = sorted({*before.counts, *after.counts})
        unchanged = TableChange(table="", added=0, removed=0, changed=0)
        return site.page(
            "compare.html.jinja",
            before=before,
            after=after,
            rows=[
                (name, before.counts.get(name), after.counts.get(name), changes.get(name, unchanged))
                for name in tables
            ],
            steps=[step for step in dict.fromkeys((*before.funnel, *after.funnel)) if ": " not in step],
            tasks=task_changes(site.store, before.snapshot_id, after.snapshot_id),
            most=TASKS_SHOWN,
        )
