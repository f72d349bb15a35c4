"""One definition of the same text, held against what a person would say."""

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.evaluators_api.text_matching import (
    _is_boundary,
    document_contains,
    find_phrase,
    has_phrase,
    read_in_picture,
    shown_in,
)
from taskloom.taskgraph.text_folding import exact_text, fold_label, fold_text, same_label, written_out

SAME = [
    ("File", "&File"),
    ("File", "File\u2026"),
    ("File", "File..."),
    ("File", "file"),
    ("Save As", "Save\u00a0As"),
    ("Save As", "Save &As\u2026"),
    ("Save As", "  save   as  "),
    ("Exit", "E&xit"),
    ("Cut & Paste", "cut & paste"),
    ("R&D", "r&d"),
    ("Search && Replace", "Search & Replace"),
    ("Title", "Title:"),
    ("Title", "Title *"),
    ("report.csv", "*report.csv"),
    ("report.csv", "\u25cf report.csv"),
    ("Copy", "Copy\tCtrl+C"),
    ("Copy", "Copy Ctrl+C"),
    ("Bold", "Bold (Ctrl+B)"),
    ("Save all", "Save All (Ctrl+Shift+S)"),
    ("Find next", "Find Next (Shift+F3)"),
    ("Don't save", "Don\u2019t Save"),
    ('Say "hi"', "Say \u201chi\u201d"),
    ("2024-2025", "2024\u20132025"),
    ("Stra\u00dfe", "STRASSE"),
    ("caf\u00e9", "cafe\u0301"),
    ("\ufb01le", "file"),
    ("\uff21\uff22\uff23", "ABC"),
    ("Total \u2212 5", "Total - 5"),
    ("Save", "Sa\u00advE"),
    ("Save", "\u200bSave\u200b"),
    ("Format", "Format \u25be"),
    ("More", "More \u203a"),
    ("New tab", "New\ntab"),
    ("x\u00b2", "x2"),
    ("\u00c5ngstr\u00f6m", "\u212bngstr\u00f6m"),
    ("+", "+"),
    ("\u25b6", "\u25b6"),
]
DIFFERENT = [
    ("Copy", "Crop"),
    ("Rotate left", "Rotate right"),
    ("Save", "Save As"),
    ("Save As", "Save"),
    ("Save", "Save all"),
    ("cat.jpg", "car.png"),
    ("cat.jpg", "cat.png"),
    ("cat.jpg", "bobcat.jpg"),
    ("Delete", "Select"),
    ("Report 1", "Report 2"),
    ("Report 1", "Report 11"),
    ("10", "1.0"),
    ("1,000", "1000"),
    ("Open", "Reopen"),
    ("Open", "Open recent"),
    ("Undo", "Redo"),
    ("Import", "Export"),
    ("Next", "Text"),
    ("Yes", "Yes to all"),
    ("Sign in", "Sign up"),
    ("Sign in", "Signing"),
    ("Bold Ctrl+B", "Bold Ctrl+U"),
    ("Press Ctrl+C", "Press Ctrl+V"),
    ("caf\u00e9", "cafe"),
    ("R&D", "RD"),
    ("Notes", "Note"),
    ("a-b", "ab"),
    ("a_b", "a b"),
    ("C", "C++"),
    ("C#", "C"),
    ("+", "-"),
    ("\u4fdd\u5b58", "\u53e6\u5b58\u4e3a"),
    ("night", "night-shift+b"),
    ("", "anything"),
    ("", ""),
    ("plan (1)", "plan (2)"),
    ("plan", "plan (1)"),
    (".", ".."),
    ("Ann Lee", "Ann Leeds"),
]


def test_the_table_is_large_enough() -> None:
    assert len(SAME) + len(DIFFERENT) >= 60


@pytest.mark.parametrize(("wanted", "shown"), SAME)
def test_a_person_calls_these_the_same(wanted: str, shown: str) -> None:
    assert same_label(wanted, shown)
    assert shown_in(wanted, shown)


@pytest.mark.parametrize(("wanted", "shown"), DIFFERENT)
def test_a_person_calls_these_different(wanted: str, shown: str) -> None:
    assert not same_label(wanted, shown)
    assert not shown_in(wanted, shown)
    assert not read_in_picture(wanted, shown)


LONG = (
    "The file cat.jpg was saved at 10:30 to Documents/reports, with Ann's notes; total: 1,250.50 (see"
    " e-mail)."
)


@pytest.mark.parametrize(
    "phrase",
    ["cat.jpg", "The file", "10:30", "reports", "notes", "1,250.50", "e-mail", "was SAVED at", "Ann's notes"],
)
def test_a_phrase_in_a_long_text_is_found(phrase: str) -> None:
    assert has_phrase(phrase, LONG)
    assert shown_in(phrase, LONG)


@pytest.mark.parametrize(
    "phrase", ["cat", "jpg", "10", "30", "report", "Ann", "1,250", "250", "mail", "e", "save", "ocuments", ""]
)
def test_a_part_of_a_word_or_number_is_not(phrase: str) -> None:
    assert not has_phrase(phrase, LONG)


