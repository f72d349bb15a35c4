"""The arguments of calls, whatever they are called: a place is a list, a text with numbers, or x and y; a box
is its middle."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.calls import Call
from taskloom.resources.record import Record
from taskloom.taskgraph.records.gestures import Point

Place = Callable[[tuple[float, float]], Point]
"""The pixel of the screen that a place in the model's grid means."""
TEXTS = ("text", "content", "value", "message", "answer", "string")
"""Names of texts."""
KEYS = ("keys", "key", "key_comb", "hotkey", "text")
"""Names of keys."""
MOST_KEYS = 20
"""Keys of one call that are read."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LARGEST = 1e6
_STARTS = ("start_box", "start_point", "start_coordinate", "start_coordinates", "start")
_PLACES = (*_STARTS, "coordinate", "coordinates", "point", "position", "box", "box_2d")
_ENDS = ("end_box", "end_point", "end_coordinate", "coordinate2", "end", "to", "destination")
_PAIRS = (("x", "y"), ("x1", "y1"), ("start_x", "start_y"))
_END_PAIRS = (("destination_x", "destination_y"), ("end_x", "end_y"), ("x2", "y2"))


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

    def text(self, names: Sequence[str] = TEXTS) -> str:
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
        value = self.any(KEYS)
        if value is None:
            value = list(self.call.positional)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        found = tuple(map(writable, key_names(value)))
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


def key_names(value: JsonValue) -> tuple[str, ...]:
    """The keys of one chord.

    >>> key_names("ctrl c"), key_names("Control+Shift+A"), key_names("+"), key_names('["ctrl", "v"]')
    (('ctrl', 'c'), ('Control', 'Shift', 'A'), ('+',), ('ctrl', 'v'))
    """
    if isinstance(value, list):
        return tuple(str(item).strip() or str(item) for item in value[:MOST_KEYS] if str(item))
    if not isinstance(value, str) or not value:
        return ()
    if value.startswith("[") and value.endswith("]") and len(value) > 2:
        return tuple(part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip())
    if len(value.strip()) <= 1:
        return (value.strip() or " ",)
    parts = re.split(r"[\s+]+", value.strip())[:MOST_KEYS]
    keys = [part for part in parts if part]
    return tuple([*keys, "+"] if value.rstrip().endswith("+") else keys)
