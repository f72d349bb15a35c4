"""What importers of published collections read by parts: scripts, tool graphs and record files."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.taskgraph.records.interaction import ClickInput, DragInput, KeyboardInput, WheelMouseInput
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.episodes import Picture
from taskloom.warehouse.importing.pyautogui_scripts import done_by
from taskloom.warehouse.importing.tfrecords import examples
from taskloom.warehouse.importing.tool_graphs import compared, read_tool_graph
from tests.shared_work import examples as number_of_examples
from tests.warehouse import foreign


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

    assert (found is None) if kind is None else (found is not None and isinstance(found.action, kind))


def test_links_of_a_tool_graph_follow_from_its_types(tmp_path: Path) -> None:
    described = {
        "nodes": [
            {"id": "Listen", "input-type": ["audio"], "output-type": ["text"]},
            {"id": "Translate", "input-type": ["text"], "output-type": ["text"]},
            {"id": "Draw", "input-type": ["text", "url"], "output-type": ["image"]},
        ],
        "links": [
            {"source": "Listen", "target": "Translate", "type": "text"},
            {"source": "Listen", "target": "Draw", "type": "text"},
            {"source": "Draw", "target": "Listen", "type": "audio"},
        ],
    }
    path = foreign.write(tmp_path, "graph_desc.json", described)

    found = compared(read_tool_graph(path))

    assert (found.tools, found.published, found.derived, found.common) == (3, 3, 3, 2)
    assert found.missing == (("Draw", "Listen"),)
    assert found.extra == (("Translate", "Draw"),)
    with pytest.raises(ImportRefusedError, match="nodes do not"):
        read_tool_graph(
            foreign.write(tmp_path, "b.json", {"nodes": [], "links": [{"source": "a", "target": "b"}]})
        )


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