def test_scripts_without_spaces_have_boundaries_everywhere() -> None:
    assert has_phrase("\u4fdd\u5b58", "\u70b9\u51fb\u4fdd\u5b58\u6309\u94ae")
    assert not has_phrase("\u4fdd\u5b58", "\u53e6\u5b58\u4e3a")


@pytest.mark.parametrize(
    ("wanted", "content"),
    [
        ("milk", "Buy milk"),
        ("R&D plan", "<title>R&amp;D plan</title>"),
        ("two\nlines", '{"text": "two\\nlines"}'),
        ("it's", "INSERT INTO notes VALUES('it''s');"),
        ("caf\u00e9", '{"name": "caf\\u00e9"}'),
        ("a/b", '"a\\/b"'),
    ],
)
def test_documents_are_read_through_their_escapes(wanted: str, content: str) -> None:
    assert document_contains(wanted, content)


@pytest.mark.parametrize(
    ("wanted", "content"),
    [("milk", "buttermilk"), ("plan", "plans"), ("", "text"), ("cat.jpg", "bobcat.jpg")],
)
def test_documents_do_not_hold_parts_of_words(wanted: str, content: str) -> None:
    assert not document_contains(wanted, content)


@pytest.mark.parametrize(
    ("wanted", "reading", "expected"),
    [
        ("Import tasks from CSV", "lmport tasks frorn CSV", False),
        ("Import tasks from CSV", "lmport tasks fron CSV", True),
        ("Quarterly report 2024", "Quarterly report 2025", False),
        ("Documents", "Docurnents", False),
        ("Documents", "Docuwents", True),
        ("Save", "Sava", False),
        ("quick brown", "The qulck brown fox jumps over the lazy dog, twice", True),
    ],
)
def test_only_pictures_forgive_and_only_a_little(wanted: str, reading: str, expected: bool) -> None:
    assert read_in_picture(wanted, reading) is expected
    assert not shown_in(wanted, reading)


@pytest.mark.parametrize(
    "text",
    ["." * 20_000 + "x", "* " * 10_000 + "x", "ctrl+" * 4_000, "&a" * 10_000, ": ." * 7_000, "a" * 50_000],
)
def test_long_and_tricky_texts_cost_little(text: str) -> None:
    started = time.process_time()
    assert same_label(text, text) or not fold_label(text)
    assert not same_label(text[:-2], "x" + text)
    shown_in(text[:9_000], text)
    has_phrase("a" * 5_000, text)
    assert time.process_time() - started < 2


@given(st.text("aab -.'@,:1", min_size=1, max_size=4), st.text("aab -.'@,:1", max_size=24))
def test_a_phrase_is_found_where_trying_every_place_finds_it(wanted: str, text: str) -> None:
    places = (
        place
        for place in range(len(text))
        if text.startswith(wanted, place)
        and _is_boundary(text, place)
        and _is_boundary(text, place + len(wanted))
    )
    assert find_phrase(wanted, text) == next(places, -1)


TEXTS = st.text(max_size=60)


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(TEXTS)
def test_every_text_that_shows_something_is_itself(text: str) -> None:
    if fold_text(text):
        assert same_label(text, text)
        assert shown_in(text, text)
        assert has_phrase(text, f"( {text} )") or not text.strip()


@given(TEXTS, TEXTS)
def test_sameness_needs_the_same_letters_and_digits(first: str, second: str) -> None:
    if same_label(first, second):
        letters = [c for c in fold_label(first) if c.isalnum()]
        shown = [c for c in fold_text(second) if c.isalnum()]
        assert shown[: len(letters)] == letters


@given(st.from_regex(r"[a-z]{3,9}", fullmatch=True), st.from_regex(r"[a-z]{3,9}", fullmatch=True))
def test_two_words_are_the_same_only_when_equal(first: str, second: str) -> None:
    assert same_label(first, second) == (first == second)
    assert has_phrase(first, f"before {second} after") == (first in ("before", "after", second))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@given(TEXTS, st.sampled_from(["\n", "\r\n", "\r"]), TEXTS)
def test_exact_texts_do_not_depend_on_line_ends_or_normal_form(first: str, end: str, second: str) -> None:
    text = f"{first}{end}{second}"
    assert exact_text(text) == exact_text(f"{first} \t\n{second}") == exact_text(text + "\n")
    assert exact_text(normalize("NFD", text)) == exact_text(normalize("NFC", text))


@given(TEXTS, st.sampled_from("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), TEXTS)
def test_nothing_but_a_line_end_ends_a_line(first: str, mark: str, second: str) -> None:
    assert exact_text(f"{first}x{mark}x{second}") != exact_text(f"{first}x\nx{second}")
    assert exact_text(f"{first}x{mark}") != exact_text(f"{first}x")


@given(TEXTS)
def test_a_leading_line_counts_and_comparing_twice_changes_nothing(text: str) -> None:
    assert exact_text(f"\n{text}x") != exact_text(f"{text}x")
    assert exact_text(exact_text(text)) == exact_text(text)
    assert written_out(written_out(text)) == written_out(text)
