"""The checks by name. Every module beside this one declares some; this one imports them, and none of them imports it."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from evaluators_api import checks as shelf
from evaluators_api.checks.declaration import Check, declared_in

_OTHERS = frozenset(["declaration", "registry"])


@cache
def checks() -> Mapping[str, Check]:
    """Every check by name: the paper's eleven first, then those beyond it, module by module."""
    names = [item.name for item in pkgutil.iter_modules(shelf.__path__) if item.name not in _OTHERS]
    modules = [import_module(f"{shelf.__name__}.{name}").__name__ for name in sorted(names)]
    found = [item for module in modules for item in declared_in(module)]
    return {item.name: item for item in sorted(found, key=lambda item: not item.in_paper)}
