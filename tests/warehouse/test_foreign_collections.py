"""Importers of published collections, on small files in the layout of each."""

from __future__ import annotations

import gzip
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from resources.record import Record
from taskgraph.records.interaction import ClickInput, KeyboardInput
from taskgraph.records.keys import read_keys
from taskgraph.records.subtask import Subtask
from taskgraph.records.task import Task
from taskgraph.records.trajectory import Trajectory
from tests.warehouse import foreign
from tests.warehouse.foreign import run_import
from warehouse.errors import ImportRefusedError
from warehouse.exporting.exported_actions import points_of
from warehouse.exporting.exporting import export
from warehouse.importing.importing import read_import, survey_import
from warehouse.lookup import import_formats
from warehouse.records import ImportedItem
from warehouse.store import Warehouse

WEB_ARENA = {
    "sites": ["shopping", "map"],
    "task_id": 7,
    "start_url": "__SHOPPING__",
    "intent_template": "Find {{thing}}",
    "instantiation_dict": {"thing": "a kettle", "most": 3},
    "intent": "Find a kettle",
    "eval": {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "N/A"}},
    "intent_template_id": 4,
}
ANDROID_WORLD = [
    {"task_name": "BrowserDraw", "task_template": "Draw something.", "difficulty": "easy", "tags": []},
    {
        "task_name": "MarkorCreate",
        "task_template": "Create {file_name}.",
        "difficulty": "hard",
        "tags": ["x"],
    },
]
ODYSSEY: dict[str, Any] = {
    "episode_id": "00012",
    "device_info": {"w": 100, "h": 200},
    "task_info": {
        "category": "General_Tool",
        "app": ["Clock", "Chrome"],
        "meta_task": "Set {}",
        "instruction": "Set an alarm.",
    },
    "steps": [
        {
            "step": 0,
            "screenshot": "a.png",
            "action": "CLICK",
            "info": [[500, 250]],
            "description": "Home",
            "intention": "Open",
        },
        {"step": 1, "screenshot": "a.png", "action": "SCROLL", "info": [[500, 900], [500, 100]]},
        {"step": 2, "screenshot": "a.png", "action": "TEXT", "info": "7 {am}"},
        {"step": 3, "screenshot": "a.png", "action": "COMPLETE", "info": ""},
    ],
}
STEP = {
    "episode_id": "55",
    "episode_length": 3,
    "instruction": "open the clock",
    "result_action_text": "",
    "result_touch_yx": "[-1.0, -1.0]",
    "result_lift_yx": "[-1.0, -1.0]",
    "coat_screen_desc": "A home screen.",
    "coat_action_think": "Tap.",
}
IN_THE_WILD = [
    {
        **STEP,
        "step_id": 0,
        "result_action_type": 4,
        "result_touch_yx": "[0.5, 0.25]",
        "result_lift_yx": [0.5, 0.25],
        "image_path": "a.png",
    },
    {**STEP, "step_id": 1, "result_action_type": 3, "result_action_text": "clock", "image_path": "a.png"},
    {**STEP, "step_id": 2, "result_action_type": 10, "image_path": "a.png"},
]
AGENT_NET = {
    "task_id": "t-1",
    "instruction": "Open the settings.",
    "task_completed": True,
    "traj": [
        {"index": 0, "image": "a.png", "value": {"code": "pyautogui.click(x=0.5, y=0.25)", "thought": "Go."}},
        {"index": 1, "image": "a.png", "value": {"code": "pyautogui.hotkey(['ctrl', 's'])"}},
        {"index": 2, "image": "a.png", "value": {"code": "computer.terminate(status='success')"}},
    ],
}
MIND2WEB = {
    "annotation_id": "m-1",
    "website": "united",
    "domain": "Travel",
    "subdomain": "Airlines",
    "confirmed_task": "Find the baggage policy.",
    "action_reprs": ["[link]  Baggage -> CLICK"],
    "actions": [
        {
            "action_uid": "u",
            "raw_html": "<html>",
            "operation": {"op": "CLICK", "value": ""},
            "pos_candidates": [],
        }
    ],
}


