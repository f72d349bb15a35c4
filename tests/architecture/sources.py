"""The modules of the packages and their syntax trees, parsed once for all tests of a process."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOT_PACKAGES = {"tests", "benchmarks", "scripts"}
PACKAGES = sorted(
    path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in NOT_PACKAGES
)
"""Folders of the repository that are installed as `taskloom.<package>`."""
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    """What a file of the repository is imported as.

    >>> module_name(ROOT / "flows" / "settings.py"), module_name(ROOT / "tests" / "servers" / "web.py")
    ('taskloom.flows.settings', 'tests.servers.web')
    """
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("taskloom", *parts) if parts[0] in PACKAGES else parts)


@cache
def source(path: Path) -> str:
    """The text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module, which nobody may change."""
    return ast.parse(source(path))


@cache
def docstring(path: Path) -> str:
    """The docstring of a module, or nothing."""
    return ast.get_docstring(tree(path)) or ""
