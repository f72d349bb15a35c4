"""The docstring of a package is its floor plan: it names what stands in the folder, and nothing that does
not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.test_packages import MODULES, ROOT, module_name
from tests.architecture.test_public_functions import FOUND_BY_NAME

FLOORS = [path for path in MODULES if path.name == "__init__.py"]
MOST_ON_A_SHELF = 16
"""Modules beside each other in one folder; with more, some of them are a shelf of their own."""
LONGER = {
    "taskgraph/records": "one subject each; every room imports them by that name",
}
UNDERSTOOD = {"errors", "lookup"}
"""Modules that mean the same in every package."""
ROW = re.compile(r"^((?:\w+/?, )*\w+)/?(?:<\w+>/)?  +\S", re.MULTILINE)


def plug_ins(folder: Path) -> bool:
    """Whether the folder's modules are found by their names, so that nothing has to list them."""
    return module_name(folder) in FOUND_BY_NAME


def standing_in(folder: Path) -> set[str]:
    """Modules and shelves of a folder."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in folder.glob("*/__init__.py")}


def plan(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("path", FLOORS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_floor_plan_names_every_module_of_its_folder(path: Path) -> None:
    if plug_ins(path.parent):
        return
    words = set(re.findall(r"\w+", plan(path)))
    assert sorted(standing_in(path.parent) - UNDERSTOOD - words) == [], (
        "add a line for each to the package's docstring"
    )


@pytest.mark.parametrize("path", FLOORS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_floor_plan_names_nothing_that_is_not_there(path: Path) -> None:
    folder = path.parent
    there = {item.stem for item in folder.iterdir()}
    named = {name for row in ROW.findall(plan(path)) for name in row.replace("/", "").split(", ")}
    assert sorted(named - there) == []


@pytest.mark.parametrize("path", FLOORS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_folder_with_many_modules_has_shelves(path: Path) -> None:
    folder = path.parent
    count = len(list(folder.glob("*.py"))) - 1
    name = str(folder.relative_to(ROOT))
    assert plug_ins(folder) or name in LONGER or count <= MOST_ON_A_SHELF