def picture(folder: Path, name: str, ending: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (100, 200), "white").save(out, ending)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(out.getvalue())
    return out.getvalue()


def web_arena(folder: Path) -> None:
    foreign.write(
        folder, "test_shopping.raw.json", [WEB_ARENA, {**WEB_ARENA, "task_id": 8, "intent": "Find a pan"}]
    )
    foreign.write(folder, "examples/1.json", {**WEB_ARENA, "task_id": 1})


def android_world(folder: Path) -> None:
    foreign.write(folder, "android_world/task_metadata.json", ANDROID_WORLD)


def gui_odyssey(folder: Path) -> None:
    foreign.write(folder, "annotations/00012.json", ODYSSEY)
    picture(folder, "screenshots/a.png")


def android_in_the_wild(folder: Path) -> None:
    foreign.write(folder, "google_apps/GOOGLE-55/GOOGLE-55.json", IN_THE_WILD)
    picture(folder, "google_apps/GOOGLE-55/a.png")


def agent_net(folder: Path) -> None:
    foreign.write(folder, "agentnet_ubuntu.jsonl", json.dumps(AGENT_NET))
    picture(folder, "images/a.png")


def omniact(folder: Path) -> None:
    foreign.write(
        folder,
        "train.json",
        {"0": {"task": "data/tasks/calc/t.txt", "image": "data/calc/s.png", "box": "b.json"}},
    )
    foreign.write(
        folder, "data/tasks/calc/t.txt", "Task: Press seven\nOutput Script:\npyautogui.click(50,150)\n"
    )
    picture(folder, "data/calc/s.png")


def mind2web(folder: Path) -> None:
    foreign.write(folder, "data/train/train_0.json", [MIND2WEB])
    candidate = json.dumps({"attributes": json.dumps({"bounding_box_rect": "10,20,30,40"})})
    rows = [
        {
            "annotation_id": "m-2",
            "website": "ikea",
            "confirmed_task": "Find a lamp called 50%.",
            "action_reprs": ["a", "b"],
            "operation": json.dumps({"op": op, "value": value}),
            "pos_candidates": [candidate],
            "target_action_index": str(number),
            "target_action_reprs": f"[searchbox] Search -> {op}",
            "raw_html": "<html>",
            "cleaned_html": "<html>",
            "screenshot": {"bytes": picture(folder, "x.jpg", "JPEG"), "path": None},
        }
        for number, (op, value) in enumerate((("CLICK", ""), ("TYPE", "50%")))
    ]
    (folder / "data").mkdir(exist_ok=True)
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), folder / "data" / "train-00000.parquet")


def _field(number: int, data: bytes) -> bytes:
    """A field of bytes in a protocol buffer."""
    size, length = len(data), b""
    while True:
        length += bytes([size & 127 | (128 if size > 127 else 0)])
        size >>= 7
        if not size:
            return bytes([number << 3 | 2]) + length + data


def _example(features: dict[str, list[bytes] | int]) -> bytes:
    entries = b""
    for name, values in features.items():
        if isinstance(values, int):
            feature = _field(3, _field(1, bytes([values])))
        else:
            feature = _field(1, b"".join(_field(1, value) for value in values))
        entries += _field(1, _field(1, name.encode()) + _field(2, feature))
    return _field(1, entries)


def android_control(folder: Path) -> None:
    shot = picture(folder, "shot.png")
    actions = [{"action_type": "click", "x": 50, "y": 50}, {"action_type": "input_text", "text": "50%"}]
    record = _example(
        {
            "episode_id": 7,
            "goal": [b"Write a note."],
            "actions": [json.dumps(action).encode() for action in actions],
            "step_instructions": [b"Tap the note", b"Type it"],
            "screenshots": [shot] * 3,
        }
    )
    packed = struct.pack("<Q", len(record)) + bytes(4) + record + bytes(4)
    (folder / "android_control-00000-of-00020").write_bytes(gzip.compress(packed))


