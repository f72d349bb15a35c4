"""Admits a small language before anything runs (method section 9), with messages from which a model can
repair its code. It catches what no interpreter can, such as a check that is redefined or never called, and
refuses early what the language of the sandbox lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from taskloom.evaluators_api.checks.declaration import checks
from taskloom.evaluators_api.evidence.sandbox_paths import PATH_FUNCTIONS, replaced_function
from taskloom.evaluators_api.interpreter.dialect import (
    LAZY,
    REWRITTEN_MODULES,
    imported_names,
    rewrite,
    unfence,
)
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, parse_source

LARGEST_SOURCE = 16_384
"""Maximum size of a source, in bytes."""
_FORBIDDEN_NAMES = frozenset(
    {"__builtins__", "__import__", "breakpoint", "compile", "eval", "exec", "memoryview", "open"}
    | {"delattr", "getattr", "globals", "hasattr", "locals", "setattr", "vars"}
    | {"classmethod", "object", "property", "staticmethod", "super"}
)
"""Built-in names that generated code may not use."""
_MODULES = frozenset(
    {"collections", "dataclasses", "datetime", "functools", "itertools", "json", "math"}
    | {"random", "re", "time", "typing"}
)
"""Modules that generated code may import."""
_TOP_LEVEL = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Pass)
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
_CHECK_PREFIXES = ("check_", "clipboard_", "get_clipboard", "get_file")
_CONSUMERS_OF_EITHER_KIND = frozenset(["Counter", "chain", "deque", "fsum", "islice", "prod", "reduce"])
_CONSUMERS = _CONSUMERS_OF_EITHER_KIND | LAZY | {"all", "any", "max", "min", "next", "sum"}
_CONSUMERS |= {"OrderedDict", "dict", "frozenset", "list", "set", "sorted", "tuple"}
"""Functions that consume a generator expression on the spot."""
_CONSUMING_METHODS = _CONSUMERS_OF_EITHER_KIND | {"extend", "from_iterable", "join", "update"}
_CONSUMING_METHODS |= {"difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a source is refused."""

    line: int
    """Line in the code, from 1; 0 for all of it."""
    message: str
    """What is wrong, and what to write instead."""

    def __str__(self) -> str:
        """The problem as one line."""
        return f"line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class Analysis:
    """What static analysis found."""

    problems: tuple[Problem, ...] = ()
    """Why the source is refused; empty when it is admitted."""
    prepared: str = ""
    """Rewritten source for the sandbox; empty when it is refused."""
    parameters: tuple[str, ...] = ()
    """Parameters of the subtask that the entry point takes."""
    checks_called: tuple[str, ...] = ()
    """Names of the checks in the source, each once."""

    @property
    def message(self) -> str:
        """The problems as text for the Code LLM."""
        return "\n".join(str(problem) for problem in self.problems)

    def refused_for(self, message: str, line: int = 0) -> Analysis:
        """This analysis with another problem, and therefore without prepared source."""
        return Analysis(problems=(*self.problems, Problem(line, message)))


@lru_cache(maxsize=4096)
def analyse(source: str, parameter_names: tuple[str, ...] = ()) -> Analysis:
    r"""Admit or refuse `source` as the evaluation function of a subtask with `parameter_names`.

    Never raises or runs it.

    >>> analyse("def evaluate_agent_task_completion():\n    return check_file_exists('a.txt')").checks_called
    ('check_file_exists',)
    >>> print(analyse("def evaluate_agent_task_completion():\n    return eval('check_file_exists(1)')").message)
    no check is called; call at least one of check_mouse_clicks, check_keyboard_types, ...
    line 2: `eval` is not allowed
    """  # noqa: E501
    refused = Analysis().refused_for
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return refused("the source holds characters that are not text (lone surrogates)")
    if size > LARGEST_SOURCE:
        return refused(f"the source has {size} bytes; at most {LARGEST_SOURCE} are looked at")
    try:
        code = unfence(source)
        original, tree = parse_source(code), rewrite(parse_source(code))
        entries = [
            item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT
        ]
        problems = dict.fromkeys(_problems(original, tree, entries, parameter_names))
        if problems:
            return Analysis(problems=tuple(sorted(problems, key=lambda problem: problem.line)))
        arguments = entries[0].args
        accepted = {item.arg for item in (*arguments.args, *arguments.kwonlyargs)}
        named = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        return Analysis(
            prepared=ast.unparse(tree) + "\n",
            parameters=tuple(name for name in parameter_names if arguments.kwarg or name in accepted),
            checks_called=tuple(dict.fromkeys(name for name in named if name in checks())),
        )
    except SyntaxError as error:
        return refused(f"this is not Python: {error.msg}", error.lineno or 0)
    except RecursionError:
        return refused("the source is nested too deeply")
    except (ValueError, MemoryError, OverflowError) as error:
        return refused(f"this is not Python: {str(error)[:200]}")


