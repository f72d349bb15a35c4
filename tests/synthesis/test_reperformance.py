"""Recorded keys wait for the place that they went to; those that do the same everywhere, and canvases, do
not. A hint that is not shown again is not waited for without end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taskloom.environments.agents.recorded_agent import RecordedAgent, dismissals
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.evidence import Evidence, FileState
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

PICTURE = Screenshot(sha256="1")
Screen = tuple[Control, ...]


def control(control_type: str, text: str = "", **more: object) -> Control:
    place = Rectangle(left=0, top=0, right=50, bottom=20)
    values = {"label": "1", "text": text, "control_type": control_type, "rectangle": place, **more}
    return Control.model_validate(values)


def focus(control_type: str) -> Screen:
    """A menu and, if a type is given, a control of that type with the focus."""
    return (
        control("MenuItem", "File"),
        *((control(control_type, focused=True),) if control_type else ()),
    )


def editor(name: str, content: str = "some text") -> Screen:
    """A workspace with the document `name` in front; an older one is open beside it."""
    return (
        control("TabItem", "Files", checked=True),
        control("TabItem", "old.txt", checked=name == "old.txt"),
        control("TabItem", name, checked=True),
        control("Edit", value=content, parent_type="Region", focused=True),
    )


DIALOG = (control("Edit", "Path", parent_type="Dialog", focused=True),)
LAUNCHER = (control("TabItem", "Launcher", checked=True), control("Custom", focused=True))


def agent(*recorded: tuple[str, Screen], titles: Sequence[str] = ()) -> RecordedAgent:
    """Presses keys, each recorded on its screen; the window in front had these titles after them."""
    steps = tuple(
        TrajectoryStep(
            step=number,
            observation_screenshot=PICTURE,
            observation_controls=screen,
            action=KeyboardInput(keys=keys),
            evidence=Evidence(step=number, window_title=titles[number - 1] if titles else ""),
        )
        for number, (keys, screen) in enumerate(recorded, 1)
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
            steps=steps,
            termination="finished",
        )
    )


async def pressed(player: RecordedAgent, screen: Screen, title: str = "") -> str:
    """The keys that the player presses on this screen; empty if it waits."""
    now = Observation(screenshot=PICTURE, controls=screen, window_title=title)
    decision = await player.decide("", now, ())
    if isinstance(decision.action, WaitInput):
        return ""
    assert isinstance(decision.action, KeyboardInput)
    return decision.action.keys


@pytest.mark.parametrize("keys", ["^{END}Invite the team", "^a^c", "^s", "{DOWN 2}{ENTER}"])
async def test_keys_wait_until_the_editor_has_the_focus(keys: str) -> None:
    player = agent((keys, focus("Edit")))
    for now in ("", "Button"):
        assert not await pressed(player, focus(now))
    assert await pressed(player, focus("Edit")) == keys
    decision = await player.decide("", Observation(screenshot=PICTURE, controls=focus("Edit")), ())
    assert decision.status == "finish"


async def test_keys_are_pressed_at_last_though_nothing_gets_the_focus() -> None:
    player = agent(("Invite", focus("Edit")))
    assert [await pressed(player, focus("")) for _ in range(7)] == [""] * 6 + ["Invite"]
    assert player.step_limit >= 7


@pytest.mark.parametrize(("keys", "focused"), [("{ESC}", "Edit"), ("^s", "Button"), ("Label", "")])
async def test_keys_that_do_the_same_everywhere_do_not_wait(keys: str, focused: str) -> None:
    assert await pressed(agent((keys, focus(focused))), focus("")) == keys


async def test_a_page_that_does_not_answer_is_waited_for() -> None:
    player = agent(("Invite", focus("Edit")))
    window = (control("Button", "Exit page", label="1"), control("Button", "Wait", label="2"))
    asked = Observation(screenshot=PICTURE, controls=window, window_title="Page unresponsive")
    for _ in range(6):
        decision = await player.decide("", asked, ())
        assert isinstance(decision.action, ClickInput) and decision.action.control_label == "2"
    assert await pressed(player, focus("Edit")) == "Invite"


async def test_a_path_is_not_typed_into_the_editor_behind_the_dialog_that_is_still_to_come() -> None:
    player = agent(("/new.txt{ENTER}", DIALOG))
    assert not await pressed(player, editor("old.txt"))
    assert await pressed(player, DIALOG)


async def test_a_shortcut_waits_until_the_window_that_was_closed_before_is_gone() -> None:
    player = agent(
        ("^o", focus("")),
        ("~/plan.zip", focus("")),
        ("^e", focus("")),
        titles=("Open", "plan.zip", "Extract"),
    )
    assert await pressed(player, focus(""), "Archives") == "^o"
    assert await pressed(player, focus(""), "Open") == "~/plan.zip"
    assert not await pressed(player, focus(""), "Open")
    assert await pressed(player, focus(""), "other.zip") == "^e"
    assert not await pressed(player, focus(""), "plan.zip")
    over = Observation(screenshot=PICTURE, controls=focus(""), window_title="Extract")
    assert (await player.decide("", over, ())).status == "finish"


async def test_a_shortcut_that_brings_up_no_window_this_time_is_pressed_once_more() -> None:
    player = agent(("^e", focus("")), ("~/plans", focus("")), titles=("Extract", "Extract"))
    assert await pressed(player, focus(""), "plan.zip") == "^e"
    assert [await pressed(player, focus(""), "plan.zip") for _ in range(7)] == [""] * 6 + ["^e"]
    assert await pressed(player, focus(""), "Extract") == "~/plans"
    player = agent(("^s", focus("")), ("~/plans", focus("")), titles=("", ""))
    assert await pressed(player, focus(""), "plan.txt") == "^s"
    assert await pressed(player, focus(""), "plan.txt") == "~/plans"


async def test_text_is_not_typed_into_the_document_that_was_open_before() -> None:
    player = agent(("^{HOME}", LAUNCHER), ("^{END}Invite", editor("new.txt")))
    assert await pressed(player, editor("old.txt")) == "^{HOME}"
    assert not await pressed(player, editor("old.txt"))
    assert await pressed(player, editor("new.txt", "what an earlier subtask left there"))


async def test_a_document_that_was_in_front_from_the_beginning_may_have_another_name_now() -> None:
    player = agent(("^{END}Invite", editor("new.txt")), ("^s", editor("new.txt")))
    assert await pressed(player, editor("other.txt")) == "^{END}Invite"
    assert await pressed(player, editor("other.txt")) == "^s"


async def test_text_waits_until_the_document_is_loaded() -> None:
    player = agent(("^{END}Invite", editor("new.txt")))
    assert not await pressed(player, editor("new.txt", ""))
    assert await pressed(player, editor("new.txt"))


PAGE = (control("Button", "New"), control("Edit", "Search"))
HINT = (control("Button", "Got it", parent_type="Dialog", parent_text="Tip"),)
ANOTHER = (control("Button", "Save"),)


def clicks(*recorded: tuple[Control, Screen, Evidence], end: Screen) -> RecordedAgent:
    """Clicks controls, each recorded on its screen and with the evidence after it."""
    steps = tuple(
        TrajectoryStep(
            step=number,
            observation_screenshot=PICTURE,
            observation_controls=screen,
            action=ClickInput(control_label=target.label),
            target=target.describe(),
            evidence=evidence,
        )
        for number, (target, screen, evidence) in enumerate(recorded, 1)
    )
    bare = agent().trajectory
    return RecordedAgent(
        bare.model_copy(update={"steps": steps, "closing_evidence": Evidence(step=len(steps), controls=end)})
    )


async def done(player: RecordedAgent, screen: Screen) -> str:
    """What the player does on this screen, after it has waited long enough."""
    for _ in range(8):
        decision = await player.decide("", Observation(screenshot=PICTURE, controls=screen), ())
        if not isinstance(decision.action, WaitInput):
            break
    return decision.status if decision.action is None else decision.thought or "click"


NOTHING = Evidence(step=0)
SAVED = Evidence(step=0, files=(FileState(path="/a", size=1, sha256="1"),))


async def test_a_hint_that_is_not_shown_again_is_skipped_where_the_next_control_is_there() -> None:
    def player() -> RecordedAgent:
        return clicks((HINT[0], PAGE + HINT, NOTHING), (PAGE[0], PAGE, NOTHING), end=PAGE + ANOTHER)

    assert dismissals(player().trajectory) == {1}
    assert await done(player(), PAGE) == "click"
    assert await done(player(), PAGE + HINT) == "click"
    assert await done(player(), ANOTHER) == "give_up", "the page itself is missing"


@pytest.mark.parametrize(
    ("after", "evidence"),
    [(PAGE + ANOTHER, NOTHING), (PAGE[:1], NOTHING), (PAGE, SAVED), (PAGE + HINT, NOTHING)],
    ids=["something came", "something else went", "a file was written", "it stayed"],
)
async def test_a_step_that_did_more_than_close_is_never_skipped(after: Screen, evidence: Evidence) -> None:
    player = clicks((HINT[0], PAGE + HINT, evidence), (PAGE[0], after, evidence), end=ANOTHER)
    assert dismissals(player.trajectory) == set()
    assert await done(player, PAGE) == "give_up"


async def test_the_wheel_is_turned_where_it_was_though_another_control_is_there() -> None:
    bare = clicks((PAGE[0], PAGE, NOTHING), end=PAGE).trajectory
    turn = WheelMouseInput(control_label="1", wheel_distance=-3)
    there = WheelMouseInput(point=(20, 40), wheel_distance=-3)
    for place, expected in (((10, 20, 30, 60), there), (None, None)):
        step = bare.steps[0].model_copy(update={"action": turn, "target_rectangle": place})
        player = RecordedAgent(bare.model_copy(update={"steps": (step,)}))
        for _ in range(7):
            decision = await player.decide("", Observation(screenshot=PICTURE, controls=ANOTHER), ())
        assert decision.action == expected


@pytest.mark.parametrize(
    ("rows", "length", "turns"),
    [(3, 9, 3), (9, 30, 24), (-2, 3, 9), (-2, 30, 18), (-9, 30, 24)],
    ids=["below", "far below", "above", "above in a long list", "far above"],
)
async def test_a_control_that_is_not_on_the_screen_is_scrolled_for_where_it_was(
    rows: int, length: int, turns: int
) -> None:
    """First downwards, up to eight turns or the end; then upwards."""
    recorded = agent(("x", focus(""))).trajectory
    link = ControlQuery(text="archive", control_type="Hyperlink")
    step = recorded.steps[0].model_copy(
        update={
            "action": ClickInput(control_label="1"),
            "target": link,
            "target_rectangle": (0, 100, 51, 121),
        }
    )
    player = RecordedAgent(recorded.model_copy(update={"steps": (step,)}))
    turned = place = 0
    for _ in range(player.step_limit):
        shown: Screen = (control("Hyperlink", f"row {place}"),)
        shown += (control("Hyperlink", "archive"),) if place == rows else ()
        now = Observation(screenshot=PICTURE, controls=shown)
        decision = await player.decide("", now, ())
        if isinstance(decision.action, WheelMouseInput):
            assert decision.action.point == (25, 110)
            place = max(-length, min(length, place + (1 if decision.action.wheel_distance < 0 else -1)))
            turned += 1
        elif decision.action is None or isinstance(decision.action, ClickInput):
            break
    assert turned == turns and decision.status == ("continue" if place == rows else "give_up")
    assert (place == rows) == (-9 < rows < 9)


async def test_scrolling_ends_where_it_shows_nothing_new_either_way() -> None:
    recorded = agent(("x", focus(""))).trajectory
    link = ControlQuery(text="archive", control_type="Hyperlink")
    changes = {"action": ClickInput(control_label="1"), "target": link, "target_rectangle": (0, 0, 50, 20)}
    step = recorded.steps[0].model_copy(update=changes)
    player = RecordedAgent(recorded.model_copy(update={"steps": (step,)}))
    now = Observation(screenshot=PICTURE, controls=focus(""))
    decisions = [await player.decide("", now, ()) for _ in range(9)]
    wheel, none = WheelMouseInput, type(None)
    assert [type(decision.action) for decision in decisions[-3:]] == [wheel, wheel, none]
    assert decisions[-1].status == "give_up"
