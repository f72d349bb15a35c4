"""Fixtures that are zip archives hold what the catalogue says, in the words of their world."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.resources.assets import PACKED_PREFIX, content_of
from taskloom.resources.reading.catalog import load_applications
from taskloom.resources.reading.translation import WorldlyApplications, applications_in
from taskloom.resources.reading.worlds import load_world

NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)


def unpacked(text: str) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content_of(text))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@given(st.dictionaries(NAMES, st.text(st.characters(codec="utf-8")).map(lambda text: f"-{text}"), max_size=4))
def test_what_is_packed_is_in_the_archive(held: dict[str, str]) -> None:
    text = PACKED_PREFIX + json.dumps(held)
    assert unpacked(text) == held
    assert content_of(text) == content_of(text)


def test_an_archive_holds_the_files_of_its_world() -> None:
    applications = WorldlyApplications(load_applications(), ["bakery-3"])
    fixtures = applications_in(applications, "bakery-3")["engrampa"].fixtures
    archive = next(item for item in fixtures if item.content.startswith(PACKED_PREFIX))
    terms = load_world("bakery-3").terms
    name = terms["texts.ideas.file"]
    assert archive.value == f"Documents/{name.removesuffix('.txt')}.zip"
    assert unpacked(archive.content)[name] == f"{terms['texts.ideas.text']}\n"


@pytest.mark.parametrize("text", ["packed:", "packed:[]", 'packed:{"a.txt": 1}'])
def test_what_cannot_be_packed_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        content_of(text)
