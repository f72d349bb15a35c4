from __future__ import annotations

import io

import pytest
from PIL import Image

from taskloom.environments.annotated import COLOURS, annotate, colour_of
from taskloom.taskgraph.records.interaction import Control, Observation, Rectangle, Screenshot


def observation(*controls: tuple[str, str, tuple[int, int, int, int]]) -> Observation:
    output = io.BytesIO()
    Image.new("RGB", (400, 200), "#ffffff").save(output, "PNG")
    return Observation(
        screenshot=Screenshot.of(output.getvalue()),
        controls=tuple(
            Control(
                label=label,
                text=label,
                control_type=kind,
                rectangle=Rectangle(left=box[0], top=box[1], right=box[2], bottom=box[3]),
            )
            for label, kind, box in controls
        ),
        screen_size=(400, 200),
    )


def pixels(png: bytes) -> Image.Image:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("RGB")


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def test_every_control_gets_a_box_in_the_colour_of_its_type() -> None:
    seen = observation(("1", "Button", (20, 20, 120, 60)), ("2", "Edit", (200, 20, 300, 60)))
    picture = pixels(annotate(seen))
    assert picture.size == (400, 200)
    assert picture.getpixel((70, 20)) == rgb(COLOURS["Button"])
    assert picture.getpixel((250, 20)) == rgb(COLOURS["Edit"])
    assert picture.getpixel((160, 100)) == (255, 255, 255)


def test_the_numbers_of_stacked_controls_do_not_cover_each_other() -> None:
    boxes = [(str(number), "Button", (20, 20, 200, 60)) for number in range(1, 4)]
    picture = pixels(annotate(observation(*boxes)))
    filled = sum(
        picture.getpixel((x, y)) == rgb(COLOURS["Button"]) for x in range(0, 260) for y in range(0, 90)
    )
    one = pixels(annotate(observation(boxes[0])))
    single = sum(one.getpixel((x, y)) == rgb(COLOURS["Button"]) for x in range(0, 260) for y in range(0, 90))
    assert filled > single + 100


def test_controls_at_the_edge_keep_their_numbers_on_the_picture() -> None:
    picture = pixels(
        annotate(observation(("88", "Button", (0, 0, 8, 8)), ("99", "Button", (392, 192, 400, 200))))
    )
    assert any(picture.getpixel((x, y)) == (255, 255, 255) for x in range(0, 20) for y in range(0, 16))


def test_only_what_can_be_used_is_boxed_where_texts_are_left_out() -> None:
    kinds = ("Text", "Heading", "Header", "Image", "DataItem", "ProgressBar")
    seen = observation(*((str(number), kind, (20, 20, 120, 60)) for number, kind in enumerate(kinds)))
    assert pixels(annotate(seen, include_text=False)).getcolors() == [(400 * 200, (255, 255, 255))]
    off = seen.controls[0].model_copy(update={"control_type": "Button", "disabled": True})
    greyed = seen.model_copy(update={"controls": (off,)})
    assert pixels(annotate(greyed, include_text=False)).getcolors() == [(400 * 200, (255, 255, 255))]
    usable = seen.model_copy(update={"controls": (off.model_copy(update={"disabled": False}),)})
    assert len(pixels(annotate(usable, include_text=False)).getcolors() or []) > 1


def test_texts_can_be_left_out() -> None:
    seen = observation(("1", "Text", (20, 20, 120, 60)))
    assert pixels(annotate(seen, include_text=False)).getcolors() == [(400 * 200, (255, 255, 255))]
    assert len(pixels(annotate(seen)).getcolors() or []) > 1


def test_colours_are_the_same_for_the_same_type_and_dark_enough_for_white_numbers() -> None:
    for kind in (*COLOURS, "Unheard", "Other"):
        assert colour_of(kind) == colour_of(kind)
        red, green, blue = rgb(colour_of(kind))
        assert 0.299 * red + 0.587 * green + 0.114 * blue < 170, kind


def test_a_screenshot_without_bytes_is_refused() -> None:
    seen = Observation(screenshot=Screenshot(sha256="0" * 64), controls=())
    with pytest.raises(ValueError, match="no picture"):
        annotate(seen)
