"""The display: windows from bottom to top, pictures, and the time since something was drawn."""

import io
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image, ImageGrab
from Xlib import X, error
from Xlib.display import Display
from Xlib.ext import damage
from Xlib.protocol.event import ClientMessage

from taskloom.environments.platforms.linux_desktop.server.trees import Box

_CLIENT_BITS = 0x1FFFFF
_GONE = (error.BadWindow, error.BadDrawable, error.BadMatch)


@dataclass(frozen=True, slots=True)
class Window:
    """A window on the screen."""

    number: int
    """Its X id."""
    box: Box
    """Its place, decorations included."""
    process: int
    """Id of its process; 0 if unknown."""
    title: str = ""
    """Its title."""
    name: str = ""
    """Its class, the name that its program gives to the window manager."""
    popup: bool = False
    """Whether it is not managed by the window manager, like menus and tooltips."""

    def contains(self, x: int, y: int) -> bool:
        """Whether the point lies inside."""
        left, top, width, height = self.box
        return left <= x < left + width and top <= y < top + height


class Screen:
    """One connection to the display; calls are made one at a time."""

    def __init__(self, name: str = ":0") -> None:
        self.name = name
        self.display: Any = connect(name)
        screen = self.display.screen()
        self.root = screen.root
        self.size = (screen.width_in_pixels, screen.height_in_pixels)
        self._last_drawn = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def seconds_still(self) -> float:
        """Seconds since something was last drawn."""
        return time.monotonic() - self._last_drawn

    def note_input(self) -> None:
        """Count an input as if something had been drawn."""
        self._last_drawn = time.monotonic()

    def _watch(self) -> None:
        watcher: Any = connect(self.name)
        watcher.damage_query_version()
        watcher.screen().root.damage_create(damage.DamageReportRawRectangles)
        while True:
            watcher.next_event()
            self._last_drawn = time.monotonic()

    def paint_background(self) -> None:
        """Colour the background with a different colour in each corner, so that rotated pictures differ."""
        down = Image.linear_gradient("L").resize(self.size)
        across = Image.linear_gradient("L").rotate(90).resize(self.size)
        painted = Image.merge(
            "RGB",
            (
                across.point(lambda level: 20 + level // 4),
                down.point(lambda level: 60 + level // 3),
                across.point(lambda level: 130 + level // 3),
            ),
        )
        ground = self.root.create_pixmap(*self.size, self.root.get_geometry().depth)
        ground.put_pil_image(ground.create_gc(), 0, 0, painted)
        self.root.change_attributes(background_pixmap=ground)
        self.root.clear_area(width=self.size[0], height=self.size[1])
        ground.free()
        self.display.sync()

    def png(self, below: bytes = b"") -> bytes:
        """The screen as PNG, compressed for speed, with rows of pixels `below`."""
        width, height = self.size
        whole = ImageGrab.grab(xdisplay=self.name)
        if below:
            added = len(below) // (3 * width)
            seen, whole = whole, Image.new("RGB", (width, height + added))
            whole.paste(seen)
            whole.paste(Image.frombytes("RGB", (width, added), below), (0, height))
        packed = io.BytesIO()
        whole.save(packed, "PNG", compress_level=1)
        return packed.getvalue()

    def property(self, window: Any, name: str) -> Any:
        """A property of a window, or None."""
        found = window.get_full_property(self.display.intern_atom(name), X.AnyPropertyType)
        return None if found is None else found.value

    def windows(self) -> list[Window]:
        """Visible windows, from bottom to top."""
        clients = {}
        for number in self.property(self.root, "_NET_CLIENT_LIST_STACKING") or ():
            with suppress(*_GONE):
                clients[self._frame_of(number)] = number
        found: list[Window] = []
        for place in self.root.query_tree().children:
            with suppress(*_GONE):
                found += self._visible_window(place, clients.get(place.id))
        owners = {window.number & ~_CLIENT_BITS: window.process for window in found if window.process}
        return [
            replace(window, process=window.process or owners.get(window.number & ~_CLIENT_BITS, 0))
            for window in found
        ]

    def active(self, windows: list[Window]) -> Window | None:
        """The window that has the focus."""
        number = self.property(self.root, "_NET_ACTIVE_WINDOW")
        return next((window for window in windows if number and window.number == number[0]), None)

    def activate(self, window: Window) -> None:
        """Put a window in front and give it the focus."""
        self._send_message(window.number, "_NET_ACTIVE_WINDOW", (2, X.CurrentTime, 0, 0, 0))

    def close(self, window: Window) -> None:
        """Ask a window to close, as its title bar does."""
        self._send_message(window.number, "_NET_CLOSE_WINDOW", (X.CurrentTime, 2, 0, 0, 0))

    def _send_message(self, number: int, name: str, values: tuple[int, ...]) -> None:
        window = self.display.create_resource_object("window", number)
        event = ClientMessage(
            window=window, client_type=self.display.intern_atom(name), data=(32, list(values))
        )
        self.root.send_event(event, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self.display.sync()

    def _frame_of(self, number: int) -> int:
        window = self.display.create_resource_object("window", number)
        while True:
            above = window.query_tree().parent
            if above == 0 or above.id == self.root.id:
                return int(window.id)
            window = above

    def _visible_window(self, place: Any, client: int | None) -> list[Window]:
        attributes = place.get_attributes()
        if attributes.map_state != X.IsViewable or attributes.win_class != X.InputOutput:
            return []
        shape = place.get_geometry()
        box = (shape.x, shape.y, shape.width, shape.height)
        outside = shape.x + shape.width <= 0 or shape.y + shape.height <= 0
        if outside or shape.width < 4 or shape.height < 4:
            return []
        if client is None:
            return [Window(place.id, box, 0, popup=True)]
        window = self.display.create_resource_object("window", client)
        title = self.property(window, "_NET_WM_NAME") or self.property(window, "WM_NAME") or b""
        process = self.property(window, "_NET_WM_PID")
        name = window.get_wm_class()
        title = title if isinstance(title, str) else bytes(title).decode(errors="replace")
        return [Window(client, box, int(process[0]) if process else 0, title, name[1] if name else "")]


def connect(name: str) -> Any:
    """Connect to the display `name`, once it exists."""
    for _ in range(500):
        try:
            return Display(name)
        except (error.DisplayConnectionError, OSError):
            time.sleep(0.02)
    return Display(name)
