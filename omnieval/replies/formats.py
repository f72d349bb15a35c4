"""A format: how a family of models writes actions, where it points, and how it is shown the screen. And what
a reply in it means: its thought, its actions, and how it ends."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.calls import LONGEST, Syntax, calls_in
from taskloom.omnieval.replies.verbs import USUAL, Conventions, Ending, meaning_of
from taskloom.resources.record import Record
from taskloom.taskgraph.records.computer_use import ComputerAction
from taskloom.taskgraph.records.gestures import Point

Grid = Literal["pixels", "thousand", "thousand_less_one", "fractions"]
"""Pixels of the picture that was sent; 0 to 1000; 0 to 999; 0 to 1."""
GRID_WORDS: dict[Grid, str] = {
    "pixels": "in pixels of the picture",
    "thousand": "from 0 to 1000 across and down the picture, whatever its size",
    "thousand_less_one": "from 0 to 999 across and down the picture, whatever its size",
    "fractions": "as fractions of the picture's width and height, 0 to 1",
}
"""How a model is told where to point."""
_EXTENTS: dict[Grid, float] = {"thousand": 1000.0, "thousand_less_one": 999.0, "fractions": 1.0}
_TYPES: dict[str, str] = {"int": "integer", "number": "number", "bool": "boolean", "keys": "string"}
_PARAMETER = re.compile(r"(\w+)(\??)\s*:\s*(\w+)")
_CALLS_BEGIN = re.compile(
    r"Action:|## Action|## Code|<tool_call|<seed:tool_call|<function=|<\|begin_of_box\|>|```|\{"
)
_LABEL = re.compile(r"^\W*(?:Thought|Reasoning|Step \d+)\W*?:?\s*", re.IGNORECASE)
_THOUGHT_IN_JSON = re.compile(r'"(?:thought|reasoning|note)"\s*:\s*"((?:[^"\\]|\\.)+)"')
_LONGEST_THOUGHT = 4000


class Sizing(Record):
    """How a picture is resized before it is sent; as it is where `factor` is 1 and there is no limit.

    Models of the Qwen-VL family see pictures whose sides are multiples of `factor`, within limits of their
    number of pixels; models that point in pixels mean those of that picture.
    """

    factor: int = 1
    """Sides are multiples of it."""
    least_pixels: int = 0
    """Fewest pixels; 0 for any."""
    most_pixels: int = 0
    """Most pixels; 0 for any."""
    fixed: tuple[int, int] | None = None
    """Always this size."""

    def of(self, size: tuple[int, int]) -> tuple[int, int]:
        """The size at which a picture of that size is sent.

        >>> Sizing(factor=28, least_pixels=3136, most_pixels=12845056).of((1280, 800))
        (1288, 812)
        >>> Sizing(factor=28, least_pixels=3136, most_pixels=1003520).of((1920, 1080))
        (1316, 728)
        """
        if self.fixed is not None:
            return self.fixed
        width, height = size
        sent = self._multiples(lambda side: round(side / self.factor), width, height)
        pixels = sent[0] * sent[1]
        if self.most_pixels and pixels > self.most_pixels:
            scale = (width * height / self.most_pixels) ** 0.5
            return self._multiples(lambda side: int(side // self.factor), width / scale, height / scale)
        if self.least_pixels and pixels < self.least_pixels:
            scale = (self.least_pixels / (width * height)) ** 0.5
            return self._multiples(lambda side: -int(-side // self.factor), width * scale, height * scale)
        return sent

    def _multiples(self, times: Callable[[float], int], *sides: float) -> tuple[int, int]:
        across, down = (max(self.factor, times(side) * self.factor) for side in sides)
        return across, down


AS_IT_IS = Sizing()
"""The picture at the screen's own size."""


