"""Text on a page: broken and cut to a width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taskloom.taskgraph.drawing import fit_text, text_width, wrap_text

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("aW i漢🐛"), max_size=60)


@given(TEXTS, st.integers(30, 300))
def test_a_line_is_no_wider_than_it_may_be(text: str, pixels: float) -> None:
    shown = fit_text(text, pixels, 10)
    whole = " ".join(text.split())
    assert text_width(shown, 10) <= pixels
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


@given(TEXTS, st.integers(30, 300), st.integers(1, 4))
def test_lines_hold_the_text_in_order_until_it_is_cut(text: str, pixels: float, lines: int) -> None:
    shown = wrap_text(text, pixels, 10, lines)
    assert 1 <= len(shown) <= lines
    assert all(text_width(line, 10) <= pixels for line in shown)
    told, whole = "".join("".join(shown).split()), "".join(text.split())
    assert told == whole or (told.endswith("…") and whole.startswith(told[:-1]))
