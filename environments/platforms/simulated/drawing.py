"""The picture of a simulated screen."""

from __future__ import annotations

import functools
import io

from PIL import Image, ImageDraw, ImageFont

from taskloom.taskgraph.records.interaction import Control, Rectangle

_SIZE, _LINE, _ROWS = (1280, 800), 36, 20
_INK, _EDGE, _FOCUS = (0x1D, 0x27, 0x33), (0x9A, 0xA7, 0xB6), (0x24, 0x63, 0xC7)
_GROUND = (0xE9, 0xED, 0xF2)
_FILLS = {"Button": (0xDB, 0xE4, 0xF0), "Edit": (0xFF, 0xFF, 0xFF), "ListItem": (0xF4, 0xF6, 0xF8)}
_SHADES = 16
"""Steps from a fill's colour to the ink's, so that letters have soft edges in a picture with a palette."""


def place_of(position: int) -> Rectangle:
    """The rectangle of the control at `position` in reading order: column by column, from top to bottom."""
    column, row = divmod(position, _ROWS)
    left, top = 10 + column * 420, 10 + row * _LINE
    return Rectangle(left=left, top=top, right=left + 400, bottom=top + _LINE - 6)


@functools.lru_cache(maxsize=256)
def draw(controls: tuple[Control, ...]) -> bytes:
    """The screen as PNG; the same controls are drawn once."""
    colours, _ = _palette()
    picture = Image.new("P", _SIZE, 0)
    picture.putpalette(colours)
    for control in controls:
        place = control.rectangle
        shown = f"{control.text}: {control.value}" if control.control_type == "Edit" else control.text
        size = (place.right - place.left, place.bottom - place.top)
        box = _box(control.control_type, control.focused, shown.replace("\n", " / ")[:52], size)
        picture.paste(box, (place.left, place.top))
    output = io.BytesIO()
    picture.save(output, "PNG", compress_level=1)
    return output.getvalue()


@functools.lru_cache(maxsize=1024)
def _box(control_type: str, focused: bool, shown: str, size: tuple[int, int]) -> Image.Image:
    """One control, in indices of the palette; screens differ in few of them."""
    colours, first_of = _palette()
    first = first_of.get(control_type, 0)
    ink = Image.new("L", size, 0)
    ImageDraw.Draw(ink).text((8, 6), shown, fill=255, font=_font())
    box = Image.frombytes(
        "P", size, ink.tobytes().translate(bytes(first + grey * _SHADES // 256 for grey in range(256)))
    )
    edge = len(colours) // 3 - (1 if focused else 2)
    ImageDraw.Draw(box).rectangle((0, 0, size[0] - 1, size[1] - 1), outline=edge)
    return box


@functools.cache
def _palette() -> tuple[list[int], dict[str, int]]:
    """All colours, as PNG lists them, and where the shades on each type of control begin; the ground's are
    first."""
    colours: list[int] = []
    first_of: dict[str, int] = {}
    for control_type, fill in {"": _GROUND, **_FILLS}.items():
        first_of[control_type] = len(colours) // 3
        for shade in range(_SHADES):
            part = shade / (_SHADES - 1)
            colours += [round(below + (ink - below) * part) for below, ink in zip(fill, _INK, strict=True)]
    return [*colours, *_EDGE, *_FOCUS], first_of


@functools.cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(14)
