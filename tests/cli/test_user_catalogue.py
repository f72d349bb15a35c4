"""Every command honours a user's catalogue folder."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from taskloom.resources.applications import ResourceDeclaration
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.store import Warehouse
from tests.conftest import Run

ROOT = Path(__file__).parents[2]
LOADERS = {"load_applications", "load_application", "load_resource_categories"}
CATEGORY = """
- name: ledger_record
  kind: record
  description: A record of the user's own ledger.
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A catalogue folder with one category of its own."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "resource_categories.yaml").write_text(CATEGORY, encoding="utf-8")
    return folder


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Two subtasks that pass a record of the user's category on."""
    record = ResourceDeclaration(category="ledger_record", parameter="name")

    def subtask(name: str, **sides: tuple[ResourceDeclaration, ...]) -> Subtask:
        return Subtask(
            subtask_id=f"ledger.{name}",
            application="ledger",
            application_category="Office",
            instruction_template=f"{name} {{name}}.",
            available_parameters=({"name": "rent"},),
            **sides,
        )

    place = tmp_path / "warehouse"
    with Warehouse(place) as warehouse:
        warehouse.write([subtask("Write", outputs=(record,)), subtask("Read", inputs=(record,))])
    return place


@pytest.mark.parametrize("way", ["option", "variable", "settings file"])
def test_plan_knows_the_categories_of_the_user(
    run: Run, pool: Path, catalogue: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wish = ["plan", "--warehouse", pool, "--want", "hierarchy=2", "--count", 1]
    code, _, err = run(*wish)
    assert (code, "ledger_record" in err) == (2, True)
    if way == "option":
        wish += ["--catalog", catalogue]
    elif way == "variable":
        monkeypatch.setenv("TASKLOOM_CATALOG", str(catalogue))
    else:
        (tmp_path / "taskloom.yaml").write_text(f"catalog: {catalogue}\n", encoding="utf-8")
    assert run(*wish)[0] == 0


@pytest.mark.parametrize("command", [("graph",), ("score", "--completed", "a")])
def test_graphs_of_files_know_the_categories_of_the_user(
    run: Run, catalogue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    file = tmp_path / "graph.json"
    graph = {
        "nodes": ["a", "b"],
        "resources": {"a": {"outputs": ["ledger_record:rent"]}, "b": {"inputs": ["ledger_record:rent"]}},
    }
    file.write_text(json.dumps(graph), encoding="utf-8")
    assert run(*command, file)[0] == 2
    monkeypatch.setenv("TASKLOOM_CATALOG", str(catalogue))
    assert run(*command, file)[0] == 0


@pytest.mark.parametrize(
    "command", ["build", "explore", "compose", "verify", "evaluate", "install", "apps", "plan"]
)
def test_commands_that_read_the_catalogue_take_its_folder(run: Run, command: str) -> None:
    assert "--catalog" in run(command, "--help")[1]


@pytest.mark.parametrize("command", ["build", "verify"])
def test_runs_refuse_a_catalogue_folder_that_is_none(run: Run, command: str, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    code, _, err = run(command, "--dry-run", "--data", tmp_path / "data", "--catalog", nowhere)
    assert (code, str(nowhere) in err) == (2, True)


def test_nothing_above_the_catalogue_reads_it_without_the_users_folder() -> None:
    bare = []
    for file in [*(ROOT / "flows").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOADERS:
                given = len(node.args) + len(node.keywords)
                if given < 1 + (node.func.id == "load_application"):
                    bare.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.func.id}()")
    assert bare == []
