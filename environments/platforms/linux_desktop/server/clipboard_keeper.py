"""Keeps the clipboard when the application that owns it ends, as desktops do: it requests the content in all
formats at once, and offers it when the owner is gone. It registers as a clipboard manager, because some
applications copy nothing without one, and wait before they end until their clipboard is kept."""

import threading
import time
from typing import Any

from Xlib import X, Xatom, error
from Xlib.ext import xfixes
from Xlib.protocol.event import SelectionNotify

from taskloom.environments.platforms.linux_desktop.server.display import connect

Kind = int
"""A format of the clipboard, as an atom."""
Content = tuple[Kind, int, Any]
"""Type, bits per element, and elements of a property."""
_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 128 * 1024
"""Larger contents are sent in pieces of this size."""
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
        self._display: Any = connect(name)
        self._window = self._display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self._window.change_attributes(event_mask=X.PropertyChangeMask)
        self._clipboard, self._property = self._atom("CLIPBOARD"), self._atom("KEPT_CLIPBOARD")
        self._targets, self._incr = self._atom("TARGETS"), self._atom("INCR")
        self._not_content = {self._atom(name) for name in _NOT_CONTENT}
        self._contents: dict[Kind, Content] = {}
        self._pending: list[Kind] = []
        self._owned_since = X.CurrentTime
        self._requested: Kind = X.NONE
        self._incoming: list[Content] | None = None
        self._outgoing: dict[tuple[int, int], list[Content]] = {}
        self._owner = self._kept_owner = X.NONE
        self._save_requests: list[Any] = []
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
        """Wait until all that the current owner offers is kept; return whether it is."""
        deadline = time.monotonic() + seconds
        while True:
            # The answer comes after all earlier events, so no change of owner is missed.
            owner = self._display.get_selection_owner(self._clipboard)
            number = getattr(owner, "id", owner)
            time.sleep(_STEP_SECONDS)
            idle = not self._display.pending_events() and self._idle.is_set()
            if idle and number in (X.NONE, self._window.id, self._kept_owner):
                return True
            if time.monotonic() > deadline:
                return False

    def _atom(self, name: str) -> int:
        return int(self._display.intern_atom(name))

    def _watch(self) -> None:
        while True:
            event = self._display.next_event()
            try:
                self._handle(event)
                self._display.flush()
            except (error.BadWindow, error.BadDrawable):
                continue  # the other window is gone

    def _handle(self, event: Any) -> None:
        if isinstance(event, xfixes.SelectionNotify):
            if event.sub_code == xfixes.XFixesSetSelectionOwnerNotify:
                self._handle_owner(event)
            elif self._contents:
                self._window.set_selection_owner(self._clipboard, event.timestamp)
        elif event.type == X.SelectionNotify and event.time == self._owned_since:
            self._receive(event)
        elif event.type == X.SelectionRequest and event.selection == self._manager:
            self._save_requests.append(event)
            self._finish(kept=self._idle.is_set())
        elif event.type == X.SelectionRequest:
            self._serve(event)
        elif event.type == X.PropertyNotify and event.window == self._window:
            is_new = event.atom == self._property and event.state == X.PropertyNewValue
            if is_new and self._incoming is not None:
                self._receive_piece()
        elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
            self._send_piece(event.window, event.atom)

    def _handle_owner(self, event: Any) -> None:
        owner = getattr(event.owner, "id", event.owner)
        if owner in (X.NONE, self._window.id):
            return self._finish()
        self._contents, self._pending, self._incoming = {}, [], None
        self._owner, self._kept_owner = owner, X.NONE
        self._owned_since = event.timestamp
        self._idle.clear()
        self._request(self._targets)

    def _request(self, kind: Kind) -> None:
        self._requested = kind
        self._window.convert_selection(self._clipboard, kind, self._property, self._owned_since)

    def _receive(self, event: Any) -> None:
        if event.property == X.NONE:
            return self._request_next()
        held = self._window.get_full_property(self._property, X.AnyPropertyType)
        if held is not None and held.property_type == self._incr:
            self._incoming = []
        elif held is not None:
            self._store((held.property_type, held.format, held.value))
        self._window.delete_property(self._property)
        if self._incoming is None:
            self._request_next()

    def _receive_piece(self) -> None:
        assert self._incoming is not None
        held = self._window.get_full_property(self._property, X.AnyPropertyType)
        self._window.delete_property(self._property)
        if held is not None and len(held.value):
            self._incoming.append((held.property_type, held.format, held.value))
            return
        pieces, self._incoming = self._incoming, None
        if pieces:
            kind, bits, whole = pieces[0]
            for _, _, more in pieces[1:]:
                whole = whole + more
            self._store((kind, bits, whole))
        self._request_next()

    def _store(self, content: Content) -> None:
        if self._requested == self._targets:
            self._pending = [kind for kind in dict.fromkeys(content[2]) if kind not in self._not_content]
        elif sum(_size(kept) for kept in self._contents.values()) + _size(content) <= _MOST_BYTES:
            self._contents[self._requested] = content

    def _request_next(self) -> None:
        if self._pending:
            self._request(self._pending.pop(0))
        else:
            self._kept_owner = self._owner
            self._finish()

    def _finish(self, *, kept: bool = True) -> None:
        if kept:
            self._idle.set()
            for request in self._save_requests:
                _notify(request, request.property)
            self._save_requests.clear()

    def _serve(self, request: Any) -> None:
        place = request.property or request.target
        if request.target == self._targets:
            request.requestor.change_property(place, Xatom.ATOM, 32, [self._targets, *self._contents])
        elif (content := self._contents.get(request.target)) is None:
            place = X.NONE
        elif _size(content) <= _PIECE_BYTES:
            request.requestor.change_property(place, *content)
        else:
            request.requestor.change_attributes(event_mask=X.PropertyChangeMask)
            request.requestor.change_property(place, self._incr, 32, [_size(content)])
            self._outgoing[request.requestor.id, place] = list(_pieces_of(content))
        _notify(request, place)

    def _send_piece(self, window: Any, place: int) -> None:
        """Send the next piece; an empty one marks the end."""
        pieces = self._outgoing.get((window.id, place))
        if pieces is None:
            return
        window.change_property(place, *pieces.pop(0))
        if not pieces:
            del self._outgoing[window.id, place]


def _notify(request: Any, place: int) -> None:
    fields = {"time": request.time, "requestor": request.requestor, "selection": request.selection}
    request.requestor.send_event(SelectionNotify(**fields, target=request.target, property=place))


def _size(content: Content) -> int:
    return len(content[2]) * content[1] // 8


def _pieces_of(content: Content) -> list[Content]:
    kind, bits, whole = content
    step = _PIECE_BYTES * 8 // bits
    cut = [(kind, bits, whole[start : start + step]) for start in range(0, len(whole), step)]
    return [*cut, (kind, bits, whole[:0])]
