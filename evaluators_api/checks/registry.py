"""The checks by name. Every module beside this one declares some; this one imports them, and none of them
imports it."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from taskloom.evaluators_api import checks as shelf
from taskloom.evaluators_api.checks.declaration import Check, declared_in
from taskloom.evaluators_api.errors import CheckDeclarationError

_OTHERS = frozenset(["declaration", "registry"])


@cache
def checks() -> Mapping[str, Check]:
    """Every check by name: the paper's eleven first, then those beyond it, module by module.

    Raises:
        CheckDeclarationError: two checks have the same name.
    """
    names = sorted(item.name for item in pkgutil.iter_modules(shelf.__path__) if item.name not in _OTHERS)
    modules = [import_module(f"{shelf.__name__}.{name}") for name in names]
    found: dict[str, Check] = {}
    for item in sorted((item for module in modules for item in declared_in(module)), key=_order):
        if item.name in found:
            places = " and ".join(sorted({item.function.__module__, found[item.name].function.__module__}))
            raise CheckDeclarationError(f"There are two checks called {item.name}: in {places}.")
        found[item.name] = item
    return found


def _order(item: Check) -> bool:
    return not item.in_paper
