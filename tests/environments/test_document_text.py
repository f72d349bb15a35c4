"""What checks read of documents of word processors: their lines, whoever wrote them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence import unpacked_text as module
from taskloom.environments.evidence.file_snapshot import FileSnapshots
from taskloom.environments.evidence.unpacked_text import render_document

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_OPEN_XML = "http://schemas.openxmlformats.org/"
ODT = f"""<office:document-content xmlns:office="{_ODF}office:1.0" xmlns:text="{_ODF}text:1.0"
 xmlns:table="{_ODF}table:1.0" xmlns:draw="{_ODF}drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">
<office:body><office:text>{{}}</office:text></office:body></office:document-content>"""
DOCX = f"""<w:document xmlns:w="{_OPEN_XML}wordprocessingml/2006/main"
 xmlns:a="{_OPEN_XML}drawingml/2006/main" xmlns:r="{_OPEN_XML}officeDocument/2006/relationships"
 xmlns:mc="{_OPEN_XML}markup-compatibility/2006"><w:body>{{}}</w:body></w:document>"""
KIND = "application/vnd.oasis.opendocument.text"
RELATED = """<Relationships><Relationship Id="r1" Target="media/one.png"/></Relationships>"""
PICTURE = b"\x89PNG and so on"
SHOWN = f"![]({hashlib.sha256(PICTURE).hexdigest()})"
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)
PARAGRAPHS = st.lists(st.tuples(TEXTS, st.integers(0, 9)), max_size=6)


def packed(members: Mapping[str, str | bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return written.getvalue()


def odt(inside: str) -> bytes:
    return packed({"mimetype": KIND, "content.xml": ODT.format(inside), "Pictures/one.png": PICTURE})


def docx(inside: str) -> bytes:
    members = {"[Content_Types].xml": "<Types/>", "word/_rels/document.xml.rels": RELATED}
    return packed(members | {"word/document.xml": DOCX.format(inside), "word/media/one.png": PICTURE})


def docx_line(text: str, level: int = 0) -> str:
    style = f'<w:pPr><w:pStyle w:val="Heading {level}"/></w:pPr>' if level else ""
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def odt_line(text: str, level: int = 0) -> str:
    tag, at = ("h", f' text:outline-level="{level}"') if level else ("p", "")
    return f"<text:{tag}{at}>{escape(text)}</text:{tag}>"


@given(PARAGRAPHS)
def test_both_kinds_say_their_paragraphs_and_headings(paragraphs: list[tuple[str, int]]) -> None:
    lines = [("#" * level + " " if level else "") + text for text, level in paragraphs]
    expected = "\n".join(lines).rstrip("\n") + "\n"
    assert render_document(odt("".join(odt_line(*item) for item in paragraphs))) == expected
    assert render_document(docx("".join(docx_line(*item) for item in paragraphs))) == expected


def test_what_stands_in_an_odt_beside_paragraphs_is_told_in_its_place() -> None:
    inside = (
        "<text:tracked-changes><text:p>struck out</text:p></text:tracked-changes>"
        '<text:section><text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d'
        "<office:annotation><text:p>a note</text:p></office:annotation><text:span>e</text:span>\nf</text:p>"
        "</text:section><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>"
        "<table:table-cell><text:p>y</text:p><text:p>z</text:p></table:table-cell></table:table-row></table:table>"
        '<text:p><draw:frame><draw:image xlink:href="Pictures/one.png"/></draw:frame></text:p><text:p/>'
    )
    assert render_document(odt(inside)) == f"a  b\tc\nde f\n- one\nx\ty z\n{SHOWN}\n"


def test_what_stands_in_a_docx_beside_paragraphs_is_told_in_its_place() -> None:
    inside = (
        "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:delText>struck</w:delText></w:r></w:p>"
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"
        '<w:p><w:r><w:drawing><a:blip r:embed="r1"/></w:drawing></w:r></w:p>'
        "<mc:AlternateContent><mc:Fallback><w:p><w:r><w:t>again</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    assert render_document(docx(inside)) == f"a\tb\n\n- one\nx\t\n{SHOWN}\n"


@pytest.mark.parametrize(
    ("target", "told"), [("/word/media/one.png", SHOWN), ("https://example.org/a.png", "![]()")]
)
def test_pictures_are_found_from_the_root_and_may_be_elsewhere(
    target: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "RELATED", RELATED.replace("media/one.png", target))
    assert render_document(docx('<w:p><w:r><a:blip r:embed="r1"/></w:r></w:p>')) == f"{told}\n"
    linked = "./Pictures/one.png" if told == SHOWN else target
    frame = f'<text:p><draw:frame><draw:image xlink:href="{linked}"/></draw:frame></text:p>'
    assert render_document(odt(frame)) == f"{told}\n"


def test_definitions_do_not_hide_behind_letters_of_several_bytes() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "c">]>' + ODT.format(
        "<text:p>&b;</text:p>"
    )
    assert render_document(packed({"mimetype": KIND, "content.xml": text.encode("utf-16")})) is None


@given(st.binary(max_size=60), st.integers(0, 400), st.sampled_from(["odt", "docx"]))
def test_damaged_documents_are_none_or_another(junk: bytes, place: int, kind: str) -> None:
    content = odt(odt_line("text")) if kind == "odt" else docx(docx_line("text"))
    assert isinstance(render_document(content[:place] + junk + content[place + len(junk) :]), str | None)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04",
        packed({"a": "text"}),
        packed({"mimetype": "application/epub+zip", "content.xml": ODT.format("")}),
        packed({"mimetype": KIND}),
        odt("<text:p>"),
        odt('<text:p><draw:frame><draw:image xlink:href="Pictures/none.png"/></draw:frame></text:p>'),
        odt('<text:h text:outline-level="one">a</text:h>'),
        packed(
            {
                "mimetype": KIND,
                "content.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]>' + ODT.format("<text:p>&a;</text:p>"),
            }
        ),
        odt("<text:section>" * 5_000 + "</text:section>" * 5_000),
        odt('<text:p><text:s text:c="200001"/></text:p>'),
        odt("<text:p/>" * 200_001),
        docx("<w:p><w:r>" + "<w:tab/>" * 200_001 + "</w:r></w:p>"),
    ],
)
def test_other_archives_and_bombs_are_no_documents(content: bytes) -> None:
    assert render_document(content) is None


def test_large_members_and_many_pictures_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = odt('<text:p><draw:image xlink:href="Pictures/one.png"/></text:p>')
    assert render_document(shown) == f"{SHOWN}\n"
    monkeypatch.setattr(module, "_MOST_PICTURES", 0)
    assert render_document(shown) is None
    monkeypatch.setattr(module, "_LARGEST_MEMBER", 100)
    assert render_document(odt("")) is None


def test_evidence_says_what_kind_of_file_it_was(tmp_path: Path) -> None:
    (tmp_path / "letter.odt").write_bytes(odt(odt_line("Dear Ada")))
    (tmp_path / "other.odt").write_bytes(odt("<text:p>"))
    files = FileSnapshots(tmp_path).take().files
    assert [(file.content, file.truncated) for file in files] == [("document", False), ("archive", False)]
    assert files[0].text == "Dear Ada\n"
