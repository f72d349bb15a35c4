"""Observes the screen: one page's controls and picture, with the task bar below."""

import asyncio
import base64
import contextlib
import functools
import io
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from PIL import Image
from playwright.async_api import Frame, Page

from taskloom.environments.environment import ControlFields, make_control
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.platforms.web_browser.pages.tab import Tab
from taskloom.environments.platforms.web_browser.settings import SCREEN_SIZE
from taskloom.environments.task_bar import (
    ACTIVE_COLOUR,
    BAR_COLOUR,
    BAR_FONT_SIZE,
    BUTTON_COLOUR,
    TASK_BAR_HEIGHT,
    TEXT_COLOUR,
    TaskBarButton,
    as_controls,
)
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot

_MOST_TEXTS: Final = 400
_TEXT_NODE: Final = 3
_MOST_CHARACTERS: Final = 30
_EMOJI: Final = "emoji"


async def fallback_fonts(page: Page) -> list[str]:
    """Plain texts (letters, digits and spaces of ASCII) drawn in several fonts or in an emoji font, each with
    its fonts: a sign that the font families of the page are not installed."""
    session = await page.context.new_cdp_session(page)
    try:
        await session.send("DOM.enable")
        await session.send("CSS.enable")
        document = await session.send("DOM.getDocument", {"depth": -1, "pierce": True})
        found: dict[str, None] = {}
        for number, (node, text) in enumerate(_plain_texts(document["root"])):
            if number >= _MOST_TEXTS:
                break
            used = await session.send("CSS.getPlatformFontsForNode", {"nodeId": node})
            names = sorted({str(font["familyName"]) for font in used["fonts"]})
            if len(names) > 1 or any(_EMOJI in name.lower() for name in names):
                found[f"{text[:_MOST_CHARACTERS]!r} is drawn with {' and '.join(names)}"] = None
        return list(found)
    finally:
        await session.detach()


