"""Small collections in the layouts in which others publish theirs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from PIL import Image

from tests.warehouse import foreign

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


def agent_net(folder: Path) -> None:
    foreign.write(folder, "agentnet_ubuntu.jsonl", json.dumps(AGENT_NET))
    foreign.write(folder, "bench/s-1.jsonl", json.dumps(AGENT_NET_BENCH))
    picture(folder, "images/a.png")
    picture(folder, "bench/images/b.png")


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


WEB_VOYAGER = {
    "web_name": "Allrecipes",
    "id": "Allrecipes--0",
    "ques": "Find a recipe for a lasagna.",
    "web": "https://www.allrecipes.com/",
}
OSUNIVERSE = """name: "Calc - Read Cells"
level: "bronze"
task: "Read the value in cell A1 and return it."
checks:
  - type: returned_result
    value: "Product"
"""
AGENT_NET_BENCH = {
    "task_id": "s-1",
    "high_level_task_description": "Open the settings.",
    "steps": [
        {"step_num": 2, "image": "b.png", "action": "pyautogui.click(x=0.5, y=0.25)", "milestone": True},
        {"step_num": 3, "image": "b.png", "action": "computer.terminate(status='success')"},
    ],
}


def web_voyager(folder: Path) -> None:
    nameless = {**WEB_VOYAGER, "id": "level1-0", "web_name": ""}
    foreign.write(folder, "data/tasks.jsonl", "\n".join(map(json.dumps, (WEB_VOYAGER, nameless))))
    foreign.write(folder, "data/reference_answer.json", {"Allrecipes": {"answers": []}})


def work_arena(folder: Path) -> None:
    configs = "src/browsergym/workarena/data_files/task_configs"
    foreign.write(
        folder, f"{configs}/sort_user_list_task.json", [{"goal": "Sort the list.", "sort_dirs": ["desc"]}]
    )
    asked = {"item": "phone", "question": "Which number has the office?", "value": "5"}
    foreign.write(folder, f"{configs}/knowledge_base_configs.json", [asked])
    foreign.write(folder, "TEST_10/failed.json", {"failed": ["reason"]})


def osuniverse(folder: Path) -> None:
    foreign.write(folder, "testcases/libreoffice_calc/read_cells_1.yaml", OSUNIVERSE)


def harbor(folder: Path) -> None:
    foreign.write(folder, "tasks/build-it/task.toml", 'version = "1.0"\n[metadata]\nmade = 2026-01-02\n')
    foreign.write(folder, "tasks/build-it/instruction.md", "Build the program.\n")
    foreign.write(folder, "older/fix-it/task.yaml", "instruction: |-\n  Fix the program.\ndifficulty: easy\n")


def windows_agent_arena(folder: Path) -> None:
    task = {**foreign.OSWORLD, "id": "n-1-WOS", "related_apps": ["notepad"]}
    foreign.write(folder, "evaluation_examples_windows/examples/notepad/n-1-WOS.json", task)


COLLECTIONS: dict[Callable[[Path], None], tuple[int, int]] = {
    web_arena: (3, 0),
    android_world: (1, 0),
    agent_net: (2, 2),
    omniact: (1, 1),
    mind2web: (2, 1),
    windows_agent_arena: (1, 0),
    cua_world: (2, 0),
    cua_gym: (2, 0),
    harbor: (2, 0),
    osuniverse: (1, 0),
    web_voyager: (2, 0),
    work_arena: (2, 0),
}
"""Numbers of tasks and of trajectories that each collection gives."""
