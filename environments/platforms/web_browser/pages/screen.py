"""Looking at the screen: one page's controls and picture, with the task bar below."""

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
_LONGEST: Final = 30
_PICTURES: Final = "emoji"


async def fallback_fonts(page: Page) -> list[str]:
    """Plain texts (letters, digits and spaces of ASCII) that no one font draws whole, or a font of pictures,
    each with its fonts: so a page looks whose families are not here."""
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
            if len(names) > 1 or any(_PICTURES in name.lower() for name in names):
                found[f"{text[:_LONGEST]!r} is drawn with {' and '.join(names)}"] = None
        return list(found)
    finally:
        await session.detach()


def _plain_texts(node: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Elements that hold nothing but one plain text, with it."""
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


@functools.lru_cache(maxsize=16)
def compose(page: bytes, bar: bytes, screen_size: tuple[int, int]) -> bytes:
    """The picture of the whole screen: the page above the task bar, both as PNG. One that did not change
    is not made again."""
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
_PLAIN = (8, 2, 0, 0, 0)
"""Eight bits a channel, red, green and blue, packed and filtered as usual, not interlaced."""
_FASTEST = 1


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG picture; (0, 0) for anything else."""
    start = len(_SIGNATURE)
    if len(png) < start + 16 or not png.startswith(_SIGNATURE + b"\0\0\0\rIHDR"):
        return 0, 0
    width, height = struct.unpack_from(">II", png, start + 8)
    return width, height


def plain_rows(pixels: bytes, width: int) -> bytes:
    """Rows of red, green and blue as PNG packs them, without a filter."""
    length = 3 * width
    return b"".join(b"\0" + pixels[start : start + length] for start in range(0, len(pixels), length))


def with_rows_below(png: bytes, rows: bytes) -> bytes | None:
    """The picture with `rows` of the same width below; None where it is not packed as browsers do."""
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
    if tuple(packing) != _PLAIN or len(rows) % (3 * width + 1):
        return None
    try:
        content = zlib.decompress(b"".join(packed))
    except zlib.error:
        return None
    if len(content) != height * (3 * width + 1):
        return None
    packer = zlib.compressobj(_FASTEST)
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
_POSITION = """e => { for (let view = e.ownerDocument.defaultView; ; view = view.parent) {
  try { const at = (view[Symbol.for('taskloom.frames')] || []).indexOf(e); if (at >= 0) return at; } catch (_) { return -1; }
  if (view === view.parent) return -1; } }"""  # noqa: E501
_LIMITS = {"textLimit": 200, "valueLimit": 20_000}


FoundControl = ControlFields
"""One control as `controls.js` reports it: its place is a `rectangle`; of a drop-down field it says `select`,
and of a field with parts of the browser's own the `form` of its value."""
ClosedFrame = dict[str, list[float]]
"""The place of a frame of another origin: its `matrix` and `clip`."""


@dataclass(frozen=True, slots=True)
class View:
    """The screen at one moment, with what is needed to act on it."""

    screenshot: Screenshot
    """The picture, task bar included."""
    page_picture: bytes
    """The picture of the page alone."""
    controls: tuple[Control, ...]
    """Controls of the page, then of the task bar."""
    drop_downs: frozenset[str] = frozenset()
    """Labels of drop-down fields."""
    forms: dict[str, str] = field(default_factory=dict)
    """Per label of a field with parts of the browser's own, such as a date, the form of its value."""
    commands: dict[str, str] = field(default_factory=dict)
    """Per label of a task bar button what it does."""


async def find_controls(tab: Tab) -> list[FoundControl]:
    """The controls on the page, as they are now, those in frames of other origins included."""
    controls, closed = _read(await tab.look(_CONTROLS, _LIMITS))
    return [*controls, *await _in_closed_frames(tab, tab.page.main_frame, closed)] if closed else controls


async def _in_closed_frames(tab: Tab, around: Frame, closed: Sequence[ClosedFrame]) -> list[FoundControl]:
    """The controls of frames that a script of the page cannot enter, at their places in the page."""
    found: list[FoundControl] = []
    for frame in around.child_frames:
        with contextlib.suppress(EnvironmentBrokenError):  # a frame that goes while it is asked shows nothing
            element = await tab.doing(frame.frame_element())
            position = await tab.doing(element.evaluate(_POSITION))
            if not 0 <= position < len(closed):
                found += await _in_closed_frames(tab, frame, closed)
                continue
            controls, inside = _read(await tab.doing(frame.evaluate(_CONTROLS, _LIMITS)))
            controls += await _in_closed_frames(tab, frame, inside)
            moved = (_moved(control, closed[position]) for control in controls)
            found += [control for control in moved if control is not None]
    return found


def _moved(control: FoundControl, frame: ClosedFrame) -> FoundControl | None:
    """A control of a frame at its place in the page around it; None where the frame does not show it."""
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


def _read(answer: Any) -> tuple[list[FoundControl], list[ClosedFrame]]:
    told = json.loads(answer) if isinstance(answer, str) else answer
    return told["controls"], told["closed"]


async def controls_now(tab: Tab, application: str, passing: Mapping[str, str]) -> list[Control]:
    """The controls of the page at this moment, without a picture and without waiting."""
    return _as_controls(await find_controls(tab), application, passing)


async def look_at(
    tab: Tab,
    application: str,
    buttons: Sequence[TaskBarButton],
    passing: Mapping[str, str],
    drawing: Tab,
) -> View:
    """The screen with `tab` in front.

    Texts in `passing`, which differ between environments, are replaced in the texts of controls. `drawing` is
    a page of the environment's own, which draws the bar.
    """
    found, picture = await asyncio.gather(find_controls(tab), tab.capture())
    controls = _as_controls(found, application, passing)
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
    found: Sequence[FoundControl], application: str, passing: Mapping[str, str]
) -> list[Control]:
    def shown(text: str) -> str:
        for old, new in passing.items():
            text = text.replace(old, new)
        return text

    controls = []
    for label, item in enumerate(found, 1):
        left, top, right, bottom = item["rectangle"]
        place = Rectangle(left=left, top=top, right=right, bottom=bottom)
        controls.append(make_control(item, label, place, application, shown))
    return controls
