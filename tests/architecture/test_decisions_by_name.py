"""Nothing decides by the name of a class or of its module: classes are compared themselves."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.sources import MODULES, ROOT, source, tree

NAMES = {"__name__", "__module__", "__qualname__"}
TESTS_OF_TEXTS = {"startswith", "endswith", "find", "index", "count", "split", "partition", "get"}


def decisions(parsed: ast.Module) -> list[int]:
    """Lines in which a class's name is compared, searched, matched on, or looked up."""
    found: list[int] = []
    for node in ast.walk(parsed):
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


def test_no_module_decides_by_the_name_of_a_class() -> None:
    looked_at = [path for path in MODULES if any(name in source(path) for name in NAMES)]
    found = {str(path.relative_to(ROOT)): decisions(tree(path)) for path in looked_at}
    assert {name: lines for name, lines in found.items() if lines} == {}


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
    assert bool(decisions(ast.parse(line))) is decides
