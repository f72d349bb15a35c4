"""What checks read of a playlist: the media that it names, in their order."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.unpacked_text import unpacked_text

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
PLAYLIST = """<?xml version="1.0"?>
<playlist xmlns="http://xspf.org/ns/0/" xmlns:vlc="http://www.videolan.org/vlc/playlist/ns/0/" version="1">
<title>Playlist</title><trackList>{}</trackList><extension><vlc:item tid="{}"/></extension></playlist>
"""


def playlist(*tracks: str, number: int = 0) -> bytes:
    return PLAYLIST.format("".join(f"<track>{track}</track>" for track in tracks), number).encode()


@given(st.lists(NAMES, max_size=5), st.integers(0, 99))
def test_a_playlist_is_its_files_whatever_the_player_counts(names: list[str], number: int) -> None:
    tracks = [
        f"<location>file:///home/user/{quote(name)}</location><duration>{number}</duration>" for name in names
    ]
    expected = "".join(f"/home/user/{name}\n" for name in names)
    assert unpacked_text(playlist(*tracks, number=number)) == ("playlist", expected)


def test_what_is_no_file_is_told_by_its_address() -> None:
    track = "<location>https://example.org/a%20b</location><title>Title</title>"
    assert unpacked_text(playlist(track, "")) == ("playlist", "https://example.org/a%20b\n\n")


def test_a_track_is_one_line() -> None:
    assert unpacked_text(playlist("<location>\n file:///a%0Ab </location>")) == ("playlist", "/a b\n")


@pytest.mark.parametrize(
    "content",
    [
        playlist("<location>"),
        playlist().replace(b"trackList", b"list"),
        playlist().replace(b"xspf.org", b"example.org"),
        playlist().replace(b"<playlist", b'<!DOCTYPE x [<!ENTITY a "b">]><playlist'),
    ],
)
def test_other_texts_stay_what_they_are(content: bytes) -> None:
    assert unpacked_text(content) is None
