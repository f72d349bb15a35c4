"""One table of what calls mean, over all formats: a name and its arguments become actions, or an end.

Names are compared without case, underscores and hyphens: `left_click`, `LeftClick` and `leftClick` are one.
"""

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
    """How a model says that it has ended, with an answer, a reason or a question to the user."""

    status: Literal["finish", "give_up", "ask_user"]
    words: str = ""


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
        others = {key: value for key, value in call.arguments.items() if key != "action"}
        call = Call(name, others, call.positional)
    return meaning(Arguments(call, place, conventions))


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _click(button: Button = "left", times: int = 1) -> Meaning:
    def read(given: Arguments) -> tuple[ComputerAction, ...]:
        named = given.text(("button",)).lower() if given.any(("button",)) else button
        used: Button = "right" if named == "right" else "middle" if named in ("middle", "wheel") else button
        clicks = min(3, max(1, int(given.named_number(("clicks", "num_clicks"), times))))
        held = key_names(given.any(("hold_keys", "held", "modifiers")))
        return (ComputerAction(kind="click", path=given.here(), button=used, times=clicks, keys=held),)

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
            right = given.named_number(("delta_x", "scroll_x"), 0)
            down = given.named_number(("delta_y", "scroll_y"), 0)
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
    times = int(given.named_number(("presses", "repeat"), 1))
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
    seconds = max(0.0, given.named_number(_SECONDS, 1.0))
    return (ComputerAction(kind="hold", keys=given.keys(), seconds=seconds),)


def _end(usual: Literal["finish", "give_up", "ask_user"]) -> Meaning:
    def read(given: Arguments) -> Ending:
        status = given.text(("status", "goal_status")).lower() if given.any(("status", "goal_status")) else ""
        words = given.text((*TEXTS, "reason", "question"))
        return Ending("give_up" if status in _WRONG else usual, words if words.lower() != status else "")

    return read


_NAMES: dict[str, Meaning] = {
    "click leftclick leftsingle clickat clickdesktop tap": _click(),
    "doubleclick leftdouble leftdoubleclick doubleclickat doubleclickdesktop": _click(times=2),
    "tripleclick tripleclickdesktop": _click(times=3),
    "rightclick rightsingle rightclickdesktop": _click("right"),
    "middleclick middleclickdesktop": _click("middle"),
    "move moveto mousemove hover hoverat hoverdesktop movedesktop": _plainly("move"),
    "drag dragto leftclickdrag leftdrag draganddrop draganddropdesktop": _drag,
    "scroll vscroll scrollat scrolldocument scrolldesktop": _scroll(),
    "hscroll": _scroll(sideways=True),
    "type write typewrite typetext inputtext typetextat writeatdesktop writedesktop": _type,
    "key hotkey keypress keycombination hotkeydesktop presskey": _pressed,
    "press": _pressed_in_turn,
    "keydown": _plainly("key_down"),
    "keyup release": _plainly("key_up"),
    "holdkey": _hold,
    "mousedown leftmousedown": _plainly("button_down"),
    "mouseup leftmouseup": _plainly("button_up"),
    "wait sleep waitdesktop": _wait(1.0),
    "wait5seconds": _wait(5.0),
    "screenshot takescreenshot cursorposition openwebbrowser": _plainly("screenshot"),
    "goback": lambda given: (_press(("alt", "left")),),
    "goforward": lambda given: (_press(("alt", "right")),),
    "finished finish done stop terminate answer status complete": _end("finish"),
    "fail infeasible giveup": _end("give_up"),
    "calluser askuser": _end("ask_user"),
}
MEANINGS = {name: meaning for names, meaning in _NAMES.items() for name in names.split()}
"""What every name means."""


def _notches(amount: float, unit: float) -> int:
    """An amount as notches of the wheel, at least one in its direction."""
    if not amount:
        return 0
    return (1 if amount > 0 else -1) * min(_MOST_NOTCHES, max(1, round(abs(amount) / unit)))
