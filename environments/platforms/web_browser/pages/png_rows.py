"""Rows put below a PNG picture without decoding its pixels.

A picture is drawn at every step. The browser's rows are packed again as they are, which costs less than half
of decoding them, pasting and encoding; the pixels are the same.
"""

from __future__ import annotations

import struct
import zlib

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
    """The picture with `rows` of the same width below; None where it is packed in another way than browsers
    do."""
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
