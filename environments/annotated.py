"""Annotated screenshots: a numbered box around every control, coloured by control type (App. E.1)."""

import functools
import hashlib
import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle

COLOURS = {
    "Button": "#c62828",
    "TaskBarButton": "#6d4c41",
    "Hyperlink": "#1565c0",
    "Edit": "#2e7d32",
    "ComboBox": "#00838f",
    "CheckBox": "#ad1457",
    "RadioButton": "#ad1457",
    "MenuItem": "#6a1b9a",
    "TabItem": "#4527a0",
    "ListItem": "#ef6c00",
    "TreeItem": "#ef6c00",
    "DataItem": "#558b2f",
    "Slider": "#00695c",
    "Spinner": "#00695c",
    "Image": "#546e7a",
    "Canvas": "#37474f",
    "Custom": "#d84315",
}
"""Colour per control type; types that are not listed get a colour derived from their name."""

_PLAIN_TYPES = frozenset({"Text", "Heading", "Header"})
_READ_ONLY = _PLAIN_TYPES | {"Image", "DataItem", "ProgressBar", "Video", "Audio"}
_FONT_SIZE = 11
_TAG_HEIGHT = 12
_UNIFORM_RANGE = 40


def annotate(observation: Observation, *, include_text: bool = True) -> bytes:
    """The screenshot with a numbered box around every control, as PNG.

    A number is drawn at the box's upper left corner, or next to it if that place is taken.
    Without `include_text`, only usable controls are boxed: no texts, headings, cells, pictures or disabled
    controls.

    Raises:
        ValueError: the screenshot has no bytes, because only its hash was read back.
    """
    if not observation.screenshot.png:
        raise ValueError("This observation's screenshot has no picture, only a hash.")
    with Image.open(io.BytesIO(observation.screenshot.png)) as opened:
        picture = opened.convert("RGB")
    pen = ImageDraw.Draw(picture, "RGBA")
    shown = [
        control
        for control in observation.controls
        if include_text or (control.control_type not in _READ_ONLY and not control.disabled)
    ]
    places = [control.rectangle for control in shown]
    greyscale = picture.convert("L")
    taken: list[Rectangle] = []
    for control in shown:
        place = control.rectangle
        colour = colour_of(control.control_type)
        width = 1 if control.control_type in _PLAIN_TYPES or place.bottom - place.top < 2 * _TAG_HEIGHT else 2
        pen.rectangle((place.left, place.top, place.right - 1, place.bottom - 1), outline=colour, width=width)
    for control in shown:
        tag = _place_number(control, taken, places, greyscale)
        taken.append(tag)
        colour = colour_of(control.control_type)
        pen.rectangle((tag.left, tag.top, tag.right - 1, tag.bottom - 1), fill=colour)
        middle = ((tag.left + tag.right) / 2, (tag.top + tag.bottom) / 2)
        pen.text(middle, control.label, fill="#ffffff", font=font(_FONT_SIZE), anchor="mm")
    output = io.BytesIO()
    picture.save(output, "PNG", compress_level=1)
    return output.getvalue()


def colour_of(control_type: str) -> str:
    """The colour of a control type, the same everywhere.

    >>> colour_of("Button"), colour_of("Text")
    ('#c62828', '#5c6670')
    """
    if control_type in _PLAIN_TYPES:
        return "#5c6670"
    known = COLOURS.get(control_type)
    if known is not None:
        return known
    red, green, blue = hashlib.sha256(control_type.encode()).digest()[:3]
    return f"#{red // 2:02x}{green // 2:02x}{blue // 2:02x}"


def _place_number(
    control: Control, taken: Sequence[Rectangle], others: Sequence[Rectangle], greyscale: Image.Image
) -> Rectangle:
    """The place for a number that covers the least of other numbers, controls and the greyscale picture."""
    width = round(font(_FONT_SIZE).getlength(control.label)) + 5
    place = control.rectangle
    middle = place.top + (place.bottom - place.top - _TAG_HEIGHT) // 2
    candidates = (
        (place.left, place.top),
        (place.right - width, middle),
        (place.left, middle),
        (place.right - width, place.top),
        (place.left, place.bottom - _TAG_HEIGHT),
        (place.left - width // 2, place.top - _TAG_HEIGHT + 3),
        (place.right - width // 2, place.top - _TAG_HEIGHT + 3),
        (place.left, place.bottom - 3),
        (place.left - width, middle),
        (place.right, middle),
    )
    tags = []
    for x, y in candidates:
        left, top = max(0, min(x, greyscale.width - width)), max(0, min(y, greyscale.height - _TAG_HEIGHT))
        tags.append(Rectangle(left=left, top=top, right=left + width, bottom=top + _TAG_HEIGHT))
    area = width * _TAG_HEIGHT
    around = [other for other in others if not _contains(other, place)]

    def cost(tag: Rectangle) -> float:
        shades = greyscale.crop((tag.left, tag.top, tag.right, tag.bottom)).tobytes()
        busy = max(shades) - min(shades) > _UNIFORM_RANGE
        hidden = area if busy else 0.1 * (area - _common_area(tag, place))
        numbers = sum(_common_area(tag, other) for other in taken)
        return hidden + 20 * numbers + sum(_common_area(tag, other) for other in around)

    return min(tags, key=cost)


def _contains(outer: Rectangle, inner: Rectangle) -> bool:
    return outer.contains(inner.left, inner.top) and outer.contains(inner.right - 1, inner.bottom - 1)


def _common_area(one: Rectangle, other: Rectangle) -> int:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    return width * height if width > 0 and height > 0 else 0


@functools.cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font in which pictures are labelled, `size` pixels high."""
    return ImageFont.load_default(size)
