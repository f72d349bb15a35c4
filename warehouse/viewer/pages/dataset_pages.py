"""Pages about the dataset as a whole: overview, complexity, costs, and two versions side by side."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, cast

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, TABLE, Cell
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.versions import TableChange, differences
from taskloom.warehouse.viewer.charts import Chart, chart, complexity_charts, dataset_figures
from taskloom.warehouse.viewer.pages.task_pages import TaskFilter
from taskloom.warehouse.viewer.website import Site, address

_RUNS_SHOWN = 50
TASKS_SHOWN: Final = 50
_DATASET = (
    "SELECT (SELECT count(*) FROM tasks) AS tasks, (SELECT count(*) FROM subtasks) AS subtasks,"
    " (SELECT count(DISTINCT subtask_id) FROM evaluation_functions WHERE accepted) AS verified,"
    " (SELECT count(DISTINCT application) FROM subtasks) AS applications,"
    " (SELECT count(*) FROM replays WHERE success) AS replays"
)
_SUMS = (
    "count(*) AS calls, coalesce(sum(input_tokens), 0)::BIGINT AS input_tokens,"
    " coalesce(sum(cached_input_tokens), 0)::BIGINT AS cached_input_tokens,"
    " coalesce(sum(output_tokens), 0)::BIGINT AS output_tokens, coalesce(sum(cost_usd), 0.0) AS cost_usd"
)
_TOTALS = f"SELECT {_SUMS} FROM model_calls"
_COSTS = (
    f"SELECT stage, role, provider, model, {_SUMS}, avg(latency_seconds) AS mean_latency_seconds"
    " FROM model_calls GROUP BY ALL ORDER BY cost_usd DESC, calls DESC, stage, role, provider, model"
)


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/` (overview), `/complexity` and `/costs`, whose counts are cached, and for the present state
    `/compare` of two versions."""

    @application.get("/")
    def overview(request: Request) -> HTMLResponse:
        return site.cache.get("overview", lambda: _overview(site))

    @application.get("/complexity")
    def complexity(request: Request) -> HTMLResponse:
        values = TaskFilter.of(request.query_params).values
        chosen: dict[str, str] = {name: values[name] for name in DIMENSIONS}
        cells = site.cache.get("cells", lambda: read_cells(site.store))
        charts = site.cache.get("complexity", lambda: complexity_charts(site.store))
        fixed = {name: level for name, level in chosen.items() if level}
        return site.page(
            "complexity.html.jinja",
            rows=_level_rows(cells, fixed),
            columns_of=_COLUMNS,
            rows_of=_ROWS,
            summed_up=_SUMMED_UP,
            pairs=list(product(LEVELS, repeat=2)),
            map_rows=_map_rows(cells, fixed),
            tasks=_count_tasks(cells, fixed),
            existing=sum(_matches(cell, fixed) for cell in possible_cells()),
            filled=sum(_matches(cell, fixed) for cell, count in cells.items() if count),
            tasks_link=address("/tasks", fixed),
            chosen=chosen,
            charts=charts,
        )

    @application.get("/costs")
    def costs(request: Request) -> HTMLResponse:
        return site.cache.get("costs", lambda: _costs(site))

    if site.store.version is None:

        @application.get("/compare")
        def compare(request: Request) -> HTMLResponse:
            query = request.query_params
            return _comparison(site, query.get("first", ""), query.get("second", ""))


def _overview(site: Site) -> HTMLResponse:
    store = site.store
    versions = store.versions()
    steps = list(dict.fromkeys(step for item in versions for step in item.funnel if ": " not in step))
    return site.page(
        "overview.html.jinja",
        versions=list(reversed(versions)),
        steps=steps,
        **dataset_figures(store),
        totals=store.query(_DATASET).as_dicts()[0],
        cells=sum(1 for count in read_cells(store).values() if count),
        runs=list(store.read(RunRecord, order_by="started_at DESC, run_id"))[:_RUNS_SHOWN],
    )


def _costs(site: Site) -> HTMLResponse:
    totals = site.store.query(_TOTALS).as_dicts()[0]
    return site.page(
        "costs.html.jinja",
        totals=totals,
        rows=site.store.query(_COSTS).as_dicts(),
        charts=_cost_charts(site.store, bool(totals["cost_usd"])),
    )


