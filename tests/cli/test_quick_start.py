"""What a command imports before it answers: nothing that it does not need, which is what makes it quick."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from taskloom.warehouse.store import Warehouse

LOADED = """
import json, sys
from taskloom.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"pandas", "playwright", "prefect", "openai", "anthropic", "faker", "fastapi", "jinja2", "networkx"}


def loaded_by(*arguments: str, folder: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_loads_no_library_but_typer(tmp_path: Path) -> None:
    loaded = loaded_by("--help", folder=tmp_path)
    assert not loaded & {*HEAVY, "rich", "pydantic", "numpy", "duckdb", "pyarrow", "importlib.metadata"}
    assert not any(name.startswith(("taskloom.synthesis.", "taskloom.warehouse.")) for name in loaded)


@pytest.mark.parametrize("query", ["SELECT 1", "funnel"])
def test_a_query_loads_the_warehouse_alone(
    tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the first query on a machine
    Warehouse(tmp_path / "taskloom-data" / "warehouse").close()
    loaded = loaded_by("sql", query, "--csv", folder=tmp_path)
    assert not loaded & {*HEAVY, "pydantic_settings", "ruamel", "rich", "taskloom.flows.settings"}
    rooms = {name.split(".")[1] for name in loaded if name.startswith("taskloom.")}
    assert rooms == {"cli", "flows", "warehouse", "resources"}


def test_the_package_itself_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import taskloom; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.split(".")[0] for name in done.stdout.split()} <= {"taskloom", *sys.stdlib_module_names}
    assert {name for name in done.stdout.split() if name.startswith("taskloom")} == {"taskloom"}
