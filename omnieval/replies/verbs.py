"""One table of what calls mean, over all formats: a name and its arguments become actions, or an end.

Names are compared without case, underscores and hyphens: `left_click`, `LeftClick` and `leftClick` are one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.arguments import (
    KEYS,
    MOST_KEYS,
    TEXTS,
    Arguments,
    Conventions,
    Place,
    key_names,
)
from taskloom.omnieval.replies.calls import Call
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Button

_MOST_NOTCHES = 30
_USUAL_NOTCHES = 5
_SECONDS = ("time", "seconds", "duration", "secs")
_WAYS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
_WRONG = {"failure", "fail", "failed", "infeasible", "impossible"}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a model says that it has ended."""

    status: Literal["finish", "give_up", "ask_user"]
    """Done, not possible, or a question to the user."""
    words: str = ""
    """An answer, a reason or the question."""


Meaning = Callable[["Arguments"], "tuple[ComputerAction, ...] | Ending"]


def meaning_of(call: Call, place: Place, conventions: Conventions) -> tuple[ComputerAction, ...] | Ending:
    """The actions of a call in pixels of the screen, or the end that it says.

    >>> call = Call("left_double", {"start_box": "(3,4)"})
    >>> meaning_of(call, lambda place: (int(place[0]), int(place[1])), Conventions())[0].times
    2

    Raises:
        CallUnusableError: there is no such action, or it lacks what it needs.
    """
    within = call.arguments.get("action")
    name = within if isinstance(within, str) else call.name
    meaning = MEANINGS.get(_plain(name))
    if meaning is None:
        raise CallUnusableError(f"There is no action {name[:60]!r}.")
    if isinstance(within, str):
        call = Call(
            name, {key: value for key, value in call.arguments.items() if key != "action"}, call.positional
        )
    return meaning(Arguments(call, place, conventions))


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _click(button: Button = "left", times: int = 1) -> Meaning:
    def read(given: Arguments) -> tuple[ComputerAction, ...]:
        named = given.text(("button",)).lower() if given.any(("button",)) else button
        used: Button = "right" if named == "right" else "middle" if named in ("middle", "wheel") else button
        clicks = (
            int(given.number(("clicks", "num_clicks"), times))
            if given.any(("clicks", "num_clicks"))
            else times
        )
        held = key_names(given.any(("hold_keys", "held", "modifiers")))
        return (
            ComputerAction(
                kind="click", path=given.here(), button=used, times=min(3, max(1, clicks)), keys=held
            ),
        )

    return read


def _drag(given: Arguments) -> tuple[ComputerAction, ...]:
    here, there = given.here(), given.there()
    if here and there:
        return (ComputerAction(kind="drag", path=(*here, *there)),)
    if not (end := there or here):
        raise CallUnusableError(f"{given} names no place to drag to.")
    # One place alone is where it ends; it begins where the pointer is.
    return (
        ComputerAction(kind="button_down"),
        ComputerAction(kind="move", path=end),
        ComputerAction(kind="button_up"),
    )


def _scroll(sideways: bool = False) -> Meaning:
    def read(given: Arguments) -> tuple[ComputerAction, ...]:
        unit = given.conventions.notch
        way = _WAYS.get(given.text(("direction", "scroll_direction")).lower())
        amounts = ("pixels", "amount", "scroll_amount", "magnitude", "step", "clicks", "distance")
        amount = given.number(amounts, 0.0)
        if way is not None:
            notches = abs(_notches(amount, unit)) or _USUAL_NOTCHES
            wheel = (way[0] * notches, way[1] * notches)
        else:
            wheel = (_notches(amount, unit), 0) if sideways else (0, _notches(amount, unit))
            right = given.number(("delta_x", "scroll_x"), 0) if given.any(("delta_x", "scroll_x")) else 0
            down = given.number(("delta_y", "scroll_y"), 0) if given.any(("delta_y", "scroll_y")) else 0
            if right or down:
                wheel = (_notches(right, unit), -_notches(down, unit))
        if wheel == (0, 0):
            raise CallUnusableError(f"{given} says neither how far nor which way.")
        return (ComputerAction(kind="scroll", path=given.here() if given.has_place else (), wheel=wheel),)

    return read


def _type(given: Arguments) -> tuple[ComputerAction, ...]:
    text = given.text()
    if not text:
        raise CallUnusableError(f"{given} names no text.")
    done = [ComputerAction(kind="click", path=given.here())] if given.has_place else []
    if given.is_set("clear_before_typing", "clear", "override", "overwrite"):
        done += [_press(("ctrl", "a")), _press(("delete",))]
    done.append(ComputerAction(kind="type", text=text))
    if given.is_set("press_enter", "enter", "submit"):
        done.append(_press(("enter",)))
    return tuple(done)


def _press(keys: tuple[str, ...], times: int = 1) -> ComputerAction:
    return ComputerAction(kind="press", keys=keys, times=times)


def _pressed(given: Arguments) -> tuple[ComputerAction, ...]:
    times = int(given.number(("presses", "repeat"), 1)) if given.any(("presses", "repeat")) else 1
    return (_press(given.keys(), min(100, max(1, times))),)


