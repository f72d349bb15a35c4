"""How generated code may use the checks: called, by their own names, with something to look for."""

import ast
from collections.abc import Iterator
from difflib import get_close_matches

from taskloom.evaluators_api.checks.registry import checks
from taskloom.evaluators_api.interpreter.dialect import imported_names
from taskloom.evaluators_api.interpreter.language_rules import REWRITTEN_MODULES, Problem
from taskloom.evaluators_api.path_functions import PATH_FUNCTIONS, replaced_function

_CHECK_PREFIXES = ("check_", "clipboard_", "get_clipboard", "get_file")


def shadowing_problems(tree: ast.Module) -> Iterator[Problem]:
    """Checks that the code redefines, as written: rewriting may only drop what is harmless."""
    reserved = {*checks(), *PATH_FUNCTIONS}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for name in bound_names(node):
            if name in reserved and not isinstance(node, ast.alias):
                wrong = f"`{name}` is a check and may not be redefined or used as a name of your own"
                yield Problem(line, wrong)
        if isinstance(node, ast.alias) and node.asname in reserved and node.asname != node.name:
            yield Problem(line, f"`{node.asname}` is a check and may not be the name of an import")
        if isinstance(node, ast.Name) and node.id in PATH_FUNCTIONS:
            yield Problem(line, f"`{node.id}` is reserved; call {replaced_function(node.id)}")


def use_problems(node: ast.AST) -> Iterator[Problem]:
    """Checks that are named where they should be called, or that look for nothing."""
    conditions: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        conditions = [node.test]
    elif isinstance(node, ast.BoolOp):
        conditions = node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        conditions = [node.operand]
    elif isinstance(node, ast.Return) and node.value is not None:
        conditions = [node.value]
    for condition in conditions:
        if isinstance(condition, ast.Name) and condition.id in checks():
            wrong = f"`{condition.id}` is named but not called, which is always true; call it"
            yield Problem(condition.lineno, wrong)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in checks():
        first = [] if checks()[node.func.id].empty_allowed else node.args[:1]
        wanted = [*first, *(keyword.value for keyword in node.keywords if keyword.arg == "text")]
        if any(isinstance(value, ast.Constant) and value.value == "" for value in wanted):
            yield Problem(node.lineno, f"`{node.func.id}` is asked about an empty text, which is never there")


def invented_problems(tree: ast.Module) -> Iterator[Problem]:
    """Calls of checks that do not exist."""
    bound = {name for node in ast.walk(tree) for name in bound_names(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            near = get_close_matches(name, checks(), n=1, cutoff=0.8)
            looks_like_one = name.startswith(_CHECK_PREFIXES) or near
            if looks_like_one and name not in checks() and name not in bound:
                hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(checks())}"
                yield Problem(node.lineno, f"there is no check `{name}`; {hint}")


def leftover_problems(original: ast.Module, rewritten: ast.Module) -> Iterator[Problem]:
    """Uses of modules that rewriting could not replace, such as `Path(a) / b`."""
    origins = {
        name: origin
        for name, origin in imported_names(original).items()
        if origin.partition(".")[0] in REWRITTEN_MODULES and name not in REWRITTEN_MODULES
    }
    for node in ast.walk(rewritten):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in origins:
            remedy = "write paths as texts, with os.path.join, basename, dirname and splitext"
            yield Problem(node.lineno, f"`{origins[node.id]}` cannot be used here: {remedy}")


def bound_names(node: ast.AST) -> Iterator[str]:
    """Names that `node` itself gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
