"""Recorded text waits for the focus that it was typed into, shortcuts and canvases do not."""

from __future__ import annotations

import pytest

from synthesis.trajectories.reperformance import RecordedAgent
from taskgraph.records.evidence import Evidence
from taskgraph.records.interaction import (
    Control,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
    WaitInput,
)
from taskgraph.records.trajectory import Trajectory, TrajectoryStep

PICTURE = Screenshot(sha256="1")


def controls(focused: str) -> tuple[Control, ...]:
    """A menu and, if `focused` names one, a control of that type with the focus."""
    place = Rectangle(left=0, top=0, right=50, bottom=20)
    menu = Control(label="1", text="File", control_type="MenuItem", rectangle=place)
    field = Control(
        label="2", text="", control_type=focused or "Text", rectangle=place, focused=bool(focused)
    )
    return menu, field


def agent(keys: str, focused: str) -> RecordedAgent:
    """Has one thing to do: press `keys`, which was recorded while a control of the type `focused` had the focus."""
    step = TrajectoryStep(
        step=1,
        observation_screenshot=PICTURE,
        observation_controls=controls(focused),
        action=KeyboardInput(keys=keys),
        evidence=Evidence(step=1),
    )
    return RecordedAgent(
        Trajectory(
            trajectory_id="t",
            subtask_id="s",
            instance_id="i",
            parameters={},
            instruction="Type.",
            platform="simulated",
            initial_evidence=Evidence(step=0),
            steps=(step,),
            termination="finished",
        )
    )


def seen(focused: str) -> Observation:
    return Observation(screenshot=PICTURE, controls=controls(focused))


async def test_text_waits_until_the_editor_has_the_focus() -> None:
    player = agent("^{END}Invite the team", "Edit")
    for now in ("", "Button"):
        assert isinstance((await player.decide("", seen(now), ())).action, WaitInput)
    assert isinstance((await player.decide("", seen("Edit"), ())).action, KeyboardInput)
    assert (await player.decide("", seen("Edit"), ())).status == "finish"


async def test_text_is_typed_at_last_though_nothing_gets_the_focus() -> None:
    player = agent("Invite", "Edit")
    actions = [(await player.decide("", seen(""), ())).action for _ in range(7)]
    assert [isinstance(action, WaitInput) for action in actions] == [True] * 6 + [False]
    assert player.step_limit >= len(actions)


@pytest.mark.parametrize(("keys", "focused"), [("^s", "Edit"), ("{ESC}", "Edit"), ("Label", "")])
async def test_shortcuts_and_text_that_no_control_had_the_focus_for_do_not_wait(
    keys: str, focused: str
) -> None:
    assert isinstance((await agent(keys, focused).decide("", seen(""), ())).action, KeyboardInput)
