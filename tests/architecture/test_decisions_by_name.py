"""Nothing decides by the name of a class or of its module: classes are compared themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.test_packages import MODULES, ROOT

NAMES = {"__name__", "__module__", "__qualname__"}
TESTS_OF_TEXTS = {"startswith", "endswith", "find", "index", "count", "split", "partition", "get"}


def decisions(source: str) -> list[int]:
    """Lines in which a class's name is compared, searched, matched on, or looked up."""
    found: list[int] = []
    if not any(name in source for name in NAMES):
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            looked_at = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_at = [node.func.value, *node.args] if node.func.attr in TESTS_OF_TEXTS else []
        elif isinstance(node, ast.Subscript):
            looked_at = [node.slice]
        elif isinstance(node, ast.Match):
            looked_at = [node.subject]
        else:
            looked_at = []
        found += [
            part.lineno
            for item in looked_at
            for part in ast.walk(item)
            if isinstance(part, ast.Attribute) and part.attr in NAMES
        ]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_decides_by_the_name_of_a_class(path: Path) -> None:
    assert decisions(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("line", "decides"),
    [
        ("if type(error).__module__.startswith('httpx'): pass", True),
        ("if 'budget' in type(error).__name__.lower(): pass", True),
        ("codes[type(error).__name__]", True),
        ("codes.get(type(error).__name__)", True),
        ("message = f'{type(error).__name__}: {error}'", False),
        ("if __name__ == '__main__': pass", False),
    ],
)
def test_the_check_tells_decisions_from_messages(line: str, decides: bool) -> None:
    assert bool(decisions(line)) is decides
