"""What a file says that is no text as it stands: packed texts, PDF documents, pictures, bookmarks."""

import gzip
import hashlib
import io
import json
import logging
import re
import unicodedata
import warnings
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree

from PIL import Image

from taskloom.environments.evidence.application_files import (
    render_bookmarks,
    render_journal,
    render_playlist,
    render_project,
    render_wallet,
    render_workbook,
)

GRID = 16
"""Rows and columns of a picture whose mean colours are told."""
_MOST_BYTES = 16 * 1024 * 1024
"""Bytes, packed or not, that are looked at."""
_MOST_PIXELS = 16_000_000
_MOST_PAGES = 200
_MOST_OPERATIONS = 100_000
"""Operations of all pages together; a document that is drawn with more is not read to its end."""
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_PICTURES = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
"""Kinds of pictures that are read. Others are texts of another sort, or drawn by programs that they start."""
_WHITE = (255, 255, 255, 255)
_HEAD = 1000
_ROOT = re.compile(r"(?>\s|<\?.*?\?>|<!--.*?-->)*+<([\w:]+)", re.DOTALL)
_RENDERED: Mapping[str, Callable[[ElementTree.Element], str | None]] = MappingProxyType(
    {
        "xournal": render_journal,
        "project": render_project,
        "homebank": render_wallet,
        "playlist": render_playlist,
    }
)
"""Documents in XML that are shown, by the names of their roots."""


def unpacked_text(content: bytes) -> tuple[str, str] | None:
    """What a file is, and a text for people and checks: cells of a workbook, pages of a journal, tasks of a
    project, transactions of a wallet, tracks of a playlist, bookmarks, what another compressed text says, the
    lines of a PDF document, size and colours of a picture. None for anything else."""
    if len(content) > _MOST_BYTES:
        return None
    packed = content.startswith(b"\x1f\x8b")
    unpacked = _decompressed(content) if packed else content
    if unpacked is None:
        return None
    if unpacked.lstrip().startswith(b"<"):
        text = unpacked.decode(errors="replace")
        table = render_workbook(text)
        told = ("workbook", table) if table is not None else _rendered(text)
        if told is not None:
            return told
    if (bookmarks := render_bookmarks(unpacked)) is not None:
        return "bookmarks", bookmarks
    if packed:
        kind, shown = "packed", _as_text(unpacked)
    elif content.startswith(b"%PDF-"):
        kind, shown = "pdf", _pages(content)
    else:
        kind, shown = "picture", picture_text(content)
    return None if shown is None else (kind, shown)


def _decompressed(content: bytes) -> bytes | None:
    """What was packed; None if that is too much, or damaged."""
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            unpacked = packed.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return None if len(unpacked) > _MOST_BYTES else unpacked


def _as_text(content: bytes) -> str | None:
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _rendered(text: str) -> tuple[str, str] | None:
    root = _ROOT.match(text[:_HEAD])
    render = _RENDERED.get(root.group(1)) if root else None
    if root is None or render is None or "<!ENTITY" in text or "<!DOCTYPE" in text:
        return None
    try:
        shown = render(ElementTree.fromstring(text))  # noqa: S314 - what could grow or reach out is refused
    except (ElementTree.ParseError, ValueError):
        return None
    return None if shown is None else (root.group(1), shown)


def _pages(content: bytes) -> str | None:
    """The lines of all pages in the order in which they are written, without spaces around them, ligatures as
    letters; pages without text are empty, a document that is too long or cannot be read has no text."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    operations = 0

    def count(*_: object) -> None:
        nonlocal operations
        operations += 1
        if operations > _MOST_OPERATIONS:
            raise ValueError("too many operations")

    try:
        with warnings.catch_warnings(action="ignore"):
            pages = PdfReader(io.BytesIO(content)).pages
            if len(pages) > _MOST_PAGES:
                return None
            texts = [page.extract_text(visitor_operand_before=count) for page in pages]
    except Exception:  # a file from anywhere, read by a library that promises no errors of its own
        return None
    if operations > _MOST_OPERATIONS:
        return None
    lines = [line.strip() for text in texts for line in text.translate(_LIGATURES).splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def picture_text(content: bytes, size: tuple[int, int] | None = None) -> str | None:
    """JSON with `width` and `height` in pixels, `pixels`, a hash of their colours, and `colours`: the mean
    colours of a grid of `GRID` by `GRID`, row by row, as they are seen upon white. With a `size`, of that
    much of the picture, from its upper left corner. None for what is no picture."""
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(content), formats=_PICTURES) as opened,
        ):
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            seen = opened.convert("RGBA").crop((0, 0, *(size or opened.size)))
    except Exception:  # a file from anywhere, whose readers raise whatever they meet
        return None
    upon = Image.alpha_composite(Image.new("RGBA", seen.size, _WHITE), seen).convert("RGB")
    grid = upon.resize((GRID, GRID), Image.Resampling.BOX).tobytes().hex()
    told = {
        "width": seen.width,
        "height": seen.height,
        "pixels": hashlib.sha256(upon.tobytes()).hexdigest()[:16],
        "colours": [
            " ".join(grid[row + place : row + place + 6] for place in range(0, GRID * 6, 6))
            for row in range(0, len(grid), GRID * 6)
        ],
    }
    return json.dumps(told, indent=1)
