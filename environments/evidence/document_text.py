"""What documents of word processors (odt, docx) say: lines, with marks for headings, lists and pictures."""

import hashlib
import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

_ODT = b"application/vnd.oasis.opendocument.text"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DOCX_BODY = "word/document.xml"
_LINES = frozenset({_TEXT + "p", _TEXT + "h", _WORD + "p"})
_ITEMS = frozenset({_TEXT + "list-item"})
_ROWS = frozenset({_TABLE + "table-row", _WORD + "tr"})
_CELLS = frozenset({_TABLE + "table-cell", _WORD + "tc"})
_WORDS = frozenset({_WORD + "t"})
_TABS = frozenset({_TEXT + "tab", _WORD + "tab"})
_BREAKS = frozenset({_TEXT + "line-break", _WORD + "br", _WORD + "cr"})
_UNSEEN = frozenset(
    {
        _TEXT + "tracked-changes",
        _OFFICE + "annotation",
        _OFFICE + "forms",
        _WORD + "pPr",
        _WORD + "rPr",
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)
"""What does not stand in the text, or stands there a second time."""
_HEADING = re.compile(r"heading[ _-]?(\d)", re.IGNORECASE)
_MOST_BYTES = 4 * 1024 * 1024
"""Unpacked bytes of one member that are read."""
_MOST_PICTURES = 50
_MOST_CHARACTERS = 200_000
"""Characters, and parts without any, that are told."""
_UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def render_document(content: bytes) -> str | None:
    """A line per paragraph, with `#` before a heading, once for each level, and `-` before an item of a list;
    a line per row of a table, with tabs between cells; `![](…)` with the SHA-256 of a picture where it
    stands, empty for one outside of the document. Empty paragraphs are empty lines, except at the end. None
    for anything else than such a document, and for one that is damaged or too large.

    Fonts, sizes, places, notes and what was struck out are left out.
    """
    if not content.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            lines = _Reader(packed).lines()
    except (
        zipfile.BadZipFile,
        zlib.error,
        ElementTree.ParseError,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
        KeyError,
    ):
        return None
    return None if lines is None else "\n".join(lines).rstrip("\n") + "\n"


class _Reader:
    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self._pictures: dict[str, str] = {}
        self._related: Mapping[str, str] = {}
        self._left = _MOST_CHARACTERS

    def lines(self) -> list[str] | None:
        names = frozenset(self._packed.namelist())
        if "mimetype" in names and self._read("mimetype").strip() == _ODT:
            body = self._tree("content.xml").find(f"{_OFFICE}body/{_OFFICE}text")
        elif {_DOCX_BODY, "[Content_Types].xml"} <= names:
            body = self._tree(_DOCX_BODY).find(_WORD + "body")
            related = "word/_rels/document.xml.rels"
            self._related = {
                item.get("Id", ""): posixpath.normpath(posixpath.join("/word", item.get("Target", "")))[1:]
                for item in (self._tree(related) if related in names else ())
            }
        else:
            return None
        return None if body is None else list(self._below(body, ""))

    def _below(self, node: ElementTree.Element, mark: str) -> Iterator[str]:
        for item in node:
            self._counted(" ")
            if item.tag in _LINES:
                yield self._line(item, mark)
            elif item.tag in _ROWS:
                yield self._row(item)
            elif item.tag not in _UNSEEN:
                yield from self._below(item, "- " if item.tag in _ITEMS else mark)

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
        return "\t".join(" ".join(self._below(cell, "")) for cell in cells)

    def _inline(self, node: ElementTree.Element) -> Iterator[str]:
        """The pieces of a paragraph, those of what stands in it too."""
        if node.tag.startswith(_TEXT) or node.tag in _WORDS:
            yield self._counted(node.text)
        for item in node:
            self._counted(" ")
            if item.tag == _TEXT + "s":
                yield self._counted(" " * min(int(item.get(_TEXT + "c", "1")), _MOST_CHARACTERS))
            elif item.tag in _TABS:
                yield "\t"
            elif item.tag in _BREAKS:
                yield "\n"
            elif item.tag == _DRAW + "image":
                yield self._picture(posixpath.normpath(item.get(_LINK + "href", "") or ":"))
            elif item.tag == _PICTURE + "blip":
                yield self._picture(self._related.get(item.get(_RELATED + "embed", ""), ""))
            elif item.tag not in _UNSEEN:
                yield from self._inline(item)
            if node.tag.startswith(_TEXT):
                yield self._counted(item.tail)

    def _picture(self, name: str) -> str:
        if name not in self._pictures:
            if len(self._pictures) >= _MOST_PICTURES:
                raise ValueError("too many pictures")
            outside = not name or ":" in name or name.startswith("../")
            self._pictures[name] = "" if outside else hashlib.sha256(self._read(name)).hexdigest()
        return self._counted(f"![]({self._pictures[name]})")

    def _counted(self, text: str | None) -> str:
        """The text on one line; it counts among the characters that are told."""
        self._left -= len(text or "")
        if self._left < 0:
            raise ValueError("too much text")
        return (text or "").replace("\n", " ")

    def _tree(self, name: str) -> ElementTree.Element:
        content = self._read(name)
        if b"<!ENTITY" in content or b"<!DOCTYPE" in content or b"\0" in content:
            raise ValueError("definitions of its own, or letters of several bytes that could hide them")
        return ElementTree.fromstring(content)  # noqa: S314 - what could grow or reach out is refused

    def _read(self, name: str) -> bytes:
        member = self._packed.getinfo(name)
        if member.compress_type not in _UNPACKED:
            raise ValueError("another compression")
        with self._packed.open(member) as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("too large")
        return content
