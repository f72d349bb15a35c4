"""Mouse and keyboard input to a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from environments.platforms.web_browser.pages.tab import Tab
from taskgraph.records.keys import KeyPress, runs

MouseButton = Literal["left", "right", "middle"]
Point = tuple[float, float]

_DRIVER_KEYS = {
    "enter": "Enter",
    "tab": "Tab",
    "space": " ",
    "escape": "Escape",
    "backspace": "Backspace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "PageUp",
    "pagedown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "contextmenu": "ContextMenu",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
    "ctrl": "Control",
    "alt": "Alt",
    "shift": "Shift",
}
_NOTCH = 120
_SHORT_TEXT = 400


async def click(tab: Tab, point: Point, button: MouseButton, *, double: bool) -> None:
    """Move the mouse to `point` and click there."""
    await tab.doing(tab.page.mouse.click(*point, button=button, click_count=2 if double else 1))


async def turn_wheel(tab: Tab, point: Point, notches: int) -> None:
    """Turn the wheel at `point`, positive upwards."""
    await tab.doing(tab.page.mouse.move(*point))
    await tab.doing(tab.page.mouse.wheel(0, -notches * _NOTCH))


async def drag(tab: Tab, points: Sequence[Point]) -> None:
    """Press at the first point, move along the others and release at the last."""
    mouse = tab.page.mouse
    await tab.doing(mouse.move(*points[0]))
    await tab.doing(mouse.down())
    for point in points[1:]:
        await tab.doing(mouse.move(*point, steps=8))
    await tab.doing(mouse.up())


async def press_keys(tab: Tab, presses: tuple[KeyPress, ...]) -> None:
    """Type text and press keys, in order."""
    keyboard = tab.page.keyboard
    for part in runs(presses):
        if isinstance(part, KeyPress):
            await tab.doing(keyboard.press(driver_chord(part)))
        elif len(part) <= _SHORT_TEXT:
            await tab.doing(keyboard.type(part))
        else:
            for start in range(0, len(part), _SHORT_TEXT):
                await tab.doing(keyboard.type(part[start : start + _SHORT_TEXT]))


def driver_chord(press: KeyPress) -> str:
    """The press as the browser driver writes it, such as `Control+Shift+ArrowLeft`."""
    key = _DRIVER_KEYS.get(press.key, press.key)
    return "+".join([*(_DRIVER_KEYS[name] for name in press.modifiers), key])
