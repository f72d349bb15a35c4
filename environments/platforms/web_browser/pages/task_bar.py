"""Draws the task bar and puts it below the picture of a page, without decoding that."""

import base64
import functools
import io
import struct
import zlib
from collections.abc import Sequence

from PIL import Image

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


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_PLAIN = (8, 2, 0, 0, 0)
"""Eight bits a channel, red, green and blue, packed and filtered as usual, not interlaced."""
_FASTEST = 1


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG picture; (0, 0) for anything else."""
    start = len(_SIGNATURE)
    if not png.startswith(_SIGNATURE) or len(png) < start + 16 or png[start + 4 : start + 8] != b"IHDR":
        return 0, 0
    return int.from_bytes(png[start + 8 : start + 12], "big"), int.from_bytes(
        png[start + 12 : start + 16], "big"
    )


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
