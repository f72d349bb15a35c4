"""A format: how a family of models writes actions, where it points, and how it is shown the screen."""

import re

from pydantic import JsonValue

from taskloom.omnieval.replies.arguments import USUAL, Conventions
from taskloom.omnieval.replies.calls import Syntax
from taskloom.omnieval.replies.grids import AS_IT_IS, Grid, Sizing
from taskloom.resources.record import Record

GRID_WORDS: dict[Grid, str] = {
    "pixels": "in pixels of the picture",
    "thousand": "from 0 to 1000 across and down the picture, whatever its size",
    "thousand_less_one": "from 0 to 999 across and down the picture, whatever its size",
    "fractions": "as fractions of the picture's width and height, 0 to 1",
}
"""How a model is told where to point."""
_TYPES: dict[str, str] = {"int": "integer", "number": "number", "bool": "boolean", "keys": "string"}
_PARAMETER = re.compile(r"(\w+)(\??)\s*:\s*(\w+)")


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
        return tuple(declaration(signature) for signature in self.functions) if self.declared else ()


def declaration(signature: str) -> dict[str, JsonValue]:
    """A signature as the declaration of a function.

    >>> declaration("click_at(x: int, y: int)")["parameters"]["required"]
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
