"""A format: how a family of models writes actions, how it points, and how it is shown the screen; and the
meaning of a reply in a format: its thought, its actions and its end."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from taskloom.omnieval.errors import CallUnusableError
from taskloom.omnieval.replies.calls import LONGEST, Syntax, calls_in
from taskloom.omnieval.replies.verbs import DEFAULT_CONVENTIONS, Conventions, Ending, meaning_of
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
"""Descriptions of the grids in prompts."""
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
    """How a picture is resized before it is sent; unchanged if `factor` is 1 and there is no limit.

    Models of the Qwen-VL family see pictures whose sides are multiples of `factor`, within limits on the
    number of pixels; models that point in pixels mean pixels of that picture.
    """

    factor: int = 1
    """Sides are multiples of it."""
    least_pixels: int = 0
    """Minimum number of pixels; 0 for no limit."""
    most_pixels: int = 0
    """Maximum number of pixels; 0 for no limit."""
    fixed: tuple[int, int] | None = None
    """A fixed size instead."""

    def of(self, size: tuple[int, int]) -> tuple[int, int]:
        """The size at which a picture of `size` is sent.

        >>> Sizing(factor=28, least_pixels=3136, most_pixels=12845056).of((1280, 800))
        (1288, 812)
        >>> Sizing(factor=28, least_pixels=3136, most_pixels=1003520).of((1920, 1080))
        (1316, 728)
        """
        if self.fixed is not None:
            return self.fixed
        width, height = size
        sent = self._round_sides(lambda side: round(side / self.factor), width, height)
        pixels = sent[0] * sent[1]
        if self.most_pixels and pixels > self.most_pixels:
            scale = (width * height / self.most_pixels) ** 0.5
            return self._round_sides(lambda side: int(side // self.factor), width / scale, height / scale)
        if self.least_pixels and pixels < self.least_pixels:
            scale = (self.least_pixels / (width * height)) ** 0.5
            return self._round_sides(lambda side: -int(-side // self.factor), width * scale, height * scale)
        return sent

    def _round_sides(self, to_units: Callable[[float], int], *sides: float) -> tuple[int, int]:
        width, height = (max(self.factor, to_units(side) * self.factor) for side in sides)
        return width, height


ORIGINAL_SIZE = Sizing()
"""The picture at the screen's own size."""


class ReplyFormat(Record):
    """How one family of models is asked and answers."""

    syntaxes: tuple[Syntax, ...]
    """Syntaxes of calls; the first that finds any is used."""
    grid: Grid
    """Coordinates of its points."""
    shape: str
    """Layout of a reply, for models that were trained on it."""
    functions: tuple[str, ...]
    """Signatures of the functions: `click(point: place)`; `?` marks optional parameters."""
    sizing: Sizing = ORIGINAL_SIZE
    """How pictures are resized."""
    conventions: Conventions = DEFAULT_CONVENTIONS
    """Meanings that differ from the default."""
    pictures: int = 3
    """Number of recent pictures that are shown."""
    declared: bool = False
    """Whether its functions are declared to the server, which answers with calls."""

    def declarations(self) -> tuple[dict[str, JsonValue], ...]:
        """The functions as JSON schemas; empty if they are in the prompt."""
        return tuple(map(_declare, self.functions)) if self.declared else ()


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A parsed reply."""

    thought: str = ""
    """The reason, in the model's words."""
    actions: tuple[ComputerAction, ...] = ()
    ending: Ending | None = None
    """How the work ends after the actions; None if it continues."""


def read_reply(text: str, form: ReplyFormat, *, sent: tuple[int, int], screen: tuple[int, int]) -> ReadReply:
    """Parse a reply in the format `form`, given the sizes of the picture that was sent and of the screen.

    Calls inside `<think>` are only thoughts. Whatever follows an end is ignored.

    Raises:
        CallUnusableError: there is no action, an unknown one, or one that lacks an argument.
    """
    thinking, spoken = _split_thinking(text[:LONGEST])

    def place(point: tuple[float, float]) -> Point:
        return _to_screen(point, form.grid, sent, screen)

    actions: list[ComputerAction] = []
    ending: Ending | None = None
    for call in calls_in(spoken, form.syntaxes):
        meaning = meaning_of(call, place, form.conventions)
        if isinstance(meaning, Ending):
            ending = meaning
            break
        actions += meaning
    if not actions and ending is None:
        raise CallUnusableError(
            f"The reply holds no action; write it like this: {form.shape.strip().splitlines()[-1]}"
        )
    return ReadReply(_extract_thought(thinking, spoken), tuple(actions), ending)


def _to_screen(
    place: tuple[float, float], grid: Grid, sent: tuple[int, int], screen: tuple[int, int]
) -> Point:
    """The pixel of the screen for a position in the grid.

    The far edge is the last pixel; positions beyond it stay outside, and are refused when they are used.

    >>> _to_screen((1000, 500), "thousand", (1288, 812), (1280, 800))
    (1279, 400)
    >>> _to_screen((644, 406), "pixels", (1288, 812), (1280, 800))
    (640, 400)
    """
    extents = sent if grid == "pixels" else (_EXTENTS[grid], _EXTENTS[grid])
    x, y = (
        min(round(value / extent * side), side - 1) if 0 <= value <= extent else round(value / extent * side)
        for value, extent, side in zip(place, extents, screen, strict=True)
    )
    return x, y


def _declare(signature: str) -> dict[str, JsonValue]:
    """A signature as the declaration of a function.

    >>> _declare("click_at(x: int, y: int)")["parameters"]["required"]
    ['x', 'y']
    """
    name, _, rest = signature.partition("(")
    parameters = _PARAMETER.findall(rest)
    properties: dict[str, JsonValue] = {
        key: {"type": _TYPES.get(kind, "string")} for key, _, kind in parameters
    }
    required: list[JsonValue] = [key for key, optional, _ in parameters if not optional]
    return {
        "name": name,
        "description": signature,
        "parameters": {"type": "object", "properties": properties, "required": required},
    }


def _split_thinking(text: str) -> tuple[str, str]:
    """The hidden thinking, and the rest of the reply."""
    if "</think>" in text:
        thinking, _, spoken = text.rpartition("</think>")
        return thinking.replace("<think>", ""), spoken
    spoken, _, thinking = text.partition("<think>")
    return thinking, spoken


def _extract_thought(thinking: str, spoken: str) -> str:
    words = _LABEL.sub("", _CALLS_BEGIN.split(spoken, maxsplit=1)[0].strip(), count=1).strip()
    if not words and (match := _THOUGHT_IN_JSON.search(spoken)) is not None:
        words = match[1]
    return (words or thinking.strip())[:_LONGEST_THOUGHT]
