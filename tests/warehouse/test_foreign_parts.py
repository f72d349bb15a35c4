"""What importers of published collections read by parts: scripts, tool graphs and record files."""

from __future__ import annotations

import gzip
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.records.interaction import ClickInput, DragInput, KeyboardInput, WheelMouseInput
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Demonstrated, Picture
from taskloom.warehouse.importing.pyautogui_scripts import done_by
from taskloom.warehouse.importing.tfrecords import examples
from tests.shared_work import examples as number_of_examples


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
    found = done_by(script, Picture(b"", 100, 100), fractions=True)

    if kind is None:
        assert isinstance(found, str) and found
    else:
        assert isinstance(found, Demonstrated) and isinstance(found.action, kind)


@settings(max_examples=number_of_examples(50, 150))
@given(st.binary(max_size=200))
def test_a_file_that_is_no_tfrecord_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("records") / "android_control-0"
    for content in (data, struct.pack("<Q", len(data)) + bytes(4) + data + bytes(4), gzip.compress(data)):
        path.write_bytes(content)
        try:
            list(examples(path, path.name))
        except ImportRefusedError as error:
            assert error.file == path.name and error.reason
