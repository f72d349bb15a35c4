"""Draws the task bar, for machines to put it below their pictures."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

from taskloom.environments.annotated import font
from taskloom.environments.task_bar import (
    ACTIVE_COLOUR,
    BAR_COLOUR,
    BAR_FONT_SIZE,
    BUTTON_COLOUR,
    TASK_BAR_HEIGHT,
    TEXT_COLOUR,
    TaskBarButton,
)

_MARGIN = 16


def bar_pixels(buttons: Sequence[TaskBarButton], width: int) -> bytes:
    """The bar as rows of red, green and blue."""
    bar = Image.new("RGB", (width, TASK_BAR_HEIGHT), BAR_COLOUR)
    pen = ImageDraw.Draw(bar)
    drawn = font(BAR_FONT_SIZE)
    for button in buttons:
        place = button.rectangle
        middle = TASK_BAR_HEIGHT / 2
        half = (place.bottom - place.top) / 2
        box = (place.left, middle - half, place.right - 1, middle + half - 1)
        pen.rounded_rectangle(box, 5, fill=ACTIVE_COLOUR if button.active else BUTTON_COLOUR)
        text = button.text
        while text and drawn.getlength(text) > place.right - place.left - _MARGIN:
            text = text.rstrip("…")[:-1] + "…" if len(text) > 1 else ""
        pen.text(((place.left + place.right) / 2, middle), text, fill=TEXT_COLOUR, font=drawn, anchor="mm")
    return bar.tobytes()