class ReplyFormat(Record):
    """How one family of models is asked and answers."""

    syntaxes: tuple[Syntax, ...]
    """How calls are written; the first that is found counts."""
    grid: Grid
    """Where it points."""
    shape: str
    """How a reply is laid out, for models that were trained on it."""
    functions: tuple[str, ...]
    """What it may call, as signatures: `click(point: place)`; `?` marks what may be left out."""
    sizing: Sizing = AS_IT_IS
    """How pictures are sent."""
    conventions: Conventions = USUAL
    """What its words mean otherwise than usual."""
    pictures: int = 3
    """How many of the last pictures it is shown."""
    declared: bool = False
    """Whether its functions are declared to the server, which answers with calls."""

    def declarations(self) -> tuple[dict[str, JsonValue], ...]:
        """The functions as JSON schemas; none where they stand in the prompt."""
        return tuple(map(_declaration, self.functions)) if self.declared else ()


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply as it was read."""

    thought: str = ""
    """Why, in the model's words."""
    actions: tuple[ComputerAction, ...] = ()
    ending: Ending | None = None
    """How it ends after that; None where it goes on."""


def read_reply(text: str, form: ReplyFormat, *, sent: tuple[int, int], screen: tuple[int, int]) -> ReadReply:
    """What the `text` of a reply in the format `form` means, from the sizes of the picture that was sent and
    of the screen.

    Calls inside of `<think>` are thoughts and never done. What follows an end is left out.

    Raises:
        CallUnusableError: it holds no action of its format, or one that is not known or lacks something.
    """
    thinking, spoken = _parted(text[:LONGEST])

    def place(point: tuple[float, float]) -> Point:
        return _on_screen(point, form.grid, sent, screen)

    actions: list[ComputerAction] = []
    ending: Ending | None = None
    for call in calls_in(spoken, form.syntaxes):
        meant = meaning_of(call, place, form.conventions)
        if isinstance(meant, Ending):
            ending = meant
            break
        actions += meant
    if not actions and ending is None:
        raise CallUnusableError(
            f"The reply holds no action; write it like this: {form.shape.strip().splitlines()[-1]}"
        )
    return ReadReply(_thought(thinking, spoken), tuple(actions), ending)


def _on_screen(
    place: tuple[float, float], grid: Grid, sent: tuple[int, int], screen: tuple[int, int]
) -> Point:
    """The pixel of the screen that a place in the grid means.

    The far edge is the last pixel; what lies beyond it stays outside, and is refused where it is used.

    >>> _on_screen((1000, 500), "thousand", (1288, 812), (1280, 800))
    (1279, 400)
    >>> _on_screen((644, 406), "pixels", (1288, 812), (1280, 800))
    (640, 400)
    """
    extents = sent if grid == "pixels" else (_EXTENTS[grid], _EXTENTS[grid])
    x, y = (
        min(round(value / extent * side), side - 1) if 0 <= value <= extent else round(value / extent * side)
        for value, extent, side in zip(place, extents, screen, strict=True)
    )
    return x, y


def _declaration(signature: str) -> dict[str, JsonValue]:
    """A signature as the declaration of a function.

    >>> _declaration("click_at(x: int, y: int)")["parameters"]["required"]
    ['x', 'y']
    """
    name, _, rest = signature.partition("(")
    found = _PARAMETER.findall(rest)
    properties: dict[str, JsonValue] = {key: {"type": _TYPES.get(kind, "string")} for key, _, kind in found}
    required: list[JsonValue] = [key for key, optional, _ in found if not optional]
    return {
        "name": name,
        "description": signature,
        "parameters": {"type": "object", "properties": properties, "required": required},
    }


def _parted(text: str) -> tuple[str, str]:
    """What was thought, and what was said after it."""
    if "</think>" in text:
        thinking, _, spoken = text.rpartition("</think>")
        return thinking.replace("<think>", ""), spoken
    spoken, _, thinking = text.partition("<think>")
    return thinking, spoken


def _thought(thinking: str, spoken: str) -> str:
    words = _LABEL.sub("", _CALLS_BEGIN.split(spoken, maxsplit=1)[0].strip(), count=1).strip()
    if not words and (found := _THOUGHT_IN_JSON.search(spoken)) is not None:
        words = found[1]
    return (words or thinking.strip())[:_LONGEST_THOUGHT]