CUA_WORLD = {
    "id": "basic_formulas@1",
    "version": "1.0",
    "env_id": "libreoffice_calc_env@0.1",
    "description": "Put 10 and 20 into A1 and A2, and their sum into B1.",
    "difficulty": "easy",
    "init": {"timeout_sec": 120, "max_steps": 10, "reward_type": "sparse"},
    "hooks": {"pre_task": "/workspace/tasks/basic_formulas/setup_task.sh"},
    "success": {"mode": "program", "spec": {"program": "verifier.py::verify_basic_formulas"}},
}
CUA_GYM = {
    "id": "calc-1",
    "instruction": "Sort the sheet by price.",
    "app_type": "libreoffice_calc",
    "difficulty": None,
    "num_setup_steps": 2,
    "setup_file_members": ["calc-1/initial_setup.py"],
}


def cua_world(folder: Path) -> None:
    here = "environments/libreoffice_calc_env/tasks/basic_formulas"
    foreign.write(folder, f"{here}/task.json", CUA_WORLD)
    foreign.write(folder, f"{here}/vlm_checklist.json", {"items": []})
    nameless = {"id": "basic_formulas@1", "description": "Play a film in a loop."}
    foreign.write(folder, "environments/vlc_media_player_env/tasks/loop/task.json", nameless)


