"""Which conditions of an evaluation function OSWorld's getters and metrics can express.

A function can be expressed when it is a plain conjunction: guards `if not check(…): return EvalResult(False, …)` or
one `and`, and a final success; every check reads lasting state (files, folders). Checks of the route (clicks, keys),
of the screen and of the clipboard are refused: OSWorld judges the state at the end, and later subtasks change these.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from taskgraph.evaluation_function import ENTRY_POINT

_ROUTE = frozenset({"check_mouse_clicks", "check_keyboard_types"})
_HOME = "/home/user"


@dataclass(frozen=True, slots=True)
class Condition:
    """One metric with its getters."""

    func: str
    """Metric."""
    result: dict[str, object]
    """Getter of what there is."""
    expected: dict[str, object]
    """Getter of what there should be."""


class Inexpressible(Exception):
    """The function says something that OSWorld cannot; the message is the reason."""


def conditions_of(source: str, parameters: Mapping[str, str]) -> list[Condition]:
    """The conditions of a function bound to `parameters`.

    Raises:
        Inexpressible: with the reason, for the list of refused tasks.
    """
    try:
        module = ast.parse(source)
    except SyntaxError:
        raise Inexpressible("its evaluation function is no Python") from None
    function = next(
        (item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT), None
    )
    if function is None:
        raise Inexpressible("its evaluation function has no entry point")
    calls = _listed_checks(function.body)
    if calls is None:
        calls = [call for statement in function.body for call in _checks_of(statement)]
    if not calls:
        raise Inexpressible("its evaluation function checks nothing")
    return [_condition(call, parameters) for call in calls]


def _listed_checks(body: list[ast.stmt]) -> list[ast.Call] | None:
    """The checks of a body that lists its conditions with their messages and fails when any of them fails."""
    if [type(statement) for statement in body] != [ast.Assign, ast.Assign, ast.Assign, ast.If, ast.Return]:
        return None
    listed, failed, _, guard, final = body
    plain = ast.parse("failed = [message for holds, message in conditions if not holds]").body[0]
    if (
        ast.dump(failed) != ast.dump(plain)
        or not isinstance(listed, ast.Assign)
        or not isinstance(guard, ast.If)
    ):
        return None
    test = isinstance(guard.test, ast.Name) and guard.test.id == "failed" and not guard.orelse
    if not (test and _returns(guard.body, success=False) and _returns([final], success=True)):
        return None
    if not isinstance(listed.value, ast.List):
        return None
    calls: list[ast.Call] = []
    for pair in listed.value.elts:
        first = pair.elts[0] if isinstance(pair, ast.Tuple) and pair.elts else None
        if not isinstance(first, ast.Call):
            raise Inexpressible(
                f"a condition of its evaluation function is no single check (line {pair.lineno})"
            )
        calls.append(first)
    return calls


def _checks_of(statement: ast.stmt) -> list[ast.Call]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return []
    if isinstance(statement, ast.If) and not statement.orelse and _returns(statement.body, success=False):
        return _negated(statement.test)
    if isinstance(statement, ast.Return) and _returns([statement], success=True):
        return []
    raise Inexpressible(
        f"the logic of its evaluation function is no plain conjunction (line {statement.lineno})"
    )


def _negated(test: ast.expr) -> list[ast.Call]:
    """The checks that must all hold for a guard not to fail."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [call for part in test.values for call in _negated(part)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        both = isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.And)
        parts = inner.values if both and isinstance(inner, ast.BoolOp) else [inner]
        if all(isinstance(part, ast.Call) for part in parts):
            return [part for part in parts if isinstance(part, ast.Call)]
    raise Inexpressible(f"the logic of its evaluation function is no plain conjunction (line {test.lineno})")


def _returns(body: list[ast.stmt], *, success: bool) -> bool:
    if len(body) != 1 or not isinstance(body[0], ast.Return) or not isinstance(body[0].value, ast.Call):
        return False
    call = body[0].value
    value = (
        call.args[0]
        if call.args
        else next((item.value for item in call.keywords if item.arg == "success"), None)
    )
    return isinstance(value, ast.Constant) and value.value is success


def _condition(call: ast.Call, parameters: Mapping[str, str]) -> Condition:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in _ROUTE:
        raise Inexpressible(f"{name} judges the route, not the state at the end")
    values = [_text(item, parameters) for item in call.args]
    named = {item.arg: _text(item.value, parameters) for item in call.keywords if item.arg}
    path = named.get("file_path") or named.get("path") or (values[0] if values else "")
    if name == "check_file_exists":
        return _yes(f"test -f {_path(path)}")
    if name == "check_directory_exists":
        return _yes(f"test -d {_path(path)}")
    if name == "check_file_contains":
        text = named.get("text") or (values[1] if len(values) > 1 else "")
        return Condition(
            "check_include_exclude",
            {"type": "vm_command_line", "command": ["cat", _absolute(path)]},
            {"type": "rule", "rules": {"include": [text], "exclude": []}},
        )
    raise Inexpressible(f"{name or 'a call'} reads what later subtasks change, or is no check OSWorld knows")


def _yes(test: str) -> Condition:
    return Condition(
        "exact_match",
        {"type": "vm_command_line", "command": f"{test} && echo yes || echo no", "shell": True},
        {"type": "rule", "rules": {"expected": "yes\n"}},
    )


def _path(path: str) -> str:
    return shlex.quote(_absolute(path))


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"{_HOME}/{path}"


def _text(node: ast.expr, parameters: Mapping[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name) and node.id in parameters:
        return parameters[node.id]
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part.value if isinstance(part, ast.FormattedValue) else part, parameters)
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, parameters) + _text(node.right, parameters)
    raise Inexpressible(f"an argument of a check is computed (line {node.lineno})")
