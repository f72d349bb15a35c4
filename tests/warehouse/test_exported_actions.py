"""Actions in exports: where they point to, on which scale, and what keys become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.warehouse.exporting.exporting import ExportOptions, export
from taskloom.warehouse.exporting.recordings import points_of, pyautogui_statements, scale, unscale
from taskloom.warehouse.store import Warehouse
from tests.warehouse.sample_parts import trajectory


@pytest.mark.parametrize("coordinates", ["absolute", "unit", "thousand"])
@pytest.mark.parametrize("granularity", ["step", "trajectory"])
def test_exported_clicks_fall_into_their_controls(
    sampled: Warehouse, tmp_path: Path, coordinates: str, granularity: str
) -> None:
    options = ExportOptions.model_validate({"coordinates": coordinates, "granularity": granularity})
    export(sampled, "openai_chat", tmp_path / "out", options=options)

    points = 0
    for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines():
        for message in json.loads(line)["messages"]:
            text = message["content"]
            if message["role"] != "assistant" or "click_input(point=[" not in text:
                continue
            value = [float(part) for part in text.split("point=[")[1].split("]")[0].split(",")]
            x, y = unscale(value, (64, 48), options.coordinates)
            assert 4 <= x < 8 and 4 <= y < 20
            points += 1
    assert points >= 3


@given(
    st.integers(1, 4000), st.integers(1, 4000), st.data(), st.sampled_from(["absolute", "unit", "thousand"])
)
def test_scaling_a_point_and_back_gives_the_same_pixel(
    width: int, height: int, data: st.DataObject, coordinates: str
) -> None:
    point = (data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1)))

    written = scale(point, (width, height), coordinates)  # type: ignore[arg-type]

    assert unscale(written, (width, height), coordinates) == point  # type: ignore[arg-type]


def test_every_point_of_a_step_lies_inside_its_control() -> None:
    for step in trajectory().steps:
        for x, y in points_of(step):
            assert step.target_rectangle is not None
            left, top, right, bottom = step.target_rectangle
            assert left <= x < right and top <= y < bottom


def test_key_syntax_becomes_pyautogui_calls() -> None:
    step = trajectory().steps[1]
    typed = step.model_copy(
        update={
            "action": step.action.model_copy(
                update={"keys": "^a{DELETE}50{%} {(}a{+}b{)}{ENTER 2}%{F4}{ESC}"}
            )
        }
    )

    assert pyautogui_statements(typed)[1:] == [
        "pyautogui.hotkey('ctrl', 'a')",
        "pyautogui.press('delete')",
        "pyautogui.write('50% (a+b)')",
        "pyautogui.press('enter')",
        "pyautogui.press('enter')",
        "pyautogui.hotkey('alt', 'f4')",
        "pyautogui.press('esc')",
    ]
    broken = step.model_copy(update={"action": step.action.model_copy(update={"keys": "50% {off"})})
    assert pyautogui_statements(broken)[1:] == ["pyautogui.write('50% {off')"]
