"""Calls in what models say, as code, JSON and XML; hostile text gives calls or none, never anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from taskloom.omnieval.replies.calls import Call, Syntax, calls_in
from tests.limits import work_within

_ALL: tuple[Syntax, ...] = ("code", "json", "xml")
_TRICKY = "'\"(),=\\\n{}[]<>|/ :#`abc17."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Action: type(content='it's 5 o'clock')", Call("type", {"content": "it's 5 o'clock"})),
        ("Action: type(content='a\\nb')", Call("type", {"content": "a\nb"})),
        ('Action: type(content="line\nbreak")', Call("type", {"content": "line\nbreak"})),
        ("Action: click(point='<point>3 4</point>')", Call("click", {"point": "<point>3 4</point>"})),
        ("Thought: Action follows.\nAction: wait()", Call("wait")),
        ("## Code\n```python\npyautogui.click(x=3, y=0.5)\n```", Call("click", {"x": 3, "y": 0.5})),
        ("```\npyautogui.hotkey('ctrl', 'c')\n```", Call("hotkey", {}, ("ctrl", "c"))),
        ("import pyautogui\npyautogui.scroll(-5)", Call("scroll", {}, (-5,))),
        (
            "Ok <|begin_of_box|>left_click(start_box='[3,4]', element_info='a (b)')<|end_of_box|>",
            Call("left_click", {"start_box": "[3,4]", "element_info": "a (b)"}),
        ),
    ],
)
def test_code_is_read_as_models_write_it(text: str, found: Call) -> None:
    assert calls_in(text, ("code",)) == (found,)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>',
        '```json\n{"name": "f", "args": {"a": 1}}\n```',
        'Sure. {"function": {"name": "f", "arguments": {"a": 1}}}',
        '{"thought": "x", "tool_call": {"tool_name": "f", "a": 1}}',
        '[{"name": "f", "parameters": {"a": 1}}]',
        '{"name": "f", "arguments": {"a": 1}} trailing {',
    ],
)
def test_json_is_read_however_it_is_wrapped(text: str) -> None:
    assert calls_in(text, ("json",)) == (Call("f", {"a": 1}),)


def test_xml_is_read_with_and_without_its_closing_tags() -> None:
    text = "<function=click><parameter=point>3 4</parameter><parameter=b>x\n<function=wait></function>"
    assert calls_in(text, ("xml",)) == (Call("click", {"point": "3 4", "b": "x"}), Call("wait"))


def test_the_first_syntax_that_has_calls_counts() -> None:
    text = '<function=a></function> {"name": "b"}'
    assert [call.name for call in calls_in(text, ("xml", "json"))] == ["a"]
    assert [call.name for call in calls_in(text, ("json", "xml"))] == ["b"]


def test_what_would_run_is_no_call() -> None:
    assert calls_in("__import__('os').system('id')", ("json", "xml")) == ()
    (found, *_) = calls_in("pyautogui.click(x=__import__('os').getpid())", ("code",))
    assert isinstance(found.arguments.get("x", ""), str)


@given(st.dictionaries(st.text("abc_", min_size=1), st.text() | st.integers() | st.none(), max_size=4))
def test_json_calls_come_back_as_they_were_written(arguments: dict[str, JsonValue]) -> None:
    written = json.dumps({"name": "f", "arguments": arguments})
    (found,) = calls_in(f"<tool_call>{written}</tool_call>", ("json",))
    assert found == Call("f", arguments)


@given(st.text("'\"(),=\\\nab ", max_size=60))
def test_a_python_text_comes_back_as_it_was_written(text: str) -> None:
    (found,) = calls_in(f"Action: type(content={text!r})", ("code",))
    assert found.arguments["content"] == text


@given(st.text(_TRICKY, max_size=300) | st.text(max_size=300))
def test_any_text_gives_calls_or_none(text: str) -> None:
    for syntax in _ALL:
        for found in calls_in(text, (syntax,)):
            assert isinstance(found.name, str) and all(isinstance(key, str) for key in found.arguments)


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "[",
        "(",
        "'",
        "a",
        "\n",
        "<function=",
        "<parameter=",
        "click(",
        "click('",
        '{"a":',
        "Action:",
        "```",
        "<|",
        "##",
    ],
)
def test_a_reply_of_a_megabyte_is_read_in_no_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    for syntax in _ALL:
        with work_within(3.0):
            calls_in(text, (syntax,))
