"""A complexity dimension is named in few modules; everything else derives from the table."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from taskloom.resources import dimensions
from taskloom.resources.dimensions import (
    DIMENSIONS,
    EVERY_CELL,
    LEVELS,
    TABLE,
    Dimension,
    Level,
    once_per_dimension,
)
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.taskgraph.measures.complexity import Shape, cell_of, complexity_from_shape
from taskloom.taskgraph.measures.per_dimension import LevelConstraint, MeasureRanges, PerDimension
from taskloom.taskgraph.records.task import Complexity
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.schema import TABLE_NAMED
from taskloom.warehouse.views import views
from tests.architecture.sources import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
NAMED_IN = {
    "resources/dimensions.py",
    "resources/catalog/capabilities.yaml",
    "taskgraph/measures/per_dimension.py",
    "taskgraph/records/task.py",
}
"""The table, the constraints with a typed field each, the stored record, and Table 12 as data."""
UNMISTAKABLE = ("hierarchy", "branch")
"""Dimensions whose names mean nothing else in this project."""
LEVEL_COLUMN = re.compile(rf"\b({'|'.join(DIMENSIONS)})_level\b")


def _without_docstrings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                item
                for item in body
                if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
            ] or [ast.Pass()]
    return ast.unparse(tree)


def _names_a_dimension(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py" and (any(name in text for name in UNMISTAKABLE) or LEVEL_COLUMN.search(text)):
        text = _without_docstrings(text)
    return any(re.search(rf"\b{name}\b", text) for name in UNMISTAKABLE) or any(
        match[1] != "instruction" or path.suffix != ".py" for match in LEVEL_COLUMN.finditer(text)
    )


def test_a_dimension_is_named_in_few_modules() -> None:
    suffixes = {".py", ".sql", ".yaml", ".jinja", ".js", ".html"}
    files = [
        path for package in PACKAGES for path in (ROOT / package).rglob("*.*") if path.suffix in suffixes
    ]
    assert len(files) > 300
    named = {str(path.relative_to(ROOT)) for path in files if _names_a_dimension(path)}
    assert named == NAMED_IN


def test_the_search_finds_a_module_that_names_one(tmp_path: Path) -> None:
    guilty = tmp_path / "guilty.py"
    guilty.write_text('"""Says hierarchy."""\nLEVEL = row["branch_level"]\n', encoding="utf-8")
    assert _names_a_dimension(guilty)
    guilty.write_text('"""Says hierarchy."""\n', encoding="utf-8")
    assert not _names_a_dimension(guilty)


def test_the_table_has_a_row_per_name() -> None:
    assert get_args(Dimension) == DIMENSIONS
    assert get_args(Level) == LEVELS
    assert len({row.measure for row in TABLE}) == len({row.column for row in TABLE}) == len(TABLE)
    assert len(EVERY_CELL) == len(LEVELS) ** len(TABLE)


def test_records_and_columns_agree_with_the_table() -> None:
    for record in (PerDimension, LevelConstraint, MeasureRanges):
        assert tuple(record.model_fields) == DIMENSIONS
    assert {row.level_column for row in TABLE} | {row.measure for row in TABLE} <= set(
        Complexity.model_fields
    )
    columns = {column.name for column in TABLE_NAMED["tasks"].columns}
    assert {row.level_column for row in TABLE} | {row.column for row in TABLE} <= columns


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_levels_and_ranges_follow_from_a_row(row: dimensions.DimensionDefinition) -> None:
    for level in LEVELS:
        low, high = row.values(level)
        assert row.level(low) == row.level(high) == level
    assert MeasureRanges().of(row.name) == (row.lowest, row.highest)
    hard = LevelConstraint.model_validate({row.name: ("hard",)})
    cells = [cell for cell in possible_cells() if hard.allows(cell)]
    assert cells
    assert {cell[DIMENSIONS.index(row.name)] for cell in cells} == {"hard"}


def test_a_graph_has_the_levels_of_its_measures() -> None:
    complexity = complexity_from_shape(
        Shape(nodes=6, edges=5, depth=6, width=1, largest_layer=1, components=1), 2
    )
    assert cell_of(complexity) == tuple(row.level(getattr(complexity, row.measure)) for row in TABLE)


def test_queries_and_views_have_a_part_per_dimension() -> None:
    names = [parameter.name for parameter in named_query("tasks").parameters]
    assert [name for name in names if name in DIMENSIONS] == list(DIMENSIONS)
    cells = next(view for view in views() if view.name == "complexity_cells")
    assert list(cells.columns) == [row.level_column for row in TABLE] + ["tasks"]
    assert once_per_dimension("a\n{dimension}\n").splitlines() == ["a", *DIMENSIONS]


def test_a_sixth_dimension_reaches_sql_without_another_change(monkeypatch: pytest.MonkeyPatch) -> None:
    row = dimensions.DimensionDefinition(
        name="novelty",  # type: ignore[arg-type]
        measure="edges",
        column="novelty",
        singular="",
        plural="novelty",
        meaning="how new it is",
        easy=1,
        medium=2,
    )
    monkeypatch.setattr(dimensions, "TABLE", (*TABLE, row))
    lines = once_per_dimension("-- {dimension}_level: {meaning}").splitlines()
    assert lines[-1] == "-- novelty_level: how new it is"
