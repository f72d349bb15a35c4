"""What checks read of packed texts, journals, PDF documents and pictures."""

from __future__ import annotations

import gzip
import html
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from taskloom.environments.evidence import unpacked_text as module
from taskloom.environments.evidence.unpacked_text import GRID, unpacked_text
from taskloom.resources.assets import content_of
from taskloom.resources.reading.catalog import load_applications

WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs", "Cc"]), max_size=40
)
LINES = st.lists(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ,.]{0,30}[A-Za-z0-9]", fullmatch=True), max_size=6)
JOURNAL = """<?xml version="1.0"?>
<xournal creator="Xournal++ 1.1.3" fileversion="4"><preview>AAAA</preview>
<page width="595" height="841"><background type="{kind}" {more}/><layer>{inside}</layer></page></xournal>
"""


def journal(inside: str, kind: str = "solid", more: str = 'style="plain"') -> bytes:
    return JOURNAL.format(inside=inside, kind=kind, more=more).encode()


def document(lines: list[str], tail: str = "") -> bytes:
    body = "BT /F1 12 Tf 72 700 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    return (
        "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"
        "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n"
        "3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >> endobj\n"
        f"4 0 obj << /Length {len(body)} >> stream\n{body}\nendstream endobj\n"
        "5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n"
        f"trailer << /Size 6 /Root 1 0 R >>\n{tail}startxref\n0\n%%EOF\n"
    ).encode()


def picture(image: Image.Image, form: str = "PNG") -> bytes:
    written = io.BytesIO()
    image.save(written, form)
    return written.getvalue()


def told(content: bytes) -> dict[str, Any]:
    _, text = unpacked_text(content) or ("", "")
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@given(WORDS)
def test_a_packed_text_is_its_text(text: str) -> None:
    assert unpacked_text(gzip.compress(text.encode())) == ("packed", text)


@given(st.lists(WORDS, max_size=4), st.booleans())
def test_a_journal_is_what_stands_on_its_pages(texts: list[str], packed: bool) -> None:
    inside = "".join(f'<text x="{len(text)}.5" font="Sans">{html.escape(text)}</text>' for text in texts)
    content = journal(inside + '<stroke tool="pen" width="1.4">1 2 3 4</stroke>')
    [page] = told(gzip.compress(content) if packed else content)["pages"]
    assert page == {
        "background": "plain",
        "content": [*({"text": text} for text in texts), {"stroke": "pen"}],
    }


def test_a_journal_tells_which_document_it_is_written_on() -> None:
    content = journal("", "pdf", 'domain="absolute" filename="/home/user/Documents/a.pdf" pageno="2"')
    [page] = told(content)["pages"]
    assert page == {"background": "pdf", "file": "/home/user/Documents/a.pdf", "page": "2", "content": []}


@pytest.mark.parametrize(
    "content",
    [
        journal("<text>&unknown;</text>"),
        journal("").replace(b"<xournal ", b'<!DOCTYPE x [<!ENTITY a "aaaa">]><xournal '),
        journal("<text>")[:-20],
    ],
)
def test_what_only_looks_like_a_journal_stays_what_it_is(content: bytes) -> None:
    assert unpacked_text(content) is None
    assert unpacked_text(gzip.compress(content)) == ("packed", content.decode())


def test_a_ligature_in_a_document_is_its_letters() -> None:
    encoding = b"<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [126 /fi] >>"
    content = document(["Read this ~rst"]).replace(b"/WinAnsiEncoding", encoding)
    assert unpacked_text(content) == ("pdf", "Read this first\n")


@given(LINES, st.sampled_from(["", "% more\n"]))
def test_a_document_is_its_lines_however_it_is_written(lines: list[str], tail: str) -> None:
    assert unpacked_text(document(lines, tail)) == ("pdf", "".join(f"{line}\n" for line in lines))


def test_prepared_documents_say_what_their_texts_say() -> None:
    application = load_applications()["xournalpp"]
    for fixture in application.fixtures:
        plain = content_of("asset:" + fixture.content.partition(":")[2].split(".")[0] + ".txt", application)
        _, shown = unpacked_text(content_of(fixture.content, application)) or ("", "")
        assert plain.decode().strip() in shown


@given(
    st.integers(1, 60), st.integers(1, 60), st.integers(0, 0xFFFFFF), st.sampled_from(["PNG", "BMP", "GIF"])
)
def test_a_picture_is_its_size_and_its_colours(width: int, height: int, colour: int, form: str) -> None:
    content = picture(Image.new("RGB", (width, height), f"#{colour:06x}"), form)
    found = told(content)
    assert (found["width"], found["height"]) == (width, height)
    assert found["colours"] == [" ".join([f"{colour:06x}"] * GRID)] * GRID


def test_what_is_transparent_is_seen_upon_white_and_equal_pixels_are_equal() -> None:
    clear = picture(Image.new("RGBA", (8, 8), (0, 0, 0, 0)))
    white = picture(Image.new("RGB", (8, 8), "white"))
    assert clear != white and told(clear) == told(white)
    dotted = Image.new("RGB", (640, 640), "white")
    dotted.putpixel((3, 3), (254, 255, 255))
    plain = told(picture(Image.new("RGB", (640, 640), "white")))
    assert told(picture(dotted))["colours"] == plain["colours"]
    assert told(picture(dotted))["pixels"] != plain["pixels"]


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"%PDF-1.4\n", b"\x1f\x8b\x08", b"\x89PNG\r\n\x1a\n", b"<"]),
)
def test_anything_may_be_thrown_at_it(content: bytes, head: bytes) -> None:
    assert isinstance(unpacked_text(head + content), tuple | None)


def test_bombs_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 5_000)
    monkeypatch.setattr(module, "_MOST_PIXELS", 5_000)
    assert unpacked_text(gzip.compress(b" " * 6_000)) is None
    assert unpacked_text(picture(Image.new("RGB", (100, 100)))) is None


def test_many_operations_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_OPERATIONS", 30)
    assert unpacked_text(document(["one line"])) == ("pdf", "one line\n")
    assert unpacked_text(document(["one line"] * 40)) is None
    monkeypatch.setattr(module, "_MOST_PAGES", 0)
    assert unpacked_text(document(["one line"])) is None, "else the rest would count as absent"


@pytest.mark.parametrize("form", ["PPM", "EPS", "XBM", "PCX"])
def test_pictures_that_are_texts_or_programs_are_not_drawn(form: str) -> None:
    assert unpacked_text(picture(Image.new("1" if form == "XBM" else "RGB", (8, 8)), form)) is None


def test_whatever_a_reader_of_pictures_raises_says_that_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("Decoding of color planes failed")

    monkeypatch.setattr(Image.Image, "convert", broken)
    content = picture(Image.new("RGB", (8, 8)))
    assert unpacked_text(content) is None


def test_pages_inside_of_pages_are_no_pages() -> None:
    nested = "<page>" * 20 + "<layer><text>a</text></layer>" + "</page>" * 20
    assert len(told(journal(nested))["pages"]) == 1
