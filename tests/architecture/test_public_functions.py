"""Every public function is called by something other than a test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import taskloom
from tests.architecture.sources import MODULES, module_name, tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
FOUND_BY_NAME = {
    "taskloom.cli.commands": {"register"},
    "taskloom.environments.platforms.linux_desktop.image.modules": {
        *("press", "hotkey", "keyDown", "keyUp", "write", "sleep", "scroll", "hscroll", "size", "dragRel"),
        *("click", "rightClick", "middleClick", "doubleClick", "tripleClick", "mouseDown", "mouseUp", "move"),
        *("copy", "paste"),
    },
    "taskloom.environments.platforms": {
        "applications",
        "missing",
        "prepare",
        "install",
        "create",
    },
    "taskloom.evaluators_api.state.formats": {
        "recognises",
        "parse",
        "encode",
        "insert",
        "finish",
        "without_layout",
    },
    "taskloom.model_clients.providers": {"create"},
    "taskloom.omnieval.agents": {"check", "create"},
    "taskloom.omnieval.metrics": {"measure"},
    "taskloom.omnieval.protocols": {"answer", "instruction"},
    "taskloom.warehouse.exports": {"write"},
    "taskloom.warehouse.imports": {"read"},
    "taskloom.warehouse.viewer.pages": {"add_pages"},
}
"""Functions that are called in each module of a folder, whose modules are found by name."""
ALLOWED: dict[str, str] = {}
"""Functions that only tests call, with the reason why they are kept."""


@dataclass(frozen=True)
class Module:
    """What a module defines and what it uses of others."""

    name: str
    functions: list[Function] = field(default_factory=list)
    used_here: dict[str, set[str]] = field(default_factory=dict)
    imported: set[tuple[str, str]] = field(default_factory=set)


def modules() -> Iterator[Module]:
    for file in MODULES:
        yield read(module_name(file).removesuffix(".__init__"), tree(file))


def read(name: str, parsed: ast.Module) -> Module:
    """The module `name`: its functions, who in it names what, and what it imports or takes out of modules it
    imports."""
    module = Module(name)
    aliases = {}
    for node in ast.walk(parsed):
        if isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                module.imported.add((node.module, item.name))
                aliases[item.asname or item.name] = f"{node.module}.{item.name}"
        elif isinstance(node, ast.Import):
            for item in node.names:
                aliases[item.asname or item.name] = item.name
    for node in ast.walk(parsed):
        if isinstance(node, ast.Attribute):
            module.imported.add((aliases.get(dotted(node.value), ""), node.attr))
    for statement in parsed.body:
        owner = statement.name if isinstance(statement, Function) else ""
        if isinstance(statement, Function) and not statement.name.startswith("_"):
            module.functions.append(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                module.used_here.setdefault(node.id, set()).add(owner)
    return module


def dotted(node: ast.expr) -> str:
    """`a.b` as it is written, and nothing for what is no plain name."""
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return node.id if isinstance(node, ast.Name) else ""


def uncalled(found: list[Module]) -> list[str]:
    """Public functions without a decorator that nothing but themselves names, as `module.function`."""
    imported = {pair for module in found for pair in module.imported}
    return [
        f"{module.name}.{function.name}"
        for module in found
        for function in module.functions
        if not function.decorator_list
        and (module.name, function.name) not in imported
        and not module.used_here.get(function.name, set()) - {function.name}
        and function.name not in by_name(module.name)
    ]


def by_name(module: str) -> set[str]:
    """The functions that are looked up by name in `module`."""
    return next((names for folder, names in FOUND_BY_NAME.items() if module.startswith(f"{folder}.")), set())


@cache
def found_here() -> tuple[str, ...]:
    return tuple(uncalled(list(modules())))


def test_every_public_function_is_called_outside_of_tests() -> None:
    public = {f"{module}.{name}" for module, names in taskloom._MODULES.items() for name in names}
    assert sorted(set(found_here()) - ALLOWED.keys() - public) == [], (
        "Nothing but tests calls these: use them, make them private, or remove them."
    )


def test_no_function_is_allowed_without_need_or_reason() -> None:
    assert sorted(ALLOWED.keys() - set(found_here())) == []
    assert all(ALLOWED.values())


def test_the_check_sees_what_is_called_and_what_is_not() -> None:
    lower = read("a.b", ast.parse("def used(): ...\ndef taken(): ...\ndef idle(): idle()\ndef _own(): ...\n"))
    upper = read(
        "c", ast.parse("from a import b\nfrom a.b import used\ndef run(): used(); b.taken()\nrun()\n")
    )
    assert uncalled([lower, upper]) == ["a.b.idle"]
