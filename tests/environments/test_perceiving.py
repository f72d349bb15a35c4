"""What is perceived of a picture has labels of its own, and actions on it become points."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from taskloom.environments.agent import Decision
from taskloom.environments.agents import perceiving
from taskloom.environments.agents.guarding import GuardedAgent
from taskloom.environments.agents.perceiving import Perception, perceive, replace_perceived_labels
from taskloom.environments.evidence.picture_text import TextPiece
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    Observation,
    Rectangle,
    Screenshot,
)


def place(left: int, top: int, width: int = 40, height: int = 20) -> Rectangle:
    return Rectangle(left=left, top=top, right=left + width, bottom=top + height)


SAVE = Control(label="7", text="Save as", control_type="Button", rectangle=place(10, 10))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Observation:
    """A blue button, a word that no control tells, and an icon."""
    image = Image.new("RGB", (200, 100), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((10, 10, 49, 29), fill=(30, 90, 220))
    pen.rectangle((100, 50, 107, 57), fill="red")
    pen.point((103, 53), fill="white")
    data = io.BytesIO()
    image.save(data, "PNG")
    words = (TextPiece("Save", "1", place(12, 12, 20)), TextPiece("Total", "2", place(120, 60)))
    monkeypatch.setattr(perceiving, "read_picture", lambda png: words)
    return Observation(screenshot=Screenshot.of(data.getvalue()), controls=(SAVE,), screen_size=(200, 100))


@pytest.fixture
def icons(seen: Observation, tmp_path: Path) -> str:
    with Image.open(io.BytesIO(seen.screenshot.png)) as picture:
        picture.crop((100, 50, 108, 58)).save(tmp_path / "stop_sign.png")
    return str(tmp_path)


def shown(observation: Observation) -> list[tuple[str, str, str]]:
    return [(item.label, item.text, item.control_type) for item in observation.controls]


def test_text_and_icons_stand_beside_the_controls(seen: Observation, icons: str) -> None:
    found = perceive(seen, Perception(text=True, icons=icons))
    assert shown(found) == [
        ("7", "Save as", "Button"),
        ("8", "Total", "Text"),
        ("9", "stop sign", "Image"),
    ]
    assert found.controls[2].rectangle == place(100, 50, 8, 8)


def test_without_the_tree_all_text_is_perceived(seen: Observation) -> None:
    found = perceive(seen, Perception(text=True, controls=False))
    assert [item.text for item in found.controls] == ["Save", "Total"]
    assert not {item.label for item in found.controls} & {SAVE.label}


def test_colours_are_named(seen: Observation) -> None:
    assert perceive(seen, Perception(colours=True)).controls[0].text == "Save as (blue)"


def test_actions_on_what_was_perceived_are_done_at_points(seen: Observation, icons: str) -> None:
    found = perceive(seen, Perception(text=True, icons=icons, colours=True))

    def done(action: ClickInput | KeyboardInput | DragInput) -> dict[str, object]:
        given = replace_perceived_labels(Decision(status="continue", action=action), found, seen).action
        assert given is not None
        return given.model_dump(exclude_defaults=True)

    assert done(ClickInput(control_label="9", control_text="stop sign (red)")) == {"point": (104, 54)}
    assert done(ClickInput(control_label="7", control_text="Save as (blue)")) == {"control_label": "7"}
    assert done(ClickInput(control_label="9", control_text="stop sign")) == {"point": (104, 54)}
    assert done(KeyboardInput(control_label="8", keys="a", position=(0.25, 0.5))) == {
        "keys": "a",
        "point": (130, 70),
    }
    assert done(DragInput(control_label="7", end_label="9")) == {"points": ((30, 20), (104, 54))}
    assert done(ClickInput(point=(1, 2))) == {"point": (1, 2)}


def test_what_the_environment_refuses_stays_as_it_is_and_points_are_those_of_all_actions(
    seen: Observation, icons: str
) -> None:
    covered = SAVE.model_copy(update={"free_point": (12, 28)})
    seen = seen.model_copy(update={"controls": (covered,)})
    found = perceive(seen, Perception(text=True, icons=icons, colours=True))
    for action in (
        ClickInput(control_label="7", control_text="Delete"),
        ClickInput(control_label="9", control_text="Delete"),
        ClickInput(control_label="99"),
        DragInput(control_label="7", control_text="Delete", end_label="9"),
    ):
        decision = Decision(status="continue", action=action)
        assert replace_perceived_labels(decision, found, seen) == decision
    drag = Decision(status="continue", action=DragInput(control_label="7", end_label="9"))
    assert replace_perceived_labels(drag, found, seen).action == DragInput(points=((12, 28), (104, 54)))
    corner = Decision(status="continue", action=ClickInput(control_label="9", position=(1.0, 1.0)))
    assert replace_perceived_labels(corner, found, seen).action == ClickInput(point=(107, 57))


async def test_an_agent_sees_what_is_perceived_and_the_environment_is_given_points(
    seen: Observation, icons: str
) -> None:
    class Presses:
        async def decide(self, instruction: str, observation: Observation, history: object) -> Decision:
            sign = next(item for item in observation.controls if item.text == "stop sign")
            return Decision(status="continue", action=ClickInput(control_label=sign.label))

    agent = GuardedAgent(Presses, apart=True, perception=Perception(icons=icons))
    decision = await agent.decide("Stop.", seen, ())
    await agent.close()
    assert decision.action == ClickInput(point=(104, 54))
