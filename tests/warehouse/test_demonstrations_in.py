"""Actions of other collections come in as they are, or their recording is left out with step and reason."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.importing.episodes import DemonstratedAction, Picture
from taskloom.warehouse.importing.importing import read_import
from taskloom.warehouse.importing.pyautogui_scripts import action_of_script, ends_task

SCREEN = Picture(b"", 200, 100)
KEPT: list[tuple[str, Action, tuple[int, int] | None]] = [
    ("pyautogui.press('tab', presses=3)", KeyboardInput(keys="{TAB}{TAB}{TAB}"), None),
    ("pyautogui.press(['up', 'x'], 2)", KeyboardInput(keys="{UP}x{UP}x"), None),
    ("pyautogui.click(0.5, 0.5, 3)", ClickInput(triple=True), (100, 50)),
    ("computer.triple_click(x=0.5, y=0.5)", ClickInput(triple=True), (100, 50)),
    ("pyautogui.click((0.5, 0.5), button='secondary')", ClickInput(button="right"), (100, 50)),
    ("pyautogui.moveTo(0.2, 0.1)\npyautogui.click()", ClickInput(), (40, 10)),
    ("pyautogui.scroll(4, 0.2, 0.1)", WheelMouseInput(wheel_distance=4), (40, 10)),
    ("pyautogui.moveTo(0.2, 0.1)\npyautogui.hscroll(-2)", WheelMouseInput(wheel_sideways=-2), (40, 10)),
    ("pyautogui.moveTo(0.2, 0.1, duration=1)", MoveInput(), (40, 10)),
    ("pyautogui.write(interval=0.2, message='5%')", KeyboardInput(keys="5{%}"), None),
    ("pyautogui.hotkey(['ctrl', 'shift', 'p'])", KeyboardInput(keys="^+p"), None),
    ("pyautogui.hotkey(keys=['ctrl', 'v'])", KeyboardInput(keys="^v"), None),
    (
        "pyautogui.moveTo(0.2, 0.1)\npyautogui.keyDown('ctrl')\npyautogui.click()\npyautogui.keyUp('ctrl')",
        ClickInput(held=("ctrl",)),
        (40, 10),
    ),
    (
        "pyautogui.keyDown('shift')\npyautogui.click(0.5, 0.5)\npyautogui.keyUp('shift')",
        ClickInput(held=("shift",)),
        (100, 50),
    ),
    (
        "pyautogui.keyDown('ctrl')\npyautogui.press('c')\npyautogui.keyUp('ctrl')",
        KeyboardInput(keys="^c"),
        None,
    ),
    (
        "pyautogui.keyDown('w')\ntime.sleep(2)\npyautogui.keyUp('w')",
        HoldInput(keys="w", seconds=2),
        None,
    ),
    ("pyperclip.copy('\\u00e9t\\u00e9')\npyautogui.hotkey('ctrl', 'v')", KeyboardInput(keys="été"), None),
    ("computer.wait(3)", WaitInput(seconds=3), None),
]
REFUSED = {
    "pyautogui.click(1.2, 0.5)": "outside the screen",
    "pyautogui.click(300, 40)": "outside the screen",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.dragTo(0.5, 1.5)": "outside the screen",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.dragTo(0.5, 0.5, button='right')": "the button 'right'",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.dragTo(0.2, 0.2)\npyautogui.dragTo(0.3, 0.1)": "2 things",
    "pyautogui.mouseDown(0.1, 0.1)": "down",
    "pyautogui.keyDown('ctrl')\npyautogui.press('c')": "down",
    "pyautogui.click()": "where",
    "pyautogui.click(0.5, 0.5, clicks=5)": "clicks 5 times",
    "pyautogui.scroll(2.5)": "whole notches",
    "pyautogui.hotkey('win', 'd')": "'win'",
    "pyautogui.hotkey('ctrl', keys=['v'])": "not understood",
    "pyautogui.hotkey(keys=['ctrl', 'v'], times=2)": "not understood",
    "pyautogui.press('volumeup')": "'volumeup'",
    "pyautogui.press('a', presses=10**9)": "",
    "pyautogui.press('a', presses=900)": "900 times",
    "pyautogui.click(0.5, 0.5, **{'clicks': 2})": "more than calls",
    "pyautogui.click(0.5, 0.5, strength=2)": "not understood",
    "computer.wait(60)": "60 s",
    "pyperclip.copy('x')": "clipboard",
    "pyautogui.dragRel(5, 5)": "dragRel",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.press('a')": "2 things",
    "pyautogui.moveTo(0.1, 0.1)\ntime.sleep(1)": "2 things",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.moveTo(0.5, 0.5)": "2 things",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.click(0.5, 0.5)": "2 things",
    "pyautogui.moveTo(0.1, 0.1)\npyautogui.mouseDown(0.5, 0.5)\npyautogui.mouseUp(0.6, 0.6)": "2 things",
    "pyautogui.write('')": "types nothing",
    "pyautogui.press([])": "types nothing",
    "pyautogui.rightClick(0.5, 0.5, button='left')": "not understood",
    "pyautogui.keyDown('shift')\npyautogui.keyDown('shift')": "already down",
    "pyautogui.click(float('nan'), 0.5)": "gives click \"float('nan')\", which is not a literal",
    "computer.terminate(status='success')\npyautogui.click(0.5, 0.5)": "ends the task",
}


@pytest.mark.parametrize(("script", "action", "at"), KEPT)
def test_an_action_is_kept_as_it_is(script: str, action: Action, at: tuple[int, int] | None) -> None:
    found = action_of_script(script, SCREEN, fractions=True)

    assert isinstance(found, DemonstratedAction)
    assert found.action == action
    assert found.rectangle == (at and (*at, at[0] + 1, at[1] + 1))


@pytest.mark.parametrize(("script", "reason"), REFUSED.items())
def test_what_is_no_action_here_is_refused_with_the_reason(script: str, reason: str) -> None:
    found = action_of_script(script, SCREEN, fractions=True)

    assert isinstance(found, str) and reason in found and found


def test_a_recording_that_is_left_out_is_a_rejection_with_step_and_reason(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (200, 100)).save(out, "PNG")
    (tmp_path / "s.png").write_bytes(out.getvalue())
    scripts = {
        "kept": ["pyautogui.click(0.5, 0.5)", "computer.terminate(status='success')"],
        "second": ["pyautogui.click(0.5, 0.5)", "pyautogui.press('volumeup')"],
        "unseen": ["pyautogui.click(0.5, 0.5)"],
        "gave_up": ["computer.terminate(status='failure')"],
    }
    lines = [
        {
            "task_id": name,
            "instruction": f"Do what {name} says",
            "traj": [
                {"image": "none.png" if name == "unseen" else "s.png", "value": {"code": code}}
                for code in codes
            ],
        }
        for name, codes in scripts.items()
    ]
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))

    records = read_import("agent_net", path)

    recorded = [item.trajectory_id for item in records if isinstance(item, Trajectory)]
    left = {item.item_id: item for item in records if isinstance(item, Rejection)}
    assert recorded == ["agent_net:kept:demonstration"]
    assert "step 2 of 2: presses the key 'volumeup'" in left["agent_net:second:demonstration"].message
    assert "step 1 of 1: its picture is missing" in left["agent_net:unseen:demonstration"].message
    assert "computer.terminate" not in recorded and "agent_net:gave_up:demonstration" in left


def test_only_a_script_that_ends_the_task_well_is_no_step() -> None:
    assert ends_task("computer.terminate(status='success', answer='it failed before')")
    assert ends_task("computer.terminate()")
    assert not ends_task("computer.terminate(status='infeasible')")
    assert not ends_task("computer.terminate(status='success')\npyautogui.click(0.5, 0.5)")


def _read(format_name: str, path: Path) -> dict[str, list[Action] | str]:
    """The actions of each recording by the name of its task, or why it is left out."""
    found: dict[str, list[Action] | str] = {}
    for item in read_import(format_name, path):
        if isinstance(item, Trajectory):
            found[item.trajectory_id.split(":")[1]] = [step.action for step in item.steps]
        elif isinstance(item, Rejection):
            found[item.item_id.split(":")[1]] = item.message
    return found


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (200, 100)).save(out, "PNG")
    return out.getvalue()


def test_what_a_website_lets_do_is_kept_or_its_recording_is_left_out(tmp_path: Path) -> None:
    def row(name: str, operation: dict[str, str], left: int = 10, reprs: int = 1) -> dict[str, object]:
        element = {"attributes": json.dumps({"bounding_box_rect": f"{left},10,20,20"})}
        return {
            "annotation_id": name,
            "website": "shop",
            "confirmed_task": f"Do {name}",
            "operation": json.dumps(operation),
            "pos_candidates": [json.dumps(element)],
            "action_reprs": ["one"] * reprs,
            "screenshot": {"bytes": _png(), "path": ""},
        }

    rows = [
        row("click", {"op": "CLICK", "original_op": "CLICK"}),
        row("hover", {"op": "CLICK", "original_op": "HOVER"}),
        row("enter", {"op": "CLICK", "original_op": "ENTER"}),
        row("outside", {"op": "CLICK"}, left=500),
        row("part", {"op": "CLICK"}, reprs=3),
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    task = {
        "annotation_id": "unseen",
        "website": "shop",
        "confirmed_task": "Look",
        "actions": [{"op": "CLICK"}],
    }
    (tmp_path / "b.json").write_text(json.dumps([task]))

    found = _read("mind2web", tmp_path)

    assert found["click"] == [ClickInput(control_label="")]
    assert found["hover"] == [MoveInput(control_label="")]
    assert found["enter"] == [KeyboardInput(keys="{ENTER}")]
    assert "outside the screen" in found["outside"] and "1 of its 3 actions" in found["part"]
    assert "picture is missing" in found["unseen"]


def test_an_answer_is_done_on_a_screen_of_its_own_and_inside_of_it(tmp_path: Path) -> None:
    (tmp_path / "s.png").write_bytes(_png())

    def said(name: str, *answers: str) -> dict[str, object]:
        turns = [{"from": "human", "value": "<image>Open it"}]
        for answer in answers:
            turns += [{"from": "gpt", "value": f"Action: {answer}"}, {"from": "human", "value": "Go on"}]
        return {"id": name, "conversations": turns, "images": ["s.png"]}

    conversations = [
        said("kept", "click_input(point=(10, 10))"),
        said("unseen", "click_input(point=(10, 10))", "click_input(point=(20, 20))"),
        said("outside", "click_input(point=(10, 101))"),
        said("stroke", "drag_input(path=[(10, 10), (-5, 10)])"),
    ]
    (tmp_path / "a.json").write_text(json.dumps(conversations))

    found = _read("sharegpt", tmp_path)

    assert found["kept"] == [ClickInput(point=(10, 10))]
    assert "step 2 of 2: its picture is missing" in found["unseen"]
    assert "outside the screen" in found["outside"] and "outside the screen" in found["stroke"]
