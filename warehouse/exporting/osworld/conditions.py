"""Which conditions of an evaluation function OSWorld's getters and metrics can express.

A function can be expressed when it is a plain conjunction: guards `if not check(…): return EvalResult(False,
…)`, one `and`, or a list of conditions with their messages of which none may fail; and a final success. Every
check must read lasting state (files, folders). Checks of the route (clicks, keys), of the screen and of the
clipboard are refused: OSWorld judges the state at the end, and later subtasks change these.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT
from taskloom.taskgraph.text_folding import fold_text
from taskloom.warehouse.errors import InexpressibleError

_ROUTE = frozenset({"check_mouse_clicks", "check_keyboard_types"})
_HOME = "/home/user"
_SEARCH: Final = """\
import re, sqlite3, sys, unicodedata
path, pattern = sys.argv[1:]
data = open(path, 'rb').read()
text = '\\n'.join(sqlite3.connect(path).iterdump()) if data.startswith(b'SQLite format 3') else data.decode('utf-8', 'replace')
text = ' '.join(unicodedata.normalize('NFKC', text).casefold().split())
print('yes' if re.search(pattern, text) else 'no')
"""  # noqa: E501
"""Reads a file as `check_file_contains` does: folded, databases as SQL text."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One metric with its getters."""

    func: str
    result: dict[str, object]
    expected: dict[str, object]
    """Getter of what there should be."""
    path: str
    """File or folder it is about, relative to the home folder where the function names it so."""
    wants: Literal["present", "absent", "content"]
    """What it wants of the path."""


@dataclass(frozen=True, slots=True)
class _Check:
    call: ast.Call
    holds: bool


def conditions_of(source: str, parameters: Mapping[str, str]) -> list[Condition]:
    """The conditions of a function bound to `parameters`.

    Raises:
        InexpressibleError: with the reason, for the list of refused tasks.
    """
    try:
        module = ast.parse(source)
    except SyntaxError:
        raise InexpressibleError("its evaluation function is not Python") from None
    function = next(
        (item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT), None
    )
    if function is None:
        raise InexpressibleError("its evaluation function has no entry point")
    checks = _listed_checks(function.body)
    if checks is None:
        checks = [check for statement in function.body for check in _checks_of(statement)]
    if not checks:
        raise InexpressibleError("its evaluation function checks nothing")
    return [_condition(check, parameters) for check in checks]


def _listed_checks(body: list[ast.stmt]) -> list[_Check] | None:
    """The checks of a body that lists its conditions with their messages and fails when any of them fails."""
    if [type(statement) for statement in body] != [ast.Assign, ast.Assign, ast.Assign, ast.If, ast.Return]:
        return None
    listed, failed, _, guard, final = body
    if (
        not isinstance(listed, ast.Assign)
        or not isinstance(failed, ast.Assign)
        or not isinstance(guard, ast.If)
    ):
        return None
    test = ast.unparse(guard.test) == ast.unparse(failed.targets[0]) and not guard.orelse
    if not (test and _lists_what_fails(failed.value, ast.unparse(listed.targets[0]))):
        return None
    if not (_returns(guard.body, success=False) and _returns([final], success=True)):
        return None
    if not isinstance(listed.value, ast.List):
        return None
    checks: list[_Check] = []
    for pair in listed.value.elts:
        first = pair.elts[0] if isinstance(pair, ast.Tuple) and pair.elts else None
        check = _check_of(first) if first is not None else None
        if check is None:
            raise InexpressibleError(
                f"a condition of its evaluation function is not a single check (line {pair.lineno})"
            )
        checks.append(check)
    return checks


def _lists_what_fails(value: ast.expr, conditions: str) -> bool:
    """Whether `value` is `[message for holds, message in conditions if not holds]`, whatever its names
    are."""
    if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
        return False
    target = value.generators[0].target
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return False
    holds, message = (ast.unparse(item) for item in target.elts)
    return ast.unparse(value) == f"[{message} for {holds}, {message} in {conditions} if not {holds}]" or (
        ast.unparse(value) == f"[{message} for ({holds}, {message}) in {conditions} if not {holds}]"
    )


