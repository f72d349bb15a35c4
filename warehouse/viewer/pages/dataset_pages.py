"""Pages about the dataset as a whole: overview, complexity, costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, TABLE, Cell, Dimension
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.taskgraph.measures.per_dimension import LevelConstraint
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import UNKNOWN, error_rates
from taskloom.warehouse.viewer.charts import (
    Chart,
    application_chart,
    chart,
    complexity_charts,
    function_figures,
    funnel_charts,
    scenario_chart,
)
from taskloom.warehouse.viewer.pages.agent_attempts import agent_figures
from taskloom.warehouse.viewer.pages.task_list import TaskFilter
from taskloom.warehouse.viewer.website import Site, address

_RUNS_SHOWN = 50
_DATASET = (
    "SELECT (SELECT count(*) FROM tasks) AS tasks, (SELECT count(*) FROM subtasks) AS subtasks,"
    " (SELECT count(DISTINCT subtask_id) FROM evaluation_functions WHERE accepted) AS verified,"
    " (SELECT count(DISTINCT application) FROM subtasks) AS applications,"
    " (SELECT count(*) FROM replays WHERE success) AS replays"
)
_COSTS = (
    "SELECT stage, role, provider, model, sum(calls)::BIGINT AS calls,"
    " sum(input_tokens)::BIGINT AS input_tokens, sum(cached_input_tokens)::BIGINT AS cached_input_tokens,"
    " sum(output_tokens)::BIGINT AS output_tokens, sum(cost_usd) AS cost_usd,"
    " sum(mean_latency_seconds * calls) / sum(calls)"
    " AS mean_latency_seconds"
    " FROM costs GROUP BY stage, role, provider, model ORDER BY cost_usd DESC, calls DESC, stage, role,"
    " provider, model"
)
_TOTALS = (
    "SELECT count(*) AS calls,"
    " coalesce(sum(input_tokens), 0)::BIGINT AS input_tokens,"
    " coalesce(sum(cached_input_tokens), 0)::BIGINT AS cached_input_tokens,"
    " coalesce(sum(output_tokens), 0)::BIGINT AS output_tokens,"
    " coalesce(sum(cost_usd), 0.0) AS cost_usd FROM model_calls"
)


def add_pages(application: FastAPI, site: Site) -> None:
    """Add `/` (overview), `/complexity` and `/costs`; what they count is remembered."""

    @application.get("/")
    def overview(request: Request) -> HTMLResponse:
        return site.memory.get("overview", lambda: _overview(site))

    @application.get("/complexity")
    def complexity(request: Request) -> HTMLResponse:
        values = TaskFilter.of(request.query_params).values
        chosen: dict[str, str] = {name: values[name] for name in DIMENSIONS}
        cells = site.memory.get("cells", lambda: read_cells(site.store))
        charts = site.memory.get("complexity", lambda: complexity_charts(site.store))
        return site.page(
            "complexity.html.jinja", grid=level_grid(cells, chosen), chosen=chosen, charts=charts
        )

    @application.get("/costs")
    def costs(request: Request) -> HTMLResponse:
        return site.memory.get("costs", lambda: _costs(site))


def _overview(site: Site) -> HTMLResponse:
    store = site.store
    funnel, rejections = funnel_charts(store)
    versions = store.versions()
    steps = list(dict.fromkeys(step for item in versions for step in item.funnel if ": " not in step))
    return site.page(
        "overview.html.jinja",
        versions=list(reversed(versions)),
        steps=steps,
        funnel=funnel,
        rejections=rejections,
        quality=function_figures(store),
        rates=error_rates(store),
        rates_unknown=UNKNOWN,
        totals=store.query(_DATASET).as_dicts()[0],
        cells=sum(1 for count in read_cells(store).values() if count),
        agents=agent_figures(store),
        scenarios=scenario_chart(store),
        applications=application_chart(store),
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
    def counted(title: str, note: str, label: str, amount: str) -> Chart:
        rows = store.query(
            f"SELECT {label}, {amount} FROM model_calls GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"
        ).rows()
        return chart(title, note, [(str(name).replace("_", " "), count) for name, count in rows])

    return (
        counted("Price by stage", "US dollars", "stage", "sum(cost_usd)")
        if charged
        else counted("Input tokens by stage", "nothing was charged", "stage", "sum(input_tokens)::BIGINT"),
        counted("Calls by stage", "answers from the ledger included", "stage", "count(*)"),
        counted("Output tokens by role", "reasoning included", "role", "sum(output_tokens)::BIGINT"),
        counted("Outcomes", "what became of the replies", "outcome", "count(*)"),
    )


_SHADES = 5
_ROWS, _COLUMNS, _SUMMED_UP = (
    tuple(row.name for row in TABLE if row.on_map == place) for place in ("row", "column", "")
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """One place of the grid or of the map."""

    label: str
    """Its levels, in words."""
    count: int
    possible: bool
    """Whether some graph has these levels."""
    chosen: bool
    link: str
    shade: int
    """How dark it is drawn, from 0 (no task) to 5."""


@dataclass(frozen=True, slots=True)
class LevelGrid:
    """How the tasks spread over the levels, given the levels chosen so far."""

    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    """A row per dimension: its name and a place per level."""
    columns_of: tuple[Dimension, ...]
    """Dimensions across the map."""
    rows_of: tuple[Dimension, ...]
    """Dimensions down the map."""
    summed_up: tuple[Dimension, ...]
    """Dimensions that are not on the map."""
    map_columns: tuple[str, ...]
    """Heads of the map's columns: a level of each dimension across it."""
    map_rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    """The map's rows: a level of each dimension down it, and the places."""
    tasks: int
    """Tasks that have the chosen levels."""
    existing: int
    """Cells with the chosen levels that some graph has."""
    filled: int
    """Of these, cells that have a task."""
    tasks_link: str


