"""Slips: made, noticed, taken back, or the performance is given up."""

from __future__ import annotations

from random import Random

import pytest

from taskloom.environments.agent import Decision
from taskloom.synthesis.trajectories.reperformance import SlippingAgent
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    Control,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
)
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from tests.synthesis.recordings import file


class Always(Random):
    """Luck that is never against a slip."""

    def random(self) -> float:
        return 0.9


class Plan:
    """A player with one action left."""

    def __init__(self, action: Action, control: Control) -> None:
        self.action, self.control, self.asked = action, control, 0

    def upcoming(self, observation: Observation) -> tuple[Action, Control] | None:
        return None if self.asked else (self.action, self.control)

    async def decide(self, *seen: object) -> Decision:
        self.asked += 1
        if self.asked > 1:
            return Decision(status="finish")
        return Decision(status="continue", thought="As planned.", action=self.action)


def control(text: str, control_type: str = "Edit", left: int = 0, *, focused: bool = False) -> Control:
    parent = "MenuBar" if control_type == "MenuItem" else ""
    place = Rectangle(left=left, top=0, right=left + 50, bottom=20)
    return Control(
        label=text, text=text, control_type=control_type, parent_type=parent, rectangle=place, focused=focused
    )


def screen(*controls: Control) -> Observation:
    return Observation(screenshot=Screenshot(sha256="1"), controls=controls, window_title="Mail")


def after(**changes: object) -> TrajectoryStep:
    return TrajectoryStep.model_validate(
        {
            "step": 1,
            "observation_screenshot": Screenshot(sha256="1"),
            "action": ClickInput(control_label="x"),
            "evidence": START.model_copy(update=changes),
        }
    )


START = Evidence(step=0)
TO, SUBJECT, BODY = control("To"), control("Subject", left=60), control("Body", left=400)
FILE, EDIT, VIEW = (
    control(name, "MenuItem", 60 * place) for place, name in enumerate(("File", "Edit", "View"))
)
FORM, BAR = screen(TO, SUBJECT, BODY), screen(FILE, EDIT, VIEW)
OPENED = screen(FILE, EDIT, VIEW, control("Undo", "Button"))


def slipping(action: Action, at: Control) -> tuple[SlippingAgent, Plan]:
    player = Plan(action, at)
    return SlippingAgent(player, Always(), START), player


async def test_the_wrong_field_is_clicked_and_the_right_one_after_it() -> None:
    agent, player = slipping(KeyboardInput(control_label="To", keys="kim"), TO)
    slip = await agent.decide("", FORM, ())
    assert (slip.slip, slip.action) == ("slip", ClickInput(control_label="Subject"))
    assert "the field 'Subject'" in slip.thought
    focused = screen(TO, SUBJECT.model_copy(update={"focused": True}), BODY)
    back = await agent.decide("", focused, (after(),))
    assert (back.slip, back.action) == ("recovery", ClickInput(control_label="To"))
    assert "the field 'Subject' has the focus now, but I need the field 'To'" in back.thought
    on = await agent.decide("", FORM, (after(), after()))
    assert (on.slip, on.action, player.asked) == ("", KeyboardInput(control_label="To", keys="kim"), 1)


async def test_a_click_that_was_planned_is_the_recovery_itself() -> None:
    agent, player = slipping(ClickInput(control_label="To"), TO)
    await agent.decide("", FORM, ())
    back = await agent.decide("", FORM, (after(),))
    assert (back.slip, back.action, player.asked) == ("recovery", ClickInput(control_label="To"), 1)


async def test_the_wrong_menu_is_closed_before_the_player_goes_on() -> None:
    agent, player = slipping(ClickInput(control_label="File"), FILE)
    slip = await agent.decide("", BAR, ())
    assert slip.action == ClickInput(control_label="Edit") and "the menu 'Edit'" in slip.thought
    back = await agent.decide("", OPENED, (after(),))
    assert (back.slip, back.action) == ("recovery", KeyboardInput(keys="{ESC}"))
    assert player.asked == 0
    on = await agent.decide("", BAR, (after(), after()))
    assert (on.slip, on.thought) == ("", "As planned.")


async def test_a_menu_that_escape_does_not_close_is_clicked_again_and_then_given_up() -> None:
    agent, _ = slipping(ClickInput(control_label="File"), FILE)
    seen = [await agent.decide("", shown, (after(),)) for shown in (BAR, OPENED, OPENED, OPENED)]
    assert [item.slip for item in seen] == ["slip", "recovery", "recovery", ""]
    assert seen[2].action == ClickInput(control_label="Edit")
    assert (seen[3].status, "stays open" in seen[3].message) == ("give_up", True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"files": (file("Documents/a.txt", "x"),)}, "it changed Documents/a.txt"),
        ({"clipboard": ClipboardState(text="x")}, "it changed the clipboard"),
        ({"directories": ("Documents",)}, "it changed folders"),
    ],
)
async def test_a_slip_that_changes_anything_lasting_is_given_up(
    changes: dict[str, object], said: str
) -> None:
    agent, _ = slipping(ClickInput(control_label="File"), FILE)
    await agent.decide("", BAR, ())
    end = await agent.decide("", OPENED, (after(**changes),))
    assert end.status == "give_up" and said in end.message


@pytest.mark.parametrize(
    ("action", "at", "shown"),
    [
        (
            ClickInput(control_label="Save"),
            control("Save", "Button"),
            screen(control("Save", "Button"), control("Delete", "Button")),
        ),
        (ClickInput(control_label="To", double=True), TO, FORM),
        (KeyboardInput(control_label="To", keys="x"), TO, screen(TO)),
        (
            KeyboardInput(control_label="To", keys="x"),
            TO,
            screen(TO, SUBJECT.model_copy(update={"disabled": True})),
        ),
    ],
)
async def test_where_a_slip_could_do_harm_or_has_no_neighbour_there_is_none(
    action: Action, at: Control, shown: Observation
) -> None:
    agent, player = slipping(action, at)
    decision = await agent.decide("", shown, ())
    assert (decision.slip, player.asked) == ("", 1)
