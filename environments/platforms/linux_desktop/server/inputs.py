"""Pointer and keyboard input by XTEST, with characters of any script."""

import time
from collections.abc import Sequence
from typing import Any

from Xlib import XK, X
from Xlib.ext import xtest

from taskloom.environments.platforms.linux_desktop.server.display import Screen

Point = tuple[int, int]
_BUTTONS = {"left": 1, "middle": 2, "right": 3}
_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7
_MODIFIERS = {"ctrl": XK.XK_Control_L, "alt": XK.XK_Alt_L, "shift": XK.XK_Shift_L, "super": XK.XK_Super_L}
_KEY_NAMES = {
    "enter": "Return",
    "tab": "Tab",
    "escape": "Escape",
    "backspace": "BackSpace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "Page_Up",
    "pagedown": "Page_Down",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "space": "space",
    "contextmenu": "Menu",
    "super": "Super_L",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}
_DOUBLE_CLICK_SECONDS = 0.35
"""Minimum time between separate clicks; the machine's double-click time is 0.3 s."""
_MAPPING_SECONDS = 0.06
"""How long programs take to notice a new key."""
_KEYS_PER_PAUSE = 40
"""Keys after which typing pauses to let programs catch up."""


class Inputs:
    """Makes inputs on one display."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._display: Any = screen.display
        self._last_click: tuple[float, Point] = (0.0, (-1, -1))
        first = self._display.display.info.min_keycode
        rows = self._display.get_keyboard_mapping(first, self._display.display.info.max_keycode - first + 1)
        self._keys: dict[int, tuple[int, int]] = {}
        self._spare = [first + place for place, row in enumerate(rows) if not any(row)]
        for place, row in enumerate(rows):
            for level, keysym in enumerate(list(row)[:2]):
                if keysym:
                    self._keys.setdefault(keysym, (first + place, level))

    def position(self) -> Point:
        """Where the pointer is."""
        pointer = self._screen.root.query_pointer()
        return (pointer.root_x, pointer.root_y)

    def button(self, point: Point, button: str, *, down: bool) -> None:
        """Press or release a button of the mouse."""
        self.move(point)
        xtest.fake_input(self._display, X.ButtonPress if down else X.ButtonRelease, _BUTTONS[button])
        self._display.sync()

    def key(self, name: str, *, down: bool) -> None:
        """Press or release a key."""
        code, _ = self._keycode(_MODIFIERS.get(name) or _keysym(name))
        (self._press if down else self._release)([code])
        self._display.sync()

    def move(self, point: Point) -> None:
        """Move the pointer."""
        xtest.fake_input(self._display, X.MotionNotify, x=point[0], y=point[1])
        self._display.sync()

    def click(self, point: Point, button: str, times: int, held: Sequence[str] = ()) -> None:
        """Click once or several times with keys held, separately from the last click at this point."""
        at, where = self._last_click
        wait = _DOUBLE_CLICK_SECONDS - (time.monotonic() - at)
        if where == point and wait > 0:
            time.sleep(wait)
        self.move(point)
        codes = [self._keycode(_MODIFIERS[key])[0] for key in held]
        self._press(codes)
        for _ in range(times):
            self._button(_BUTTONS[button])
        self._release(codes)
        self._last_click = (time.monotonic(), point)

    def wheel(self, point: Point, up: int, sideways: int) -> None:
        """Turn the wheel."""
        self.move(point)
        for distance, buttons in ((up, (_UP, _DOWN)), (sideways, (_RIGHT, _LEFT))):
            for _ in range(abs(distance)):
                self._button(buttons[0] if distance > 0 else buttons[1])

    def drag(self, points: Sequence[Point]) -> None:
        """Press at the first point, move along the others, release at the last."""
        here = points[0]
        self.button(here, "left", down=True)
        for point in points[1:]:
            parts = max(2, min(20, (abs(point[0] - here[0]) + abs(point[1] - here[1])) // 15))
            for part in range(1, parts + 1):
                x, y = (round(a + (b - a) * (part / parts)) for a, b in zip(here, point, strict=True))
                self.move((x, y))
                time.sleep(0.012)
            here = point
        time.sleep(0.05)
        xtest.fake_input(self._display, X.ButtonRelease, 1)
        self._display.sync()

    def keys(self, presses: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Press keys, given as names or as characters of any script, each with its modifiers held."""
        keysyms = [_keysym(key) for key, _ in presses]
        for count, (keysym, (_, held)) in enumerate(zip(keysyms, presses, strict=True), 1):
            if keysym not in self._keys:
                self._display.sync()
                time.sleep(_MAPPING_SECONDS)  # programs must look up earlier keys before the mapping changes
                coming = dict.fromkeys(other for other in keysyms[count - 1 :] if other not in self._keys)
                self._map_to_spare_keys(list(coming)[: len(self._spare)])
            code, level = self._keys[keysym]
            codes = [self._keycode(_MODIFIERS[key])[0] for key in held]
            shift = self._keycode(_MODIFIERS["shift"])[0]
            codes += [shift] if level and shift not in codes else []
            self._press([*codes, code])
            self._release([*codes, code])
            if count % _KEYS_PER_PAUSE == 0:
                self._display.sync()
                time.sleep(0.02)
        self._display.sync()

    def hold(self, presses: Sequence[tuple[str, Sequence[str]]], seconds: float) -> None:
        """Hold keys down for a while."""
        codes: list[int] = []
        for key, held in presses:
            codes += [self._keycode(_MODIFIERS[name])[0] for name in held]
            codes.append(self._keycode(_keysym(key))[0])
        self._press(codes)
        self._display.sync()
        time.sleep(seconds)
        self._release(codes)

    def _button(self, number: int) -> None:
        xtest.fake_input(self._display, X.ButtonPress, number)
        xtest.fake_input(self._display, X.ButtonRelease, number)
        self._display.sync()

    def _press(self, codes: Sequence[int]) -> None:
        for code in codes:
            xtest.fake_input(self._display, X.KeyPress, code)

    def _release(self, codes: Sequence[int]) -> None:
        for code in reversed(codes):
            xtest.fake_input(self._display, X.KeyRelease, code)
        self._display.sync()

    def _keycode(self, keysym: int) -> tuple[int, int]:
        if keysym not in self._keys:
            self._map_to_spare_keys([keysym])
        return self._keys[keysym]

    def _map_to_spare_keys(self, keysyms: Sequence[int]) -> None:
        """Map characters that the keyboard lacks to spare keys; the oldest of these are reused."""
        for keysym in keysyms:
            code = self._spare.pop(0)
            self._spare.append(code)
            self._keys = {known: place for known, place in self._keys.items() if place[0] != code}
            self._display.change_keyboard_mapping(code, [(keysym, keysym)])
            self._keys[keysym] = (code, 0)
        self._display.sync()
        time.sleep(_MAPPING_SECONDS)


def _keysym(key: str) -> int:
    if len(key) == 1:
        number = ord(key)
        if key == "\n":
            return int(XK.XK_Return)
        if key == "\t":
            return int(XK.XK_Tab)
        return number if 0x20 <= number < 0x7F or 0xA0 <= number < 0x100 else 0x1000000 | number
    return int(XK.string_to_keysym(_KEY_NAMES.get(key.lower(), key)))
