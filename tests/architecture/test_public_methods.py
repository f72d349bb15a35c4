"""Every public method and property is named somewhere outside of the tests: in code, in a template or in a
query."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache

from tests.architecture.sources import MODULES, PACKAGES, ROOT, tree

CALLED_BY_OTHERS = {
    "address_string": "the standard library's HTTP handler, which calls it itself",
    "do_CONNECT": "the standard library's HTTP handler, which calls it itself",
    "do_POST": "the standard library's HTTP handler, which calls it itself",
    "do_GET": "the standard library's HTTP handler, which calls it itself",
    "capture_signals": "uvicorn's server, which calls it itself",
    "log_message": "the standard library's HTTP handler, which calls it itself",
    "recording": "programs, by the public interface (docs/python.md)",
    "settings_customise_sources": "pydantic-settings, which asks for it",
}
"""Methods that a library calls."""
TEXTS = {".html", ".jinja", ".js", ".sql"}


def methods(parsed: ast.Module) -> set[str]:
    """Public methods and properties that a module defines; those that visit syntax or check fields are found
    by name."""
    return {
        item.name
        for node in ast.walk(parsed)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith(("_", "visit_"))
        and not any("validator" in ast.unparse(found) for found in item.decorator_list)
    }


def named(parsed: ast.Module) -> set[str]:
    """Names that a module takes out of something."""
    return {node.attr for node in ast.walk(parsed) if isinstance(node, ast.Attribute)}


@cache
def in_texts() -> frozenset[str]:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in TEXTS)
    return frozenset(word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))


def unnamed(modules: Iterable[ast.Module]) -> set[str]:
    known = list(modules)
    return set[str]().union(*map(methods, known)) - set[str]().union(*map(named, known))


def test_every_public_method_is_named_outside_of_tests() -> None:
    found = unnamed(map(tree, MODULES)) - in_texts()
    assert sorted(found - CALLED_BY_OTHERS.keys()) == [], "use them, make them private, or remove them"
    assert CALLED_BY_OTHERS.keys() <= found, "no longer needed in CALLED_BY_OTHERS"


def test_the_check_sees_a_method_that_nothing_names() -> None:
    source = "class A:\n def used(self): ...\n def idle(self): ...\n def _own(self): ...\nA().used()\n"
    assert unnamed([ast.parse(source)]) == {"idle"}
