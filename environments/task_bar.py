"""The task bar that environments draw below every screen: buttons that navigate, then one per tab."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from taskloom.environments.annotated import font
from taskloom.environments.starting_place import ENVIRONMENT, START_PAGE, TASK_BAR_BUTTON
from taskloom.taskgraph.records.interaction import Control, Rectangle

TASK_BAR_HEIGHT = 36
"""Height of the task bar, in pixels."""
OWNER = ENVIRONMENT
"""Application name of controls that the environment owns."""
BAR_COLOUR, BUTTON_COLOUR, ACTIVE_COLOUR, TEXT_COLOUR = "#1f2937", "#374151", "#2563c7", "#f3f4f6"
"""Colours of the bar."""
BAR_FONT_SIZE = 13
"""Height of its font, in pixels."""

_GAP, _WIDEST_BUTTON = 6, 190


@dataclass(frozen=True, slots=True)
class TaskBarButton:
    """One button of the task bar."""

    text: str
    command: str
    """`tab:<position>`, `start`, or another command of the platform."""
    rectangle: Rectangle
    active: bool
    """Whether its tab is in front."""


def lay_out(
    titles: Sequence[str],
    active: int,
    screen_size: tuple[int, int],
    commands: Sequence[tuple[str, str]] = ((START_PAGE, "start"),),
) -> tuple[TaskBarButton, ...]:
    """The buttons of `commands` (text and command), then those of tabs with `titles`, one of them active."""
    width, height = screen_size
    top, bottom = height - TASK_BAR_HEIGHT + 5, height - 5
    buttons = []
    left = _GAP
    for text, command in commands:
        right = left + _text_width(text) + 20
        buttons.append(
            TaskBarButton(text, command, Rectangle(left=left, top=top, right=right, bottom=bottom), False)
        )
        left = right + _GAP
    left += _GAP
    tab_width = max(24, min(_WIDEST_BUTTON, (width - left) // max(1, len(titles)) - _GAP))
    for position, title in enumerate(titles):
        right = left + tab_width
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


def _text_width(text: str) -> int:
    return round(font(BAR_FONT_SIZE).getlength(text))


_MARGIN = 16


def bar_pixels(buttons: Sequence[TaskBarButton], width: int) -> bytes:
    """The picture of the bar as rows of RGB pixels."""
    bar = Image.new("RGB", (width, TASK_BAR_HEIGHT), BAR_COLOUR)
    pen = ImageDraw.Draw(bar)
    typeface = font(BAR_FONT_SIZE)
    for button in buttons:
        place = button.rectangle
        middle = TASK_BAR_HEIGHT / 2
        half = (place.bottom - place.top) / 2
        box = (place.left, middle - half, place.right - 1, middle + half - 1)
        pen.rounded_rectangle(box, 5, fill=ACTIVE_COLOUR if button.active else BUTTON_COLOUR)
        text = button.text
        while text and typeface.getlength(text) > place.right - place.left - _MARGIN:
            text = text.rstrip("…")[:-1] + "…" if len(text) > 1 else ""
        pen.text(((place.left + place.right) / 2, middle), text, fill=TEXT_COLOUR, font=typeface, anchor="mm")
    return bar.tobytes()
