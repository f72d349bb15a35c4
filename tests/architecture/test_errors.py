"""Errors have one root, and every package's tree is drawn where it begins."""

from __future__ import annotations

import ast
import builtins

from tests.architecture.sources import MODULES, ROOT, docstring, tree

ROOT_ERROR = "TaskloomError"
BUILT_IN = {
    name
    for name, found in vars(builtins).items()
    if isinstance(found, type) and issubclass(found, BaseException)
}


def classes(parsed: ast.Module) -> dict[str, list[str]]:
    """The classes of a module by name, with the last part of the name of each base."""
    return {
        node.name: [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        for node in ast.walk(parsed)
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
        known |= classes(tree(file))
    assert known[ROOT_ERROR] == ["Exception"]
    assert rootless(known) == []


def test_the_check_sees_an_error_without_the_root() -> None:
    known = {ROOT_ERROR: ["Exception"]}
    known |= classes(
        ast.parse(
            "class Ours(errors.TaskloomError): ...\nclass Near(Ours): ...\n"
            "class Other(ValueError): ...\nclass Far(Other): ...\n"
        )
    )
    assert rootless(known) == ["Far", "Other"]


def test_the_tree_of_a_package_names_its_errors() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        if path.name == "errors.py"
        for name in sorted(classes(tree(path)))
        if name.endswith("Error") and name not in docstring(path)
    ]
    assert missing == []
