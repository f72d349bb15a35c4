"""Extracts text from files that are not plain text: documents of word processors (odt, docx) as lines,
compressed texts, PDF documents, pictures, and files of single applications."""

import gzip
import hashlib
import io
import json
import logging
import posixpath
import re
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
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

_ODT = b"application/vnd.oasis.opendocument.text"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DOCX_BODY = "word/document.xml"
_LINES = frozenset({_TEXT + "p", _TEXT + "h", _WORD + "p"})
_ITEMS = frozenset({_TEXT + "list-item"})
_ROWS = frozenset({_TABLE + "table-row", _WORD + "tr"})
_CELLS = frozenset({_TABLE + "table-cell", _WORD + "tc"})
_WORDS = frozenset({_WORD + "t"})
_TABS = frozenset({_TEXT + "tab", _WORD + "tab"})
_BREAKS = frozenset({_TEXT + "line-break", _WORD + "br", _WORD + "cr"})
_SKIPPED_TAGS = frozenset(
    {
        _TEXT + "tracked-changes",
        _OFFICE + "annotation",
        _OFFICE + "forms",
        _WORD + "pPr",
        _WORD + "rPr",
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)
"""Elements that are not part of the text, or repeat it."""
_HEADING = re.compile(r"heading[ _-]?(\d)", re.IGNORECASE)
_LARGEST_MEMBER = 4 * 1024 * 1024
"""Unpacked bytes of one member that are read."""
_MOST_PICTURES = 50
_MOST_CHARACTERS = 200_000
"""Characters of a document that are read; each element counts as one more."""
DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError)
"""Raised when reading an archive that is damaged, encrypted, or compressed in an unknown way."""
IN_PIECES = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions of zip archives that can be unpacked in pieces, as a guard against zip bombs."""


def render_document(content: bytes) -> str | None:
    """A line per paragraph, with one `#` per level before a heading, and `-` before a list item; a line per
    row of a table, with tabs between cells; `![](…)` with the SHA-256 of a picture at its place, empty for
    one outside of the document. Empty paragraphs are empty lines, except at the end. None for anything but
    such a document, and for one that is damaged or too large.

    Fonts, sizes, places, notes and deleted text are left out.
    """
    if not content.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            lines = _DocumentReader(packed).lines()
    except (*DAMAGED, ElementTree.ParseError, KeyError):
        return None
    return None if lines is None else "\n".join(lines).rstrip("\n") + "\n"


class _DocumentReader:
    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self._pictures: dict[str, str] = {}
        self._targets_by_id: Mapping[str, str] = {}
        self._remaining = _MOST_CHARACTERS

    def lines(self) -> list[str] | None:
        names = frozenset(self._packed.namelist())
        if "mimetype" in names and self._read("mimetype").strip() == _ODT:
            body = self._tree("content.xml").find(f"{_OFFICE}body/{_OFFICE}text")
        elif {_DOCX_BODY, "[Content_Types].xml"} <= names:
            body = self._tree(_DOCX_BODY).find(_WORD + "body")
            relationships = "word/_rels/document.xml.rels"
            self._targets_by_id = {
                item.get("Id", ""): posixpath.normpath(posixpath.join("/word", item.get("Target", "")))[1:]
                for item in (self._tree(relationships) if relationships in names else ())
            }
        else:
            return None
        return None if body is None else list(self._lines_below(body, ""))

    def _lines_below(self, node: ElementTree.Element, mark: str) -> Iterator[str]:
        for item in node:
            self._within_limit(" ")
            if item.tag in _LINES:
                yield self._line(item, mark)
            elif item.tag in _ROWS:
                yield self._row(item)
            elif item.tag not in _SKIPPED_TAGS:
                yield from self._lines_below(item, "- " if item.tag in _ITEMS else mark)

    def _line(self, node: ElementTree.Element, mark: str) -> str:
        style = node.find(f"{_WORD}pPr/{_WORD}pStyle")
        level = 0
        if node.tag == _TEXT + "h":
            level = int(node.get(_TEXT + "outline-level", "1"))
        elif style is not None and (named := _HEADING.fullmatch(style.get(_WORD + "val", ""))):
            level = int(named.group(1))
        if level:
            mark = "#" * min(level, 9) + " "
        elif node.find(f"{_WORD}pPr/{_WORD}numPr") is not None:
            mark = "- "
        return mark + "".join(self._inline(node))

    def _row(self, row: ElementTree.Element) -> str:
        cells = (cell for cell in row if cell.tag in _CELLS)
        return "\t".join(" ".join(self._lines_below(cell, "")) for cell in cells)

    def _inline(self, node: ElementTree.Element) -> Iterator[str]:
        """The pieces of text of a paragraph and everything in it."""
        if node.tag.startswith(_TEXT) or node.tag in _WORDS:
            yield self._within_limit(node.text)
        for item in node:
            self._within_limit(" ")
            if item.tag == _TEXT + "s":
                yield self._within_limit(" " * min(int(item.get(_TEXT + "c", "1")), _MOST_CHARACTERS))
            elif item.tag in _TABS:
                yield "\t"
            elif item.tag in _BREAKS:
                yield "\n"
            elif item.tag == _DRAW + "image":
                yield self._picture(posixpath.normpath(item.get(_LINK + "href", "") or ":"))
            elif item.tag == _PICTURE + "blip":
                yield self._picture(self._targets_by_id.get(item.get(_RELATIONSHIPS + "embed", ""), ""))
            elif item.tag not in _SKIPPED_TAGS:
                yield from self._inline(item)
            if node.tag.startswith(_TEXT):
                yield self._within_limit(item.tail)

    def _picture(self, name: str) -> str:
        if name not in self._pictures:
            if len(self._pictures) >= _MOST_PICTURES:
                raise ValueError("too many pictures")
            outside = not name or ":" in name or name.startswith("../")
            self._pictures[name] = "" if outside else hashlib.sha256(self._read(name)).hexdigest()
        return self._within_limit(f"![]({self._pictures[name]})")

    def _within_limit(self, text: str | None) -> str:
        """The text on one line; its characters count towards the limit."""
        self._remaining -= len(text or "")
        if self._remaining < 0:
            raise ValueError("too much text")
        return (text or "").replace("\n", " ")

    def _tree(self, name: str) -> ElementTree.Element:
        content = self._read(name)
        if b"<!ENTITY" in content or b"<!DOCTYPE" in content or b"\0" in content:
            raise ValueError("XML definitions, or an encoding that could hide them")
        return ElementTree.fromstring(content)  # noqa: S314 - entities and document types are refused

    def _read(self, name: str) -> bytes:
        member = self._packed.getinfo(name)
        if member.compress_type not in IN_PIECES:
            raise ValueError("unsupported compression")
        with self._packed.open(member) as opened:
            content = opened.read(_LARGEST_MEMBER + 1)
        if len(content) > _LARGEST_MEMBER:
            raise ValueError("too large")
        return content


GRID = 16
"""Rows and columns of the grid whose mean colours describe a picture."""
_MOST_BYTES = 16 * 1024 * 1024
"""Largest file that is read, in bytes, compressed or not."""
_MOST_PIXELS = 16_000_000
_MOST_PAGES = 200
_MOST_OPERATIONS = 100_000
"""Drawing operations of all pages together; a document with more is not read to its end."""
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_PICTURES = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
"""Picture formats that are read; others are really texts, or start external programs to be drawn."""
_WHITE = (255, 255, 255, 255)
_HEAD = 1000
_ROOT = re.compile(r"(?>\s|<\?.*?\?>|<!--.*?-->)*+<([\w:]+)", re.DOTALL)
_RENDERERS: Mapping[str, Callable[[ElementTree.Element], str | None]] = {
    "xournal": render_journal,
    "project": render_project,
    "homebank": render_wallet,
    "playlist": render_playlist,
}
"""Renderers of XML documents by the names of their root elements."""


def unpacked_text(content: bytes) -> tuple[str, str] | None:
    """The kind of a file, and its content as text for people and checks: cells of a workbook, pages of a
    journal, tasks of a project, transactions of a wallet, tracks of a playlist, bookmarks, any other
    compressed text, the lines of a PDF document, size and colours of a picture. None for anything else."""
    if len(content) > _MOST_BYTES:
        return None
    packed = content.startswith(b"\x1f\x8b")
    unpacked = _decompress(content) if packed else content
    if unpacked is None:
        return None
    if unpacked.lstrip().startswith(b"<"):
        text = unpacked.decode(errors="replace")
        table = render_workbook(text)
        rendered = ("workbook", table) if table is not None else _render_xml(text)
        if rendered is not None:
            return rendered
    if (bookmarks := render_bookmarks(unpacked)) is not None:
        return "bookmarks", bookmarks
    if packed:
        kind, extracted = "packed", _decode(unpacked)
    elif content.startswith(b"%PDF-"):
        kind, extracted = "pdf", _pdf_text(content)
    else:
        kind, extracted = "picture", picture_text(content)
    return None if extracted is None else (kind, extracted)


def _decompress(content: bytes) -> bytes | None:
    """The decompressed content; None if it is too large or damaged."""
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            unpacked = packed.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return None if len(unpacked) > _MOST_BYTES else unpacked


def _decode(content: bytes) -> str | None:
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _render_xml(text: str) -> tuple[str, str] | None:
    root = _ROOT.match(text[:_HEAD])
    render = _RENDERERS.get(root.group(1)) if root else None
    if root is None or render is None or "<!ENTITY" in text or "<!DOCTYPE" in text:
        return None
    try:
        shown = render(ElementTree.fromstring(text))  # noqa: S314 - entities and document types are refused
    except (ElementTree.ParseError, ValueError):
        return None
    return None if shown is None else (root.group(1), shown)


def _pdf_text(content: bytes) -> str | None:
    """The lines of all pages in the order written, stripped, with ligatures as letters; empty pages give
    no lines. None for a document that is too long or cannot be read."""
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
    except Exception:  # an untrusted file, read by a library that may raise anything
        return None
    if operations > _MOST_OPERATIONS:
        return None
    lines = [line.strip() for text in texts for line in text.translate(_LIGATURES).splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def picture_text(content: bytes, size: tuple[int, int] | None = None) -> str | None:
    """JSON with `width` and `height` in pixels, `pixels` (a hash of their colours), and `colours`: the mean
    colours of a grid of `GRID` by `GRID`, row by row, on a white background. With a `size`, only the upper
    left part of that size is described. None for anything but a picture."""
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(content), formats=_PICTURES) as opened,
        ):
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            picture = opened.convert("RGBA").crop((0, 0, *(size or opened.size)))
    except Exception:  # an untrusted file, whose readers may raise anything
        return None
    on_white = Image.alpha_composite(Image.new("RGBA", picture.size, _WHITE), picture).convert("RGB")
    grid = on_white.resize((GRID, GRID), Image.Resampling.BOX).tobytes().hex()
    description = {
        "width": picture.width,
        "height": picture.height,
        "pixels": hashlib.sha256(on_white.tobytes()).hexdigest()[:16],
        "colours": [
            " ".join(grid[row + place : row + place + 6] for place in range(0, GRID * 6, 6))
            for row in range(0, len(grid), GRID * 6)
        ],
    }
    return json.dumps(description, indent=1)
