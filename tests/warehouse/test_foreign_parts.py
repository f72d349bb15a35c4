"""What importers of published collections read by parts: scripts."""

from __future__ import annotations

import pytest

from taskloom.taskgraph.records.interaction import ClickInput, DragInput, KeyboardInput, WheelMouseInput
from taskloom.warehouse.importing.episodes import DemonstratedAction, Picture
from taskloom.warehouse.importing.pyautogui_scripts import action_of_script


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("pyautogui.click(x=0.1, y=0.2)", ClickInput),
        ("pyautogui.doubleClick(0.1, 0.2)", ClickInput),
        ("pyautogui.moveTo(x=0.4, y=0.2)\npyautogui.dragTo(x=0.1, y=0.2, button='left')", DragInput),
        ("pyautogui.moveTo(x=0.4, y=0.2)\npyautogui.scroll(-3)", WheelMouseInput),
        ("pyautogui.write(message='a^b')", KeyboardInput),
        ("pyautogui.hotkey('ctrl', 'shift', 't')", KeyboardInput),
        ("pyautogui.press('enter')", KeyboardInput),
        ("pyautogui.click(0.1, 0.2)\npyautogui.write('a')\npyautogui.press('enter')", KeyboardInput),
        ("pyautogui.click(x=0.1, y=0.2)\npyautogui.click(x=0.1, y=0.2)", None),
        ("pyautogui.press('volumeup')", None),
        ("import os\nos.system('true')", None),
        ("__import__('os').system('true')", None),
        ("for i in x: pass", None),
        ("pyautogui.click(open('/etc/passwd'))", None),
        ("(", None),
    ],
)
def test_scripts_are_read_and_never_run(script: str, kind: type | None) -> None:
    found = action_of_script(script, Picture(b"", 100, 100), fractions=True)

    if kind is None:
        assert isinstance(found, str) and found
    else:
        assert isinstance(found, DemonstratedAction) and isinstance(found.action, kind)
