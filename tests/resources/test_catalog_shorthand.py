"""Short ways to write catalogue entries."""

from __future__ import annotations

import pytest

from taskloom.resources.applications import ControlQuery, WorkedStep
from taskloom.resources.reading.catalog import expand_resource, expand_step


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ({"click": "Save"}, {"operation": "click_input", "control": {"text": "Save"}}),
        ({"double_click": "A"}, {"operation": "click_input", "control": {"text": "A"}, "double": True}),
        (
            {"right_click": {"text": "A"}},
            {"operation": "click_input", "control": {"text": "A"}, "button": "right"},
        ),
        ({"type": "^s"}, {"operation": "keyboard_input", "keys": "^s"}),
        (
            {"wheel": -3, "over": "List"},
            {"operation": "wheel_mouse_input", "wheel_distance": -3, "control": {"text": "List"}},
        ),
        (
            {"drag": "Canvas", "path": [[0.1, 0.1], [0.5, 0.5]]},
            {"operation": "drag_input", "control": {"text": "Canvas"}, "path": [[0.1, 0.1], [0.5, 0.5]]},
        ),
        (
            {"wait": 0.5, "thought": "It loads."},
            {"operation": "wait", "seconds": 0.5, "thought": "It loads."},
        ),
        (
            {"operation": "click_input", "control": "OK"},
            {"operation": "click_input", "control": {"text": "OK"}},
        ),
    ],
)
def test_a_short_step_becomes_a_full_one(short: object, full: object) -> None:
    assert expand_step(short) == full
    assert WorkedStep.model_validate(expand_step(short)) == WorkedStep.model_validate(full)


def test_a_full_step_stays_as_it_is() -> None:
    step = WorkedStep(operation="click_input", control=ControlQuery(text="Save"), thought="Save it.")
    assert WorkedStep.model_validate(expand_step(step.model_dump())) == step


def test_a_given_parameter_is_kept() -> None:
    declared = {"category": "csv_path", "parameter": "source", "consumed": True}
    assert expand_resource(declared, {"csv_path": "a", "source": "b"}) == declared


@pytest.mark.parametrize("content", [None, 3, ["csv_path"]])
def test_what_is_not_understood_is_left_for_validation(content: object) -> None:
    assert expand_resource(content, {}) == content
    assert expand_step(content) == content
