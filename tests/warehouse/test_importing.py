"""Other people's tasks come in whole, and go out as they came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.exporting import MANIFEST
from taskloom.warehouse.importing.imported_tasks import canonical_application
from taskloom.warehouse.importing.importing import read_import
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.samples import export


def test_osworld_ids_that_repeat_between_domains_are_two_tasks(warehouse: Warehouse, tmp_path: Path) -> None:
    summary = run_import(warehouse, "osworld", foreign.osworld(tmp_path))

    assert summary.counts["tasks"] == 3
    assert summary.infeasible == 1
    applications = {node.application for task in warehouse.read(Task) for node in task.graph.nodes}
    assert applications == {"chrome", "libreoffice_calc"}
    (several,) = warehouse.read(Task, "list_contains(applications, 'vs_code')")
    assert several.other_applications == ("vs_code",)
    assert several.complexity.application_categories == 2


def test_what_osworlds_loader_does_without_may_be_absent(warehouse: Warehouse, tmp_path: Path) -> None:
    needed = {name: foreign.OSWORLD[name] for name in ("instruction", "evaluator")}
    foreign.write(tmp_path, "chrome/a.json", {**needed, "id": 17})

    run_import(warehouse, "osworld", tmp_path)

    (task,) = warehouse.read(Task)
    assert task.task_id == "osworld:chrome/17"


def test_folders_that_belong_to_an_osworld_id_survive(warehouse: Warehouse, tmp_path: Path) -> None:
    foreign.write(
        tmp_path, "in/evaluation_examples/examples/Windows/word/x.json", {**foreign.OSWORLD, "id": "x"}
    )
    foreign.write(
        tmp_path, "in/evaluation_examples/settings/google/settings.json", {"email": "", "password": ""}
    )

    run_import(warehouse, "osworld", tmp_path / "in")
    export(warehouse, "osworld", tmp_path / "out")

    assert [task.task_id for task in warehouse.read(Task)] == ["osworld:Windows/word/x"]
    assert json.loads((tmp_path / "out/examples/Windows/word/x.json").read_text())["id"] == "x"
    assert json.loads((tmp_path / "out/test_all.json").read_text()) == {"Windows/word": ["x"]}


def test_folders_of_tasks_beside_an_osworlds_examples_come_in_too(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    here = tmp_path / "in" / "evaluation_examples"
    foreign.write(here, "examples/os/x.json", {**foreign.OSWORLD, "id": "x"})
    foreign.write(here, "examples_windows/excel/x.json", {**foreign.OSWORLD, "id": "x"})
    foreign.write(here, "examples_notes.json", {})

    for given in (tmp_path / "in", here, here / "examples_windows"):
        run_import(warehouse, "osworld", given)
        found = {task.task_id for task in warehouse.read(Task)}
        assert found == {"osworld:os/x", "osworld:examples_windows/excel/x"}


def test_what_came_in_goes_out_as_equal_json(warehouse: Warehouse, tmp_path: Path) -> None:
    run_import(warehouse, "osworld", foreign.osworld(tmp_path / "in"))

    export(warehouse, "osworld", tmp_path / "out")

    def values(folder: Path) -> list[str]:
        paths = [path for path in folder.rglob("*.json") if path.name not in (MANIFEST, "test_all.json")]
        return sorted(json.dumps(json.loads(path.read_text()), sort_keys=True) for path in paths)

    assert values(tmp_path / "out") == values(tmp_path / "in")


def test_crab_tasks_become_graphs_with_the_paper_metrics(warehouse: Warehouse, tmp_path: Path) -> None:
    run_import(warehouse, "crab", foreign.crab(tmp_path))

    (task,) = warehouse.read(Task)
    assert (task.complexity.nodes, task.complexity.edges, task.complexity.depth) == (2, 1, 2)
    assert task.successful_order_count == 1
    assert task.graph.edges[0].resource.value == "Dortmund"


def test_paper_files_without_bindings_take_parameters_from_the_instruction(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    run_import(warehouse, "omnibench", foreign.omnibench(tmp_path / "in"))
    export(warehouse, "omnibench", tmp_path / "out")

    (task,) = warehouse.read(Task)
    assert task.graph.nodes[0].parameters == {"xlsx_path": "C:\\b.xlsx"}
    assert task.graph.edges[0].resource.category == "table_in_clipboard"
    assert {item.subtask_id for item in warehouse.read(Subtask)} == {
        "25e2a51e-c019-1a9a-0747-d16fe0e9d457d",
        "df3fc68b",
    }
    for kind in ("subtasks", "tasks"):
        for path in (tmp_path / "in" / kind).iterdir():
            assert json.loads((tmp_path / "out" / kind / path.name).read_text()) == json.loads(
                path.read_text()
            )


def test_importing_twice_changes_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    foreign.osworld(tmp_path)
    run_import(warehouse, "osworld", tmp_path)
    run_import(warehouse, "osworld", tmp_path)

    assert (warehouse.count(Task), warehouse.count(ImportedItem)) == (3, 3)


def test_reading_without_storing_gives_the_records(tmp_path: Path) -> None:
    assert len(read_import("osworld", foreign.osworld(tmp_path))) == 6


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("chrome", "chrome"),
        ("Google Chrome", "chrome"),
        ("google-chrome", "chrome"),
        ("libreoffice_calc", "libreoffice_calc"),
        ("libreoffice calc", "libreoffice_calc"),
        ("Calc", "libreoffice_calc"),
        ("excel", "libreoffice_calc"),
        ("impress", "libreoffice_impress"),
        ("ppt", "libreoffice_impress"),
        ("writer", "libreoffice_writer"),
        ("word", "libreoffice_writer"),
        ("vscode", "vs_code"),
        ("vs_code", "vs_code"),
        ("code", "vs_code"),
        ("thunderbird", "thunderbird"),
        ("email", "thunderbird"),
        ("vlc", "vlc"),
        ("gimp", "gimp"),
        ("terminal", "terminal"),
        ("ubuntu", "os"),
        ("os", "os"),
        ("pdf", "pdf_viewer"),
        ("picture", "image_viewer"),
    ],
)
def test_spellings_of_applications_have_one_name(spelling: str, name: str) -> None:
    assert canonical_application(spelling)[0] == name
