"""What is imported is declared, and what is declared is imported or kept for a stated reason."""

import ast
import re
import sys
from importlib.metadata import packages_distributions

from tests.architecture.sources import MODULES, PROJECT, ROOT, tree

LOADED_BY_NAME = {
    "duckdb-extension-ducklake",
    "duckdb-extension-sqlite-scanner",
    "sqlalchemy",  # a bound on what Prefect takes
}
PARTS = {"pydantic_core": "pydantic", "pydantic_monty": "pydantic-monty"}
"""Modules whose distribution is installed by the one that is declared."""


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", text)[0].lower().replace("_", "-") for text in requirements}


def imported() -> set[str]:
    """Top-level names of everything that the packages import and neither Python nor taskloom has."""
    found = set()
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"taskloom"}


def test_imports_and_declared_dependencies_are_the_same() -> None:
    declared = names_of(PROJECT["project"]["dependencies"])
    optional = names_of(
        [text for group in PROJECT["project"]["optional-dependencies"].values() for text in group]
    )
    known = packages_distributions()
    used = {
        name: {item.lower().replace("_", "-") for item in [*known.get(name, [name]), PARTS.get(name, name)]}
        for name in imported()
    }
    undeclared = sorted(name for name, providers in used.items() if not providers & (declared | optional))
    assert undeclared == []
    idle = sorted(declared - set().union(*used.values()) - LOADED_BY_NAME)
    assert idle == []


def test_an_exact_or_upper_bound_stands_below_its_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    start = lines.index("dependencies = [")
    reason = False
    for line in lines[start + 1 : lines.index("]", start)]:
        if line.strip().startswith("#"):
            reason = True
        elif "==" in line or "<" in line:
            assert reason, f"{line.strip()} has no reason; write it above, in a comment"
        else:
            reason = False
