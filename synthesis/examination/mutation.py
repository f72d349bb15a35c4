"""Mutants of an evaluation function: one check dropped or negated at a time (method section 4).

A mutant that no recorded evidence can tell from the original shows a check that has never been tested: it could be wrong,
or missing, and nobody would notice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evaluators_api.checks.registry import checks
from evaluators_api.interpreter.dialect import unfence
from taskgraph.source_parsing import parse_source

MOST_MUTANTS = 48
"""Mutants of one function."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed version of a function."""

    check: str
    """The check that was changed, as the call stands in the source."""
    site: int
    """Which call it is, from 0 in the order of the source."""
    change: Literal["always_true", "always_false", "negated", "empty"]
    """What became of its answer (the call itself stays, so that the mutant still asks); `empty` is for checks that answer with text."""
    source: str
    """The changed source."""


def mutants(source: str) -> tuple[Mutant, ...]:
    r"""Mutants of `source`, at most `MOST_MUTANTS`; none where it does not parse.

    >>> [mutant.change for mutant in mutants("def f():\n    return check_window('a')")]
    ['always_true', 'always_false', 'negated']
    """
    code = unfence(source)
    try:
        sites = len(_calls(parse_source(code)))
        found = (mutant for site in range(sites) for mutant in _at(code, site))
        return tuple(mutant for mutant, _ in zip(found, range(MOST_MUTANTS), strict=False))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def route_dependence(source: str) -> float:
    """Share of the calls of checks in `source` that read the inputs made rather than the state reached; 0 without any.

    >>> route_dependence("check_mouse_clicks('a') and check_window('b')")
    0.5
    """
    try:
        calls = _calls(parse_source(unfence(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    routes = [checks()[_name(call)].reads_route for call in calls]
    return sum(routes) / len(routes) if routes else 0.0


def _at(code: str, site: int) -> Iterator[Mutant]:
    original = _calls(parse_source(code))[site]
    text = " ".join(ast.unparse(original).split())
    replacements: tuple[tuple[Literal["always_true", "always_false", "negated", "empty"], ast.expr], ...]
    if checks()[_name(original)].returns == "str":
        replacements = (("empty", ast.BoolOp(ast.And(), [original, ast.Constant("")])),)
    else:
        replacements = (
            ("always_true", ast.BoolOp(ast.Or(), [original, ast.Constant(True)])),
            ("always_false", ast.BoolOp(ast.And(), [original, ast.Constant(False)])),
            ("negated", ast.UnaryOp(ast.Not(), original)),
        )
    for change, replacement in replacements:
        tree = parse_source(code)
        target = _calls(tree)[site]
        changed = _Replace(target, replacement).visit(tree)
        yield Mutant(text, site, change, ast.unparse(ast.fix_missing_locations(changed)) + "\n")


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.Call, replacement: ast.expr) -> None:
        self._target = target
        self._replacement = replacement

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if node is self._target:
            return self._replacement
        self.generic_visit(node)
        return node


def _calls(tree: ast.AST) -> list[ast.Call]:
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in checks()
    ]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""
