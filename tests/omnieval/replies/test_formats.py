"""Every format of the agents that taskloom brings: recorded replies, and points in all picture sizes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.lookup import AGENTS
from taskloom.omnieval.replies.formats import ReadReply, ReplyFormat, read_reply
from taskloom.omnieval.replies.verbs import Ending
from taskloom.taskgraph.records.computer_use import ComputerAction
from tests.omnieval.replies.said import SAID
from tests.servers.models.behaviour import WireCall

SCREENS = [(1280, 800), (1920, 1080), (1366, 768), (2560, 1600), (800, 1280), (640, 480)]
FORMATS: dict[str, ReplyFormat] = {
    name: form
    for name in AGENTS.built_in()
    if isinstance(form := getattr(AGENTS.load(name), "form", None), ReplyFormat)
}


def read(name: str, text: str, screen: tuple[int, int] = (1280, 800)) -> ReadReply:
    form = FORMATS[name]
    return read_reply(text, form, sent=form.sizing.of(screen), screen=screen)


def answer(call: WireCall) -> str:
    """What a scripted model says in the format it is named after: it clicks the middle of the screen, says
    something that is no action, and then that all is done."""
    said = SAID[call.model]
    if len(call.turns) == 1:
        return said.click(*in_grid(FORMATS[call.model], (640, 400), (1280, 800)))
    if len(call.turns) == 3:
        return "Let me think."
    return next(text for text, meant in said.replies if getattr(meant, "status", "") == "finish")


def in_grid(form: ReplyFormat, pixel: tuple[int, int], screen: tuple[int, int]) -> tuple[float, float]:
    """The place in the format's grid that means a pixel of the screen, as a model would write it."""
    sent = form.sizing.of(screen)
    extents = {
        "pixels": sent,
        "thousand": (1000, 1000),
        "thousand_less_one": (999, 999),
        "fractions": (1, 1),
    }[form.grid]
    places = [value / side * extent for value, side, extent in zip(pixel, screen, extents, strict=True)]
    x, y = places if form.grid == "fractions" else [round(place) for place in places]
    return (round(x, 4), round(y, 4)) if form.grid == "fractions" else (x, y)


def test_every_format_has_recorded_replies() -> None:
    assert SAID.keys() == FORMATS.keys()


@pytest.mark.parametrize("screen", SCREENS, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", sorted(SAID))
def test_a_click_lands_where_the_model_saw_it(name: str, screen: tuple[int, int]) -> None:
    form, click = FORMATS[name], SAID[name].click
    extent = 1000 if form.grid.startswith("thousand") else 10_000
    width, height = screen
    for pixel in [(0, 0), (width // 3, height // 7), (width // 2, height // 2), (width - 1, height - 1)]:
        said = click(*in_grid(form, pixel, screen))
        (action,) = read(name, said, screen).actions
        assert action.kind == "click" and (action.times, action.button) == (1, "left")
        for found, wanted, side in zip(action.path[0], pixel, screen, strict=True):
            assert abs(found - wanted) <= 1 + side / extent and 0 <= found < side


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [(name, text, wanted) for name, said in SAID.items() for text, wanted in said.replies],
)
def test_recorded_replies_are_read(name: str, text: str, wanted: object) -> None:
    found = read(name, text)
    assert (list(found.actions) if found.ending is None else found.ending) == wanted


@pytest.mark.parametrize("name", sorted(SAID))
def test_the_thought_is_what_stands_before_the_call(name: str) -> None:
    said = SAID[name].click(1, 1)
    if '"thought"' in said:
        assert read(name, said).thought == "The button is there."
    else:
        assert read(name, f"Thought: It is there.\n{said}").thought.startswith("It is there.")


@pytest.mark.parametrize("name", sorted(SAID))
def test_thinking_is_never_done(name: str) -> None:
    click: Callable[[float, float], str] = SAID[name].click
    found = read(name, f"<think>Maybe {click(1, 1)}</think>\n{click(0, 0)}")
    assert [action.path for action in found.actions] == [((0, 0),)]
    with pytest.raises(CallUnusableError, match="no action"):
        read(name, f"<think>{click(1, 1)}")


@pytest.mark.parametrize("name", sorted(SAID))
@pytest.mark.parametrize("text", ["", "I am done.", "{}", "[[[", "Action: fly()", "<tool_call>"])
def test_a_reply_without_an_action_says_so(name: str, text: str) -> None:
    with pytest.raises(CallUnusableError):
        read(name, text)


@pytest.mark.parametrize("name", sorted(SAID))
@pytest.mark.parametrize(
    "code",
    [
        'pyautogui.click(__import__("os").system("touch {0}"), 1)',
        'pyautogui.write(open("{0}", "w").write("x"))',
        '[open("{0}", "w") for _ in "x"]',
        'import os; os.system("touch {0}")',
    ],
)
def test_code_in_a_reply_is_read_and_never_run(name: str, code: str, tmp_path: Path) -> None:
    written = code.format(tmp_path / "written")
    for text in (written, f"```python\n{written}\n```", f"Action: {written}"):
        with contextlib.suppress(CallUnusableError):
            assert all(isinstance(action, ComputerAction) for action in read(name, text).actions)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["qwen3_vl", "qwen3_5", "gemini"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "9" * 5000, '"x"', "null", "true", "[]"])
def test_numbers_that_are_none_are_refused_or_outside(name: str, number: str) -> None:
    text = f'{{"name": "click_at", "arguments": {{"x": {number}, "y": {number}}}}}'
    try:
        found = read(name, text)
    except CallUnusableError:
        return
    assert all(action.path == () for action in found.actions)


@pytest.mark.parametrize(
    "call", ['{"action": "type", "text": "a\\ud800"}', '{"action": "key", "keys": ["\\ud800"]}']
)
def test_half_characters_are_never_typed(call: str) -> None:
    (action,) = read("qwen3_vl", f'{{"name": "computer_use", "arguments": {call}}}').actions
    assert "?" in action.text + "".join(action.keys) and action.model_dump_json()


_ARGUMENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_NAMED = st.sampled_from(
    ["coordinate", "x", "y", "keys", "text", "pixels", "time", "status", "action", "point"]
)


@given(
    name=st.sampled_from(sorted(SAID)),
    verb=st.sampled_from(
        ["left_click", "drag", "scroll", "type", "key", "wait", "terminate", "hold_key", "press"]
    ),
    arguments=st.dictionaries(_NAMED, _ARGUMENT, max_size=4),
)
def test_whatever_the_arguments_a_call_is_read_or_refused(
    name: str, verb: str, arguments: dict[str, object]
) -> None:
    written = json.dumps({"name": verb, "arguments": arguments})
    pairs = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    for text in (f"<tool_call>{written}</tool_call>", f"Action: {verb}({pairs})"):
        try:
            found = read(name, text)
        except CallUnusableError:
            continue
        assert all(isinstance(action, ComputerAction) for action in found.actions)
        assert found.ending is None or isinstance(found.ending, Ending)


@given(name=st.sampled_from(sorted(SAID)), text=st.text(max_size=200))
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    try:
        assert read(name, text)
    except CallUnusableError as error:
        assert str(error)