def _problems(
    original: ast.Module, tree: ast.Module, entries: list[ast.FunctionDef], parameter_names: tuple[str, ...]
) -> Iterator[Problem]:
    yield from _shadowing_problems(original)
    yield from _leftover_problems(original, tree)
    yield from _generator_problems(original)
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not isinstance(statement, (*_TOP_LEVEL, ast.AsyncFunctionDef)):
            allowed = "only imports, assignments, classes and functions may stand at the top level"
            yield Problem(statement.lineno, allowed)
    for entry in entries:
        if entry.decorator_list:
            yield Problem(entry.lineno, f"`{ENTRY_POINT}` may not be decorated")
    if len(entries) > 1:
        yield Problem(entries[1].lineno, f"`{ENTRY_POINT}` is defined twice")
    for node in ast.walk(tree):
        yield from _node_problems(node)
        yield from _use_problems(node)
    if not entries:
        yield Problem(0, f"there is no top-level `def {ENTRY_POINT}(...)`")
        return
    yield from _entry_problems(entries[0], parameter_names)
    yield from _invented_problems(tree)
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if named.isdisjoint(checks()):
        yield Problem(0, f"no check is called; call at least one of {', '.join(list(checks())[:2])}, ...")


def _shadowing_problems(tree: ast.Module) -> Iterator[Problem]:
    """Checks that the original code redefines; rewriting may drop only what is harmless."""
    reserved = {*checks(), *PATH_FUNCTIONS}
    for node in ast.walk(tree):
        for name in _bound_names(node):
            if name in reserved:
                message = f"`{name}` is a check and may not be redefined or used as a name of your own"
                yield Problem(getattr(node, "lineno", 0), message)
        if isinstance(node, ast.alias) and node.asname in reserved and node.asname != node.name:
            yield Problem(node.lineno, f"`{node.asname}` is a check and may not be the name of an import")
        if isinstance(node, ast.Name) and node.id in PATH_FUNCTIONS:
            yield Problem(node.lineno, f"`{node.id}` is reserved; call {replaced_function(node.id)}")


def _leftover_problems(original: ast.Module, rewritten: ast.Module) -> Iterator[Problem]:
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


