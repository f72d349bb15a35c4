"""Applications of two platforms share one screen, one home and one clipboard."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from taskloom.environments.errors import ActionInvalidError, EnvironmentBrokenError
from taskloom.environments.joint import JointEnvironment
from taskloom.environments.lookup import create_environment, platform_of, platforms_in
from taskloom.environments.platforms.simulated.platform import (
    SimulatedEnvironment,
    SimulatedSettings,
    simulated_applications,
)
from taskloom.environments.starting_place import ENVIRONMENT
from taskloom.environments.task_bar import TASK_BAR_HEIGHT
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, MoveInput, Observation

ENTRIES = {item.name: item for item in simulated_applications()}
NOTES = ENTRIES["simulated_notes"].model_copy(update={"platform": "left"})
MAIL = ENTRIES["simulated_mail"].model_copy(update={"platform": "left"})
FILES = ENTRIES["simulated_files"].model_copy(update={"platform": "right"})
TABLES = ENTRIES["simulated_tables"].model_copy(update={"platform": "right"})


def member(name: str, temporary_folder: Path, *, pictures: bool = False) -> SimulatedEnvironment:
    made = SimulatedEnvironment(SimulatedSettings(pictures=pictures, temporary_folder=temporary_folder))
    made.platform = name
    return made


@pytest.fixture
async def joint(tmp_path: Path) -> AsyncIterator[JointEnvironment]:
    environment = JointEnvironment([member("left", tmp_path), member("right", tmp_path)])
    yield environment
    await environment.close()


def label(seen: Observation, text: str, control_type: str = "") -> str:
    return next(
        item.label
        for item in seen.controls
        if item.text == text and (not control_type or item.control_type == control_type)
    )


def bar(seen: Observation) -> list[tuple[str, bool | None]]:
    return [(item.text, item.checked) for item in seen.controls if item.application == ENVIRONMENT]


def pixels(seen: Observation, *, bar: bool) -> bytes:
    """The picture above the task bar, or the bar."""
    with Image.open(io.BytesIO(seen.screenshot.png)) as picture:
        width, height = picture.size
        above = height - TASK_BAR_HEIGHT
        return (
            picture.convert("RGB").crop((0, above if bar else 0, width, height if bar else above)).tobytes()
        )


async def click(environment: JointEnvironment, seen: Observation, text: str) -> Observation:
    return await environment.act(ClickInput(control_label=label(seen, text)))


async def write(environment: JointEnvironment, seen: Observation, field: str, text: str) -> Observation:
    return await environment.act(KeyboardInput(control_label=label(seen, field, "Edit"), keys=text))


async def test_the_bar_leads_to_every_application_and_marks_the_one_in_front(joint: JointEnvironment) -> None:
    seen = await joint.reset([FILES, NOTES, TABLES])
    assert bar(seen)[1:] == [(NOTES.title, False), (FILES.title, True), (TABLES.title, False)]
    seen = await click(joint, seen, NOTES.title)
    assert seen.active_application == NOTES.name
    assert bar(seen)[1:] == [(NOTES.title, True), (FILES.title, False), (TABLES.title, False)]
    assert (await joint.bring_to_front(TABLES.name)).active_application == TABLES.name
    assert joint.platform == "left+right"


async def test_files_and_clipboard_go_along(joint: JointEnvironment) -> None:
    seen = await joint.reset([NOTES, TABLES, FILES])
    seen = await write(joint, seen, "File name", "Documents/new.csv")
    seen = await write(joint, seen, "File name", "{BACKSPACE}{BACKSPACE}{BACKSPACE}txt")
    seen = await write(joint, seen, "Text", "one,two")
    seen = await click(joint, await click(joint, seen, "Save"), "Copy text")
    seen = await click(joint, seen, FILES.title)
    assert label(seen, "Documents/new.txt")
    assert (await joint.evidence()).clipboard.text == "one,two"
    seen = await click(joint, seen, "Documents/new.txt")
    seen = await write(joint, seen, "Target", "Pictures/old.txt")
    seen = await click(joint, seen, "Move to target")
    held = {file.path for file in (await joint.evidence()).files}
    assert "Pictures/old.txt" in held
    assert "Documents/new.txt" not in held
    seen = await joint.bring_to_front(NOTES.name)
    assert label(seen, "Pictures/old.txt")
    assert "Documents/new.txt" not in {item.text for item in seen.controls}


async def test_the_first_home_has_the_fixtures_of_all(joint: JointEnvironment) -> None:
    await joint.reset([FILES, NOTES, TABLES])
    there = {file.path for file in (await joint.evidence()).files}
    wanted = {item.value for entry in (NOTES, FILES, TABLES) for item in entry.fixtures if item.content}
    assert wanted <= there
    left_out = next(iter(wanted))
    await joint.reset([FILES, NOTES, TABLES], without=(left_out,))
    assert left_out not in {file.path for file in (await joint.evidence()).files}


async def test_steps_and_inputs_of_all_are_one_log(joint: JointEnvironment) -> None:
    seen = await joint.reset([NOTES, FILES])
    seen = await write(joint, seen, "Text", "hello")
    seen = await click(joint, seen, FILES.title)
    seen = await joint.act(MoveInput(control_label=label(seen, NOTES.title)))
    with pytest.raises(ActionInvalidError):
        await joint.act(ClickInput(control_label="999"))
    await write(joint, seen, "Target", "x")
    evidence = await joint.evidence()
    assert evidence.step == 5
    assert [event.step for event in evidence.inputs if event.kind == "text"] == [1, 5]
    assert evidence.active_application == FILES.name


async def test_one_platform_alone_works_and_what_is_unknown_is_refused(joint: JointEnvironment) -> None:
    with pytest.raises(EnvironmentBrokenError):
        await joint.observe()
    seen = await joint.reset([MAIL, NOTES])
    assert [text for text, _ in bar(seen)][1:] == [MAIL.title, NOTES.title]
    with pytest.raises(ActionInvalidError, match="started: simulated_mail, simulated_notes"):
        await joint.bring_to_front(FILES.name)


async def test_states_of_applications_behind_are_seen(joint: JointEnvironment) -> None:
    seen = await joint.reset([MAIL, FILES])
    for field in ("To", "Subject"):
        seen = await write(joint, seen, field, "Ada")
    seen = await click(joint, seen, "Send")
    in_front = await joint.evidence()
    await joint.bring_to_front(FILES.name)
    behind = await joint.evidence()
    assert any(file.path.endswith("outbox/Ada.txt") for file in behind.files)
    assert behind.directories == in_front.directories
    assert any(path.endswith("outbox") for path in behind.directories)


async def test_the_picture_has_the_joint_bar(tmp_path: Path) -> None:
    environment = JointEnvironment(
        [member("left", tmp_path, pictures=True), member("right", tmp_path, pictures=True)]
    )
    alone = member("left", tmp_path, pictures=True)
    same_home = NOTES.model_copy(update={"fixtures": (*NOTES.fixtures, *FILES.fixtures)})
    one, other = await environment.reset([NOTES, FILES]), await alone.reset([same_home])
    assert one.screen_size == other.screen_size
    assert pixels(one, bar=False) == pixels(other, bar=False)
    assert pixels(one, bar=True) != pixels(other, bar=True)
    await environment.close()
    await alone.close()


async def test_a_platform_of_several_is_made_by_its_name(tmp_path: Path) -> None:
    assert platform_of([FILES, NOTES, TABLES]) == "left+right"
    assert platforms_in("left+right") == ("left", "right")
    made = create_environment("simulated+web_browser", {"data_folder": tmp_path})
    assert made.platform == "simulated+web_browser"
    await made.close()
