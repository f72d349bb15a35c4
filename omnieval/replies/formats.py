"""A format: how a family of models writes actions, where it points, and how it is shown the screen."""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.omnieval.replies.arguments import USUAL, Conventions
from taskloom.omnieval.replies.calls import Syntax
from taskloom.omnieval.replies.grids import AS_IT_IS, Grid, Sizing

GRID_WORDS: dict[Grid, str] = {
    "pixels": "in pixels of the picture",
    "thousand": "from 0 to 1000 across and down the picture, whatever its size",
    "thousand_less_one": "from 0 to 999 across and down the picture, whatever its size",
    "fractions": "as fractions of the picture's width and height, 0 to 1",
}
"""How a model is told where to point."""
_TYPES: dict[str, str] = {"int": "integer", "number": "number", "bool": "boolean", "keys": "string"}
_PARAMETER = re.compile(r"(\w+)(\??)\s*:\s*(\w+)")


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """One row of the table of formats."""

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


BOX = "start_box='<|box_start|>(x,y)<|box_end|>'"
"""How UI-TARS 1 and 1.5 write a place."""
POINT = "point='<point>x y</point>'"
"""How UI-TARS 1.5 writes it where Doubao hosts it."""


def ui_tars(place: str, grid: Grid = "thousand", sizing: Sizing = AS_IT_IS) -> ReplyFormat:
    """The format of UI-TARS 1 and 1.5, whose places are written in two ways.

    >>> ui_tars(POINT).shape.splitlines()[1]
    "Action: click(point='<point>x y</point>')"
    """
    second = place.replace("start_box", "end_box").replace("point=", "end_point=")
    functions = (
        f"click({place})",
        f"left_double({place})",
        f"right_single({place})",
        f"drag({place}, {second})",
        "hotkey(key='ctrl c')",
        "type(content='text; \\n submits it')",
        f"scroll({place}, direction='down, up, left or right')",
        "wait()",
        "finished(content='what was done, or the answer')",
        "call_user()",
    )
    shape = f"Thought: why, in a sentence or two\nAction: click({place})"
    return ReplyFormat(("code",), grid, shape, functions, sizing, pictures=5)


QWEN_ACTIONS = (
    "key(keys: list)",
    "type(text: str)",
    "mouse_move(coordinate: place)",
    "left_click(coordinate: place)",
    "left_click_drag(coordinate: place), from where the pointer is",
    "right_click(coordinate: place)",
    "middle_click(coordinate: place)",
    "double_click(coordinate: place)",
    "triple_click(coordinate: place)",
    "scroll(pixels: int), notches of the wheel, positive upwards",
    "hscroll(pixels: int), positive to the right",
    "wait(time: number)",
    "answer(text: str)",
    "terminate(status: success or failure)",
)
"""Values of `action` of the function `computer_use` of Qwen-VL, with their further arguments."""
PYAUTOGUI = (
    "pyautogui.click(x, y, clicks=1, button='left')",
    "pyautogui.doubleClick(x, y)",
    "pyautogui.rightClick(x, y)",
    "computer.triple_click(x, y)",
    "pyautogui.moveTo(x, y)",
    "pyautogui.dragTo(x, y)",
    "pyautogui.scroll(notches)",
    "pyautogui.write(message)",
    "pyautogui.press(key)",
    "pyautogui.hotkey(*keys)",
    "computer.wait()",
    "computer.terminate(status='success or failure')",
)
"""Statements of models that write PyAutoGUI code."""