def _cost_charts(store: Warehouse, charged: bool) -> tuple[Chart, ...]:
    def sum_chart(title: str, note: str, label: str, amount: str) -> Chart:
        rows = store.query(
            f"SELECT {label}, {amount} FROM model_calls GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"
        ).rows()
        return chart(title, note, [(str(name).replace("_", " "), count) for name, count in rows])

    return (
        sum_chart("Price by stage", "US dollars", "stage", "sum(cost_usd)")
        if charged
        else sum_chart("Input tokens by stage", "nothing was charged", "stage", "sum(input_tokens)::BIGINT"),
        sum_chart("Calls by stage", "answers from the ledger included", "stage", "count(*)"),
        sum_chart("Output tokens by role", "reasoning included", "role", "sum(output_tokens)::BIGINT"),
        sum_chart("Outcomes", "what became of the replies", "outcome", "count(*)"),
    )


_Places = list[dict[str, object]]
_SHADES = 5  # besides 0, for no tasks
_ROWS, _COLUMNS, _SUMMED_UP = (
    tuple(row.name for row in TABLE if row.on_map == place) for place in ("row", "column", "")
)


def read_cells(warehouse: Warehouse) -> dict[Cell, int]:
    """Number of tasks for each combination of levels that occurs."""
    columns = ", ".join(f"{dimension}_level" for dimension in DIMENSIONS)
    rows = warehouse.query(f"SELECT {columns}, tasks FROM complexity_cells").rows()
    return {cast(Cell, tuple(levels)): int(str(tasks)) for *levels, tasks in rows}


def _level_rows(cells: Mapping[Cell, int], fixed: Mapping[str, str]) -> list[tuple[str, _Places]]:
    """A row per dimension with a cell per level, which counts tasks with it and the other fixed levels."""
    rows = []
    for dimension in map(str, DIMENSIONS):
        others = {name: level for name, level in fixed.items() if name != dimension}
        places = _places(cells, [{**others, dimension: level} for level in LEVELS])
        for place, level in zip(places, LEVELS, strict=True):
            chosen = level == fixed.get(dimension)
            link = address("/complexity", others if chosen else {**others, dimension: level})
            place |= {"label": f"{dimension} {level}", "chosen": chosen, "link": link}
        rows.append((dimension, places))
    return rows


def _map_rows(cells: Mapping[Cell, int], fixed: Mapping[str, str]) -> list[_Places]:
    pairs = list(product(LEVELS, repeat=2))
    others: dict[str, str] = {name: fixed[name] for name in _SUMMED_UP if name in fixed}
    wanted: list[dict[str, str]] = [
        {**dict(zip(map(str, (*_ROWS, *_COLUMNS)), map(str, (*row, *column)), strict=True)), **others}
        for row in pairs
        for column in pairs
    ]
    places = _places(cells, wanted)
    for place, item in zip(places, wanted, strict=True):
        label = ", ".join(f"{name} {level}" for name, level in item.items())
        chosen = bool(fixed) and fixed.items() <= item.items()
        place |= {"label": label, "chosen": chosen, "link": address("/tasks", item)}
    return [places[start : start + len(pairs)] for start in range(0, len(places), len(pairs))]


def _places(cells: Mapping[Cell, int], wanted: Sequence[Mapping[str, str]]) -> _Places:
    """For each combination of levels, the tasks that have it, and whether any graph can."""
    counts = [_count_tasks(cells, item) for item in wanted]
    return [
        {
            "count": count,
            "possible": any(_matches(cell, item) for cell in possible_cells()),
            "shade": 0 if not count else max(1, round(_SHADES * count / max(counts))),
        }
        for item, count in zip(wanted, counts, strict=True)
    ]


def _matches(cell: Cell, wanted: Mapping[str, str]) -> bool:
    return all(wanted.get(name, level) == level for name, level in zip(DIMENSIONS, cell, strict=True))


def _count_tasks(cells: Mapping[Cell, int], wanted: Mapping[str, str]) -> int:
    return sum(count for cell, count in cells.items() if _matches(cell, wanted))


def _comparison(site: Site, first: str, second: str) -> HTMLResponse:
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


def task_changes(warehouse: Warehouse, first: int, second: int) -> dict[str, list[dict[str, JsonValue]]]:
    """The tasks that differ between two snapshots: `added`, `removed`, and `changed` with both states."""

    def only_in(snapshot: int, other: int) -> list[dict[str, JsonValue]]:
        return warehouse.query(
            f"SELECT task_id, instruction, status FROM tasks AT (VERSION => {snapshot})"
            f" WHERE task_id NOT IN (SELECT task_id FROM tasks AT (VERSION => {other}))"
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
