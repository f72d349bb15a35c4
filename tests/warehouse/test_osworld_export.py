"""What goes out to OSWorld: tasks judged by `taskloom judge`, and a configuration that starts the
applications."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from taskloom.resources.applications import Fixture, Launch, Preparation
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.machine_setup import setup
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import SOURCE, file_resource, shop
from tests.warehouse.samples import export, records

TASK = next(record for record in records() if isinstance(record, Task))
JUDGE = f"{sys.executable} -m taskloom.cli.main judge"


def test_a_task_whose_subtasks_undo_each_other_is_refused_as_volatile(
    filled: Warehouse, tmp_path: Path
) -> None:
    (task,) = (item for item in records() if isinstance(item, Task))
    first, second = task.graph.nodes
    moving = second.model_copy(update={"consumed": (file_resource("a.csv"),)})
    graph = task.graph.model_copy(update={"nodes": (first, moving)})
    filled.write([task.model_copy(update={"task_id": "task-2", "graph": graph})])

    outcome = export(filled, "osworld", tmp_path / "out").outcome

    assert outcome.counts == {"tasks": 1}
    ((item, reason),) = [(item.item_id, item.reason) for item in outcome.refused]
    assert item == "task-2"
    assert "notes.create is volatile: sheets.chart changes" in reason


def test_the_configuration_prepares_starts_and_opens_the_applications(tmp_path: Path) -> None:
    application = shop(
        preparation=Preparation(
            files={"settings.ini": "home={home} port={port}"},
            commands=(("python3", "-c", "open('made.txt', 'w').write('x')"),),
        ),
        launch=Launch(
            command=("{venv}/bin/shop", "{state}"), environment={"PORT": "{port}"}, url_path="/start"
        ),
        fixture=Fixture(category="csv_path", value="Documents/big.csv", content="a,b\n" * 40_000),
    )

    steps: list[dict[str, Any]] = setup([application])

    for step in steps:
        if step["type"] == "execute" and "socket" not in str(step):
            arguments = [
                str(part).replace("/home/user", str(tmp_path)) for part in step["parameters"]["command"]
            ]
            subprocess.run(arguments, check=True)
    assert (tmp_path / "Documents" / "big.csv").read_text() == "a,b\n" * 40_000
    state = tmp_path / ".applications" / "shop"
    assert (state / "settings.ini").read_text() == "home=/home/user port=8800"
    assert (state / "made.txt").read_text() == "x"
    launched = [step["parameters"]["command"] for step in steps if step["type"] == "launch"]
    assert launched[0] == [
        *("env", "-C", "/home/user/.applications/shop", "PORT=8800"),
        *("/home/user/applications/shop/venv/bin/shop", "/home/user/.applications/shop"),
    ]
    assert [command[0] for command in launched[1:]] == ["google-chrome", "socat"]
    assert steps[-1] == {
        "type": "chrome_open_tabs",
        "parameters": {"urls_to_open": ["http://localhost:8800/start"]},
    }


MIXED = SOURCE.replace(
    '        (check_file_exists(csv_path), "there is no file"),\n',
    '        (check_file_exists(csv_path), "there is no file"),\n'
    '        (check_text_exists(csv_path), "it is not shown"),\n',
)


def test_functions_that_also_ask_the_screen_are_judged_by_taskloom_on_the_machine(
    filled: Warehouse, tmp_path: Path
) -> None:
    assert MIXED != SOURCE
    functions = [item for item in records() if isinstance(item, EvaluationFunction)]
    filled.write([item.model_copy(update={"source": MIXED}) for item in functions], replace=True)

    outcome = export(filled, "osworld", tmp_path / "out").outcome

    assert outcome.counts == {"tasks": 1}
    assert "a machine image that has `taskloom judge`" in " ".join(outcome.notes)
    (file,) = (tmp_path / "out" / "examples").rglob("*.json")
    task = json.loads(file.read_text())
    home, folder = tmp_path / "home", tmp_path / "machine"
    home.mkdir()
    (home / "applications").mkdir()
    (home / "other.txt").write_text("as before")

    def run(step: dict[str, Any]) -> str:
        """What OSWorld's machine does with a command, in folders of this test."""
        places = {"/home/user": str(home), "/tmp/taskloom": str(folder), "taskloom judge": JUDGE}
        parts = []
        for part in step["command"]:
            for name, place in places.items():
                part = part.replace(name, place)
            parts.append(sys.executable if part == "python3" else part)
        return subprocess.run(parts, capture_output=True, text=True, check=False, timeout=120).stdout

    (keep,) = [item for item in task["config"] if "copytree" in str(item)]
    first_browser = next(place for place, item in enumerate(task["config"]) if "google-chrome" in str(item))
    assert task["config"].index(keep) < first_browser
    run(keep["parameters"])
    assert not (folder / "start" / "applications").exists()
    assert not (folder / "sheet.json").exists(), "the agent could read it"
    evaluator = task["evaluator"]

    def judged() -> bool:
        for step in evaluator["postconfig"]:
            run(step["parameters"])
        expected = str(evaluator["expected"]["rules"]["expected"])
        return run(evaluator["result"]) == expected

    assert evaluator["func"] == "exact_match"
    assert file.parent.name == "multi_apps"
    assert {"related_apps", "proxy", "fixed_ip", "possibility_of_env_change"} <= set(task)
    assert not judged()
    (home / ".config").mkdir()
    (home / ".config" / "browser").write_text("its own")
    for name in {value for node in TASK.graph.nodes for value in node.parameters.values()}:
        (home / name).write_text("a,b\n1,2\n")
    assert judged()