def _pressed_in_turn(given: Arguments) -> tuple[ComputerAction, ...]:
    """Several keys of PyAutoGUI's `press` are pressed one after the other."""
    if given.conventions.press_holds:
        return (ComputerAction(kind="key_down", keys=given.keys()),)
    value = given.any(KEYS, given.call.positional[0] if given.call.positional else None)
    if isinstance(value, list):
        return tuple(_press(key_names(item)) for item in value[:MOST_KEYS] if key_names(item))
    return _pressed(given)


def _plainly(
    kind: Literal["move", "button_down", "button_up", "key_down", "key_up", "screenshot"],
) -> Meaning:
    def read(given: Arguments) -> tuple[ComputerAction, ...]:
        keyed = kind in ("key_down", "key_up")
        here = given.here() if kind in ("move", "button_down", "button_up") else ()
        if kind == "move" and not here:
            raise CallUnusableError(f"{given} names no place.")
        return (ComputerAction(kind=kind, path=here, keys=given.keys() if keyed else ()),)

    return read


def _wait(usual: float) -> Meaning:
    def read(given: Arguments) -> tuple[ComputerAction, ...]:
        return (ComputerAction(kind="wait", seconds=max(0.0, given.number(_SECONDS, usual))),)

    return read


def _hold(given: Arguments) -> tuple[ComputerAction, ...]:
    seconds = max(0.0, given.number(_SECONDS, 1.0)) if given.any(_SECONDS) else 1.0
    return (ComputerAction(kind="hold", keys=given.keys(), seconds=seconds),)


def _end(usual: Literal["finish", "give_up", "ask_user"]) -> Meaning:
    def read(given: Arguments) -> Ending:
        status = given.text(("status", "goal_status")).lower() if given.any(("status", "goal_status")) else ""
        words = given.text((*TEXTS, "reason", "question"))
        return Ending("give_up" if status in _WRONG else usual, words if words.lower() != status else "")

    return read


def _away(*keys: str) -> Meaning:
    return lambda given: (_press(keys),)


MEANINGS: dict[str, Meaning] = {
    **dict.fromkeys(("click", "leftclick", "leftsingle", "clickat", "clickdesktop", "tap"), _click()),
    **dict.fromkeys(
        ("doubleclick", "leftdouble", "leftdoubleclick", "doubleclickat", "doubleclickdesktop"),
        _click(times=2),
    ),
    **dict.fromkeys(("tripleclick", "tripleclickdesktop"), _click(times=3)),
    **dict.fromkeys(("rightclick", "rightsingle", "rightclickdesktop"), _click("right")),
    **dict.fromkeys(("middleclick", "middleclickdesktop"), _click("middle")),
    **dict.fromkeys(
        ("move", "moveto", "mousemove", "hover", "hoverat", "hoverdesktop", "movedesktop"), _plainly("move")
    ),
    **dict.fromkeys(
        ("drag", "dragto", "leftclickdrag", "leftdrag", "draganddrop", "draganddropdesktop"), _drag
    ),
    **dict.fromkeys(("scroll", "vscroll", "scrollat", "scrolldocument", "scrolldesktop"), _scroll()),
    "hscroll": _scroll(sideways=True),
    **dict.fromkeys(
        (
            "type",
            "write",
            "typewrite",
            "typetext",
            "inputtext",
            "typetextat",
            "writeatdesktop",
            "writedesktop",
        ),
        _type,
    ),
    **dict.fromkeys(("key", "hotkey", "keypress", "keycombination", "hotkeydesktop", "presskey"), _pressed),
    "press": _pressed_in_turn,
    **dict.fromkeys(("keydown",), _plainly("key_down")),
    **dict.fromkeys(("keyup", "release"), _plainly("key_up")),
    "holdkey": _hold,
    **dict.fromkeys(("mousedown", "leftmousedown"), _plainly("button_down")),
    **dict.fromkeys(("mouseup", "leftmouseup"), _plainly("button_up")),
    **dict.fromkeys(("wait", "sleep", "waitdesktop"), _wait(1.0)),
    "wait5seconds": _wait(5.0),
    **dict.fromkeys(
        ("screenshot", "takescreenshot", "cursorposition", "openwebbrowser"), _plainly("screenshot")
    ),
    **dict.fromkeys(("goback",), _away("alt", "left")),
    **dict.fromkeys(("goforward",), _away("alt", "right")),
    **dict.fromkeys(
        ("finished", "finish", "done", "stop", "terminate", "answer", "status", "complete"), _end("finish")
    ),
    **dict.fromkeys(("fail", "infeasible", "giveup"), _end("give_up")),
    **dict.fromkeys(("calluser", "askuser"), _end("ask_user")),
}
"""What every name means."""


def _notches(amount: float, unit: float) -> int:
    """An amount as notches of the wheel, at least one in its direction."""
    if not amount:
        return 0
    return (1 if amount > 0 else -1) * min(_MOST_NOTCHES, max(1, round(abs(amount) / unit)))
