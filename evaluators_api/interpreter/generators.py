"""Generator expressions: the sandbox runs them as lists, so they are admitted only where that makes no
difference. `next(...)` on one, or on `zip`, `map` and their like, gets an iterator of the list."""

import ast
from collections.abc import Iterator

from taskloom.evaluators_api.interpreter.language_rules import Problem

_IMPORTED = frozenset(["Counter", "chain", "deque", "fsum", "islice", "prod", "reduce"])
_COLLECTIONS = frozenset(["OrderedDict", "dict", "frozenset", "list", "set", "sorted", "tuple"])
_LAZY = frozenset(["enumerate", "filter", "map", "zip"])
LISTS_IN_THE_SANDBOX = _LAZY | {"reversed"}
"""Built-in functions whose result is a list in the sandbox and an iterator in Python."""
_CONSUMERS = _IMPORTED | _COLLECTIONS | _LAZY | {"all", "any", "max", "min", "next", "sum"}
_OF_SETS = frozenset(["difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"])
_CONSUMING_METHODS = _IMPORTED | _OF_SETS | {"extend", "from_iterable", "join", "update"}
_REMEDY = (
    "a generator expression may only be used up on the spot (in any, all, sum, list, join, next, …);"
    " build a list with [...] to keep it"
)


def generator_problems(tree: ast.Module) -> Iterator[Problem]:
    """Generator expressions that are stored, passed on or measured."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    fine: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if _consumes(node.func, own):
                fine.update(id(argument) for argument in node.args)
            fine.update(id(argument.value) for argument in node.args if isinstance(argument, ast.Starred))
        elif isinstance(node, ast.For | ast.comprehension):
            fine.add(id(node.iter))
        elif isinstance(node, ast.Compare) and all(isinstance(mark, ast.In | ast.NotIn) for mark in node.ops):
            fine.update(id(item) for item in node.comparators)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            fine.update(id(item.value) for item in node.elts if isinstance(item, ast.Starred))
        elif isinstance(node, ast.Assign) and all(
            isinstance(item, ast.Tuple | ast.List) for item in node.targets
        ):
            fine.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.GeneratorExp) and id(node) not in fine:
            yield Problem(node.lineno, _REMEDY)


def stepped(call: ast.Call) -> ast.Call:
    """`call`, with an iterator as the first argument where it is `next` of what the sandbox makes a list."""
    function = call.func
    if isinstance(function, ast.Name) and function.id == "next" and call.args and _becomes_list(call.args[0]):
        first = call.args[0]
        listed = ast.ListComp(first.elt, first.generators) if isinstance(first, ast.GeneratorExp) else first
        call.args[0] = ast.Call(ast.Name("iter", ast.Load()), [listed], [])
    return call


def _becomes_list(node: ast.expr) -> bool:
    return isinstance(node, ast.GeneratorExp) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in LISTS_IN_THE_SANDBOX
    )


def _consumes(function: ast.expr, own: set[str]) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr in _CONSUMING_METHODS
    return isinstance(function, ast.Name) and function.id in _CONSUMERS and function.id not in own