def _generator_problems(tree: ast.Module) -> Iterator[Problem]:
    """Generator expressions that are stored, passed on or measured: the sandbox makes lists of them, so they
    are admitted only if that makes no difference."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    consumed: set[ast.expr] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=arguments):
                consumed.update(item.value for item in arguments if isinstance(item, ast.Starred))
                if _consumes(function, defined):
                    consumed.update(arguments)
            case ast.For(iter=item) | ast.comprehension(iter=item):
                consumed.add(item)
            case ast.Compare(ops=marks, comparators=items):
                if all(isinstance(mark, ast.In | ast.NotIn) for mark in marks):
                    consumed.update(items)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                consumed.update(item.value for item in items if isinstance(item, ast.Starred))
            case ast.Assign(targets=targets, value=item):
                if all(isinstance(target, ast.Tuple | ast.List) for target in targets):
                    consumed.add(item)
    for node in ast.walk(tree):
        if isinstance(node, ast.GeneratorExp) and node not in consumed:
            remedy = (
                "a generator expression may only be used up on the spot (in any, all, sum, list, join, next,"
                " …); build a list with [...] to keep it"
            )
            yield Problem(node.lineno, remedy)


def _consumes(function: ast.expr, defined: set[str]) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr in _CONSUMING_METHODS
    return isinstance(function, ast.Name) and function.id in _CONSUMERS and function.id not in defined


def _node_problems(node: ast.AST) -> Iterator[Problem]:
    """What `node` itself, without its children, uses that the language lacks."""
    messages = [message for kind, message in _UNSUPPORTED.items() if isinstance(node, kind)]
    match node:
        case ast.Import(names=names):
            messages += [_not_imported(alias.name) for alias in names if not _may_be_imported(alias.name)]
        case ast.ImportFrom(module=module, names=names, level=level):
            if level or not _may_be_imported(module or ""):
                messages.append(_not_imported(module or "."))
            if any(alias.name == "*" for alias in names):
                messages.append("import names one by one, not `*`")
        case ast.Name(id=name) if name in _FORBIDDEN_NAMES or (name[:2] == "__" and name != "__name__"):
            messages.append(f"`{name}` is not allowed")
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name == ENTRY_POINT:
            messages.append(f"`{ENTRY_POINT}` may not be assigned")
        case ast.Name(id=name, ctx=ast.Load()) if name in REWRITTEN_MODULES:
            usage = "os.path functions on names only" if name == "os" else "what os.path offers on names only"
            messages.append(f"`{name}` can be used for {usage}")
        case ast.Attribute(attr=name) if name.startswith("__"):
            messages.append(f"the attribute `{name}` is not allowed")
        case ast.ClassDef(name=name, bases=bases, keywords=keywords) if bases or keywords:
            remedy = "inheritance is not in the language: use a plain class, a namedtuple or a dataclass"
            messages.append(f"class `{name}`: {remedy}")
        case ast.Constant(value=str(text)) if "{" in text and ".__" in text:
            messages.append("format fields may not name attributes that begin with two underscores")
    return (Problem(getattr(node, "lineno", 0), message) for message in messages)


def _may_be_imported(name: str) -> bool:
    return name.partition(".")[0] in _MODULES


def _not_imported(name: str) -> str:
    return f"`{name}` may not be imported; allowed: {', '.join(sorted(_MODULES))}"


def _use_problems(node: ast.AST) -> Iterator[Problem]:
    """Checks that are named instead of called, or that look for an empty text."""
    conditions: Sequence[ast.expr | None] = ()
    test: ast.expr | None
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            conditions = (test,)
        case ast.UnaryOp(op=ast.Not(), operand=test) | ast.Return(value=test):
            conditions = (test,)
        case ast.BoolOp(values=conditions):
            pass
        case ast.Call(func=ast.Name(id=name)) if name in checks():
            first_argument = [] if checks()[name].empty_allowed else node.args[:1]
            wanted = [*first_argument, *(keyword.value for keyword in node.keywords if keyword.arg == "text")]
            if any(isinstance(value, ast.Constant) and value.value == "" for value in wanted):
                yield Problem(node.lineno, f"`{name}` is asked about an empty text, which is never there")
    for condition in conditions:
        if isinstance(condition, ast.Name) and condition.id in checks():
            message = f"`{condition.id}` is named but not called, which is always true; call it"
            yield Problem(condition.lineno, message)


def _entry_problems(entry: ast.FunctionDef, parameter_names: tuple[str, ...]) -> Iterator[Problem]:
    arguments = entry.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[: len(positional) - len(arguments.defaults)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    required += [item for item, default in named if default is None]
    unknown = ", ".join(item.arg for item in required if item.arg not in parameter_names)
    if unknown:
        known = ", ".join(parameter_names) or "none"
        message = f"`{ENTRY_POINT}` asks for {unknown}, but the subtask's parameters are: {known}"
        yield Problem(entry.lineno, message)
    if arguments.posonlyargs:
        yield Problem(entry.lineno, f"`{ENTRY_POINT}` takes its parameters by name; remove the `/`")


def _invented_problems(tree: ast.Module) -> Iterator[Problem]:
    """Calls of checks that do not exist."""
    bound = {name for node in ast.walk(tree) for name in _bound_names(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            near = get_close_matches(name, checks(), n=1, cutoff=0.8)
            looks_like_one = name.startswith(_CHECK_PREFIXES) or near
            if looks_like_one and name not in checks() and name not in bound:
                hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(checks())}"
                yield Problem(node.lineno, f"there is no check `{name}`; {hint}")


def _bound_names(node: ast.AST) -> list[str]:
    """Names that `node` itself gives a value."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
    return []
