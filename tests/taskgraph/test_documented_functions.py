"""Every public function of graph mathematics and scoring shows an example, and is held against an oracle or a
rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, module_name

MODULES = sorted(
    module_name(path)
    for modules in (
        "taskgraph/measures/*.py",
        "taskgraph/reading/*.py",
        "taskgraph/drawing.py",
        "omnieval/*.py",
    )
    for path in ROOT.glob(modules)
    if path.stem not in {"__init__", "errors", "experiments"}
)
TESTS = Path(__file__).parents[1]
FUNCTIONS = [
    pytest.param(function, id=f"{module}.{name}")
    for module in MODULES
    for name, function in inspect.getmembers(import_module(module), callable)
    if getattr(function, "__module__", "") == module
    and not inspect.isclass(function)
    and not name.startswith("_")
    and name != "inconsistencies_of"
]


@cache
def sources_of_tests() -> str:
    return "".join(file.read_text(encoding="utf-8") for file in TESTS.rglob("test_*.py"))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_shows_an_example_that_is_run(function: Callable[..., object]) -> None:
    assert ">>>" in inspect.getdoc(function)  # type: ignore[operator]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_called_in_a_test(function: Callable[..., object]) -> None:
    assert f"{function.__name__}(" in sources_of_tests()
