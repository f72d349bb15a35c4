"""A playlist in XSPF as lines: which media it names, in their order."""

from __future__ import annotations

from urllib.parse import unquote
from xml.etree import ElementTree

_SPACE = "{http://xspf.org/ns/0/}"
_FILE = "file://"


def render_playlist(root: ElementTree.Element) -> str | None:
    """A line per track: the path of its file, or the address where it is no file. None for a document of
    another kind.

    Titles, durations, numbers and what else the player keeps are left out.
    """
    listed = root.find(_SPACE + "trackList")
    if listed is None:
        return None
    tracks = (track.findtext(_SPACE + "location", "") for track in listed.findall(_SPACE + "track"))
    return "".join(f"{_place(location)}\n" for location in tracks)


def _place(location: str) -> str:
    location = " ".join(location.split())
    path = unquote(location.removeprefix(_FILE)) if location.startswith(_FILE) else location
    return path.replace("\n", " ")
