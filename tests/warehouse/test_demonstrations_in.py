"""Actions of other collections come in as they are, or their recording is left out with step and reason."""

from __future__ import annotations

import io
import json
from pathlib import Path

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
from taskloom.warehouse.importing.audit import audit_reading
from taskloom.warehouse.importing.episodes import Demonstrated, Picture
from taskloom.warehouse.importing.importing import read_import, survey_import
from taskloom.warehouse.importing.pyautogui_scripts import done_by

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
    "pyautogui.press('volumeup')": "'volumeup'",
    "pyautogui.press('a', presses=10**9)": "",
    "pyautogui.press('a', presses=900)": "900 times",
    "pyautogui.click(0.5, 0.5, **{'clicks': 2})": "more than calls",
    "pyautogui.click(0.5, 0.5, strength=2)": "not understood",
    "computer.wait(60)": "60 s",
    "pyperclip.copy('x')": "clipboard",
    "pyautogui.dragRel(5, 5)": "dragRel",
}


@pytest.mark.parametrize(("script", "action", "at"), KEPT)
def test_an_action_is_kept_as_it_is(script: str, action: Action, at: tuple[int, int] | None) -> None:
    found = done_by(script, SCREEN, fractions=True)

    assert isinstance(found, Demonstrated)
    assert found.action == action
    assert found.rectangle == (at and (*at, at[0] + 1, at[1] + 1))


@pytest.mark.parametrize(("script", "reason"), REFUSED.items())
def test_what_is_no_action_here_is_refused_with_the_reason(script: str, reason: str) -> None:
    found = done_by(script, SCREEN, fractions=True)

    assert isinstance(found, str) and reason in found and found


def test_a_recording_that_is_left_out_is_counted_and_audited_with_step_and_reason(tmp_path: Path) -> None:
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
    assert "step 1 of 1: its picture is not there" in left["agent_net:unseen:demonstration"].message
    assert "computer.terminate" not in recorded and "agent_net:gave_up:demonstration" in left
    findings = [
        item.item_id
        for item in audit_reading(survey_import("agent_net", path))
        if item.check == "recording_left_out"
    ]
    assert sorted(findings) == sorted(left)