def read_cells(warehouse: Warehouse) -> dict[Cell, int]:
    """Number of tasks per combination of levels that occurs."""
    columns = ", ".join(f"{dimension}_level" for dimension in DIMENSIONS)
    found: dict[Cell, int] = {}
    for row in warehouse.query(f"SELECT {columns}, tasks FROM complexity_cells").as_dicts():
        levels = LevelConstraint.model_validate(
            {dimension: (row[f"{dimension}_level"],) for dimension in DIMENSIONS}
        )
        found[tuple(levels.levels(dimension)[0] for dimension in DIMENSIONS)] = int(str(row["tasks"]))
    return found


def level_grid(cells: Mapping[Cell, int], chosen: Mapping[str, str]) -> LevelGrid:
    """The grid for `cells` when the levels `chosen` (by dimension) are fixed.

    A place counts the tasks with its level and the levels chosen in the other dimensions; it is impossible
    where no graph has them together.
    """
    fixed = {name: level for name, level in chosen.items() if level}
    rows = []
    for dimension in DIMENSIONS:
        others = {name: level for name, level in fixed.items() if name != dimension}
        counts = [_count(cells, {**others, dimension: level}) for level in LEVELS]
        rows.append(
            (
                dimension,
                tuple(
                    GridCell(
                        label=f"{dimension} {level}",
                        count=count,
                        possible=_exists({**others, dimension: level}),
                        chosen=fixed.get(dimension) == level,
                        link=address(
                            "/complexity",
                            others if fixed.get(dimension) == level else {**others, dimension: level},
                        ),
                        shade=_shade(count, max(counts)),
                    )
                    for level, count in zip(LEVELS, counts, strict=True)
                ),
            )
        )
    map_columns, map_rows = _map(cells, fixed)
    return LevelGrid(
        rows=tuple(rows),
        columns_of=_COLUMNS,
        rows_of=_ROWS,
        summed_up=_SUMMED_UP,
        map_columns=map_columns,
        map_rows=map_rows,
        tasks=_count(cells, fixed),
        existing=sum(_has(cell, fixed) for cell in possible_cells()),
        filled=sum(_has(cell, fixed) for cell, count in cells.items() if count),
        tasks_link=address("/tasks", fixed),
    )


def _map(
    cells: Mapping[Cell, int], fixed: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[GridCell, ...]], ...]]:
    pairs = list(product(LEVELS, repeat=2))
    others: dict[str, str] = {name: fixed[name] for name in _SUMMED_UP if name in fixed}
    levels: dict[tuple[Cell, Cell], dict[str, str]] = {
        (row, column): {
            **dict(zip(_ROWS, row, strict=True)),
            **dict(zip(_COLUMNS, column, strict=True)),
            **others,
        }
        for row in pairs
        for column in pairs
    }
    counts = {place: _count(cells, wanted) for place, wanted in levels.items()}
    most = max(counts.values(), default=0)
    rows = []
    for row in pairs:
        places = []
        for column in pairs:
            wanted = levels[row, column]
            places.append(
                GridCell(
                    label=", ".join(f"{name} {level}" for name, level in wanted.items()),
                    count=counts[row, column],
                    possible=_exists(wanted),
                    chosen=bool(fixed) and all(wanted.get(name) == level for name, level in fixed.items()),
                    link=address("/tasks", wanted),
                    shade=_shade(counts[row, column], most),
                )
            )
        rows.append((" / ".join(row), tuple(places)))
    return tuple(" / ".join(pair) for pair in pairs), tuple(rows)


def _has(cell: Cell, wanted: Mapping[str, str]) -> bool:
    return all(wanted.get(name, level) == level for name, level in zip(DIMENSIONS, cell, strict=True))


def _count(cells: Mapping[Cell, int], wanted: Mapping[str, str]) -> int:
    return sum(count for cell, count in cells.items() if _has(cell, wanted))


def _exists(wanted: Mapping[str, str]) -> bool:
    return any(_has(cell, wanted) for cell in possible_cells())


def _shade(count: int, most: int) -> int:
    return 0 if not count else max(1, round(_SHADES * count / most))
