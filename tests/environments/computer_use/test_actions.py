"""Actions on a picture as gestures, and what buttons and keys hold between them."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from taskloom.environments.computer_use import ActionQueue, chord, gesture_of, picture_and_scale, shown_part
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Action, ClickInput, DragInput, KeyboardInput, WheelMouseInput
from taskloom.taskgraph.records.interaction import Screenshot


def screen(size: tuple[int, int]) -> Screenshot:
    content = io.BytesIO()
    Image.linear_gradient("L").resize(size).save(content, "PNG")
    return Screenshot.of(content.getvalue())


def gestures(*actions: ComputerAction) -> list[Action]:
    queue = ActionQueue()
    queue.fill(("call", action) for action in actions)
    found = []
    while (gesture := queue.next_gesture()) is not None:
        found.append(gesture)
    assert not queue.problems
    return found


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        (("CTRL", "a"), "^a"),
        (("ctrl", "SHIFT", "ArrowUp"), "^+{UP}"),
        (("Return",), "{ENTER}"),
        (("Page_Down",), "{PGDN}"),
        (("cmd", "C"), "^c"),
        (("F5",), "{F5}"),
        (("%",), "{%}"),
    ],
)
def test_keys_are_understood_as_either_provider_names_them(keys: tuple[str, ...], written: str) -> None:
    assert chord(keys) == written


@pytest.mark.parametrize("keys", [("Hyper", "x"), ("ThumbUp",), ()])
def test_an_unknown_key_is_refused_by_its_name(keys: tuple[str, ...]) -> None:
    with pytest.raises(ActionInvalidError, match=keys[0] if keys else "no key"):
        chord(keys)


def test_a_large_screen_is_sent_smaller_and_points_are_scaled_back() -> None:
    picture, scale = picture_and_scale(screen((2560, 1600)), (2560, 1600))
    sent = Image.open(io.BytesIO(picture.png)).size
    assert sent[0] * sent[1] <= 1_150_000 and max(sent) <= 1568
    corner = gesture_of(ComputerAction(kind="click", path=((sent[0] - 1, sent[1] - 1),)), scale, None)
    assert isinstance(corner, ClickInput) and corner.point is not None
    assert abs(corner.point[0] - 2559) < 4 and abs(corner.point[1] - 1599) < 4


def test_an_action_without_a_place_is_done_where_the_pointer_is() -> None:
    assert gesture_of(ComputerAction(kind="click"), 1, (7, 8)) == ClickInput(point=(7, 8))
    scrolled = gesture_of(ComputerAction(kind="scroll", wheel=(0, -3)), 1, None)
    assert scrolled == WheelMouseInput(wheel_distance=-3)
    with pytest.raises(ActionInvalidError, match="pointer is nowhere"):
        gesture_of(ComputerAction(kind="click"), 1, None)


def test_a_button_that_goes_down_moves_and_comes_up_is_a_drag() -> None:
    down = ComputerAction(kind="button_down", path=((1, 2),))
    assert gestures(
        down, ComputerAction(kind="move", path=((5, 6),)), ComputerAction(kind="button_up", path=((9, 9),))
    ) == [DragInput(points=((1, 2), (5, 6), (9, 9)))]
    assert gestures(down, ComputerAction(kind="button_up")) == [ClickInput(point=(1, 2))]


def test_keys_that_are_down_are_held_and_one_that_comes_up_unused_is_pressed() -> None:
    shift = ComputerAction(kind="key_down", keys=("shift",))
    up = ComputerAction(kind="key_up", keys=("shift",))
    click = ComputerAction(kind="click", path=((3, 4),))
    assert gestures(shift, click, up) == [ClickInput(point=(3, 4), held=("shift",))]
    enter = [ComputerAction(kind=kind, keys=("enter",)) for kind in ("key_down", "key_up")]
    assert gestures(*enter) == [KeyboardInput(keys="{ENTER}")]


def test_a_refused_action_takes_the_rest_of_its_batch_with_it() -> None:
    queue = ActionQueue()
    queue.fill([("a", ComputerAction(kind="unknown", text="fly")), ("b", ComputerAction(kind="wait"))])
    assert queue.next_gesture() is None
    assert "fly" in queue.problems["a"] and "not carried out" in queue.problems["b"]


def test_a_part_of_the_picture_is_shown_larger_and_no_part_is_all_of_it() -> None:
    whole = screen((400, 200))
    part = shown_part(whole, ((0, 0), (100, 50)))
    assert Image.open(io.BytesIO(part.png)).size == (400, 200) and part != whole
    assert shown_part(whole, ((5, 5), (5, 5))) == whole and shown_part(whole, ()) == whole
    assert shown_part(whole, ((500, 500), (900, 900))) == whole
