"""No function is written twice: the same body in two modules is one thing in two places."""

from __future__ import annotations

import ast

from tests.architecture.sources import MODULES, ROOT, tree

FEWEST_NODES = 14
"""Shorter bodies look alike without being the same thing."""


def bodies(name: str, parsed: ast.Module) -> list[tuple[str, str]]:
    """The functions of a module as `module.function` with their bodies, without docstrings."""
    found = []
    for node in parsed.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            whole = ast.Module(body=body, type_ignores=[])
            if sum(1 for _ in ast.walk(whole)) >= FEWEST_NODES:
                found.append((f"{name}.{node.name}", f"{ast.dump(node.args)}{ast.dump(whole)}"))
    return found


def twice(found: list[tuple[str, str]]) -> list[list[str]]:
    """Names of functions with equal parameters and bodies."""
    known: dict[str, list[str]] = {}
    for name, body in found:
        known.setdefault(body, []).append(name)
    return [names for names in known.values() if len(names) > 1]


def test_no_function_stands_in_two_modules() -> None:
    found = [item for path in MODULES for item in bodies(str(path.relative_to(ROOT)), tree(path))]
    assert twice(found) == []


def test_the_check_sees_a_copy_under_another_name() -> None:
    body = '(text):\n    "Says it."\n    return " ".join(word for word in text.split() if word != "the")\n'
    first, copy, other = (
        ast.parse(source) for source in (f"def f{body}", f"def g{body}", f"def g{body}".replace("the", "a"))
    )
    assert twice(bodies("a", first) + bodies("b", copy)) == [["a.f", "b.g"]]
    assert twice(bodies("a", first) + bodies("b", other)) == []