def _checks_of(statement: ast.stmt) -> list[_Check]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return []
    if isinstance(statement, ast.If) and not statement.orelse and _returns(statement.body, success=False):
        return _negated(statement.test)
    if isinstance(statement, ast.Return) and _returns([statement], success=True):
        return []
    raise InexpressibleError(
        f"the logic of its evaluation function is not a plain conjunction (line {statement.lineno})"
    )


def _negated(test: ast.expr) -> list[_Check]:
    """The checks that must hold, or not hold, for a guard not to fail."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [check for part in test.values for check in _negated(part)]
    if isinstance(test, ast.Call):
        return [_Check(test, holds=False)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        parts = inner.values if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.And) else [inner]
        checks = [_check_of(part) for part in parts]
        if None not in checks:
            return [check for check in checks if check is not None]
    raise InexpressibleError(
        f"the logic of its evaluation function is not a plain conjunction (line {test.lineno})"
    )


def _check_of(node: ast.expr) -> _Check | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Call):
        return _Check(node.operand, holds=False)
    return _Check(node, holds=True) if isinstance(node, ast.Call) else None


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


def _condition(check: _Check, parameters: Mapping[str, str]) -> Condition:
    call = check.call
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name in _ROUTE:
        raise InexpressibleError(f"{name} judges the route, not the state at the end")
    if name not in ("check_file_exists", "check_directory_exists", "check_file_contains"):
        raise InexpressibleError(
            f"{name or 'a call'} reads what later subtasks change, or is not a check that OSWorld knows"
        )
    values = [_text(item, parameters) for item in call.args]
    named = {item.arg: _text(item.value, parameters) for item in call.keywords if item.arg}
    path = named.get("file_path") or named.get("path") or (values[0] if values else "")
    if not path:
        raise InexpressibleError(f"{name} names no path (line {call.lineno})")
    place = path if path.startswith("/") else f"{_HOME}/{path}"
    answer = "yes" if check.holds else "no"
    if name == "check_file_contains":
        text = named.get("text") or (values[1] if len(values) > 1 else "")
        command: str | list[str] = ["python3", "-c", _SEARCH, place, _pattern(text)]
        return Condition(*_asked(command, answer), path, "content")
    flag = "-f" if name == "check_file_exists" else "-d"
    command = f"test {flag} {shlex.quote(place)} && echo yes || echo no"
    return Condition(*_asked(command, answer), path, "present" if check.holds else "absent")


def _asked(command: str | list[str], answer: str) -> tuple[str, dict[str, object], dict[str, object]]:
    result: dict[str, object] = {"type": "vm_command_line", "command": command}
    if isinstance(command, str):
        result["shell"] = True
    return "exact_match", result, {"type": "rule", "rules": {"expected": f"{answer}\n"}}


def _pattern(text: str) -> str:
    """A regular expression for a text as whole words, in a text that is folded."""
    folded = fold_text(text)
    if not folded:
        raise InexpressibleError("check_file_contains looks for no text")
    before = r"(?<!\w)" if folded[0].isalnum() else ""
    after = r"(?!\w)" if folded[-1].isalnum() else ""
    return before + re.escape(folded) + after


def _text(node: ast.expr, parameters: Mapping[str, str]) -> str:
    text = text_of(node, parameters)
    if text is None:
        raise InexpressibleError(f"an argument of a check is computed (line {node.lineno})")
    return text


def text_of(node: ast.expr, parameters: Mapping[str, str]) -> str | None:
    """The text of an argument; None where it is computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return parameters.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = [
            text_of(part.value if isinstance(part, ast.FormattedValue) else part, parameters)
            for part in node.values
        ]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left, parameters), text_of(node.right, parameters)
        return None if left is None or right is None else left + right
    return None
