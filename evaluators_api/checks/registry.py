"""The checks by name: those of the modules beside this one, and those that other packages declare."""

from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import cast

from taskloom.evaluators_api.checks.declaration import Check, declared_in
from taskloom.evaluators_api.errors import CheckDeclarationError
from taskloom.resources.plugins import PluginKind, report
from taskloom.taskgraph.records.evaluation_function import CheckFacts

CHECKS: PluginKind[object] = PluginKind(
    "module of checks",
    CheckDeclarationError,
    folder="taskloom.evaluators_api.checks",
    group="taskloom.checks",
)
"""Each is a module that declares checks."""


@cache
def checks() -> Mapping[str, Check]:
    """Every check by name: the paper's eleven first, then those beyond it, module by module.

    Raises:
        CheckDeclarationError: two checks of taskloom's own have the same name; such a check of a package is
            reported and left out.
    """
    own = CHECKS.built_in()
    found: dict[str, Check] = {}
    for place, module in sorted(CHECKS.each(), key=lambda item: item[0] not in own):
        for item in declared_in(cast(ModuleType, module)):
            if item.name not in found:
                found[item.name] = item
                continue
            places = " and ".join(sorted({item.function.__module__, found[item.name].function.__module__}))
            problem = f"There are two checks called {item.name}: in {places}."
            if place in own:
                raise CheckDeclarationError(problem)
            report(f"{problem} That of the package {CHECKS.package_of(place)} is left out.")
    return dict(sorted(found.items(), key=lambda item: not item[1].in_paper))


def check_facts() -> dict[str, CheckFacts]:
    """What is known of every check by its name, for readers that do not ask checks themselves."""
    return {name: item.facts for name, item in checks().items()}
