"""Mouse and keyboard input to a page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from taskloom.environments.keys import parse_keys
from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.taskgraph.records.interaction import (
    Action,
    ClickInput,
    DragInput,
    HoldInput,
    KeyboardInput,
    MoveInput,
    WaitInput,
    WheelMouseInput,
)
from taskloom.taskgraph.records.keys import KeyPress, runs

Point = tuple[float, float]
"""A point of the page, in pixels."""

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


async def perform(tab: Tab, action: Action, point: Point, *, click_first: bool) -> None:
    """Do `action` at `point`; keys go to what has the focus, after a click if `click_first`."""
    mouse = tab.page.mouse
    match action:
        case ClickInput():
            await _click(tab, point, action)
        case MoveInput():
            await tab.doing(mouse.move(*point))
        case WheelMouseInput():
            await tab.doing(mouse.move(*point))
            notches = (action.wheel_sideways * _NOTCH, -action.wheel_distance * _NOTCH)
            await tab.doing(mouse.wheel(*notches))
        case DragInput():
            await _drag(tab, action.points)
        case KeyboardInput():
            if click_first:
                await tab.doing(mouse.click(*point))
            await press_keys(tab, parse_keys(action.keys))
        case HoldInput():
            await _hold(tab, action)
        case WaitInput():
            await tab.doing(asyncio.sleep(action.seconds))


async def _click(tab: Tab, point: Point, action: ClickInput) -> None:
    held = [_DRIVER_KEYS[name] for name in action.held]
    for key in held:
        await tab.doing(tab.page.keyboard.down(key))
    try:
        await tab.doing(tab.page.mouse.click(*point, button=action.button, click_count=action.times))
    finally:
        for key in reversed(held):
            await tab.doing(tab.page.keyboard.up(key))


async def _drag(tab: Tab, points: Sequence[Point]) -> None:
    """Press at the first point, move along the others and release at the last."""
    mouse = tab.page.mouse
    await tab.doing(mouse.move(*points[0]))
    await tab.doing(mouse.down())
    for point in points[1:]:
        await tab.doing(mouse.move(*point, steps=8))
    await tab.doing(mouse.up())


async def _hold(tab: Tab, action: HoldInput) -> None:
    """Press the keys down together, wait, and let them go."""
    presses = parse_keys(action.keys)
    names = [name for press in presses for name in (*press.modifiers, press.key)]
    keys = [_DRIVER_KEYS.get(name, name) for name in dict.fromkeys(names)]
    for key in keys:
        await tab.doing(tab.page.keyboard.down(key))
    try:
        await tab.doing(asyncio.sleep(action.seconds))
    finally:
        for key in reversed(keys):
            await tab.doing(tab.page.keyboard.up(key))


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
