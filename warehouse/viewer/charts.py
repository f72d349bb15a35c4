"""Bar charts of a dataset, counted by SQL; the report and the viewer draw them with one macro."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taskloom.resources.dimensions import LEVELS, TABLE, DimensionDefinition
from taskloom.warehouse.store import Warehouse


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: a label, its count, and how long it is drawn."""

    label: str
    count: float
    share: float
    """Length, as a share of the longest bar."""
    style: str = ""
    """Class name for its colour."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A horizontal bar chart, ready to draw; the templates compute nothing."""

    title: str
    note: str
    """Unit or remark."""
    bars: tuple[Bar, ...]


def chart(title: str, note: str, rows: Sequence[tuple[str, object]]) -> Chart:
    """A chart of labelled counts; negative ones have no length."""
    counts = [(label, float(str(count))) for label, count in rows]
    longest = max((count for _, count in counts), default=0) or 1
    return Chart(title, note, tuple(Bar(label, count, max(0.0, count / longest)) for label, count in counts))


def counted(warehouse: Warehouse, title: str, note: str, sql: str) -> Chart:
    """A chart of a two-column query, longest bar first."""
    rows = [
        (str(label) or "none", count) for label, count in warehouse.query(f"{sql} ORDER BY 2 DESC, 1").rows()
    ]
    return chart(title, note, rows)


def funnel_charts(warehouse: Warehouse) -> tuple[Chart, Chart]:
    """How many items reached each step, and why the others did not."""
    rows = warehouse.query("SELECT step, reason, items FROM funnel").as_dicts()
    return (
        chart("Funnel", "items", [(str(row["step"]), row["items"]) for row in rows if not row["reason"]]),
        chart(
            "Rejected",
            "items by reason; each is kept",
            [
                (
                    f"{str(row['step']).removesuffix(' rejected')}: {str(row['reason']).replace('_', ' ')}",
                    row["items"],
                )
                for row in rows
                if row["reason"]
            ],
        ),
    )


def complexity_charts(warehouse: Warehouse) -> tuple[Chart, ...]:
    """Tasks per level, then tasks per value, for each dimension of Table 2."""
    return tuple(item for row in TABLE for item in _complexity(warehouse, row))


def scenario_chart(warehouse: Warehouse) -> Chart:
    """Tasks per scenario."""
    return counted(warehouse, "Scenarios", "tasks", "SELECT scenario, count(*) FROM tasks GROUP BY 1")


def application_chart(warehouse: Warehouse) -> Chart:
    """Tasks per application; a task counts for each it uses."""
    return counted(
        warehouse,
        "Applications",
        "tasks that use each",
        "SELECT application, count(*) FROM (SELECT unnest(applications) AS application FROM tasks)"
        " GROUP BY 1",
    )


def function_figures(warehouse: Warehouse) -> dict[str, str]:
    """How well the accepted evaluation functions tell right from wrong, in words and numbers."""
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
        "of it rejected": str(row["killed"] or 0),
        "pieces of right work done otherwise": str(row["variants"] or 0),
        "of it accepted": str(row["accepted"] or 0),
        "held against a second route": str(row["routed"] or 0),
        "mean mutation score": _percent(row["mutation"]),
        "mean share of checks on clicks and typing": _percent(row["route"]),
    }


def _complexity(warehouse: Warehouse, dimension: DimensionDefinition) -> tuple[Chart, Chart]:
    levels = {
        str(level): int(str(count))
        for level, count in warehouse.query(
            f"SELECT {dimension.level_column}, count(*) FROM tasks GROUP BY 1"
        ).rows()
    }
    longest = max(levels.values(), default=0) or 1
    by_level = Chart(
        f"{dimension.name.capitalize()} complexity",
        "tasks per level",
        tuple(Bar(level, levels.get(level, 0), levels.get(level, 0) / longest, level) for level in LEVELS),
    )
    values = warehouse.query(f"SELECT {dimension.column}, count(*) FROM tasks GROUP BY 1 ORDER BY 1").rows()
    return by_level, chart(
        dimension.plural.capitalize(),
        f"tasks by {dimension.plural}",
        [(str(value), count) for value, count in values],
    )


def _percent(value: object) -> str:
    return "–" if value is None else f"{float(str(value)):.0%}"
