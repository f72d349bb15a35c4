"""Finds export and import formats by the names of their modules."""

from __future__ import annotations

import ast
import pkgutil
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from types import ModuleType

from taskloom.warehouse.errors import UnknownFormatError


def export_formats() -> list[str]:
    """Names of the export formats, sorted."""
    return sorted(
        item.name for item in pkgutil.iter_modules(import_module("taskloom.warehouse.exports").__path__)
    )


def import_formats() -> list[str]:
    """Names of the import formats, sorted."""
    return sorted(
        item.name for item in pkgutil.iter_modules(import_module("taskloom.warehouse.imports").__path__)
    )


def described(formats: ModuleType) -> list[dict[str, str]]:
    """Name and description of every format in the package `formats`: the first sentence of its module.

    The modules are read, not imported: what one of them needs may be absent.
    """
    found = []
    for item in sorted(files(formats).iterdir(), key=lambda item: item.name):
        name = item.name.removesuffix(".py")
        if item.name.endswith(".py") and not name.startswith("_"):
            text = ast.get_docstring(ast.parse(item.read_text("utf-8"))) or ""
            found.append({"name": name, "description": text.partition("\n\n")[0].replace("\n", " ")})
    return found


def export_module(name: str) -> ModuleType:
    """The module `taskloom.warehouse.exports.<name>`, imported now; other formats cost nothing.

    Raises:
        UnknownFormatError: there is none; the known ones are named.
    """
    return _module("taskloom.warehouse.exports", name, export_formats(), "export")


def import_module_of(name: str) -> ModuleType:
    """The module `taskloom.warehouse.imports.<name>`, imported now; other formats cost nothing.

    Raises:
        UnknownFormatError: there is none; the known ones are named.
    """
    return _module("taskloom.warehouse.imports", name, import_formats(), "import")


def _module(package: str, name: str, known: list[str], what: str) -> ModuleType:
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownFormatError(f"There is no {what} format {name!r}.{hint} Known: {', '.join(known)}.")
    return import_module(f"{package}.{name}")
