"""The language that generated code may use: what is refused wherever it stands, with the remedy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from taskloom.evaluators_api.interpreter.modules import MODULES, REWRITTEN_MODULES
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT

FORBIDDEN_NAMES = frozenset(
    [
        "__import__",
        "__builtins__",
        "breakpoint",
        "classmethod",
        "compile",
        "delattr",
        "eval",
        "exec",
        "getattr",
        "globals",
        "hasattr",
        "locals",
        "memoryview",
        "object",
        "open",
        "property",
        "setattr",
        "staticmethod",
        "super",
        "vars",
    ]
)
"""Built-in names that generated code may not use."""
_TOP_LEVEL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Pass)
_NO_INHERITANCE = "inheritance is not in the language: use a plain class, a namedtuple or a dataclass"
_UNSUPPORTED: dict[type[ast.AST], str] = {
    ast.AsyncFunctionDef: "checks answer at once: write a plain `def`",
    ast.Await: "checks answer at once: call them without `await`",
    ast.Yield: "`yield` is not in the language: build a list",
    ast.YieldFrom: "`yield` is not in the language: build a list",
    ast.Delete: "`del` is not in the language: assign a new value",
    ast.AsyncFor: "write a plain `for`",
    ast.AsyncWith: "write a plain `with`",
    ast.Global: "`global` is not allowed: return values",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a source is refused."""

    line: int
    """Line in the code, from 1; 0 for the whole."""
    message: str
    """What is wrong, and what to write instead."""

    def __str__(self) -> str:
        """The problem as one line."""
        return f"line {self.line}: {self.message}" if self.line else self.message


def module_problems(tree: ast.Module) -> Iterator[Problem]:
    """What may not stand at the top level of a module."""
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.AsyncFunctionDef):
            continue
        if not isinstance(statement, _TOP_LEVEL):
            yield Problem(
                statement.lineno,
                "only imports, assignments, classes and functions may stand at the top level",
            )
        elif (
            isinstance(statement, ast.FunctionDef)
            and statement.name == ENTRY_POINT
            and statement.decorator_list
        ):
            yield Problem(statement.lineno, f"`{ENTRY_POINT}` may not be decorated")
    entries = [item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT]
    if len(entries) > 1:
        yield Problem(entries[1].lineno, f"`{ENTRY_POINT}` is defined twice")


def node_problems(node: ast.AST) -> Iterator[Problem]:
    """What `node` itself, apart from its children, does that the language lacks."""
    line = getattr(node, "lineno", 0)
    for kind, message in _UNSUPPORTED.items():
        if isinstance(node, kind):
            yield Problem(line, message)
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] not in MODULES:
                yield Problem(
                    line, f"`{alias.name}` may not be imported; allowed: {', '.join(sorted(MODULES))}"
                )
    elif isinstance(node, ast.ImportFrom):
        if node.level or (node.module or "").partition(".")[0] not in MODULES:
            yield Problem(
                line, f"`{node.module or '.'}` may not be imported; allowed: {', '.join(sorted(MODULES))}"
            )
        if any(alias.name == "*" for alias in node.names):
            yield Problem(line, "import names one by one, not `*`")
    elif isinstance(node, ast.Name):
        if node.id in FORBIDDEN_NAMES or (node.id.startswith("__") and node.id != "__name__"):
            yield Problem(line, f"`{node.id}` is not allowed")
        elif node.id == ENTRY_POINT and not isinstance(node.ctx, ast.Load):
            yield Problem(line, f"`{ENTRY_POINT}` may not be assigned")
        elif node.id in REWRITTEN_MODULES and isinstance(node.ctx, ast.Load):
            usage = (
                "os.path functions on names only" if node.id == "os" else "what os.path offers on names only"
            )
            yield Problem(line, f"`{node.id}` can be used for {usage}")
    elif isinstance(node, ast.Attribute):
        if node.attr.startswith("__"):
            yield Problem(line, f"the attribute `{node.attr}` is not allowed")
    elif isinstance(node, ast.ClassDef):
        if node.bases or node.keywords:
            yield Problem(line, f"class `{node.name}`: {_NO_INHERITANCE}")
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "{" in node.value
        and ".__" in node.value
    ):
        yield Problem(line, "format fields may not name attributes that begin with two underscores")
