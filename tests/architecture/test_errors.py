"""Errors have one root, and every package's tree is drawn where it begins."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from tests.architecture.test_packages import MODULES, ROOT

ROOT_ERROR = "TaskloomError"
BUILT_IN = {
    name
    for name, found in vars(builtins).items()
    if isinstance(found, type) and issubclass(found, BaseException)
}


def classes(source: str) -> dict[str, list[str]]:
    """The classes of a module by name, with the last part of the name of each base."""
    return {
        node.name: [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    }


def rootless(known: dict[str, list[str]]) -> list[str]:
    """Exceptions among the classes that derive from a built-in exception instead of from our root."""

    def derived(name: str) -> set[str]:
        found, waiting = {name}, [name]
        while waiting:
            bases = set(known.get(waiting.pop(), [])) - found
            found |= bases
            waiting += bases
        return found

    return sorted(
        name
        for name in known
        if name != ROOT_ERROR and derived(name) & BUILT_IN and ROOT_ERROR not in derived(name)
    )


def test_all_errors_have_one_root() -> None:
    known: dict[str, list[str]] = {}
    for file in MODULES:
        known |= classes(file.read_text(encoding="utf-8"))
    assert known[ROOT_ERROR] == ["Exception"]
    assert rootless(known) == []


def test_the_check_sees_an_error_without_the_root() -> None:
    known = {ROOT_ERROR: ["Exception"]}
    known |= classes(
        "class Ours(errors.TaskloomError): ...\nclass Near(Ours): ...\n"
        "class Other(ValueError): ...\nclass Far(Other): ...\n"
    )
    assert rootless(known) == ["Far", "Other"]


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if path.name == "errors.py"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_tree_of_a_package_names_its_errors(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    drawn = ast.get_docstring(ast.parse(source)) or ""
    known = classes(source)
    errors = {name for name in known if name.endswith("Error")}
    assert [name for name in sorted(errors) if name not in drawn] == []
