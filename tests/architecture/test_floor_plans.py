"""The docstring of a package is its floor plan: it names what stands in the folder, and nothing that does
not."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.sources import MODULES, ROOT, docstring, module_name
from tests.architecture.test_public_functions import FOUND_BY_NAME

FLOORS = [path.parent for path in MODULES if path.name == "__init__.py"]
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


def plan(folder: Path) -> str:
    return docstring(folder / "__init__.py")


def unnamed(folder: Path) -> list[str]:
    """Modules and folders that the plan of a folder lacks."""
    return sorted(standing_in(folder) - UNDERSTOOD - set(re.findall(r"\w+", plan(folder))))


def absent(folder: Path) -> list[str]:
    """What the plan of a folder names although it is not there."""
    named = {name for row in ROW.findall(plan(folder)) for name in row.replace("/", "").split(", ")}
    return sorted(named - {item.stem for item in folder.iterdir()})


def by_folder(found: dict[Path, list[str]]) -> dict[str, list[str]]:
    return {str(folder.relative_to(ROOT)): names for folder, names in found.items() if names}


def test_a_floor_plan_names_every_module_of_its_folder() -> None:
    found = {folder: unnamed(folder) for folder in FLOORS if not plug_ins(folder)}
    assert by_folder(found) == {}, "add a line for each to the package's docstring"


def test_a_floor_plan_names_nothing_that_is_not_there() -> None:
    assert by_folder({folder: absent(folder) for folder in FLOORS}) == {}


def test_a_folder_with_many_modules_has_subfolders() -> None:
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) - 1 for folder in FLOORS}
    crowded = {name: count for name, count in counts.items() if count > MOST_ON_A_SHELF}
    free = {*LONGER, *(str(folder.relative_to(ROOT)) for folder in FLOORS if plug_ins(folder))}
    assert crowded.keys() - free == set()
