"""The keeper of the clipboard, its display played: what an owner offers is asked for, kept, offered again."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from Xlib import X

from taskloom.environments.platforms.linux_desktop.server import clipboard_keeper
from taskloom.environments.platforms.linux_desktop.server.clipboard_keeper import ClipboardKeeper

CLIPBOARD, PLACE, TARGETS, PIECES, TEXT, HTML, OTHER, MANAGER = range(100, 108)


class Window:
    """A window that holds properties."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.properties: dict[int, tuple[int, int, Any]] = {}
        self.asked: list[int] = []
        self.told: list[Any] = []
        self.owner_since = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Window) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def __window__(self) -> int:
        return self.id

    def change_property(self, place: int, kind: int, bits: int, content: Any) -> None:
        self.properties[place] = (kind, bits, content)

    def delete_property(self, place: int) -> None:
        self.properties.pop(place, None)

    def get_full_property(self, place: int, kind: int) -> Any:
        held = self.properties.get(place)
        return held and SimpleNamespace(property_type=held[0], format=held[1], value=held[2])

    def change_attributes(self, event_mask: int) -> None:
        assert event_mask == X.PropertyChangeMask

    def convert_selection(self, selection: int, kind: int, place: int, time: int) -> None:
        self.asked.append(kind)

    def set_selection_owner(self, selection: int, time: int) -> None:
        self.owner_since = time

    def send_event(self, told: Any) -> None:
        self.told.append(told)


class Played(ClipboardKeeper):
    """A keeper whose events are made by hand."""

    def __init__(self) -> None:
        self._window, self._clipboard, self._property = Window(1), CLIPBOARD, PLACE
        self._targets, self._incr, self._not_content = TARGETS, PIECES, {TARGETS, OTHER}
        self._contents, self._pending, self._incoming, self._outgoing = {}, [], None, {}
        self._owned_since, self._requested = 0, X.NONE
        self._owner = self._kept_owner = X.NONE
        self._display = SimpleNamespace(get_selection_owner=lambda _: 9, pending_events=lambda: 0)
        self._idle = threading.Event()
        self._manager, self._save_requests = MANAGER, []

    def copied(self, offered: dict[int, bytes], time: int = 7, pieces: int = 0) -> None:
        """An application copies; large contents come in `pieces`."""
        notice = SimpleNamespace(owner=9, timestamp=time, sub_code=0)
        self._handle_owner(notice)
        while not self._idle.is_set():
            kind = self._window.asked[-1]
            if kind == TARGETS:
                self._window.change_property(PLACE, 4, 32, [TARGETS, OTHER, *offered])
            elif pieces:
                self._window.change_property(PLACE, PIECES, 32, [1])
            else:
                self._window.change_property(PLACE, kind, 8, offered[kind])
            self._handle(SimpleNamespace(type=X.SelectionNotify, time=time, property=PLACE))
            if kind != TARGETS and pieces:
                step = -(-len(offered[kind]) // pieces) or 1
                parts = [offered[kind][at : at + step] for at in range(0, len(offered[kind]), step)]
                for part in (*parts, b""):
                    self._window.change_property(PLACE, kind, 8, part)
                    changed = {"window": self._window, "atom": PLACE, "state": X.PropertyNewValue}
                    self._handle(SimpleNamespace(type=X.PropertyNotify, **changed))

    def pasted(self, kind: int) -> Any:
        """What an application gets that asks for `kind`; None where it is refused."""
        asker = Window(5)
        request = {"requestor": asker, "target": kind, "property": 50, "selection": CLIPBOARD, "time": 8}
        self._handle(SimpleNamespace(type=X.SelectionRequest, **request))
        assert len(asker.told) == 1
        if 50 not in asker.properties:
            return None
        first, whole = asker.properties[50], b""
        if first[0] != PIECES:
            return first[2]
        while True:
            deleted = {"window": asker, "atom": 50, "state": X.PropertyDelete}
            self._handle(SimpleNamespace(type=X.PropertyNotify, **deleted))
            if not asker.properties[50][2]:
                return whole
            whole += asker.properties[50][2]


@given(
    st.dictionaries(st.sampled_from([TEXT, HTML]), st.binary(min_size=1, max_size=60), min_size=1),
    st.integers(0, 4),
)
def test_everything_that_was_offered_is_offered_again(offered: dict[int, bytes], pieces: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clipboard_keeper, "_PIECE_BYTES", 16)
        keeper = Played()
        keeper.copied(offered, pieces=pieces)
        assert keeper.wait(0), "the owner of now is the one whose contents are kept"
        assert sorted(keeper.pasted(TARGETS)) == sorted([TARGETS, *offered])
        assert {kind: keeper.pasted(kind) for kind in offered} == offered
        assert keeper.pasted(OTHER) is None and not keeper._outgoing


def test_what_is_copied_next_takes_the_place_of_what_was_kept() -> None:
    keeper = Played()
    keeper.copied({TEXT: b"first", HTML: b"<b>first</b>"})
    keeper.copied({TEXT: b"second"}, time=9)
    assert keeper.pasted(TEXT) == b"second" and keeper.pasted(HTML) is None


def test_a_late_answer_to_an_earlier_question_is_ignored() -> None:
    keeper = Played()
    keeper.copied({TEXT: b"new"}, time=9)
    keeper._window.change_property(PLACE, TEXT, 8, b"old")
    keeper._handle(SimpleNamespace(type=X.SelectionNotify, time=7, property=PLACE))
    assert keeper.pasted(TEXT) == b"new"


def test_more_than_the_limit_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_keeper, "_MOST_BYTES", 8)
    keeper = Played()
    keeper.copied({TEXT: b"short", HTML: b"too long for it"})
    assert keeper.pasted(TEXT) == b"short" and keeper.pasted(HTML) is None


def test_what_a_new_owner_offers_is_waited_for() -> None:
    keeper = Played()
    keeper.copied({TEXT: b"first"})
    keeper._handle_owner(SimpleNamespace(owner=9, timestamp=9, sub_code=0))
    assert not keeper.wait(0), "the same owner has copied again"


def test_who_ends_is_told_once_all_that_it_copied_is_kept() -> None:
    keeper, ending = Played(), Window(5)
    keeper._handle_owner(SimpleNamespace(owner=9, timestamp=7, sub_code=0))
    asked = {"requestor": ending, "target": OTHER, "property": 50, "selection": MANAGER, "time": 8}
    keeper._handle(SimpleNamespace(type=X.SelectionRequest, **asked))
    assert not ending.told, "nothing was kept yet"
    keeper.copied({TEXT: b"kept"})
    (told,) = ending.told
    assert (told.selection, told.target, told.property) == (MANAGER, OTHER, 50)
    assert keeper.pasted(TEXT) == b"kept"
