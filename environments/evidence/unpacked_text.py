"""What a file says that is no text as it stands: packed texts, pages of PDF documents, pictures."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import logging
import warnings
import zlib

from PIL import Image

from taskloom.environments.evidence.journal_text import render_journal
from taskloom.environments.evidence.project_text import render_project
from taskloom.environments.evidence.workbook_text import render_workbook

GRID = 16
"""Rows and columns of a picture whose mean colours are told."""
_MOST_BYTES = 16 * 1024 * 1024
"""Bytes, packed or not, that are looked at."""
_MOST_PIXELS = 16_000_000
_MOST_PAGES = 200
_MOST_OPERATIONS = 100_000
"""Operations of all pages together; a document that is drawn with more is not read to its end."""
_PICTURES = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
"""Kinds of pictures that are read. Others are texts of another sort, or drawn by programs that they start."""
_WHITE = (255, 255, 255, 255)


def unpacked_text(content: bytes) -> str | None:
    """A text for people and checks: the cells of a workbook, the pages of a journal, the tasks of a project,
    what another compressed text says, the lines of a PDF document, size and colours of a picture. None for
    anything else."""
    if len(content) > _MOST_BYTES:
        return None
    if (cells := render_workbook(content)) is not None:
        return cells
    packed = content.startswith(b"\x1f\x8b")
    if packed or content.lstrip().startswith(b"<"):
        text = _decompressed(content) if packed else content.decode(errors="replace")
        for render in (render_journal, render_project):
            if text is not None and (shown := render(text)) is not None:
                return shown
        return text if packed else None
    if content.startswith(b"%PDF-"):
        return _pages(content)
    return _picture(content)


def _decompressed(content: bytes) -> str | None:
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            text = packed.read(_MOST_BYTES + 1)
        return None if len(text) > _MOST_BYTES or b"\0" in text else text.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None


def _pages(content: bytes) -> str | None:
    """The lines of all pages in the order in which they are written, without spaces around them; pages
    without text are empty, a document that is too long or cannot be read has no text."""
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
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def _picture(content: bytes) -> str | None:
    """JSON with `width` and `height` in pixels, `pixels`, a hash of their colours, and `colours`: the mean
    colours of a grid of `GRID` by `GRID`, row by row, as they are seen upon white."""
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(content), formats=_PICTURES) as opened,
        ):
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            seen = opened.convert("RGBA")
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
