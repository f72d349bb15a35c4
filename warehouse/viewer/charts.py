"""Bar charts of a dataset, counted by SQL; the report and the viewer draw them with one macro."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.resources.dimensions import LEVELS, TABLE, DimensionDefinition
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import ERROR_RATES_UNKNOWN, error_rates

_RUNS_SHOWN = 50
_BY_AGENT = (
    "SELECT agent, run_id, count(*) AS attempts, count(DISTINCT task_id) AS tasks, avg(CASE WHEN success"
    " THEN 1.0 ELSE 0.0 END) AS success_rate, avg(coverage_rate) AS coverage_rate, avg(logical_consistency)"
    " AS logical_consistency, count(logical_consistency) AS consistency_defined, avg(CASE WHEN side_effects"
    " IS NOT NULL THEN CASE WHEN success AND side_effects.total = 0 THEN 1.0 ELSE 0.0 END END) AS"
    " clean_success_rate, avg(side_effects.total) AS side_effects, avg(steps) AS steps, avg(seconds) AS"
    " seconds FROM agent_runs WHERE outcome <> 'invalid' GROUP BY agent, run_id ORDER BY run_id DESC, agent"
    f" LIMIT {_RUNS_SHOWN}"
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: a label, its count and its length."""

    label: str
    count: float
    share: float
    """Length, as a share of the longest bar."""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A horizontal bar chart, ready to draw; the templates compute nothing."""

    title: str
    note: str
    bars: tuple[Bar, ...]


def chart(title: str, note: str, rows: Sequence[tuple[str, object]], *, coloured: bool = False) -> Chart:
    """A chart of labelled counts, `coloured` by label or not; negative ones have no length."""
    counts = [(label, float(str(count))) for label, count in rows]
    longest = max((count for _, count in counts), default=0) or 1
    bars = (
        Bar(label, count, max(0.0, count / longest), label if coloured else "") for label, count in counts
    )
    return Chart(title, note, tuple(bars))


def funnel_charts(warehouse: Warehouse) -> tuple[Chart, Chart]:
    """How many items reached each step, and why the others did not."""
    rows = list(warehouse.query("SELECT step, reason, items FROM funnel").rows())
    rejected = [
        (f"{str(step).removesuffix(' rejected')}: {str(reason).replace('_', ' ')}", items)
        for step, reason, items in rows
        if reason
    ]
    return (
        chart("Funnel", "items", [(str(step), items) for step, reason, items in rows if not reason]),
        chart("Rejected", "items by reason; each is kept", rejected),
    )


def complexity_charts(warehouse: Warehouse) -> tuple[Chart, ...]:
    """Tasks per level, then tasks per value, for each dimension of Table 2."""
    return tuple(item for row in TABLE for item in _dimension_charts(warehouse, row))


def place_charts(warehouse: Warehouse) -> tuple[Chart, Chart]:
    """Tasks per scenario and per application; a task counts for each application that it uses."""

    def count_chart(title: str, note: str, column: str) -> Chart:
        sql = f"SELECT name, count(*) FROM (SELECT {column} AS name FROM tasks) GROUP BY 1 ORDER BY 2 DESC, 1"
        rows = warehouse.query(sql).rows()
        return chart(title, note, [(str(name) or "none", count) for name, count in rows])

    return (
        count_chart("Scenarios", "tasks", "scenario"),
        count_chart("Applications", "tasks that use each", "unnest(applications)"),
    )


def dataset_figures(warehouse: Warehouse) -> dict[str, object]:
    """What the overview and the report show of a dataset, under their templates' names."""
    funnel, rejections = funnel_charts(warehouse)
    return {
        "funnel": funnel,
        "rejections": rejections,
        "quality": function_figures(warehouse),
        "rates": error_rates(warehouse),
        "rates_unknown": ERROR_RATES_UNKNOWN,
        "agents": agent_figures(warehouse),
        "places": place_charts(warehouse),
    }


def agent_figures(warehouse: Warehouse) -> list[dict[str, JsonValue]]:
    """A row per agent and run, the latest first: valid attempts, and means of what section 4.1 measures.

    `logical_consistency` is over the `consistency_defined` attempts for which it is defined, None without
    any.
    """
    return warehouse.query(_BY_AGENT).as_dicts()


def function_figures(warehouse: Warehouse) -> dict[str, str]:
    """How well the accepted evaluation functions distinguish right from wrong, as labelled figures."""
    row = warehouse.query(
        "SELECT count(*) AS functions, sum(negatives) AS negatives, sum(negatives_killed) AS killed,"
        " sum(variants) AS variants, sum(variants_accepted) AS accepted, count(*) FILTER (routes > 1) AS"
        " routed, avg(mutation_score) AS mutation, avg(route_dependence) AS route FROM evaluation_quality"
    ).as_dicts()[0]
    if not row["functions"]:
        return {}
    return {
        "accepted evaluation functions": str(row["functions"]),
        "pieces of wrong evidence judged": str(row["negatives"] or 0),
        "of these, rejected": str(row["killed"] or 0),
        "pieces of right work done differently": str(row["variants"] or 0),
        "of these, accepted": str(row["accepted"] or 0),
        "compared with a second route": str(row["routed"] or 0),
        "mean mutation score": _percent(row["mutation"]),
        "mean share of checks on clicks and typing": _percent(row["route"]),
    }


def _dimension_charts(warehouse: Warehouse, dimension: DimensionDefinition) -> tuple[Chart, Chart]:
    result = warehouse.query(f"SELECT {dimension.level_column}, count(*) FROM tasks GROUP BY 1")
    levels = {str(level): count for level, count in result.rows()}
    by_level = chart(
        f"{dimension.name.capitalize()} complexity",
        "tasks per level",
        [(level, levels.get(level, 0)) for level in LEVELS],
        coloured=True,
    )
    values = warehouse.query(f"SELECT {dimension.column}, count(*) FROM tasks GROUP BY 1 ORDER BY 1").rows()
    return by_level, chart(
        dimension.plural.capitalize(),
        f"tasks by {dimension.plural}",
        [(str(value), count) for value, count in values],
    )


def _percent(value: object) -> str:
    return "–" if value is None else f"{float(str(value)):.0%}"
