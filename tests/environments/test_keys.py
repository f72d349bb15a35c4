from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.aiming import parse_keys
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.interaction import escape_keys
from taskloom.taskgraph.records.keys import KeyPress, runs


def chords(keys: str) -> list[str]:
    return [press.chord for press in parse_keys(keys)]


@pytest.mark.parametrize(
    ("keys", "pressed"),
    [
        ("abc 1", ["a", "b", "c", " ", "1"]),
        ("^a", ["ctrl+a"]),
        ("^+s", ["ctrl+shift+s"]),
        ("+^s", ["ctrl+shift+s"]),
        ("%{F4}", ["alt+f4"]),
        ("^(ac)b", ["ctrl+a", "ctrl+c", "b"]),
        ("^(a+(b))", ["ctrl+a", "ctrl+shift+b"]),
        ("{TAB 2}x", ["tab", "tab", "x"]),
        ("{a 3}", ["a", "a", "a"]),
        ("{VK_RETURN}", ["enter"]),
        ("+{HOME}", ["shift+home"]),
        ("~", ["enter"]),
        ("{~}{^}{%}{+}{(}{)}", ["~", "^", "%", "+", "(", ")"]),
        ("{{}{}}", ["{", "}"]),
        ("{{ 2}", ["{", "{"]),
        ("{  3}", [" ", " ", " "]),
        ("+a", ["A"]),
        ("a\nb\tc", ["a", "enter", "b", "tab", "c"]),
        ("[x]", ["[", "x", "]"]),
        ("", []),
    ],
)
def test_reads_the_papers_key_syntax(keys: str, pressed: list[str]) -> None:
    assert chords(keys) == pressed


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ("{NOSUCHKEY}", "is not a key"),
        ("{ENTER", "never closed"),
        ("^", "name no key"),
        ("^(ab", "never closed"),
        ("ab)", "never opened"),
        ("{TAB x}", "repeat count"),
        ("{TAB 0}", "repeat count"),
        ("{TAB 9999}", "repeat count"),
        ("{}", "never closed"),
        ("x" * 20_001, "at most"),
    ],
)
def test_refuses_keys_that_do_not_parse_and_says_why(keys: str, complaint: str) -> None:
    with pytest.raises(ActionInvalidError, match=complaint):
        parse_keys(keys)


@given(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=60))
def test_escaped_text_is_typed_as_it_stands(text: str) -> None:
    typed = "".join(
        {"enter": "\n", "tab": "\t"}.get(press.key, press.key) for press in parse_keys(escape_keys(text))
    )
    assert typed == text


@given(st.text(max_size=40))
def test_any_text_is_either_read_or_refused(keys: str) -> None:
    try:
        presses = parse_keys(keys)
    except ActionInvalidError as error:
        assert str(error)
    else:
        assert all(len(press.key) == 1 or press.key.isalnum() for press in presses)


@given(st.lists(st.sampled_from(["a", "{ENTER}", "^s", " ", "{TAB 2}"]), max_size=12))
def test_runs_keep_every_press_in_order(parts: list[str]) -> None:
    presses = parse_keys("".join(parts))
    joined: list[KeyPress] = []
    for part in runs(presses):
        joined += [part] if isinstance(part, KeyPress) else [KeyPress(character) for character in part]
    assert tuple(joined) == presses


def test_neighbouring_characters_become_one_run() -> None:
    assert runs(parse_keys("ab{ENTER}cd")) == ["ab", KeyPress("enter"), "cd"]
