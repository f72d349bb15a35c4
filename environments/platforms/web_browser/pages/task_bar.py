"""The task bar under the page, which the environment owns: Back, Reload, Start page and Close tab, then one
button per tab."""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from taskloom.environments.annotated import font
from taskloom.environments.platforms.web_browser.pages.png_rows import plain_rows, png_size, with_rows_below
from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.environments.platforms.web_browser.settings import TASK_BAR_HEIGHT
from taskloom.environments.starting_place import ENVIRONMENT, START_PAGE, TASK_BAR_BUTTON
from taskloom.taskgraph.records.interaction import Control, Rectangle

OWNER = ENVIRONMENT
"""Application name of controls that the environment owns."""

_BAR, _BUTTON, _ACTIVE, _TEXT = "#1f2937", "#374151", "#2563c7", "#f3f4f6"
_GAP, _FONT_SIZE, _WIDEST = 6, 13, 190
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
            "colours": [_BAR, _BUTTON, _ACTIVE, _TEXT],
            "font": f"{_FONT_SIZE}px sans-serif",
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
    screen = Image.new("RGB", screen_size, _BAR)
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


def _text_width(text: str) -> int:
    return round(font(_FONT_SIZE).getlength(text))
