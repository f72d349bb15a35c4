"""Malformed files of every import format are refused with file, field and reason, and nothing is stored."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.warehouse.errors import ImportRefusedError, UnknownFormatError
from taskloom.warehouse.importing.imported_tasks import build_task, guess_resource
from taskloom.warehouse.store import Warehouse
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from tests.warehouse.refusals import refusal

REMOVED = "<left out>"
Change = tuple[tuple[str | int, ...], object]


def changed(value: object, change: Change) -> object:
    path, new = change
    whole = copy.deepcopy(value)
    target = whole
    for part in path[:-1]:
        target = target[part]  # type: ignore[index]
    if new is REMOVED:
        del target[path[-1]]  # type: ignore[attr-defined]
    else:
        target[path[-1]] = new  # type: ignore[index]
    return whole


OSWORLD_FAULTS: list[Change] = [
    (("id",), REMOVED),
    (("id",), [7]),
    (("id",), True),
    (("id",), " "),
    (("instruction",), REMOVED),
    (("instruction",), ["x"]),
    (("instruction",), ""),
    (("related_apps",), "chrome"),
    (("related_apps", 0), 3),
    (("config",), {}),
    (("config", 0), "launch"),
    (("config", 0, "type"), REMOVED),
    (("config", 0, "parameters"), []),
    (("evaluator",), REMOVED),
    (("evaluator",), "check.py"),
    (("evaluator", "func"), REMOVED),
    (("evaluator", "func"), ""),
    (("evaluator", "func"), []),
    (("evaluator", "func"), ["a", "b"]),
    (("evaluator", "result"), [{}]),
    (("evaluator", "expected"), "gold"),
    (("proxy",), "yes"),
    (("fixed_ip",), 1),
    (("possibility_of_env_change",), "often"),
]
CRAB_FAULTS: list[Change] = [
    (("id",), REMOVED),
    (("id",), None),
    (("id",), ""),
    (("description",), REMOVED),
    (("description",), {}),
    (("description",), ""),
    (("tasks",), REMOVED),
    (("tasks",), {}),
    (("tasks",), []),
    (("tasks", 0), "x"),
    (("tasks", 0, "task"), REMOVED),
    (("tasks", 0, "task"), 5),
    (("tasks", 0, "attribute"), REMOVED),
    (("tasks", 0, "attribute"), []),
    (("tasks", 0, "output"), {"a": 1}),
    (("tasks", 0, "output"), [1]),
    (("adjlist",), REMOVED),
    (("adjlist",), [[0, 1]]),
    (("adjlist",), ""),
    (("adjlist",), "0 2"),
    (("adjlist",), "0 one"),
    (("adjlist",), "0 -1"),
    (("adjlist",), "0 1\n1 0"),
    (("adjlist",), "0 0"),
    (("adjlist",), "0 1\n0 1"),
]
OMNIBENCH_SUBTASK_FAULTS: list[Change] = [
    (("id",), REMOVED),
    (("id",), 4),
    (("instruction_template",), REMOVED),
    (("instruction_template",), "Open '{other_path}'."),
    (("application",), REMOVED),
    (("application",), []),
    (("available_parameters",), REMOVED),
    (("available_parameters",), {}),
    (("available_parameters", 0), "x"),
    (("available_parameters", 0, "xlsx_path"), 5),
    (("available_parameters", 0, "xlsx_path"), REMOVED),
    (("OS",), REMOVED),
    (("input_resources",), "xlsx_path"),
    (("output_resources",), REMOVED),
    (("output_resources", 0), None),
]
OMNIBENCH_TASK_FAULTS: list[Change] = [
    (("task_instruction",), REMOVED),
    (("dag",), REMOVED),
    (("dag",), []),
    (("dag", "nodes"), REMOVED),
    (("dag", "nodes", 0), "unknown"),
    (("dag", "nodes", 0), "df3fc68b"),
    (("dag", "edges"), []),
    (("dag", "edges", "df3fc68b"), ["nobody"]),
    (("dag", "edges", "df3fc68b"), ["25e2a51e-c019-1a9a-0747-d16fe0e9d457d"]),
    (("dag", "edges", "other"), []),
    (("successful_topo",), REMOVED),
    (("successful_topo", 0), ["df3fc68b"]),
    (("task_intent",), 9),
]
OMNIBENCH_FAULTS: list[tuple[str, Change]] = [
    *(("subtask", change) for change in OMNIBENCH_SUBTASK_FAULTS),
    *(("task", change) for change in OMNIBENCH_TASK_FAULTS),
]


@pytest.mark.parametrize("faults", [OSWORLD_FAULTS, CRAB_FAULTS, OMNIBENCH_FAULTS])
def test_every_format_has_at_least_twenty_malformed_files(faults: list[object]) -> None:
    assert len({repr(fault) for fault in faults}) >= 20


@pytest.mark.parametrize("fault", OSWORLD_FAULTS, ids=str)
def test_a_malformed_osworld_file_is_refused_with_place_and_reason(
    target: Warehouse, tmp_path: Path, fault: Change
) -> None:
    foreign.write(tmp_path, "examples/chrome/bad.json", changed(foreign.OSWORLD, fault))
    foreign.write(tmp_path, "examples/chrome/good.json", {**foreign.OSWORLD, "id": "good"})

    error = refusal(target, "osworld", tmp_path)

    assert error.file == "examples/chrome/bad.json"
    assert error.field.startswith(str(fault[0][0]))
    assert error.reason


@pytest.mark.parametrize("fault", CRAB_FAULTS, ids=str)
def test_a_malformed_crab_file_is_refused_with_place_and_reason(
    target: Warehouse, tmp_path: Path, fault: Change
) -> None:
    foreign.write(tmp_path, "cross/bad.json", changed(foreign.CRAB, fault))
    foreign.write(tmp_path, "cross/good.json", {**foreign.CRAB, "id": "good"})

    error = refusal(target, "crab", tmp_path)

    assert error.file == "cross/bad.json"
    assert error.field.startswith(str(fault[0][0]))
    assert error.reason


@pytest.mark.parametrize(("kind", "fault"), OMNIBENCH_FAULTS, ids=str)
def test_a_malformed_omnibench_file_is_refused_with_place_and_reason(
    target: Warehouse, tmp_path: Path, kind: str, fault: Change
) -> None:
    foreign.omnibench(tmp_path)
    if kind == "subtask":
        name = f"subtasks/{foreign.OMNIBENCH_SUBTASKS[0]['id']}.json"
        foreign.write(tmp_path, name, changed(foreign.OMNIBENCH_SUBTASKS[0], fault))
    else:
        name = "tasks/12.json"
        foreign.write(tmp_path, name, changed(foreign.OMNIBENCH_TASK, fault))

    error = refusal(target, "omnibench", tmp_path)

    assert error.field
    assert error.file in (name, "tasks/12.json", f"evaluations/{foreign.OMNIBENCH_SUBTASKS[0]['id']}.py")
    assert error.reason


@pytest.mark.parametrize("name", ["osworld", "crab", "omnibench"])
@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", '"x"', "null", '{"id": "a", "id": "b"}', '{"id": NaN}', "[" * 100_000, "\ufffe"],
    ids=range(9),
)
def test_files_that_are_no_json_objects_are_refused(
    target: Warehouse, tmp_path: Path, name: str, content: str
) -> None:
    place = {
        "osworld": "chrome/a.json",
        "crab": "cross/a.json",
        "omnibench": "tasks/1.json",
    }
    foreign.write(tmp_path, place[name], content)

    refusal(target, name, tmp_path)


@pytest.mark.parametrize("name", ["osworld", "crab", "omnibench"])
def test_files_that_are_not_utf8_are_refused(target: Warehouse, tmp_path: Path, name: str) -> None:
    place = {
        "osworld": "chrome/a.json",
        "crab": "cross/a.json",
        "omnibench": "tasks/1.json",
    }
    foreign.write(tmp_path, place[name], "{}").write_bytes(b'{"id": "\xff"}')

    assert "UTF-8" in refusal(target, name, tmp_path).reason


def test_a_missing_folder_and_an_unknown_format_are_refused(target: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="does not exist"):
        run_import(target, "osworld", tmp_path / "nowhere")
    with pytest.raises(UnknownFormatError, match="crab"):
        run_import(target, "crap", tmp_path)


def test_an_osworld_id_twice_in_one_domain_is_refused(target: Warehouse, tmp_path: Path) -> None:
    foreign.write(tmp_path, "chrome/a.json", foreign.OSWORLD)
    foreign.write(tmp_path, "chrome/b.json", foreign.OSWORLD)

    assert "also occurs in chrome/a.json" in refusal(target, "osworld", tmp_path).reason


def test_a_picture_outside_the_folder_is_never_read(target: Warehouse, tmp_path: Path) -> None:
    foreign.omnibench(tmp_path / "in")
    record = {
        "trajectory_id": "t",
        "instruction": "x",
        "observations": ["../../secret.png"],
        "actions": [{"function": "wait", "args": {"seconds": 1}}],
        "subtask_id": "df3fc68b",
    }
    foreign.write(tmp_path / "in", "trajectories/t.json", record)

    assert "outside the folder" in refusal(target, "omnibench", tmp_path / "in").reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((("subtask_id",), "nobody"), "subtask_id: names 'nobody', which does not exist"),
        ((("instruction",), 5), "instruction: must be text, not a number"),
        ((("observations",), []), "observations: are 0, but there are 1 actions"),
        ((("actions",), {}), "actions: must be a list, not an object"),
        ((("actions", 0, "function"), "fly"), "actions[0].function: "),
        ((("actions", 0, "args"), None), "actions[0].args: must be an object, not null"),
        ((("actions", 0, "args", "seconds"), "long"), "actions[0].args.seconds: "),
        ((("actions", 0, "rect"), [1, 2, 3]), "actions[0].rect: must be left, top, right, bottom"),
        ((("actions", 0, "rect"), [1, 2, 3, 1e999]), "actions[0].rect[3]: "),
    ],
    ids=str,
)
def test_a_malformed_trajectory_of_the_paper_is_refused_with_its_place(
    target: Warehouse, tmp_path: Path, change: Change, message: str
) -> None:
    foreign.omnibench(tmp_path)
    record = {
        "instruction": "x",
        "observations": ["a.png"],
        "actions": [{"function": "wait", "args": {"seconds": 1}}],
        "subtask_id": "df3fc68b",
    }
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    text = json.dumps(changed(record, change)).replace("Infinity", "1e999")
    foreign.write(tmp_path, "trajectories/t.json", text)

    assert f"trajectories/t.json: {message}" in str(refusal(target, "omnibench", tmp_path))


def test_a_subtask_that_occurs_twice_in_a_graph_is_refused_whatever_its_links() -> None:
    one, two = (
        BoundSubtask(
            instance_id=name,
            subtask_id=name,
            application="os",
            application_category="System Management",
            instruction=name,
        )
        for name in ("a", "b")
    )
    link = Dependency(
        producer="a", consumer="b", resource=guess_resource("file_path", "os", "Documents/a.txt")
    )
    for links in ([], [link]):
        with pytest.raises(ImportRefusedError, match="occur twice"):
            build_task("task", [one, one, two], links, "Do it", lambda why: ImportRefusedError("f", "", why))
