"""What calls mean, over all formats. Their arguments are read whatever they are called: a place is a list, a
text with numbers, or x and y; a box is its middle. One table says by the name what becomes of them: actions,
or an end. Names are compared without case, underscores and hyphens: `left_click`, `LeftClick` and `leftClick`
are one."""

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
"""The pixel of the screen that a place in the model's grid means."""
_TEXTS = ("text", "content", "value", "message", "answer", "string")
"""Names of texts."""
_KEYS = ("keys", "key", "key_comb", "hotkey", "text")
"""Names of keys."""
_MOST_KEYS = 20
"""Keys of one call that are read."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LARGEST = 1e6
_STARTS = ("start_box", "start_point", "start_coordinate", "start_coordinates", "start")
_PLACES = (*_STARTS, "coordinate", "coordinates", "point", "position", "box", "box_2d")
_ENDS = ("end_box", "end_point", "end_coordinate", "coordinate2", "end", "to", "destination")
_PAIRS = (("x", "y"), ("x1", "y1"), ("start_x", "start_y"))
_END_PAIRS = (("destination_x", "destination_y"), ("end_x", "end_y"), ("x2", "y2"))
_MOST_NOTCHES = 30
_USUAL_NOTCHES = 5
_BUTTONS: dict[str, Button] = {"right": "right", "middle": "middle", "wheel": "middle"}
_AMOUNTS = ("pixels", "amount", "scroll_amount", "magnitude", "step", "clicks", "distance")
_SECONDS = ("time", "seconds", "duration", "secs")
_WAYS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
_WRONG = {"failure", "fail", "failed", "infeasible", "impossible"}


class Conventions(Record):
    """What a format means by words that others mean otherwise."""

    notch: float = 1.0
    """Units of an amount that are one notch of the wheel."""
    press_holds: bool = False
    """Whether `press` holds a key until `release`."""


USUAL = Conventions()
"""What most formats mean."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """A call with what is needed to read its arguments."""

    call: Call
    place: Place
    conventions: Conventions

    def any(self, names: Sequence[str], default: JsonValue = None) -> JsonValue:
        """The first argument of these names that is given."""
        given = self.call.arguments
        return next((given[name] for name in names if given.get(name) is not None), default)

    def text(self, names: Sequence[str] = _TEXTS) -> str:
        """A text; the first positional one where none has these names."""
        value = self.any(names)
        if value is None:
            value = next((item for item in self.call.positional if isinstance(item, str)), "")
        return writable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

    def number(self, names: Sequence[str], default: float) -> float:
        """A number; the first positional one where none has these names."""
        value = self.any(names)
        if value is None and self.call.positional and not isinstance(self.call.positional[0], str):
            value = self.call.positional[0]
        return next(iter(numbers(value)), default)

    def named_number(self, names: Sequence[str], default: float) -> float:
        """A number that has one of these names and is not 0."""
        return self.number(names, default) if self.any(names) else default

    def here(self) -> tuple[Point, ...]:
        """The place named, or none."""
        return self._at(self.any(_PLACES), _PAIRS, self.call.positional[:2])

    def there(self) -> tuple[Point, ...]:
        """The place where a drag ends."""
        begun = self.any(_STARTS) is not None
        return self._at(self.any((*_ENDS, *(_PLACES[len(_STARTS) :] if begun else ()))), _END_PAIRS, ())

    @property
    def has_place(self) -> bool:
        """Whether a place is named, apart from positional arguments."""
        return self.any((*_PLACES, *(x for x, _ in _PAIRS))) is not None

    def is_set(self, *names: str) -> bool:
        """Whether a switch of one of these names is on."""
        return str(self.any(names)).lower() == "true"

    def _at(
        self, value: JsonValue, pairs: Sequence[tuple[str, str]], positional: Sequence[JsonValue]
    ) -> tuple[Point, ...]:
        given, found = self.call.arguments, numbers(value)
        for x, y in pairs:
            if not found and given.get(x) is not None:
                value, found = given[x], numbers(given[x]) + numbers(given.get(y))
        if not found and len(positional) == 2 and not any(isinstance(item, str) for item in positional):
            found = numbers(list(positional))
        if len(found) >= 4:
            found = [(found[0] + found[2]) / 2, (found[1] + found[3]) / 2]
        if len(found) == 1 or (not found and value is not None):
            raise CallUnusableError(f"{self} names no place; a place has two numbers.")
        return (self.place((found[0], found[1])),) if found else ()

    def keys(self) -> tuple[str, ...]:
        """The keys of a chord; a `CallUnusableError` if it names none."""
        value = self.any(_KEYS)
        if value is None:
            value = list(self.call.positional)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        found = tuple(map(writable, _key_names(value)))
        if not found:
            raise CallUnusableError(f"{self} names no key.")
        return found

    def __str__(self) -> str:
        named = (f"{key}={value!r}" for key, value in self.call.arguments.items())
        text = f"{self.call.name}({', '.join([*map(repr, self.call.positional), *named])})"
        return text if len(text) <= 120 else text[:120] + "…"


def writable(text: str) -> str:
    r"""The text with what UTF-8 cannot write, such as half a character, as question marks.

    >>> writable("a\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()


def numbers(value: JsonValue) -> list[float]:
    """The numbers in a value; a text's in the order in which they are written.

    >>> numbers("<point>12 34.5</point>"), numbers([[1, 2, 3, 4]]), numbers(None)
    ([12.0, 34.5], [1.0, 2.0, 3.0, 4.0], [])
    """
    found: list[float] = []
    if isinstance(value, bool) or value is None:
        return found
    if isinstance(value, (int, float)):
        found = [value] if abs(value) <= _LARGEST and math.isfinite(value) else []
    elif isinstance(value, str):
        found = [number for item in _NUMBER.findall(value[:200]) if abs(number := float(item)) <= _LARGEST]
    elif isinstance(value, list):
        for item in value[:8]:
            found += numbers(item)
    else:
        for key in ("x", "y"):
            found += numbers(value.get(key))
    return [float(number) for number in found]


def _key_names(value: JsonValue) -> tuple[str, ...]:
    """The keys of one chord.

    >>> _key_names("ctrl c"), _key_names("Control+Shift+A"), _key_names("+"), _key_names('["ctrl", "v"]')
    (('ctrl', 'c'), ('Control', 'Shift', 'A'), ('+',), ('ctrl', 'v'))
    """
    if isinstance(value, list):
        return tuple(str(item).strip() or str(item) for item in value[:_MOST_KEYS] if str(item))
    if not isinstance(value, str) or not value:
        return ()
    if value.startswith("[") and value.endswith("]") and len(value) > 2:
        return tuple(part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip())
    if len(value.strip()) <= 1:
        return (value.strip() or " ",)
    parts = re.split(r"[\s+]+", value.strip())[:_MOST_KEYS]
    keys = [part for part in parts if part]
    return tuple([*keys, "+"] if value.rstrip().endswith("+") else keys)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a model says that it has ended, with an answer, a reason or a question to the user."""

    status: Literal["finish", "give_up", "ask_user"]
    words: str = ""


_Meaning = Callable[[Arguments], tuple[ComputerAction, ...] | Ending]


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
    meaning = _MEANINGS.get(re.sub("[_ -]", "", name).lower())
    if meaning is None:
        raise CallUnusableError(f"There is no action {name[:60]!r}.")
    if isinstance(within, str):
        others = {key: value for key, value in call.arguments.items() if key != "action"}
        call = Call(name, others, call.positional)
    return meaning(Arguments(call, place, conventions))


def _click(given: Arguments, button: Button = "left", times: int = 1) -> tuple[ComputerAction, ...]:
    named = given.text(("button",)).lower() if given.any(("button",)) else ""
    used = _BUTTONS.get(named, button)
    clicks = min(3, max(1, int(given.named_number(("clicks", "num_clicks"), times))))
    held = _key_names(given.any(("hold_keys", "held", "modifiers")))
    return (ComputerAction(kind="click", path=given.here(), button=used, times=clicks, keys=held),)


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


def _scroll(given: Arguments, *, sideways: bool = False) -> tuple[ComputerAction, ...]:
    unit = given.conventions.notch
    way = _WAYS.get(given.text(("direction", "scroll_direction")).lower())
    notches = _notches(given.number(_AMOUNTS, 0.0), unit)
    if way is not None:
        notches = abs(notches) or _USUAL_NOTCHES
        wheel = (way[0] * notches, way[1] * notches)
    else:
        wheel = (notches, 0) if sideways else (0, notches)
        right = given.named_number(("delta_x", "scroll_x"), 0)
        down = given.named_number(("delta_y", "scroll_y"), 0)
        if right or down:
            wheel = (_notches(right, unit), -_notches(down, unit))
    if wheel == (0, 0):
        raise CallUnusableError(f"{given} says neither how far nor which way.")
    return (ComputerAction(kind="scroll", path=given.here() if given.has_place else (), wheel=wheel),)


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
        return _key(given, "key_down")
    value = given.any(_KEYS, given.call.positional[0] if given.call.positional else None)
    if isinstance(value, list):
        return tuple(_press(_key_names(item)) for item in value[:_MOST_KEYS] if _key_names(item))
    return _pressed(given)


def _move(given: Arguments) -> tuple[ComputerAction, ...]:
    if not (here := given.here()):
        raise CallUnusableError(f"{given} names no place.")
    return (ComputerAction(kind="move", path=here),)


def _button(given: Arguments, kind: Literal["button_down", "button_up"]) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind=kind, path=given.here()),)


def _key(given: Arguments, kind: Literal["key_down", "key_up"]) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind=kind, keys=given.keys()),)


def _wait(given: Arguments, usual: float = 1.0) -> tuple[ComputerAction, ...]:
    return (ComputerAction(kind="wait", seconds=max(0.0, given.number(_SECONDS, usual))),)


def _hold(given: Arguments) -> tuple[ComputerAction, ...]:
    seconds = max(0.0, given.named_number(_SECONDS, 1.0))
    return (ComputerAction(kind="hold", keys=given.keys(), seconds=seconds),)


def _end(given: Arguments, usual: Literal["finish", "give_up", "ask_user"]) -> Ending:
    status = given.text(("status", "goal_status")).lower() if given.any(("status", "goal_status")) else ""
    words = given.text((*_TEXTS, "reason", "question"))
    return Ending("give_up" if status in _WRONG else usual, words if words.lower() != status else "")


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
    "key hotkey keypress keycombination hotkeydesktop presskey": _pressed,
    "press": _pressed_in_turn,
    "keydown": partial(_key, kind="key_down"),
    "keyup release": partial(_key, kind="key_up"),
    "holdkey": _hold,
    "mousedown leftmousedown": partial(_button, kind="button_down"),
    "mouseup leftmouseup": partial(_button, kind="button_up"),
    "wait sleep waitdesktop": _wait,
    "wait5seconds": partial(_wait, usual=5.0),
    "screenshot takescreenshot cursorposition openwebbrowser": lambda given: (
        ComputerAction(kind="screenshot"),
    ),
    "goback": lambda given: (_press(("alt", "left")),),
    "goforward": lambda given: (_press(("alt", "right")),),
    "finished finish done stop terminate answer status complete": partial(_end, usual="finish"),
    "fail infeasible giveup": partial(_end, usual="give_up"),
    "calluser askuser": partial(_end, usual="ask_user"),
}
_MEANINGS = {name: meaning for names, meaning in _NAMES.items() for name in names.split()}


def _notches(amount: float, unit: float) -> int:
    """An amount as notches of the wheel, at least one in its direction."""
    if not amount:
        return 0
    return (1 if amount > 0 else -1) * min(_MOST_NOTCHES, max(1, round(abs(amount) / unit)))