def cua_gym(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    pyarrow.parquet.write_table(pa.Table.from_pylist([CUA_GYM]), folder / "data" / "tasks.parquet")
    foreign.write(folder, "data/tasks_test.jsonl", json.dumps({**CUA_GYM, "id": 2, "app_type": None}))


def windows_agent_arena(folder: Path) -> None:
    task = {**foreign.OSWORLD, "id": "n-1-WOS", "related_apps": ["notepad"]}
    foreign.write(folder, "evaluation_examples_windows/examples/notepad/n-1-WOS.json", task)


COLLECTIONS: dict[Callable[[Path], None], tuple[int, int]] = {
    web_arena: (3, 0),
    android_world: (1, 0),
    gui_odyssey: (1, 1),
    android_in_the_wild: (1, 1),
    agent_net: (1, 1),
    omniact: (1, 1),
    mind2web: (2, 1),
    windows_agent_arena: (1, 0),
    cua_world: (2, 0),
    cua_gym: (2, 0),
    android_control: (1, 1),
}
"""Numbers of tasks and of trajectories that each collection gives."""
ELSEWHERE = {
    "crab": "test_importing.py",
    "hugging_face": "test_round_trips.py",
    "labelled_outcomes": "test_error_rates.py",
    "omnibench": "test_importing.py",
    "osworld": "test_importing.py",
    "sharegpt": "test_sharegpt_import.py",
    "taskbench": "test_importing.py",
}
"""Formats that another module tests."""


def test_every_import_has_a_collection_here_or_a_test_elsewhere() -> None:
    here = {lay_out.__name__ for lay_out in COLLECTIONS}
    assert sorted(here | ELSEWHERE.keys()) == import_formats()
    for name, module in ELSEWHERE.items():
        assert f'"{name}"' in (Path(__file__).parent / module).read_text("utf-8"), name


def records(lay_out: Callable[[Path], None], folder: Path) -> list[Record]:
    lay_out(folder)
    return read_import(lay_out.__name__, folder)


@pytest.mark.parametrize("lay_out", COLLECTIONS, ids=lambda lay_out: lay_out.__name__)
def test_a_collection_gives_its_tasks_originals_and_trajectories(
    warehouse: Warehouse, tmp_path: Path, lay_out: Callable[[Path], None]
) -> None:
    lay_out(tmp_path / "in")

    run_import(warehouse, lay_out.__name__, tmp_path / "in")

    assert (warehouse.count(Task), warehouse.count(Trajectory)) == COLLECTIONS[lay_out]
    originals = {item.item_id for item in warehouse.read(ImportedItem)}
    assert {task.task_id for task in warehouse.read(Task)} <= originals
    if COLLECTIONS[lay_out][1]:
        manifest = export(warehouse, "sharegpt", tmp_path / "training")
        assert manifest.outcome.counts["train"] >= 1


@pytest.mark.parametrize("lay_out", COLLECTIONS, ids=lambda lay_out: lay_out.__name__)
def test_a_broken_item_of_a_collection_is_refused_or_skipped(
    tmp_path: Path, lay_out: Callable[[Path], None]
) -> None:
    lay_out(tmp_path)
    broken = {
        "agent_net": ("bad.jsonl", '{"task_id": "bad"}\n{'),
        "android_world": ("android_world/task_metadata.json", [*ANDROID_WORLD, {"task_name": "bad"}]),
        "cua_gym": ("data/tasks_bad.jsonl", '{"id": "bad"}'),
        "cua_world": ("environments/x_env/tasks/bad/task.json", {"id": "bad"}),
        "omniact": ("test.json", {"bad": {"task": "../../secret.txt", "image": "x"}}),
        "gui_odyssey": ("annotations/bad.json", {**ODYSSEY, "episode_id": "bad", "task_info": {}}),
        "windows_agent_arena": ("evaluation_examples_windows/examples/x/bad.json", {"id": "bad"}),
    }.get(lay_out.__name__, ("bad.json", [{"task_id": 3, "episode_id": "bad", "annotation_id": "bad"}]))
    if lay_out is android_control:
        record = _example({"episode_id": 9, "goal": [b" "]})
        packed = struct.pack("<Q", len(record)) + bytes(4) + record + bytes(4)
        (tmp_path / "android_control-00001-of-00020").write_bytes(packed)
    else:
        foreign.write(tmp_path, *broken)

    with pytest.raises(ImportRefusedError) as caught:
        read_import(lay_out.__name__, tmp_path)
    reading = survey_import(lay_out.__name__, tmp_path)

    assert all(fault.file and fault.reason for fault in caught.value.faults)
    assert reading.broken
    assert sum(isinstance(item, Task) for item in reading.records) == COLLECTIONS[lay_out][0]


def test_a_web_task_knows_its_template_its_sites_and_that_it_cannot_be_done(tmp_path: Path) -> None:
    found = records(web_arena, tmp_path)

    tasks = {item.task_id: item for item in found if isinstance(item, Task)}
    assert set(tasks) == {"web_arena:test_shopping/7", "web_arena:test_shopping/8", "web_arena:examples/1"}
    task = tasks["web_arena:test_shopping/7"]
    assert task.other_applications == ("map",)
    assert task.graph.nodes[0].parameters == {"thing": "a kettle", "most": "3"}
    assert len({item.graph.nodes[0].subtask_id for item in tasks.values()}) == 1
    assert all(item.infeasible for item in found if isinstance(item, ImportedItem))


def test_a_task_of_cua_world_belongs_to_its_environment(tmp_path: Path) -> None:
    tasks = {item.task_id: item for item in records(cua_world, tmp_path) if isinstance(item, Task)}

    assert {name: task.graph.nodes[0].application for name, task in tasks.items()} == {
        "cua_world:libreoffice_calc_env/basic_formulas@1": "libreoffice_calc",
        "cua_world:vlc_media_player_env/basic_formulas@1": "vlc",
    }


def test_a_row_of_cua_gym_keeps_everything(tmp_path: Path) -> None:
    found = records(cua_gym, tmp_path)

    assert [item.instruction for item in found if isinstance(item, Task)] == ["Sort the sheet by price."] * 2
    assert next(item.content for item in found if isinstance(item, ImportedItem)) == CUA_GYM


def test_a_row_that_is_no_json_is_broken_and_the_others_are_not(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "instruction": "Do it.", "x": float("nan")},
        {"id": "b", "instruction": "Do that.", "x": 1.0},
    ]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "tasks.parquet")

    reading = survey_import("cua_gym", tmp_path)

    assert [item.place for item in reading.broken] == ["tasks.parquet:[0]"]
    assert [item.task_id for item in reading.records if isinstance(item, Task)] == ["cua_gym:b"]


