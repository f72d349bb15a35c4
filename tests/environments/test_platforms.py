"""One test of the contract, over every platform module there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from taskloom.environments.environment import Environment
from taskloom.environments.errors import (
    ActionInvalidError,
    BrowserMissingError,
    MachineUnavailableError,
)
from taskloom.environments.installing.applications import missing_for_start
from taskloom.environments.lookup import PLATFORMS, create_environment, platform, platforms_in
from taskloom.environments.starting_place import START_PAGE
from taskloom.resources.applications import Application, Fixture, Launch
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput
from tests.environments.linux_desktop.small_desktop import desktop

PRESSED = ("Button", "MenuItem")
PAGE = """<!doctype html><title>{title}</title><button onclick="document.title='pressed'">Press</button>
<label>Field <input></label>"""


def web_applications(folder: Path) -> list[Application]:
    found = []
    for name in ("first", "second"):
        site = folder / name
        site.mkdir()
        (site / "index.html").write_text(PAGE.format(title=name))
        fixture = Fixture(category="text_path", value=f"Documents/{name}.txt", content=name)
        found.append(
            Application(
                name=name,
                title=name.title(),
                category="Utility Tools",
                version="1",
                licence="MIT",
                description="A page.",
                manual="Press.",
                launch=Launch(serve=str(site), ready_text="Press"),
                fixtures=(fixture,),
            )
        )
    return found


JOINT = "linux_desktop+web_browser"
MARKS = {
    "web_browser": [pytest.mark.browser],
    "linux_desktop": [pytest.mark.desktop, pytest.mark.slow],
    JOINT: [pytest.mark.browser, pytest.mark.desktop, pytest.mark.slow],
}
"""What the platforms need that start programs."""


@pytest.fixture(
    params=[pytest.param(name, marks=MARKS.get(name, [])) for name in (*PLATFORMS.built_in(), JOINT)]
)
async def started(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Environment, list[Application]]]:
    name = request.param
    data = tmp_path / "data"
    applications = [item for part in platforms_in(name) for item in platform(part).applications()]
    if pytest.mark.desktop in MARKS.get(name, []):
        data, applications = desktop(tmp_path_factory)
    if pytest.mark.browser in MARKS.get(name, []):
        applications = [*applications[:1], *web_applications(tmp_path)]
    values = {"temporary_folder": str(tmp_path / "temporary"), "data_folder": str(data)}
    environment = create_environment(name, values)
    try:
        await environment.reset(applications[:2])
        yield environment, applications[:2]
    except (BrowserMissingError, MachineUnavailableError) as error:
        pytest.skip(str(error))
    finally:
        await environment.close()
    assert not list((tmp_path / "temporary").iterdir()), "files are left after closing"


async def test_keeps_the_contract(started: tuple[Environment, list[Application]]) -> None:
    environment, applications = started
    first, second = applications
    observation = await environment.observe()
    labels = [control.label for control in observation.controls]
    assert len(set(labels)) == len(labels) > 0
    assert observation.active_application == first.name
    width, height = observation.screen_size
    for control in observation.controls:
        place = control.rectangle
        assert 0 <= place.left < place.right <= width and 0 <= place.top < place.bottom <= height, control
    bar = {control.text for control in observation.controls if control.control_type == "TaskBarButton"}
    assert {first.title, second.title} <= bar

    evidence = await environment.evidence()
    assert evidence.step == 0 and not evidence.inputs and evidence.clipboard.text is None
    assert {fixture.value for fixture in first.fixtures} <= {file.path for file in evidence.files}

    with pytest.raises(ActionInvalidError, match="no control"):
        await environment.act(ClickInput(control_label="no such"))
    with pytest.raises(ActionInvalidError):
        await environment.act(KeyboardInput(keys="{NOSUCHKEY}"))
    with pytest.raises(ActionInvalidError, match="was started"):
        await environment.bring_to_front("elsewhere")
    with pytest.raises(ActionInvalidError, match="neither a control nor a point"):
        await environment.act(ClickInput())
    named = next(control for control in observation.controls if control.text)
    with pytest.raises(ActionInvalidError, match="not 'Something else'"):
        await environment.act(ClickInput(control_label=named.label, control_text="Something else"))
    with pytest.raises(ActionInvalidError, match="outside of the screen"):
        await environment.act(ClickInput(point=(width, 0)))
    await environment.act(WaitInput(seconds=0))

    observation = await environment.observe()
    button = next(control for control in observation.controls if control.control_type in PRESSED)
    field = next(control for control in observation.controls if control.control_type == "Edit")
    observation = await environment.act(KeyboardInput(control_label=field.label, keys="some text^a^c"))
    typed = next(control for control in observation.controls if control.control_type == "Edit")
    assert typed.value == "some text" and typed.focused
    await environment.act(ClickInput(control_label=button.label))
    evidence = await environment.evidence()
    kinds = [(event.kind, event.text) for event in evidence.inputs]
    typed_keys = [("text", "some text"), ("key", "ctrl+a"), ("key", "ctrl+c")]
    assert kinds[-4:] == [*typed_keys, ("click", "left")]
    assert evidence.inputs[-1].control is not None and evidence.inputs[-1].control.text == button.text
    assert evidence.text_under_cursor == button.text
    assert evidence.inputs[-1].application == first.name

    observation = await environment.bring_to_front(second.name)
    assert observation.active_application == second.name
    other = next(control for control in observation.controls if control.text == first.title)
    observation = await environment.act(ClickInput(control_label=other.label))
    assert observation.active_application == first.name

    field = next(control for control in observation.controls if control.control_type == "Edit")
    observation = await environment.act(ClickInput(point=field.rectangle.center))
    assert next(control for control in observation.controls if control.control_type == "Edit").focused
    hit = (await environment.evidence()).inputs[-1].control
    assert hit is not None and hit.text == field.text
    start = next(control for control in observation.controls if control.text == START_PAGE)
    observation = await environment.act(ClickInput(control_label=start.label))
    assert observation.active_application == first.name
    assert all(not control.value for control in observation.controls if control.control_type == "Edit")
    assert (await environment.evidence()).clipboard.text == "some text", "what was copied outlives its window"

    left_out = first.fixtures[0].value
    observation = await environment.reset([first], without=[left_out])
    evidence = await environment.evidence()
    assert evidence.step == 0 and not evidence.inputs
    assert left_out not in {file.path for file in evidence.files}
    assert all(not control.value for control in observation.controls if control.control_type == "Edit")


async def test_closing_twice_is_no_error(started: tuple[Environment, list[Application]]) -> None:
    environment, _ = started
    await environment.close()
    await environment.close()


@pytest.mark.parametrize("name", PLATFORMS.built_in())
def test_an_unknown_setting_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="no_such_setting"):
        platform(name).SETTINGS.model_validate({"no_such_setting": 1, "data_folder": "/nowhere"})


def test_only_the_simulated_platform_says_so(tmp_path: Path) -> None:
    for name in PLATFORMS.built_in():
        environment = create_environment(name, {"data_folder": str(tmp_path)})
        assert environment.simulated == (name == "simulated") and environment.platform == name


@pytest.mark.parametrize("name", PLATFORMS.built_in())
def test_what_a_platform_brings_runs_on_it_and_says_whether_it_is_simulated(
    name: str, tmp_path: Path
) -> None:
    environment = create_environment(name, {"data_folder": str(tmp_path)})
    for application in platform(name).applications():
        assert (application.platform, application.simulated) == (name, environment.simulated)
        assert not missing_for_start(application, tmp_path)
