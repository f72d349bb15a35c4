"""The part of PyAutoGUI that clients of OSWorld's protocol call, carried out by the machine's server.

The names are PyAutoGUI's. Everything happens at once: durations and pauses of movements are ignored.
"""

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

FAILSAFE = False
PAUSE = 0.0
_SOCKET = "/run/machine/server.sock"
_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "apps": "contextmenu",
}
_ALIASES |= {"ctrlleft": "ctrl", "altleft": "alt", "shiftleft": "shift", "winleft": "super", "win": "super"}


def _request(name: str, document: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("machine")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(_SOCKET)
    connection.request("POST", f"/machine/{name}", json.dumps(document))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(content.decode())
    reply: dict[str, Any] = json.loads(content[: int(answer.headers["Document-Length"])])
    return reply


def _make_inputs(*inputs: dict[str, Any]) -> None:
    _request("make", {"inputs": inputs})


def _point(x: Any, y: Any) -> list[int]:
    if isinstance(x, Sequence) and not isinstance(x, str):
        x, y = x
    here = position()
    return [round(here[0] if x is None else x), round(here[1] if y is None else y)]


def position() -> tuple[int, int]:
    """Where the pointer is."""
    x, y = _request("pointer", {})["at"]
    return x, y


def size() -> tuple[int, int]:
    """Width and height of the display."""
    width, height = _request("ready", {})["size"]
    return width, height


def moveTo(x: Any = None, y: Any = None, *_: Any, **__: Any) -> None:
    """Move the pointer."""
    _make_inputs({"kind": "move", "point": _point(x, y)})


def move(xOffset: Any = 0, yOffset: Any = 0, *_: Any, **__: Any) -> None:
    """Move the pointer by a distance."""
    x, y = position()
    moveTo(x + (xOffset or 0), y + (yOffset or 0))


def click(
    x: Any = None, y: Any = None, clicks: int = 1, interval: float = 0.0, button: str = "left", **_: Any
) -> None:
    """Click, once or several times."""
    used = "left" if button == "primary" else button
    _make_inputs({"kind": "click", "point": _point(x, y), "times": clicks, "button": used})


def _click_function(times: int = 1, only: str = "") -> Callable[..., None]:
    """A function that clicks `times` times, with the button `only` if given."""

    def clicks(x: Any = None, y: Any = None, button: str = "left", **_: Any) -> None:
        click(x, y, times, button=only or button)

    return clicks


rightClick, middleClick = _click_function(only="right"), _click_function(only="middle")
doubleClick, tripleClick = _click_function(2), _click_function(3)


def mouseDown(x: Any = None, y: Any = None, button: str = "left", **_: Any) -> None:
    """Press a button of the mouse."""
    _make_inputs({"kind": "button_down", "point": _point(x, y), "button": button})


def mouseUp(x: Any = None, y: Any = None, button: str = "left", **_: Any) -> None:
    """Release a button of the mouse."""
    _make_inputs({"kind": "button_up", "point": _point(x, y), "button": button})


def dragTo(x: Any = None, y: Any = None, duration: float = 0.0, button: str = "left", **_: Any) -> None:
    """Drag from where the pointer is."""
    _make_inputs({"kind": "drag", "points": [list(position()), _point(x, y)]})


def dragRel(xOffset: Any = 0, yOffset: Any = 0, *_: Any, **__: Any) -> None:
    """Drag by a distance."""
    x, y = position()
    dragTo(x + (xOffset or 0), y + (yOffset or 0))


def scroll(clicks: float, x: Any = None, y: Any = None, **_: Any) -> None:
    """Turn the wheel, positive upwards."""
    _make_inputs({"kind": "wheel", "point": _point(x, y), "up": round(clicks)})


def hscroll(clicks: float, x: Any = None, y: Any = None, **_: Any) -> None:
    """Turn the wheel sideways, positive to the right."""
    _make_inputs({"kind": "wheel", "point": _point(x, y), "sideways": round(clicks)})


def write(message: str | Iterable[str], interval: float = 0.0, **_: Any) -> None:
    """Type text, or press keys by their names."""
    keys = list(message) if isinstance(message, str) else [_key(key) for key in message]
    _make_inputs({"kind": "keys", "presses": [[key, []] for key in keys]})


def press(keys: str | Sequence[str], presses: int = 1, interval: float = 0.0, **_: Any) -> None:
    """Press keys by their names."""
    named = [keys] if isinstance(keys, str) else list(keys)
    _make_inputs({"kind": "keys", "presses": [[_key(key), []] for _ in range(presses) for key in named]})


def hotkey(*keys: Any, **_: Any) -> None:
    """Press keys together."""
    named = [_key(key) for key in (keys[0] if len(keys) == 1 and not isinstance(keys[0], str) else keys)]
    _make_inputs(
        *({"kind": "key_down", "key": key} for key in named),
        *({"kind": "key_up", "key": key} for key in reversed(named)),
    )


def keyDown(key: str, **_: Any) -> None:
    """Press a key and keep it down."""
    _make_inputs({"kind": "key_down", "key": _key(key)})


def keyUp(key: str, **_: Any) -> None:
    """Release a key."""
    _make_inputs({"kind": "key_up", "key": _key(key)})


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def _key(name: str) -> str:
    return _ALIASES.get(name.lower(), name.lower() if len(name) > 1 else name)


typewrite = write
moveRel = move
drag = dragRel
