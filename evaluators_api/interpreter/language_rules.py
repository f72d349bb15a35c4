"""The language that generated code may use: what is refused wherever it stands, with the remedy."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT

_PROGRAMS = {"__builtins__", "__import__", "breakpoint", "compile", "eval", "exec", "memoryview", "open"}
_REFLECTION = {"delattr", "getattr", "globals", "hasattr", "locals", "setattr", "vars"}
_CLASSES = {"classmethod", "object", "property", "staticmethod", "super"}
FORBIDDEN_NAMES = frozenset(_PROGRAMS | _REFLECTION | _CLASSES)
"""Built-in names that generated code may not use."""
_PLAIN = {"dataclasses", "datetime", "json", "math", "random", "re", "time", "typing"}
MODULES = frozenset(_PLAIN | {"collections", "functools", "itertools"})
"""Modules that generated code may import."""
REWRITTEN_MODULES = frozenset({"os", "os.path", "ntpath", "posixpath", "pathlib", "logging"})
"""Modules whose uses are rewritten; what is left of them afterwards is refused."""
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
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if text or isinstance(statement, ast.AsyncFunctionDef):
            continue
        if not isinstance(statement, _TOP_LEVEL):
            allowed = "only imports, assignments, classes and functions may stand at the top level"
            yield Problem(statement.lineno, allowed)
    entries = [item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT]
    for entry in entries:
        if entry.decorator_list:
            yield Problem(entry.lineno, f"`{ENTRY_POINT}` may not be decorated")
    if len(entries) > 1:
        yield Problem(entries[1].lineno, f"`{ENTRY_POINT}` is defined twice")


def node_problems(node: ast.AST) -> Iterator[Problem]:
    """What `node` itself, apart from its children, does that the language lacks."""
    line = getattr(node, "lineno", 0)
    messages = [message for kind, message in _UNSUPPORTED.items() if isinstance(node, kind)]
    match node:
        case ast.Import(names=names):
            messages += [_not_imported(alias.name) for alias in names if not _may_be_imported(alias.name)]
        case ast.ImportFrom(module=module, names=names, level=level):
            if level or not _may_be_imported(module or ""):
                messages.append(_not_imported(module or "."))
            if any(alias.name == "*" for alias in names):
                messages.append("import names one by one, not `*`")
        case ast.Name():
            messages += _name_messages(node)
        case ast.Attribute(attr=name) if name.startswith("__"):
            messages.append(f"the attribute `{name}` is not allowed")
        case ast.ClassDef(name=name, bases=bases, keywords=keywords) if bases or keywords:
            messages.append(f"class `{name}`: {_NO_INHERITANCE}")
        case ast.Constant(value=str(text)) if "{" in text and ".__" in text:
            messages.append("format fields may not name attributes that begin with two underscores")
    return (Problem(line, message) for message in messages)


def _name_messages(node: ast.Name) -> Iterator[str]:
    if node.id in FORBIDDEN_NAMES or (node.id.startswith("__") and node.id != "__name__"):
        yield f"`{node.id}` is not allowed"
    elif node.id == ENTRY_POINT and not isinstance(node.ctx, ast.Load):
        yield f"`{ENTRY_POINT}` may not be assigned"
    elif node.id in REWRITTEN_MODULES and isinstance(node.ctx, ast.Load):
        usage = "os.path functions on names only" if node.id == "os" else "what os.path offers on names only"
        yield f"`{node.id}` can be used for {usage}"


def _may_be_imported(name: str) -> bool:
    return name.partition(".")[0] in MODULES


def _not_imported(name: str) -> str:
    return f"`{name}` may not be imported; allowed: {', '.join(sorted(MODULES))}"
