"""Admits a small language before anything runs (method section 9), with messages that a model can repair
from. It catches what no interpreter can, such as a check that is redefined or never called, and refuses early
what the sandbox's language lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from taskloom.evaluators_api.checks.registry import checks
from taskloom.evaluators_api.interpreter.check_usage import (
    invented_problems,
    leftover_problems,
    shadowing_problems,
    use_problems,
)
from taskloom.evaluators_api.interpreter.dialect import rewrite, unfence
from taskloom.evaluators_api.interpreter.generators import generator_problems
from taskloom.evaluators_api.interpreter.language_rules import Problem, module_problems, node_problems
from taskloom.taskgraph.records.evaluation_function import ENTRY_POINT, parse_source

LARGEST_SOURCE = 16_384
"""Bytes of source that are looked at."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What static analysis found."""

    problems: tuple[Problem, ...] = ()
    """Why the source is refused; empty when it is admitted."""
    prepared: str = ""
    """Rewritten source for the sandbox; empty when it is refused."""
    parameters: tuple[str, ...] = ()
    """Those of the subtask's parameters that the entry point takes."""
    checks_called: tuple[str, ...] = ()
    """Names of the checks that occur in it, each once."""

    @property
    def message(self) -> str:
        """The problems as text for the Code LLM."""
        return "\n".join(str(problem) for problem in self.problems)

    def refused_for(self, message: str) -> Analysis:
        """This analysis with one more problem, and so without prepared source."""
        return Analysis(problems=(*self.problems, Problem(0, message)))


def analyse(source: str, parameter_names: Sequence[str] = ()) -> Analysis:
    r"""Admit or refuse `source` as the evaluation function of a subtask with `parameter_names`.

    Never raises, and never runs it.

    >>> analyse("def evaluate_agent_task_completion():\n    return check_file_exists('a.txt')").checks_called
    ('check_file_exists',)
    >>> print(analyse("def evaluate_agent_task_completion():\n    return eval('check_file_exists(1)')").message)
    no check is called; call at least one of check_mouse_clicks, check_keyboard_types, ...
    line 2: `eval` is not allowed
    """  # noqa: E501
    return _analyse(source, tuple(parameter_names))


@lru_cache(maxsize=4096)
def _analyse(source: str, parameter_names: tuple[str, ...]) -> Analysis:
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return _refused("the source holds characters that are not text (lone surrogates)")
    if size > LARGEST_SOURCE:
        return _refused(f"the source has {size} bytes; at most {LARGEST_SOURCE} are looked at")
    try:
        code = unfence(source)
        original, tree = parse_source(code), rewrite(parse_source(code))
        problems = (
            *shadowing_problems(original),
            *leftover_problems(original, tree),
            *generator_problems(original),
            *_problems(tree, parameter_names),
        )
        if problems:
            in_order = sorted(dict.fromkeys(problems), key=lambda problem: problem.line)
            return Analysis(problems=tuple(in_order))
        taken = _taken(_entry(tree), parameter_names)
        named = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        return Analysis(
            prepared=ast.unparse(tree) + "\n",
            parameters=tuple(name for name in parameter_names if name in taken),
            checks_called=tuple(dict.fromkeys(name for name in named if name in checks())),
        )
    except SyntaxError as error:
        return Analysis(problems=(Problem(error.lineno or 0, f"this is not Python: {error.msg}"),))
    except RecursionError:
        return _refused("the source is nested too deeply")
    except (ValueError, MemoryError, OverflowError) as error:
        return _refused(f"this is not Python: {str(error)[:200]}")


def _refused(message: str) -> Analysis:
    return Analysis(problems=(Problem(0, message),))


def _problems(tree: ast.Module, parameter_names: tuple[str, ...]) -> Iterator[Problem]:
    yield from module_problems(tree)
    for node in ast.walk(tree):
        yield from node_problems(node)
        yield from use_problems(node)
    entry = _entry(tree)
    if entry is None:
        yield Problem(0, f"there is no top-level `def {ENTRY_POINT}(...)`")
        return
    yield from _entry_problems(entry, parameter_names)
    yield from invented_problems(tree)
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if named.isdisjoint(checks()):
        yield Problem(0, f"no check is called; call at least one of {', '.join(list(checks())[:2])}, ...")


def _entry(tree: ast.Module) -> ast.FunctionDef | None:
    return next(
        (item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == ENTRY_POINT), None
    )


def _entry_problems(entry: ast.FunctionDef, parameter_names: tuple[str, ...]) -> Iterator[Problem]:
    arguments = entry.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = [item.arg for item in positional[: len(positional) - len(arguments.defaults)]]
    required += [
        item.arg
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    unknown = ", ".join(name for name in required if name not in parameter_names)
    if unknown:
        given = ", ".join(parameter_names) or "none"
        wrong = f"`{ENTRY_POINT}` asks for {unknown}, but the subtask's parameters are: {given}"
        yield Problem(entry.lineno, wrong)
    if arguments.posonlyargs:
        yield Problem(entry.lineno, f"`{ENTRY_POINT}` takes its parameters by name; remove the `/`")


def _taken(entry: ast.FunctionDef | None, parameter_names: tuple[str, ...]) -> set[str]:
    if entry is None:
        return set()
    if entry.args.kwarg is not None:
        return set(parameter_names)
    return {item.arg for item in (*entry.args.args, *entry.args.kwonlyargs)}
