"""The meanings of calls in all formats. Arguments are accepted under many names: a position is a list, a
text with numbers, or x and y; a box stands for its centre. One table maps names of calls to actions or ends.
Names are compared without case, underscores and hyphens: `left_click`, `LeftClick` and `leftClick` are equal.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import JsonValue

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.calls import Call
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Button, Point

Place = Callable[[tuple[float, float]], Point]
"""Converts a position in the model's grid to a pixel of the screen."""
_TEXTS = ("text", "content", "value", "message", "answer", "string")
"""Names of arguments that are texts."""
_KEYS = ("keys", "key", "key_comb", "hotkey", "text")
"""Names of arguments that are keys."""
_MAXIMUM_KEYS = 20
"""Number of keys of one call that are read."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LIMIT = 1e6
_STARTS = ("start_box", "start_point", "start_coordinate", "start_coordinates", "start")
_PLACES = (*_STARTS, "coordinate", "coordinates", "point", "position", "box", "box_2d")
_ENDS = ("end_box", "end_point", "end_coordinate", "coordinate2", "end", "to", "destination")
_PAIRS = (("x", "y"), ("x1", "y1"), ("start_x", "start_y"))
_END_PAIRS = (("destination_x", "destination_y"), ("end_x", "end_y"), ("x2", "y2"))
_MAXIMUM_NOTCHES = 30
_DEFAULT_NOTCHES = 5
_BUTTONS: dict[str, Button] = {"right": "right", "middle": "middle", "wheel": "middle"}
_AMOUNTS = ("pixels", "amount", "scroll_amount", "magnitude", "step", "clicks", "distance")
_SECONDS = ("time", "seconds", "duration", "secs")
_DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
_FAILURE_WORDS = {"failure", "fail", "failed", "infeasible", "impossible"}


class Conventions(Record):
    """Meanings that differ between formats."""

    notch: float = 1.0
    """Units of an amount per notch of the wheel."""
    press_holds: bool = False
    """Whether `press` holds a key until `release`."""


DEFAULT_CONVENTIONS = Conventions()
"""The conventions of most formats."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """A call, with accessors for its arguments."""

    call: Call
    place: Place
    conventions: Conventions

    def any(self, names: Sequence[str], default: JsonValue = None) -> JsonValue:
        """The first argument present under these names."""
        arguments = self.call.arguments
        return next((arguments[name] for name in names if arguments.get(name) is not None), default)

    def text(self, names: Sequence[str] = _TEXTS) -> str:
        """The text under one of these names, otherwise the first positional one."""
        value = self.any(names)
        if value is None:
            value = next((item for item in self.call.positional if isinstance(item, str)), "")
        return writable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

    def number(self, names: Sequence[str], default: float) -> float:
        """The number under one of these names, otherwise the first positional argument."""
        value = self.any(names)
        if value is None and self.call.positional and not isinstance(self.call.positional[0], str):
            value = self.call.positional[0]
        return next(iter(numbers(value)), default)

    def named_number(self, names: Sequence[str], default: float) -> float:
        """A number other than 0 under one of these names; never a positional one."""
        return self.number(names, default) if self.any(names) else default

    def start(self) -> tuple[Point, ...]:
        """The position in the call, or none."""
        return self._point(self.any(_PLACES), _PAIRS, self.call.positional[:2])

    def end(self) -> tuple[Point, ...]:
        """The end of a drag, or none."""
        has_start = self.any(_STARTS) is not None
        return self._point(
            self.any((*_ENDS, *(_PLACES[len(_STARTS) :] if has_start else ()))), _END_PAIRS, ()
        )

    @property
    def has_place(self) -> bool:
        """Whether a named argument gives a position."""
        return self.any((*_PLACES, *(x for x, _ in _PAIRS))) is not None

    def is_set(self, *names: str) -> bool:
        """Whether a boolean argument of one of these names is true."""
        return str(self.any(names)).lower() == "true"

    def _point(
        self, value: JsonValue, pairs: Sequence[tuple[str, str]], positional: Sequence[JsonValue]
    ) -> tuple[Point, ...]:
        arguments, coordinates = self.call.arguments, numbers(value)
        for x, y in pairs:
            if not coordinates and arguments.get(x) is not None:
                value, coordinates = arguments[x], numbers(arguments[x]) + numbers(arguments.get(y))
        if not coordinates and len(positional) == 2 and not any(isinstance(item, str) for item in positional):
            coordinates = numbers(list(positional))
        if len(coordinates) >= 4:
            left, top, right, bottom = coordinates[:4]
            coordinates = [(left + right) / 2, (top + bottom) / 2]
        if len(coordinates) == 1 or (not coordinates and value is not None):
            raise CallUnusableError(f"{self} names no place; a place has two numbers.")
        return (self.place((coordinates[0], coordinates[1])),) if coordinates else ()

    def keys(self) -> tuple[str, ...]:
        """The keys of a chord; a `CallUnusableError` if it names none."""
        value = self.any(_KEYS)
        if value is None:
            value = list(self.call.positional)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        names = tuple(map(writable, _key_names(value)))
        if not names:
            raise CallUnusableError(f"{self} names no key.")
        return names

    def __str__(self) -> str:
        named = (f"{key}={value!r}" for key, value in self.call.arguments.items())
        text = f"{self.call.name}({', '.join([*map(repr, self.call.positional), *named])})"
        return text if len(text) <= 120 else text[:120] + "…"


def writable(text: str) -> str:
    r"""The text with question marks for what UTF-8 cannot encode, such as lone surrogates.

    >>> writable("a\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()


def numbers(value: JsonValue) -> list[float]:
    """The numbers in a value; those of a text in the order in which they are written.

    >>> numbers("<point>12 34.5</point>"), numbers([[1, 2, 3, 4]]), numbers(None)
    ([12.0, 34.5], [1.0, 2.0, 3.0, 4.0], [])
    """
    values: list[float] = []
    if isinstance(value, bool) or value is None:
        return values
    if isinstance(value, (int, float)):
        values = [value] if abs(value) <= _LIMIT and math.isfinite(value) else []
    elif isinstance(value, str):
        values = [number for item in _NUMBER.findall(value[:200]) if abs(number := float(item)) <= _LIMIT]
    elif isinstance(value, list):
        for item in value[:8]:
            values += numbers(item)
    else:
        for key in ("x", "y"):
            values += numbers(value.get(key))
    return [float(number) for number in values]


def _key_names(value: JsonValue) -> tuple[str, ...]:
    """The keys of one chord.

    >>> _key_names("ctrl c"), _key_names("Control+Shift+A"), _key_names("+"), _key_names('["ctrl", "v"]')
    (('ctrl', 'c'), ('Control', 'Shift', 'A'), ('+',), ('ctrl', 'v'))
    """
    if isinstance(value, list):
        return tuple(str(item).strip() or str(item) for item in value[:_MAXIMUM_KEYS] if str(item))
    if not isinstance(value, str) or not value:
        return ()
    if value.startswith("[") and value.endswith("]") and len(value) > 2:
        return tuple(part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip())
    if len(value.strip()) <= 1:
        return (value.strip() or " ",)
    parts = re.split(r"[\s+]+", value.strip())[:_MAXIMUM_KEYS]
    keys = [part for part in parts if part]
    return tuple([*keys, "+"] if value.rstrip().endswith("+") else keys)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end that a model declares, with an answer, a reason or a question to the user."""

    status: Literal["finish", "give_up", "ask_user"]
    words: str = ""


_Meaning = Callable[[Arguments], tuple[ComputerAction, ...] | Ending]


def meaning_of(call: Call, place: Place, conventions: Conventions) -> tuple[ComputerAction, ...] | Ending:
    """The actions of a call in pixels of the screen, or the end that it declares.

    >>> call = Call("left_double", {"start_box": "(3,4)"})
    >>> meaning_of(call, lambda place: (int(place[0]), int(place[1])), Conventions())[0].times
    2

    Raises:
        CallUnusableError: there is no such action, or it lacks an argument.
    """
    action = call.arguments.get("action")
    name = action if isinstance(action, str) else call.name
    meaning = _MEANINGS.get(re.sub("[_ -]", "", name).lower())
    if meaning is None:
        raise CallUnusableError(f"There is no action {name[:60]!r}.")
    if isinstance(action, str):
        others = {key: value for key, value in call.arguments.items() if key != "action"}
        call = Call(name, others, call.positional)
    return meaning(Arguments(call, place, conventions))


def _click(arguments: Arguments, button: Button = "left", times: int = 1) -> tuple[ComputerAction, ...]:
    named = arguments.text(("button",)).lower() if arguments.any(("button",)) else ""
    button = _BUTTONS.get(named, button)
    clicks = min(3, max(1, int(arguments.named_number(("clicks", "num_clicks"), times))))
    held = _key_names(arguments.any(("hold_keys", "held", "modifiers")))
    return (ComputerAction(kind="click", path=arguments.start(), button=button, times=clicks, keys=held),)


def _drag(arguments: Arguments) -> tuple[ComputerAction, ...]:
    start, end = arguments.start(), arguments.end()
    if start and end:
        return (ComputerAction(kind="drag", path=(*start, *end)),)
    if not (start or end):
        raise CallUnusableError(f"{arguments} names no place to drag to.")
    # A single position is the end; the drag begins at the pointer.
    return (
        ComputerAction(kind="button_down"),
        ComputerAction(kind="move", path=end or start),
        ComputerAction(kind="button_up"),
    )


def _scroll(arguments: Arguments, *, sideways: bool = False) -> tuple[ComputerAction, ...]:
    unit = arguments.conventions.notch
    direction = _DIRECTIONS.get(arguments.text(("direction", "scroll_direction")).lower())
    notches = _notches(arguments.number(_AMOUNTS, 0.0), unit)
    if direction is not None:
        notches = abs(notches) or _DEFAULT_NOTCHES
        wheel = (direction[0] * notches, direction[1] * notches)
    else:
        wheel = (notches, 0) if sideways else (0, notches)
        right = arguments.named_number(("delta_x", "scroll_x"), 0)
        down = arguments.named_number(("delta_y", "scroll_y"), 0)
        if right or down:
            wheel = (_notches(right, unit), -_notches(down, unit))
    if wheel == (0, 0):
        raise CallUnusableError(f"{arguments} says neither how far nor which way.")
    return (
        ComputerAction(kind="scroll", path=arguments.start() if arguments.has_place else (), wheel=wheel),
    )


def _type(arguments: Arguments) -> tuple[ComputerAction, ...]:
    text = arguments.text()
    if not text:
        raise CallUnusableError(f"{arguments} names no text.")
    actions = [ComputerAction(kind="click", path=arguments.start())] if arguments.has_place else []
    if arguments.is_set("clear_before_typing", "clear", "override", "overwrite"):
        actions += [_press_action(("ctrl", "a")), _press_action(("delete",))]
    actions.append(ComputerAction(kind="type", text=text))
    if arguments.is_set("press_enter", "enter", "submit"):
        actions.append(_press_action(("enter",)))
    return tuple(actions)


def _press_action(keys: tuple[str, ...], times: int = 1) -> ComputerAction:
    return ComputerAction(kind="press", keys=keys, times=times)


def _press_keys(arguments: Arguments) -> tuple[ComputerAction, ...]:
    times = int(arguments.named_number(("presses", "repeat"), 1))
    return (_press_action(arguments.keys(), min(100, max(1, times))),)


def _press_in_turn(arguments: Arguments) -> tuple[ComputerAction, ...]:
    """PyAutoGUI's `press`, which presses several keys in sequence."""
    if arguments.conventions.press_holds:
        return _key(arguments, "key_down")
    value = arguments.any(_KEYS, arguments.call.positional[0] if arguments.call.positional else None)
    if isinstance(value, list):
        return tuple(_press_action(_key_names(item)) for item in value[:_MAXIMUM_KEYS] if _key_names(item))
    return _press_keys(arguments)


def _move(arguments: Arguments) -> tuple[ComputerAction, ...]:
    if not (point := arguments.start()):
        raise CallUnusableError(f"{arguments} names no place.")
    return (ComputerAction(kind="move", path=point),)


def _button(arguments: Arguments, kind: Literal["button_down", "button_up"]) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind=kind, path=arguments.start()),)


