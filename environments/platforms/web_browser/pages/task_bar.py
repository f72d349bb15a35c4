"""Draws the task bar and puts it below the picture of a page."""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Sequence

from PIL import Image

from taskloom.environments.platforms.web_browser.pages.png_rows import plain_rows, png_size, with_rows_below
from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.environments.task_bar import (
    ACTIVE_COLOUR,
    BAR_COLOUR,
    BAR_FONT_SIZE,
    BUTTON_COLOUR,
    TASK_BAR_HEIGHT,
    TEXT_COLOUR,
    TaskBarButton,
)

_MOST_DRAWN = 64
_DRAW = """async ({buttons, size: [width, height], colours: [bar, button, active, ink], font}) => {
  const canvas = new OffscreenCanvas(width, height), pen = canvas.getContext('2d', {alpha: false});
  pen.fillStyle = bar; pen.fillRect(0, 0, width, height);
  pen.font = font; pen.textBaseline = 'middle'; pen.textAlign = 'center';
  const top = buttons.length ? buttons[0].top - 5 : 0;
  for (const one of buttons) {
    pen.fillStyle = one.active ? active : button;
    pen.beginPath(); pen.roundRect(one.left, one.top - top, one.right - one.left, one.bottom - one.top, 5); pen.fill();
    let parts = [...new Intl.Segmenter().segment(one.text)].map(part => part.segment), text = one.text;
    const room = one.right - one.left - 16;
    while (parts.length && pen.measureText(text).width > room) { parts.pop(); text = parts.join('') + '…'; }
    pen.fillStyle = ink; pen.fillText(text, Math.round((one.left + one.right) / 2), height / 2);
  }
  const bytes = new Uint8Array(await (await canvas.convertToBlob({type: 'image/png'})).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""  # noqa: E501
_drawn: dict[tuple[tuple[TaskBarButton, ...], int], bytes] = {}


async def draw(tab: Tab, buttons: Sequence[TaskBarButton], width: int) -> bytes:
    """The picture of the bar as PNG, drawn by the browser, whose fonts show titles of every script."""
    key = (tuple(buttons), width)
    if key not in _drawn:
        shown = [
            {"text": button.text, "active": button.active, **button.rectangle.model_dump()}
            for button in buttons
        ]
        argument = {
            "buttons": shown,
            "size": [width, TASK_BAR_HEIGHT],
            "colours": [BAR_COLOUR, BUTTON_COLOUR, ACTIVE_COLOUR, TEXT_COLOUR],
            "font": f"{BAR_FONT_SIZE}px sans-serif",
        }
        _drawn[key] = base64.b64decode(str(await tab.look(_DRAW, argument)))
        if len(_drawn) > _MOST_DRAWN:
            del _drawn[next(iter(_drawn))]
    return _drawn[key]


def compose(page: bytes, bar: bytes, screen_size: tuple[int, int]) -> bytes:
    """The picture of the whole screen: the page above the task bar, both as PNG."""
    width, height = screen_size
    if png_size(page) == (width, height - TASK_BAR_HEIGHT):
        whole = with_rows_below(page, _rows(bar, width))
        if whole is not None:
            return whole
    screen = Image.new("RGB", screen_size, BAR_COLOUR)
    for picture, top in ((page, 0), (bar, height - TASK_BAR_HEIGHT)):
        with Image.open(io.BytesIO(picture)) as opened:
            screen.paste(opened.convert("RGB"), (0, top))
    output = io.BytesIO()
    screen.save(output, "PNG", compress_level=1)
    return output.getvalue()


@functools.lru_cache(maxsize=64)
def _rows(bar: bytes, width: int) -> bytes:
    with Image.open(io.BytesIO(bar)) as opened:
        return plain_rows(opened.convert("RGB").tobytes(), width)
