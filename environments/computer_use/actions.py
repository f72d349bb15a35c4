"""Actions on a picture of the screen as gestures, and pictures that providers do not shrink again."""

import io
from collections.abc import Sequence
from functools import lru_cache

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Action, Modifier, Point
from taskloom.taskgraph.records.interaction import Screenshot, escape_keys
from taskloom.taskgraph.records.keys import KEY_NAMES

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_LONGEST_EDGE = 1568
_MOST_PIXELS = 1_150_000
"""Anthropic shrinks larger pictures before the model sees them; its coordinates would mean that one."""
_LONGEST_SECONDS = 5.0
_MODIFIERS: dict[str, Modifier] = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "ctrlleft": "ctrl",
    "ctrlright": "ctrl",
    "cmd": "ctrl",
    "command": "ctrl",
    "meta": "ctrl",
    "super": "ctrl",
    "alt": "alt",
    "altleft": "alt",
    "option": "alt",
    "shift": "shift",
    "shiftleft": "shift",
}
_SIGNS: dict[Modifier, str] = {"ctrl": "^", "alt": "%", "shift": "+"}
_KEYS = {
    "return": "enter",
    "kp_enter": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "page_up": "pageup",
    "pgup": "pageup",
    "prior": "pageup",
    "page_down": "pagedown",
    "pgdn": "pagedown",
    "next": "pagedown",
    "spacebar": "space",
    "menu": "contextmenu",
    "apps": "contextmenu",
}
_WRITTEN = {"pageup": "PGUP", "pagedown": "PGDN", "contextmenu": "APPS", "escape": "ESC"}


def gesture_of(action: ComputerAction, scale: float, pointer: Point | None) -> Action | None:
    """The gesture that does `action`; None for looking only.

    `scale` is in pixels of the screen per pixel of the picture that was sent; what names no place is done at
    the `pointer`.

    Raises:
        ActionInvalidError: nothing does it.
    """
    points = tuple((round(x * scale), round(y * scale)) for x, y in action.path)
    point = points[0] if points else pointer
    values: dict[str, object]
    match action.kind:
        case "screenshot" | "zoom":
            return None
        case "click":
            values = {
                "operation": "click_input",
                "button": action.button,
                "double": action.times == 2,
                "triple": action.times == 3,
                "held": tuple(map(_modifier, action.keys)),
                "point": _there(point),
            }
        case "move":
            values = {"operation": "move_input", "point": _there(point)}
        case "drag":
            values = {"operation": "drag_input", "points": points}
        case "scroll":
            right, up = action.wheel
            values = {
                "operation": "wheel_mouse_input",
                "wheel_distance": up,
                "wheel_sideways": right,
                "point": point,
            }
        case "type":
            values = {"operation": "keyboard_input", "keys": escape_keys(action.text)}
        case "press":
            values = {
                "operation": "keyboard_input",
                "keys": chord(action.keys) * min(100, max(1, action.times)),
            }
        case "hold":
            seconds = min(_LONGEST_SECONDS, action.seconds)
            values = {"operation": "hold_input", "keys": chord(action.keys), "seconds": seconds}
        case "wait":
            values = {"operation": "wait", "seconds": min(_LONGEST_SECONDS, action.seconds)}
        case _:
            raise ActionInvalidError(f"The action {action.text!r} is not available here; nothing was done.")
    if action.keys and action.kind in ("drag", "scroll", "move"):
        raise ActionInvalidError(f"Keys cannot be held during {action.kind!r} here; nothing was done.")
    try:
        return _ACTION.validate_python(values)
    except ValidationError:
        raise ActionInvalidError(f"The action {action.kind!r} lacks something; nothing was done.") from None


def chord(keys: tuple[str, ...]) -> str:
    """Keys pressed together in the syntax of `keyboard_input`.

    >>> chord(("CTRL", "shift", "s")), chord(("Page_Down",)), chord(("+",))
    ('^+s', '{PGDN}', '{+}')

    Raises:
        ActionInvalidError: a key is not known, or there is none beside modifiers.
    """
    *others, last = [key.strip() or key for key in keys] or [""]
    held = [_modifier(key) for key in others]
    name = _KEYS.get(last.lower(), last.lower())
    name = name.removeprefix("arrow") if name.startswith("arrow") else name
    if len(last) == 1:
        pressed = escape_keys(last.lower() if held else last)
    elif name in KEY_NAMES:
        pressed = "{" + _WRITTEN.get(name, name.upper()) + "}"
    else:
        raise ActionInvalidError(f"There is no key {last!r} here; nothing was done.")
    return "".join(_SIGNS[key] for key in held) + pressed


def picture_and_scale(screenshot: Screenshot, size: tuple[int, int]) -> tuple[Screenshot, float]:
    """The picture to send, small enough to be shown as it is, and pixels of the screen per pixel of it."""
    scale = max(1.0, max(size) / _LONGEST_EDGE, (size[0] * size[1] / _MOST_PIXELS) ** 0.5)
    if scale == 1.0:
        return screenshot, 1.0
    return resized(screenshot, (round(size[0] / scale), round(size[1] / scale))), scale


def shown_part(screenshot: Screenshot, corners: Sequence[Point]) -> Screenshot:
    """The part of a picture between two corners, enlarged to its width; all of it where that is none."""
    xs, ys = sorted(x for x, _ in corners), sorted(y for _, y in corners)
    picture = Image.open(io.BytesIO(screenshot.png))
    box = (
        (max(0, xs[0]), max(0, ys[0]), min(picture.width, xs[-1]), min(picture.height, ys[-1])) if xs else ()
    )
    if not box or box[2] - box[0] < 2 or box[3] - box[1] < 2:
        return screenshot
    times = min(picture.width / (box[2] - box[0]), picture.height / (box[3] - box[1]))
    size = (round((box[2] - box[0]) * times), round((box[3] - box[1]) * times))
    return _as_screenshot(picture.crop(box).resize(size, Image.Resampling.LANCZOS))


@lru_cache(maxsize=4)
def resized(screenshot: Screenshot, size: tuple[int, int]) -> Screenshot:
    """The picture at another size."""
    picture = Image.open(io.BytesIO(screenshot.png))
    if picture.size == size:
        return screenshot
    return _as_screenshot(picture.resize(size, Image.Resampling.LANCZOS))


def _as_screenshot(picture: Image.Image) -> Screenshot:
    target = io.BytesIO()
    picture.save(target, "PNG")
    return Screenshot.of(target.getvalue())


def _modifier(key: str) -> Modifier:
    found = _MODIFIERS.get(key.lower())
    if found is None:
        raise ActionInvalidError(f"The key {key!r} cannot be held here; nothing was done.")
    return found


def _there(point: Point | None) -> Point:
    if point is None:
        raise ActionInvalidError(
            "The action names no place, and the pointer is nowhere yet; nothing was done."
        )
    return point
