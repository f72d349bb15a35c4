"""Mouse and keyboard input to a page."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from taskloom.environments.aiming import parse_keys
from taskloom.environments.errors import ActionInvalidError
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
from taskloom.taskgraph.records.keys import KEY_NAMES, KeyPress, runs

Point = tuple[float, float]
"""A point of the page, in pixels."""

_DRIVER_KEYS = {
    **{name: name.capitalize() for name in KEY_NAMES},
    **{name: f"Arrow{name.capitalize()}" for name in ("up", "down", "left", "right")},
    **{"space": " ", "pageup": "PageUp", "pagedown": "PageDown", "contextmenu": "ContextMenu"},
    **{"ctrl": "Control", "alt": "Alt", "shift": "Shift"},
}
_MODIFIER_BITS = {"alt": 1, "ctrl": 2, "shift": 8}
_SET_WHOLE = """text => { let e = Object.getOwnPropertyDescriptor(Document.prototype, 'activeElement').get.call(document);
  for (;;) { const inner = e && e.shadowRoot ? e.shadowRoot.activeElement : e && e.contentDocument ? e.contentDocument.activeElement : null;
    if (!inner) break; e = inner; }
  if (!e || e.tagName !== 'INPUT' || e.disabled || e.readOnly) return false;
  const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set, before = e.value;
  set.call(e, text.trim().toLowerCase().replace('t', 'T').replace('w', 'W'));
  if (!e.value || (e.type === 'color' && e.value !== text.trim().toLowerCase())) { set.call(e, before); return false; }
  e.dispatchEvent(new Event('input', {bubbles: true, composed: true})); e.dispatchEvent(new Event('change', {bubbles: true}));
  return true; }"""  # noqa: E501
_NOTCH = 120
_SHORT_TEXT = 400


async def perform(tab: Tab, action: Action, point: Point, *, click_first: bool, form: str = "") -> None:
    """Do `action` at `point`; keys go to what has the focus, after a click if `click_first`.

    Text for a field with parts of the browser's own, such as a date, is its whole value, written in `form`.

    Raises:
        ActionInvalidError: the field takes no such value.
    """
    mouse = tab.page.mouse
    match action:
        case ClickInput():
            async with _held(tab, action.held):
                await tab.doing(mouse.click(*point, button=action.button, click_count=action.times))
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
            await _press_keys(tab, parse_keys(action.keys), form)
        case HoldInput():
            names = [name for press in parse_keys(action.keys) for name in (*press.modifiers, press.key)]
            async with _held(tab, list(dict.fromkeys(names))):
                await tab.doing(asyncio.sleep(action.seconds))
        case WaitInput():
            await tab.doing(asyncio.sleep(action.seconds))


async def _drag(tab: Tab, points: Sequence[Point]) -> None:
    mouse = tab.page.mouse
    await tab.doing(mouse.move(*points[0]))
    await tab.doing(mouse.down())
    for point in points[1:]:
        await tab.doing(mouse.move(*point, steps=8))
    await tab.doing(mouse.up())


@contextlib.asynccontextmanager
async def _held(tab: Tab, names: Sequence[str]) -> AsyncIterator[None]:
    """Keys that are down together for a while; whatever happens, none stays down."""
    keyboard, down = tab.page.keyboard, list[str]()
    held = sum(_MODIFIER_BITS.get(name, 0) for name in names)
    try:
        for name in names:
            down.append(name)
            if _is_on_keyboard(name):
                await tab.doing(keyboard.down(_DRIVER_KEYS.get(name, name)))
            else:
                await tab.send_key("keyDown", name, held)
        yield
    finally:
        for name in reversed(down):
            if _is_on_keyboard(name):
                await tab.doing(keyboard.up(_DRIVER_KEYS.get(name, name)))
            else:
                await tab.send_key("keyUp", name, 0)


def _is_on_keyboard(name: str) -> bool:
    """Whether the driver's keyboard, a plain American one, has the key."""
    return name in _DRIVER_KEYS or (name.isascii() and name.isprintable())


async def _press_keys(tab: Tab, presses: tuple[KeyPress, ...], form: str) -> None:
    keyboard = tab.page.keyboard
    for part in runs(presses):
        if isinstance(part, KeyPress):
            if _is_on_keyboard(part.key):
                names = (*part.modifiers, part.key)
                await tab.doing(keyboard.press("+".join(_DRIVER_KEYS.get(name, name) for name in names)))
            else:
                async with _held(tab, (*part.modifiers, part.key)):
                    pass
        elif form:
            if not await tab.doing(tab.page.evaluate(_SET_WHOLE, part)):
                raise ActionInvalidError(f"The field takes a value written as {form}, not {part!r}.")
        else:
            for start in range(0, len(part), _SHORT_TEXT):
                await tab.doing(keyboard.type(part[start : start + _SHORT_TEXT]))
