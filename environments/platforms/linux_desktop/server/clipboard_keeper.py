"""Keeps what was copied when the application that owns the clipboard ends, as desktops of people do: all
kinds are asked for at once, and offered when the owner is gone. It says that it is a manager of clipboards:
some applications copy nothing where there is none, and those that end wait until what they copied is kept."""

import threading
import time
from typing import Any

from Xlib import X, Xatom, error
from Xlib.ext import xfixes
from Xlib.protocol import event

from taskloom.environments.platforms.linux_desktop.server.display import connected

Kind = int
"""A kind in which a clipboard can be had, as an atom."""
Content = tuple[Kind, int, Any]
"""Type, bits of one element, and elements of what a property holds."""
_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 128 * 1024
"""Larger contents are handed over in pieces of this size."""
_STEP_SECONDS = 0.01
_NOT_CONTENT = (
    "TARGETS",
    "MULTIPLE",
    "TIMESTAMP",
    "SAVE_TARGETS",
    "DELETE",
    "INSERT_SELECTION",
    "INSERT_PROPERTY",
)


class ClipboardKeeper:
    """One connection to the display with an invisible window of its own."""

    def __init__(self, name: str = ":0") -> None:
        self._display: Any = connected(name)
        self._window = self._display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._window.change_attributes(event_mask=X.PropertyChangeMask)
        self._clipboard, self._place = self._atom("CLIPBOARD"), self._atom("KEPT_CLIPBOARD")
        self._targets, self._pieces = self._atom("TARGETS"), self._atom("INCR")
        self._not_content = {self._atom(name) for name in _NOT_CONTENT}
        self._kept: dict[Kind, Content] = {}
        self._left: list[Kind] = []
        self._since = X.CurrentTime
        self._asked: Kind = X.NONE
        self._coming: list[Content] | None = None
        self._going: dict[tuple[int, int], list[Content]] = {}
        self._owner = self._kept_of = X.NONE
        self._ending: list[Any] = []
        self._idle = threading.Event()
        self._idle.set()
        self._manager = self._atom("CLIPBOARD_MANAGER")
        self._window.set_selection_owner(self._manager, X.CurrentTime)
        self._display.xfixes_query_version()
        self._display.xfixes_select_selection_input(
            self._window,
            self._clipboard,
            xfixes.XFixesSetSelectionOwnerNotifyMask
            | xfixes.XFixesSelectionWindowDestroyNotifyMask
            | xfixes.XFixesSelectionClientCloseNotifyMask,
        )
        self._display.sync()
        threading.Thread(target=self._watch, daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until all that the owner of now offers is kept; whether it is."""
        deadline = time.monotonic() + seconds
        while True:
            # The answer comes behind all that was told before: a change of owner is not missed.
            owner = self._display.get_selection_owner(self._clipboard)
            number = getattr(owner, "id", owner)
            time.sleep(_STEP_SECONDS)
            told = not self._display.pending_events() and self._idle.is_set()
            if told and number in (X.NONE, self._window.id, self._kept_of):
                return True
            if time.monotonic() > deadline:
                return False

    def _atom(self, name: str) -> int:
        return int(self._display.intern_atom(name))

    def _watch(self) -> None:
        while True:
            told = self._display.next_event()
            try:
                self._take_in(told)
                self._display.flush()
            except (error.BadWindow, error.BadDrawable):
                continue  # who asked, or was asked, is gone

    def _take_in(self, told: Any) -> None:
        if isinstance(told, xfixes.SelectionNotify):
            if told.sub_code == xfixes.XFixesSetSelectionOwnerNotify:
                self._owner_changed(told)
            elif self._kept:
                self._window.set_selection_owner(self._clipboard, told.timestamp)
        elif told.type == X.SelectionNotify and told.time == self._since:
            self._answered(told)
        elif told.type == X.SelectionRequest and told.selection == self._manager:
            self._ending.append(told)
            self._rest(kept=self._idle.is_set())
        elif told.type == X.SelectionRequest:
            self._offer(told)
        elif told.type == X.PropertyNotify and told.window == self._window:
            if told.atom == self._place and told.state == X.PropertyNewValue and self._coming is not None:
                self._piece_came()
        elif told.type == X.PropertyNotify and told.state == X.PropertyDelete:
            self._hand_over_piece(told.window, told.atom)

    def _owner_changed(self, told: Any) -> None:
        owner = getattr(told.owner, "id", told.owner)
        if owner in (X.NONE, self._window.id):
            return self._rest()
        self._kept, self._left, self._coming = {}, [], None
        self._owner, self._kept_of = owner, X.NONE
        self._since = told.timestamp
        self._idle.clear()
        self._ask(self._targets)

    def _ask(self, kind: Kind) -> None:
        self._asked = kind
        self._window.convert_selection(self._clipboard, kind, self._place, self._since)

    def _answered(self, told: Any) -> None:
        if told.property == X.NONE:
            return self._ask_next()
        held = self._window.get_full_property(self._place, X.AnyPropertyType)
        if held is not None and held.property_type == self._pieces:
            self._coming = []
        elif held is not None:
            self._keep((held.property_type, held.format, held.value))
        self._window.delete_property(self._place)
        if self._coming is None:
            self._ask_next()

    def _piece_came(self) -> None:
        assert self._coming is not None
        held = self._window.get_full_property(self._place, X.AnyPropertyType)
        self._window.delete_property(self._place)
        if held is not None and len(held.value):
            self._coming.append((held.property_type, held.format, held.value))
            return
        pieces, self._coming = self._coming, None
        if pieces:
            kind, bits, whole = pieces[0]
            for _, _, more in pieces[1:]:
                whole = whole + more
            self._keep((kind, bits, whole))
        self._ask_next()

    def _keep(self, content: Content) -> None:
        if self._asked == self._targets:
            self._left = [kind for kind in dict.fromkeys(content[2]) if kind not in self._not_content]
        elif sum(_size(kept) for kept in self._kept.values()) + _size(content) <= _MOST_BYTES:
            self._kept[self._asked] = content

    def _ask_next(self) -> None:
        if self._left:
            self._ask(self._left.pop(0))
        else:
            self._kept_of = self._owner
            self._rest()

    def _rest(self, *, kept: bool = True) -> None:
        if kept:
            self._idle.set()
            for told in self._ending:
                _tell(told, told.property)
            self._ending.clear()

    def _offer(self, told: Any) -> None:
        place = told.property or told.target
        if told.target == self._targets:
            told.requestor.change_property(place, Xatom.ATOM, 32, [self._targets, *self._kept])
        elif (content := self._kept.get(told.target)) is None:
            place = X.NONE
        elif _size(content) <= _PIECE_BYTES:
            told.requestor.change_property(place, *content)
        else:
            told.requestor.change_attributes(event_mask=X.PropertyChangeMask)
            told.requestor.change_property(place, self._pieces, 32, [_size(content)])
            self._going[told.requestor.id, place] = list(_pieces_of(content))
        _tell(told, place)

    def _hand_over_piece(self, window: Any, place: int) -> None:
        """One piece more; an empty one says that this was all."""
        pieces = self._going.get((window.id, place))
        if pieces is None:
            return
        window.change_property(place, *pieces.pop(0))
        if not pieces:
            del self._going[window.id, place]


def _tell(asked: Any, place: int) -> None:
    about = {"time": asked.time, "requestor": asked.requestor, "selection": asked.selection}
    asked.requestor.send_event(event.SelectionNotify(**about, target=asked.target, property=place))


def _size(content: Content) -> int:
    return len(content[2]) * content[1] // 8


def _pieces_of(content: Content) -> list[Content]:
    kind, bits, whole = content
    step = _PIECE_BYTES * 8 // bits
    cut = [(kind, bits, whole[start : start + step]) for start in range(0, len(whole), step)]
    return [*cut, (kind, bits, whole[:0])]