def _key(arguments: Arguments, kind: Literal["key_down", "key_up"]) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind=kind, keys=arguments.keys()),)


def _wait(arguments: Arguments, default: float = 1.0) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind="wait", seconds=max(0.0, arguments.number(_SECONDS, default))),)


def _hold(arguments: Arguments) -> tuple[ComputerAction, ...]:
    seconds = max(0.0, arguments.named_number(_SECONDS, 1.0))
    return (ComputerAction(kind="hold", keys=arguments.keys(), seconds=seconds),)


def _ending(arguments: Arguments, default: Literal["finish", "give_up", "ask_user"]) -> Ending:
    status = (
        arguments.text(("status", "goal_status")).lower() if arguments.any(("status", "goal_status")) else ""
    )
    words = arguments.text((*_TEXTS, "reason", "question"))
    return Ending(
        "give_up" if status in _FAILURE_WORDS else default, words if words.lower() != status else ""
    )


_NAMES: dict[str, _Meaning] = {
    "click leftclick leftsingle clickat clickdesktop tap": _click,
    "doubleclick leftdouble leftdoubleclick doubleclickat doubleclickdesktop": partial(_click, times=2),
    "tripleclick tripleclickdesktop": partial(_click, times=3),
    "rightclick rightsingle rightclickdesktop": partial(_click, button="right"),
    "middleclick middleclickdesktop": partial(_click, button="middle"),
    "move moveto mousemove hover hoverat hoverdesktop movedesktop": _move,
    "drag dragto leftclickdrag leftdrag draganddrop draganddropdesktop": _drag,
    "scroll vscroll scrollat scrolldocument scrolldesktop": _scroll,
    "hscroll": partial(_scroll, sideways=True),
    "type write typewrite typetext inputtext typetextat writeatdesktop writedesktop": _type,
    "key hotkey keypress keycombination hotkeydesktop presskey": _press_keys,
    "press": _press_in_turn,
    "keydown": partial(_key, kind="key_down"),
    "keyup release": partial(_key, kind="key_up"),
    "holdkey": _hold,
    "mousedown leftmousedown": partial(_button, kind="button_down"),
    "mouseup leftmouseup": partial(_button, kind="button_up"),
    "wait sleep waitdesktop": _wait,
    "wait5seconds": partial(_wait, default=5.0),
    "screenshot takescreenshot cursorposition openwebbrowser": lambda arguments: (
        ComputerAction(kind="screenshot"),
    ),
    "goback": lambda arguments: (_press_action(("alt", "left")),),
    "goforward": lambda arguments: (_press_action(("alt", "right")),),
    "finished finish done stop terminate answer status complete": partial(_ending, default="finish"),
    "fail infeasible giveup": partial(_ending, default="give_up"),
    "calluser askuser": partial(_ending, default="ask_user"),
}
_MEANINGS = {name: meaning for names, meaning in _NAMES.items() for name in names.split()}


def _notches(amount: float, unit: float) -> int:
    """An amount in notches of the wheel, at least one if it is not 0."""
    if not amount:
        return 0
    return (1 if amount > 0 else -1) * min(_MAXIMUM_NOTCHES, max(1, round(abs(amount) / unit)))