def _plain_texts(node: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Elements whose only content is one plain text, with that text."""
    inside = [*node.get("children", ()), *node.get("shadowRoots", ())]
    if isinstance(node.get("contentDocument"), dict):
        inside.append(node["contentDocument"])
    if len(inside) == 1 and inside[0]["nodeType"] == _TEXT_NODE:
        text = " ".join(inside[0]["nodeValue"].split())
        if text and all(
            character.isascii() and (character.isalnum() or character == " ") for character in text
        ):
            yield node["nodeId"], text
        return
    for child in inside:
        yield from _plain_texts(child)


_MOST_CACHED_BARS = 64
_DRAW_BAR = """async ({buttons, size: [width, height], colours: [bar, button, active, ink], font}) => {
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
_bar_pictures: dict[tuple[tuple[TaskBarButton, ...], int], bytes] = {}


async def draw(tab: Tab, buttons: Sequence[TaskBarButton], width: int) -> bytes:
    """The picture of the bar as PNG, drawn by the browser, whose fonts cover titles in every script."""
    key = (tuple(buttons), width)
    if key not in _bar_pictures:
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
        _bar_pictures[key] = base64.b64decode(str(await tab.evaluate(_DRAW_BAR, argument)))
        if len(_bar_pictures) > _MOST_CACHED_BARS:
            del _bar_pictures[next(iter(_bar_pictures))]
    return _bar_pictures[key]


@functools.lru_cache(maxsize=16)
def compose(page: bytes, bar: bytes, screen_size: tuple[int, int]) -> bytes:
    """The picture of the whole screen, the page above the task bar, all as PNG; unchanged ones are cached."""
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


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_PLAIN_FORMAT = (8, 2, 0, 0, 0)
"""Eight bits per channel, RGB, default compression and filters, not interlaced."""
_FASTEST_COMPRESSION = 1


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG picture; (0, 0) for anything else."""
    start = len(_SIGNATURE)
    if len(png) < start + 16 or not png.startswith(_SIGNATURE + b"\0\0\0\rIHDR"):
        return 0, 0
    width, height = struct.unpack_from(">II", png, start + 8)
    return width, height


def plain_rows(pixels: bytes, width: int) -> bytes:
    """Rows of RGB pixels in the form that PNG compresses, without a filter."""
    length = 3 * width
    return b"".join(b"\0" + pixels[start : start + length] for start in range(0, len(pixels), length))


def with_rows_below(png: bytes, rows: bytes) -> bytes | None:
    """The picture with `rows` of its width below; None unless it is packed as browsers pack it."""
    if not png.startswith(_SIGNATURE):
        return None
    header, packed, position = b"", [], len(_SIGNATURE)
    while position < len(png):
        length, kind = int.from_bytes(png[position : position + 4], "big"), png[position + 4 : position + 8]
        data = png[position + 8 : position + 8 + length]
        position += length + 12
        if kind == b"IHDR":
            header = data
        elif kind == b"IDAT":
            packed.append(data)
        elif kind != b"IEND":
            return None
    if len(header) != _HEADER.size:
        return None
    width, height, *packing = _HEADER.unpack(header)
    if tuple(packing) != _PLAIN_FORMAT or len(rows) % (3 * width + 1):
        return None
    try:
        content = zlib.decompress(b"".join(packed))
    except zlib.error:
        return None
    if len(content) != height * (3 * width + 1):
        return None
    packer = zlib.compressobj(_FASTEST_COMPRESSION)
    added = len(rows) // (3 * width + 1)
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", _HEADER.pack(width, height + added, *packing)),
            _chunk(b"IDAT", packer.compress(content) + packer.compress(rows) + packer.flush()),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_CONTROLS = files("taskloom.environments.platforms.web_browser.pages").joinpath("controls.js").read_text()
_FRAME_POSITION = """e => { for (let view = e.ownerDocument.defaultView; ; view = view.parent) {
  try { const at = (view[Symbol.for('taskloom.frames')] || []).indexOf(e); if (at >= 0) return at; } catch (_) { return -1; }
  if (view === view.parent) return -1; } }"""  # noqa: E501
_LIMITS = {"textLimit": 200, "valueLimit": 20_000}


PageControl = ControlFields
"""A control as `controls.js` lists it: with a `rectangle`, with `select` for a drop-down field, and with the
`form` of the value for a field with parts drawn by the browser."""
ClosedFrame = dict[str, list[float]]
"""The `matrix` and `clip` of a frame of another origin."""


@dataclass(frozen=True, slots=True)
class View:
    """The screen at one moment, with everything needed to act on it."""

    screenshot: Screenshot
    """The picture, task bar included."""
    page_picture: bytes
    """The picture of the page alone."""
    controls: tuple[Control, ...]
    """Controls of the page, then of the task bar."""
    drop_downs: frozenset[str] = frozenset()
    """Labels of drop-down fields."""
    forms: dict[str, str] = field(default_factory=dict)
    """Forms of values, by label, for fields with parts drawn by the browser, such as dates."""
    commands: dict[str, str] = field(default_factory=dict)
    """Commands of task bar buttons, by label."""


async def find_controls(tab: Tab) -> list[PageControl]:
    """The current controls of the page, including those in frames of other origins."""
    controls, closed = _parse(await tab.evaluate(_CONTROLS, _LIMITS))
    return [*controls, *await _in_closed_frames(tab, tab.page.main_frame, closed)] if closed else controls


async def _in_closed_frames(tab: Tab, around: Frame, closed: Sequence[ClosedFrame]) -> list[PageControl]:
    """Controls of frames that a script of the page cannot enter, at their positions in the page."""
    found: list[PageControl] = []
    for frame in around.child_frames:
        with contextlib.suppress(EnvironmentBrokenError):  # a frame that vanishes meanwhile has no controls
            element = await tab.run(frame.frame_element())
            position = await tab.run(element.evaluate(_FRAME_POSITION))
            if not 0 <= position < len(closed):
                found += await _in_closed_frames(tab, frame, closed)
                continue
            controls, inside = _parse(await tab.run(frame.evaluate(_CONTROLS, _LIMITS)))
            controls += await _in_closed_frames(tab, frame, inside)
            moved = (_in_page(control, closed[position]) for control in controls)
            found += [control for control in moved if control is not None]
    return found


def _in_page(control: PageControl, frame: ClosedFrame) -> PageControl | None:
    """A control of a frame, placed in the surrounding page; None if the frame does not show it."""
    a, b, c, d, e, f = frame["matrix"]
    left, top, right, bottom = control["rectangle"]
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (top, bottom)]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    x, y = control["point"]
    point = [a * x + c * y + e, b * x + d * y + f]
    first_x, first_y, last_x, last_y = frame["clip"]
    if not (first_x <= point[0] <= last_x and first_y <= point[1] <= last_y):
        return None
    place = (
        max(min(across), first_x),
        max(min(down), first_y),
        min(max(across), last_x),
        min(max(down), last_y),
    )
    return {**control, "rectangle": [round(value) for value in place], "point": point}


def _parse(answer: Any) -> tuple[list[PageControl], list[ClosedFrame]]:
    listed = json.loads(answer) if isinstance(answer, str) else answer
    return listed["controls"], listed["closed"]


async def controls_now(tab: Tab, application: str, replacements: Mapping[str, str]) -> list[Control]:
    """The controls of the page now, without a picture and without waiting."""
    return _as_controls(await find_controls(tab), application, replacements)


async def look_at(
    tab: Tab,
    application: str,
    buttons: Sequence[TaskBarButton],
    replacements: Mapping[str, str],
    drawing: Tab,
) -> View:
    """The screen with `tab` in front.

    `replacements` remove differences between environments from the texts of controls. `drawing` is a page of
    the environment itself, which draws the bar.
    """
    found, picture = await asyncio.gather(find_controls(tab), tab.capture())
    controls = _as_controls(found, application, replacements)
    bar = as_controls(buttons, len(controls) + 1)
    bar_picture = await draw(drawing, buttons, SCREEN_SIZE[0])
    return View(
        screenshot=Screenshot.of(await asyncio.to_thread(compose, picture, bar_picture, SCREEN_SIZE)),
        page_picture=picture,
        controls=(*controls, *bar),
        drop_downs=frozenset(str(label) for label, item in enumerate(found, 1) if item["select"]),
        forms={str(label): item["form"] for label, item in enumerate(found, 1) if item["form"]},
        commands={control.label: button.command for control, button in zip(bar, buttons, strict=True)},
    )


def _as_controls(
    found: Sequence[PageControl], application: str, replacements: Mapping[str, str]
) -> list[Control]:
    def clean(text: str) -> str:
        for old, new in replacements.items():
            text = text.replace(old, new)
        return text

    controls = []
    for label, item in enumerate(found, 1):
        left, top, right, bottom = item["rectangle"]
        place = Rectangle(left=left, top=top, right=right, bottom=bottom)
        controls.append(make_control(item, label, place, application, clean))
    return controls
