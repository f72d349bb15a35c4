"""Takes conditions out of an evaluation function without changing what the others decide."""

from __future__ import annotations

import ast
from collections.abc import Callable


class WithoutChecks(ast.NodeTransformer):
    """Puts a constant that decides nothing in the place of calls of some checks.

    It knows the places in which a condition must hold: the first part of a pair in a list of conditions, a
    guard that ends in failure, what is returned. Elsewhere, and inside an `or` of what must hold, the calls
    stay, for the caller to refuse.
    """

    def __init__(self, is_gone: Callable[[ast.Call], bool]) -> None:
        """Take out the calls of which `is_gone` says so."""
        self._is_gone = is_gone

    def visit_List(self, node: ast.List) -> ast.expr:
        """Conditions of a list: each alone, or with its message."""
        for place, item in enumerate(node.elts):
            if isinstance(item, ast.Tuple) and item.elts:
                item.elts[0] = self._without(item.elts[0], True)
            else:
                node.elts[place] = self._without(item, True)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        """A guard; its condition must not hold."""
        if _fails(node.body) and not node.orelse:
            node.test = self._without(node.test, False)
            return node
        self.generic_visit(node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """The result: its first field, or all of it."""
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "EvalResult":
            if value.args:
                value.args[0] = self._without(value.args[0], True)
            for word in value.keywords:
                if word.arg == "success":
                    word.value = self._without(word.value, True)
        elif value is not None:
            node.value = self._without(value, True)
        return node

    def _without(self, node: ast.expr, neutral: bool) -> ast.expr:
        """The condition without the checks; `neutral` is the value that lets the others decide."""
        if isinstance(node, ast.Call):
            return ast.Constant(neutral) if self._is_gone(node) else node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._without(node.operand, not neutral)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And if neutral else ast.Or):
            node.values = [self._without(item, neutral) for item in node.values]
        return node


def _fails(body: list[ast.stmt]) -> bool:
    """Whether statements end in `return EvalResult(False, …)` or `return False`."""
    last = body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    value = last.value
    if isinstance(value, ast.Call):
        given = value.args[0] if value.args else None
        value = given or next((word.value for word in value.keywords if word.arg == "success"), value)
    return isinstance(value, ast.Constant) and value.value is False
