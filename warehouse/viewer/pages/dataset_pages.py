"""Pages about the dataset as a whole: overview, complexity, costs."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from taskloom.resources.dimensions import DIMENSIONS
from taskloom.warehouse.error_rates import UNKNOWN, error_rates
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
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
from taskloom.warehouse.viewer.pages.level_grid import level_grid, read_cells
from taskloom.warehouse.viewer.pages.task_list import TaskFilter
from taskloom.warehouse.viewer.website import Site

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
    " FROM costs GROUP BY stage, role, provider, model ORDER BY cost_usd DESC, calls DESC, stage, role"
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
        runs=list(store.read(RunRecord, order_by="started_at DESC"))[:_RUNS_SHOWN],
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
