"""The task bar is put below a picture of the page without decoding it; the pixels are those that decoding
gives."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from taskloom.environments.platforms.web_browser.pages.screen import (
    compose,
    plain_rows,
    png_size,
    with_rows_below,
)
from taskloom.environments.task_bar import TASK_BAR_HEIGHT

WIDTH, HEIGHT = 320, 200


def page(mode: str = "RGB", height: int = HEIGHT - TASK_BAR_HEIGHT, **options: int) -> bytes:
    picture = Image.new("RGB", (WIDTH, height), "#ffffff")
    draw = ImageDraw.Draw(picture)
    for number in range(0, WIDTH, 7):
        draw.line((number, 0, WIDTH - number, height), fill=(number % 256, 90, 255 - number % 256))
    output = io.BytesIO()
    picture.convert(mode).save(output, "PNG", **options)
    return output.getvalue()


def pixels(png: bytes) -> tuple[tuple[int, int], bytes]:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.size, picture.convert("RGB").tobytes()


def bar_picture() -> bytes:
    picture = Image.effect_noise((WIDTH, TASK_BAR_HEIGHT), 40).convert("RGB")
    output = io.BytesIO()
    picture.save(output, "PNG")
    return output.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
@pytest.mark.parametrize("missing", [0, 30])
def test_the_bar_stands_below_the_page_however_it_is_packed(mode: str, missing: int) -> None:
    shown = page(mode, HEIGHT - TASK_BAR_HEIGHT - missing)
    drawn = bar_picture()
    size, content = pixels(compose(shown, drawn, (WIDTH, HEIGHT)))
    assert size == (WIDTH, HEIGHT)
    _page_size, page_content = pixels(shown)
    assert content[: len(page_content)] == page_content
    bar = content[-TASK_BAR_HEIGHT * WIDTH * 3 :]
    assert bar == pixels(drawn)[1]


@pytest.mark.parametrize("level", [0, 1, 9])
def test_rows_are_added_whatever_filters_the_page_was_packed_with(level: int) -> None:
    red = bytes((200, 0, 0)) * WIDTH * 3
    whole = with_rows_below(page(compress_level=level), plain_rows(red, WIDTH))
    assert whole is not None and png_size(whole) == (WIDTH, HEIGHT - TASK_BAR_HEIGHT + 3)
    assert pixels(whole)[1] == pixels(page())[1] + red


@pytest.mark.parametrize(
    "other",
    [b"", b"GIF89a", page("RGBA"), page("P"), page()[:-40], page()[:60], page().replace(b"IDAT", b"tEXt")],
    ids=["nothing", "no PNG", "with transparency", "with a palette", "cut", "cut short", "another chunk"],
)
def test_what_is_packed_otherwise_is_left_to_a_decoder(other: bytes) -> None:
    assert with_rows_below(other, plain_rows(bytes(WIDTH * 3), WIDTH)) is None


def test_anything_else_has_no_size() -> None:
    assert png_size(b"GIF89a") == png_size(b"\x89PNG\r\n\x1a\n") == (0, 0)
    assert png_size(page()) == (WIDTH, HEIGHT - TASK_BAR_HEIGHT)
