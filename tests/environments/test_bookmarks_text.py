"""What checks read of a browser's bookmarks: names, addresses and folders, not when and by which number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.unpacked_text import unpacked_text
from taskloom.evaluators_api.state.reading import read

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
BOOKMARK = st.tuples(NAMES, NAMES)
TREES = st.recursive(BOOKMARK, lambda inside: st.tuples(NAMES, st.lists(inside, max_size=4)), max_leaves=8)
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=8,
)


def stored(item: Any, number: int) -> dict[str, Any]:
    name, inside = item
    told = {"name": name, "id": str(number), "guid": f"-{name}", "date_added": str(13_400_000 + number)}
    if isinstance(inside, str):
        return {**told, "type": "url", "url": inside, "date_last_used": "0"}
    return {**told, "type": "folder", "children": [stored(one, number * 10 + 1) for one in inside]}


def listed(item: Any, folder: str) -> list[dict[str, str]]:
    name, inside = item
    if isinstance(inside, str):
        return [{"id": f"-{name}", "folder": folder, "name": name, "address": inside}]
    below = [one for child in inside for one in listed(child, f"{folder}/{name}")]
    return [{"id": f"-{name}", "folder": folder, "name": name}, *below]


def told(bar: list[Any], other: list[Any], number: int = 1) -> str:
    roots = {
        key: {"name": name, "type": "folder", "children": [stored(item, number) for item in items]}
        for key, name, items in (("bookmark_bar", "Bar", bar), ("other", "Other", other))
    }
    kind, text = unpacked_text(json.dumps({"checksum": "c", "roots": roots, "version": 1}).encode()) or (
        "",
        "",
    )
    assert kind == "bookmarks"
    return text


@given(st.lists(TREES, max_size=4), st.lists(TREES, max_size=2))
def test_bookmarks_are_records_with_their_folders(bar: list[Any], other: list[Any]) -> None:
    wanted = [one for item in bar for one in listed(item, "Bar")]
    wanted += [one for item in other for one in listed(item, "Other")]
    text = told(bar, other)
    assert json.loads(text) == wanted
    assert text == told(bar, other, 7), "when and by which number it was made is not told"
    assert read(".applications/browser/Bookmarks", text)[0] == "json_tree"


@given(JSON)
def test_anything_may_stand_where_bookmarks_are_meant(roots: object) -> None:
    content = json.dumps({"roots": roots}).encode()
    found = unpacked_text(content)
    assert found is None or found[0] == "bookmarks"
    found = unpacked_text(json.dumps({"roots": {"bookmark_bar": roots}}).encode())
    assert found is not None
    assert isinstance(json.loads(found[1]), list)


@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1}',
        '{"roots": {"bookmark_bar": {}}, "mine": "text"}',
        '{"roots": []}',
        '["roots"]',
        '{"roots": ' + "[" * 90_000,
    ],
)
def test_other_files_are_no_bookmarks(content: str) -> None:
    assert unpacked_text(content.encode()) is None


def test_what_no_file_of_text_can_hold_is_told_otherwise() -> None:
    content = b'{"roots": {"bookmark_bar": {"children": [{"name": "\\ud800", "guid": "1"}]}}, "version": 1}'
    told = unpacked_text(content)
    assert told is not None
    assert json.loads(told[1].encode())[0]["name"] == "?"