def test_a_template_of_android_world_is_a_task_only_without_placeholders(tmp_path: Path) -> None:
    found = records(android_world, tmp_path)

    assert {item.subtask_id: item.application for item in found if isinstance(item, Subtask)} == {
        "android_world:BrowserDraw": "chrome",
        "android_world:MarkorCreate": "markor",
    }
    assert [item.task_id for item in found if isinstance(item, Task)] == ["android_world:BrowserDraw"]


def test_points_of_a_phone_lie_where_they_were_touched(tmp_path: Path) -> None:
    for lay_out in (gui_odyssey, android_in_the_wild, agent_net, android_control):
        (found,) = [
            item for item in records(lay_out, tmp_path / lay_out.__name__) if isinstance(item, Trajectory)
        ]
        assert isinstance(found.steps[0].action, ClickInput)
        x, y = points_of(found.steps[0])[0]
        assert (x, y) in ((50, 50), (25, 100))


def test_typed_text_is_read_back_as_the_same_characters(tmp_path: Path) -> None:
    for lay_out, text in ((gui_odyssey, "7 {am}"), (mind2web, "50%"), (android_control, "50%")):
        (found,) = [
            item for item in records(lay_out, tmp_path / lay_out.__name__) if isinstance(item, Trajectory)
        ]
        keys = next(step.action.keys for step in found.steps if isinstance(step.action, KeyboardInput))
        assert "".join(press.key for press in read_keys(keys)) == text


def test_nothing_is_made_up_for_a_key_of_the_phone_or_an_absent_picture(tmp_path: Path) -> None:
    back = {**ODYSSEY, "steps": [{"screenshot": "a.png", "action": "CLICK", "info": "KEY_BACK"}]}
    foreign.write(tmp_path, "annotations/1.json", back)
    foreign.write(
        tmp_path,
        "annotations/2.json",
        {**ODYSSEY, "episode_id": "2", "steps": [{**ODYSSEY["steps"][0], "screenshot": "../../b.png"}]},
    )
    picture(tmp_path, "screenshots/a.png")

    found = read_import("gui_odyssey", tmp_path)

    assert sum(isinstance(item, Task) for item in found) == 2
    assert not any(isinstance(item, Trajectory) for item in found)


def test_pages_of_mind2web_are_not_kept_and_all_else_is(tmp_path: Path) -> None:
    originals = {
        item.item_id: item.content for item in records(mind2web, tmp_path) if isinstance(item, ImportedItem)
    }

    content = originals["mind2web:m-1"]
    assert isinstance(content, dict)
    assert content["actions"] == [
        {"action_uid": "u", "operation": {"op": "CLICK", "value": ""}, "pos_candidates": []}
    ]
    assert {name: value for name, value in content.items() if name != "actions"} == {
        name: value for name, value in MIND2WEB.items() if name != "actions"
    }


@pytest.mark.parametrize("lay_out", [mind2web, cua_gym], ids=lambda lay_out: lay_out.__name__)
def test_a_table_that_cannot_be_read_is_broken_and_the_others_are_read(
    lay_out: Callable[[Path], None], tmp_path: Path
) -> None:
    whole = [item for item in records(lay_out, tmp_path) if isinstance(item, Task)]
    (first, *_) = tmp_path.rglob("*.parquet")
    damaged = first.with_name("tasks-z.parquet")
    damaged.write_bytes(first.read_bytes()[:-20])

    reading = survey_import(lay_out.__name__, tmp_path)

    assert [(item.place, item.kind) for item in reading.broken] == [("data/tasks-z.parquet", "task")]
    assert "is not a Parquet file" in str(reading.broken[0].faults[0])
    assert [item for item in reading.records if isinstance(item, Task)] == whole
    with pytest.raises(ImportRefusedError, match=r"data/tasks-z.parquet: is not a Parquet file"):
        read_import(lay_out.__name__, tmp_path)
