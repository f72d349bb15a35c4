"""The task bar under the page, which the environment owns: Back, Reload, Start page and Close tab, then one
button per tab."""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from taskloom.environments.annotated import font
from taskloom.environments.platforms.web_browser.pages.png_rows import plain_rows, png_size, with_rows_below
from taskloom.environments.platforms.web_browser.settings import TASK_BAR_HEIGHT
from taskloom.environments.starting_place import ENVIRONMENT, START_PAGE, TASK_BAR_BUTTON
from taskloom.taskgraph.records.interaction import Control, Rectangle

OWNER = ENVIRONMENT
"""Application name of controls that the environment owns."""

_BAR, _BUTTON, _ACTIVE, _TEXT, _DIM = "#1f2937", "#374151", "#2563c7", "#f3f4f6", "#9ca3af"
_GAP, _FONT_SIZE, _WIDEST = 6, 13, 190


@dataclass(frozen=True, slots=True)
class TaskBarButton:
    """One button: what it says, what it does, where it is."""

    text: str
    """What is written on it."""
    command: str
    """`back`, `reload`, `start`, `close` or `tab:<position>`."""
    rectangle: Rectangle
    """Where it is on the screen."""
    active: bool
    """Whether its tab is in front."""


def lay_out(
    titles: Sequence[str], active: int, screen_size: tuple[int, int], *, closable: bool
) -> tuple[TaskBarButton, ...]:
    """The buttons for tabs with `titles`, the `active` one marked; `closable` adds a button that closes
    it."""
    width, height = screen_size
    top, bottom = height - TASK_BAR_HEIGHT + 5, height - 5
    commands = [("Back", "back"), ("Reload", "reload"), (START_PAGE, "start")]
    if closable:
        commands.append(("Close tab", "close"))
    buttons = []
    left = _GAP
    for text, command in commands:
        right = left + _text_width(text) + 20
        buttons.append(
            TaskBarButton(text, command, Rectangle(left=left, top=top, right=right, bottom=bottom), False)
        )
        left = right + _GAP
    left += _GAP
    share = max(24, min(_WIDEST, (width - left) // max(1, len(titles)) - _GAP))
    for position, title in enumerate(titles):
        right = left + share
        rectangle = Rectangle(left=left, top=top, right=right, bottom=bottom)
        buttons.append(TaskBarButton(title, f"tab:{position}", rectangle, position == active))
        left = right + _GAP
    return tuple(button for button in buttons if button.rectangle.right <= width)


def as_controls(buttons: Sequence[TaskBarButton], first_label: int) -> list[Control]:
    """The buttons as controls, labelled from `first_label`."""
    return [
        Control(
            label=str(first_label + index),
            text=button.text,
            control_type=TASK_BAR_BUTTON,
            parent_text="Task bar",
            parent_type="ToolBar",
            rectangle=button.rectangle,
            checked=button.active if button.command.startswith("tab:") else None,
            application=OWNER,
        )
        for index, button in enumerate(buttons)
    ]


def compose(page: bytes, buttons: Sequence[TaskBarButton], screen_size: tuple[int, int]) -> bytes:
    """The picture of the whole screen: the page above the task bar, as PNG."""
    width, height = screen_size
    if png_size(page) == (width, height - TASK_BAR_HEIGHT):
        whole = with_rows_below(page, _rows(tuple(buttons), width))
        if whole is not None:
            return whole
    screen = Image.new("RGB", screen_size, _BAR)
    with Image.open(io.BytesIO(page)) as picture:
        screen.paste(picture.convert("RGB"), (0, 0))
    screen.paste(_picture(tuple(buttons), width), (0, height - TASK_BAR_HEIGHT))
    output = io.BytesIO()
    screen.save(output, "PNG", compress_level=1)
    return output.getvalue()


@functools.lru_cache(maxsize=64)
def _rows(buttons: tuple[TaskBarButton, ...], width: int) -> bytes:
    return plain_rows(_picture(buttons, width).tobytes(), width)


@functools.lru_cache(maxsize=64)
def _picture(buttons: tuple[TaskBarButton, ...], width: int) -> Image.Image:
    bar = Image.new("RGB", (width, TASK_BAR_HEIGHT), _BAR)
    draw = ImageDraw.Draw(bar)
    top = buttons[0].rectangle.top - 5 if buttons else 0
    for button in buttons:
        place = button.rectangle
        box = (place.left, place.top - top, place.right - 1, place.bottom - top - 1)
        draw.rounded_rectangle(box, 5, fill=_ACTIVE if button.active else _BUTTON)
        text = _fit(button.text, place.right - place.left - 16)
        left = place.left + (place.right - place.left - _text_width(text)) / 2
        draw.text((left, TASK_BAR_HEIGHT / 2), text, fill=_TEXT, font=font(_FONT_SIZE), anchor="lm")
    return bar


def _fit(text: str, width: int) -> str:
    if _text_width(text) <= width:
        return text
    while text and _text_width(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _text_width(text: str) -> int:
    return round(font(_FONT_SIZE).getlength(text))
