"""The picture of a simulated screen."""

from __future__ import annotations

import functools
import io

from PIL import Image, ImageDraw, ImageFont

from taskgraph.records.interaction import Control, Rectangle

_SIZE, _LINE, _ROWS = (1280, 800), 36, 20
_FILLS = {"Button": "#dbe4f0", "Edit": "#ffffff", "ListItem": "#f4f6f8"}


def place_of(position: int) -> Rectangle:
    """The rectangle of the control at `position` in reading order: column by column, from top to bottom."""
    column, row = divmod(position, _ROWS)
    left, top = 10 + column * 420, 10 + row * _LINE
    return Rectangle(left=left, top=top, right=left + 400, bottom=top + _LINE - 6)


@functools.lru_cache(maxsize=256)
def draw(controls: tuple[Control, ...]) -> bytes:
    """The screen as PNG; the same controls are drawn once."""
    picture = Image.new("RGB", _SIZE, "#e9edf2")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(14)
    for control in controls:
        place = control.rectangle
        edge, fill = "#2463c7" if control.focused else "#9aa7b6", _FILLS.get(control.control_type, "#e9edf2")
        pen.rectangle((place.left, place.top, place.right - 1, place.bottom - 1), fill=fill, outline=edge)
        shown = f"{control.text}: {control.value}" if control.control_type == "Edit" else control.text
        pen.text((place.left + 8, place.top + 6), shown.replace("\n", " / ")[:52], fill="#1d2733", font=font)
    output = io.BytesIO()
    picture.quantize(64, Image.Quantize.FASTOCTREE).save(output, "PNG", compress_level=1)
    return output.getvalue()
