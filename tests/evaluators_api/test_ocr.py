"""Pictures are read lazily, once, and by controls' gaps; without a program the answer is a refusal."""

import io
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from taskloom.environments.evidence.picture_text import available_engine, pieces_of_words
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.ocr import ScreenReader, texts_of
from taskloom.evaluators_api.text_matching import read_in_picture
from taskloom.taskgraph.records.interaction import Screenshot


def picture(*texts: tuple[int, int, str]) -> Screenshot:
    image = Image.new("RGB", (900, 200), "white")
    font = ImageFont.load_default(28)
    for left, top, text in texts:
        ImageDraw.Draw(image).text((left, top), text, fill="black", font=font)
    data = io.BytesIO()
    image.save(data, "PNG")
    return Screenshot.of(data.getvalue())


def word(text: str, left: int, line: int = 1, width: int = 50) -> dict[str, str]:
    return {
        "text": text,
        "left": str(left),
        "width": str(width),
        "height": "20",
        "top": str(30 * line),
        "block_num": "1",
        "par_num": "1",
        "line_num": str(line),
    }


def test_wide_gaps_separate_controls_on_one_line() -> None:
    words = [
        word("Save", 0),
        word("Save", 200),
        word("As", 260),
        word("Quarterly", 0, 2),
        word("plan", 60, 2),
    ]
    assert texts_of(pieces_of_words(words)) == (
        "Save",
        "Save As",
        "Quarterly plan",
        "Save Save As Quarterly plan",
    )


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_reads_painted_text_and_keeps_it_on_disk(tmp_path: Path) -> None:
    painted = picture((40, 60, "Quarterly report"), (600, 60, "Cancel"))
    texts = ScreenReader(tmp_path).read(painted)
    assert any(read_in_picture("Quarterly report", text) for text in texts)
    assert not any(read_in_picture("Quarterly plan", text) for text in texts)
    without_picture = Screenshot(sha256=painted.sha256)
    assert ScreenReader(tmp_path).read(without_picture) == texts


def test_a_picture_that_was_not_kept_is_a_refusal() -> None:
    with pytest.raises(CheckUnavailableError, match="was not kept"):
        ScreenReader().read(Screenshot(sha256="a" * 64))


@pytest.mark.skipif(available_engine() is None, reason="no OCR engine is installed")
def test_a_picture_is_fetched_when_a_check_reads_it_and_not_before() -> None:
    painted = picture((40, 60, "Quarterly report"))
    fetched: list[str] = []

    def fetch(sha256: str) -> bytes:
        fetched.append(sha256)
        return painted.png

    reader = ScreenReader(pictures=fetch)
    assert not fetched
    for _ in range(2):
        texts = reader.read(Screenshot(sha256=painted.sha256))
    assert any(read_in_picture("Quarterly report", text) for text in texts)
    assert fetched == [painted.sha256]


def test_a_machine_without_ocr_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if available_engine() is not None:
        pytest.skip("the package rapidocr is installed")
    with pytest.raises(CheckUnavailableError, match="No OCR program"):
        ScreenReader().read(picture((0, 0, "x")))


def test_a_broken_cache_file_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / f"{'a' * 64}.json").write_text("{not json")
    with pytest.raises(CheckUnavailableError):
        ScreenReader(tmp_path).read(Screenshot(sha256="a" * 64))
