"""Pictures are compared by what they show: turned, mirrored, inverted, at any size and in any format."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from taskloom.environments.evidence.unpacked_text import picture_text, unpacked_text
from taskloom.evaluators_api.checks.pictures import CHANGES
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.offline.conditions.conditions import Terms
from taskloom.offline.conditions.state import lasting_conditions
from taskloom.prompts.inputs import Performance
from taskloom.prompts.shown_effects import Origin, ShownEffects
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.taskgraph.records.evidence import Evidence, FileState
from tests.evaluators_api.test_state_checks import ask

Turn = Callable[[Image.Image], Image.Image]
DONE: dict[str, Turn] = {
    "same": lambda image: image.resize((image.width * 2, image.height), Image.Resampling.BICUBIC),
    "turned right": lambda image: image.transpose(Image.Transpose.ROTATE_270),
    "turned left": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "upside down": lambda image: image.transpose(Image.Transpose.ROTATE_180),
    "left and right exchanged": ImageOps.mirror,
    "top and bottom exchanged": ImageOps.flip,
    "colours inverted": ImageOps.invert,
    "without colours": lambda image: ImageOps.grayscale(image).convert("RGB"),
}


def painted() -> Image.Image:
    image = Image.new("RGB", (320, 200), "#f4efe2")
    image.paste("#b03030", (20, 20, 150, 90))
    image.paste("#3c8a4a", (20, 120, 120, 180))
    image.paste("#2f6fb0", (200, 30, 300, 130))
    return image


def stored(path: str, image: Image.Image, form: str = "PNG") -> FileState:
    written = io.BytesIO()
    image.save(written, form)
    content = written.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    kind, text = unpacked_text(content) or ("", "")
    return FileState(path=path, size=len(content), sha256=digest, text=text, content=kind)


def held(*files: FileState) -> Evidence:
    return Evidence(step=0, files=files)


BEFORE = stored("a.png", painted())


def made(change: str, form: str = "PNG") -> Evidence:
    return held(BEFORE, stored(f"b.{form.lower()}", DONE[change](painted()), form))


@pytest.mark.parametrize("done", sorted(DONE))
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_each_change_is_told_from_all_others(done: str, form: str) -> None:
    end = made(done, form)
    target = f"b.{form.lower()}"
    said = {
        change: ask(end, "check_picture", held(BEFORE), source="a.png", target=target, change=change)
        for change in CHANGES
    }
    assert said == {change: change == done for change in CHANGES}


def test_nothing_done_is_no_change_and_other_files_are_no_pictures() -> None:
    assert set(CHANGES) == set(DONE)
    plain = stored("a.png", Image.new("RGB", (9, 9), "red"))
    turned = {"source": "a.png", "target": "a.png", "change": "turned right"}
    assert not ask(held(plain), "check_picture", held(plain), **turned)
    note = BEFORE.model_copy(update={"path": "b.png", "text": '{\n "width": 1}'})
    assert not ask(held(BEFORE, note), "check_picture", held(BEFORE), source="a.png", target="b.png")

    copied = BEFORE.model_copy(update={"path": "b.png", "content": "text"})
    assert not ask(held(BEFORE, copied), "check_picture", held(BEFORE), source="a.png", target="b.png")


def test_documents_of_the_same_lines_are_copies_only_byte_by_byte() -> None:
    drawn = FileState(path="a.pdf", size=9, sha256="1", text="Plan\n", content="pdf")
    other = drawn.model_copy(update={"path": "b.pdf", "sha256": "2"})
    place = {"source": "a.pdf", "target": "b.pdf"}
    assert not ask(held(drawn, other), "check_copied", held(drawn), **place)
    same = other.model_copy(update={"sha256": "1"})
    assert ask(held(drawn, same), "check_copied", held(drawn), **place)


@given(st.dictionaries(st.sampled_from(["width", "height", "colours"]), st.text() | st.lists(st.text())))
def test_any_text_may_stand_where_a_picture_is_meant(told: dict[str, object]) -> None:
    text = '{\n "width":' + json.dumps(told)[1:]
    other = BEFORE.model_copy(update={"path": "b.png", "text": text})
    assert not ask(held(BEFORE, other), "check_picture", held(BEFORE), source="a.png", target="b.png")


@pytest.mark.parametrize("done", sorted(DONE))
def test_where_a_picture_comes_from_is_found_and_asked_for(done: str) -> None:
    found = [item for item in origins(held(BEFORE), made(done), ["b.png"]) if item.kind == "picture"]
    assert found == [Origin(kind="picture", source="a.png", source_at=done, target="b.png")]
    performance = Performance.model_construct(
        parameters={"old": "a.png", "new": "b.png"},
        effects=ShownEffects(origins=tuple(found)),
        instruction="Turn a.png and save it as b.png.",
    )
    (condition,) = lasting_conditions(Terms(performance))
    assert condition.call.source() == f"check_picture(source=old, target=new, change={done!r})"


def screen_with_bar(image: Image.Image) -> str:
    """What evidence tells of a screen that shows `image` above the task bar."""
    whole = Image.new("RGB", (image.width, image.height + 36), "black")
    whole.paste(image)
    written = io.BytesIO()
    whole.save(written, "PNG")
    return picture_text(written.getvalue(), image.size) or ""


def with_pointer() -> Image.Image:
    image = painted()
    image.paste("black", (100, 100, 103, 106))
    return image


@pytest.mark.parametrize(
    ("taken", "form", "right"),
    [
        (painted(), "PNG", True),
        (painted(), "JPEG", True),
        (with_pointer(), "PNG", True),
        (painted().resize((160, 100)), "PNG", False),
        (painted().crop((0, 19, 320, 200)), "PNG", False),
        (DONE["left and right exchanged"](painted()), "PNG", False),
        (Image.new("RGB", (320, 200), "white"), "PNG", False),
    ],
)
def test_a_picture_of_the_screen_is_as_large_and_shows_the_same(
    taken: Image.Image, form: str, right: bool
) -> None:
    path = f"screen.{form.lower()}"
    end = held(stored(path, taken, form)).model_copy(update={"screen": screen_with_bar(painted())})
    assert ask(end, "check_screen_captured", file_path=path) is right
    found = [item for item in origins(held(), end, [path]) if item.kind == "captured"]
    assert found == ([Origin(kind="captured", source="screen", target=path)] if right else [])


def test_a_picture_of_a_screen_that_nobody_told_of_is_not_judged() -> None:
    with pytest.raises(CheckUnavailableError, match="screen"):
        ask(held(BEFORE), "check_screen_captured", file_path="a.png")
    told = held(BEFORE).model_copy(update={"screen": screen_with_bar(painted())})
    assert not ask(told, "check_screen_captured", file_path="b.png"), "there is no such file"


def test_a_picture_of_the_screen_is_asked_for() -> None:
    performance = Performance.model_construct(
        parameters={"new": "b.png"},
        effects=ShownEffects(origins=(Origin(kind="captured", source="screen", target="b.png"),)),
        instruction="Take a picture of the screen and save it as b.png.",
    )
    (condition,) = lasting_conditions(Terms(performance))
    assert condition.call.source() == "check_screen_captured(file_path=new)"
