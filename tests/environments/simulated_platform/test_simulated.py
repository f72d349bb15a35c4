"""Every curated subtask of the simulated applications can be done by its worked example."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from PIL import Image

from taskloom.environments.environment import Environment
from taskloom.environments.errors import ApplicationUnavailableError
from taskloom.environments.lookup import platform
from taskloom.environments.platforms.simulated.platform import simulated_applications
from taskloom.resources.applications import Application, ExampleSubtask
from taskloom.resources.reading.catalog import load_application_categories, load_resource_categories
from taskloom.taskgraph.records.grounding import find_control
from taskloom.taskgraph.records.interaction import Action, ClickInput, KeyboardInput, Observation, escape_keys
from taskloom.taskgraph.records.subtask import fill

APPLICATIONS = {application.name: application for application in simulated_applications()}
SUBTASKS = [
    pytest.param(application, subtask, parameters, id=f"{subtask.name}-{number}")
    for application in APPLICATIONS.values()
    for subtask in application.example_subtasks
    for number, parameters in enumerate(subtask.parameter_sets)
]


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({"pictures": False}))
    yield made
    await made.close()


async def perform(
    environment: Environment, subtask: ExampleSubtask, parameters: dict[str, str], observation: Observation
) -> Observation:
    for step in subtask.worked_example:
        assert step.control is not None or step.keys
        label = ""
        if step.control is not None:
            query = step.control.model_copy(update={"text": fill(step.control.text, parameters)})
            control = find_control(query, observation.controls)
            assert control is not None, f"no {query.text!r}"
            label = control.label
        action: Action = ClickInput(control_label=label)
        if step.operation == "keyboard_input":
            escaped = {name: escape_keys(value) for name, value in parameters.items()}
            action = KeyboardInput(control_label=label, keys=fill(step.keys, escaped))
        observation = await environment.act(action)
    return observation


@pytest.mark.parametrize(("application", "subtask", "parameters"), SUBTASKS)
async def test_worked_examples_change_what_they_declare(
    environment: Environment, application: Application, subtask: ExampleSubtask, parameters: dict[str, str]
) -> None:
    outputs = {item.category: parameters.get(item.parameter, "") for item in subtask.outputs}
    made = [value for category, value in outputs.items() if category.endswith("_path") and value]
    inputs = {parameters.get(item.parameter, "") for item in subtask.inputs}
    observation = await environment.reset(
        [application], without=[path for path in made if path not in inputs]
    )
    before = await environment.evidence()
    await perform(environment, subtask, parameters, observation)
    after = await environment.evidence()
    assert after.files != before.files or after.clipboard != before.clipboard
    for path in made:
        assert path in {file.path for file in after.files}
    if "text_in_clipboard" in outputs:
        assert after.clipboard.text
    for item in subtask.inputs:
        if item.consumed:
            assert parameters[item.parameter] not in {file.path for file in after.files}


async def test_resources_flow_between_applications_by_file_and_clipboard(environment: Environment) -> None:
    observation = await environment.reset(list(APPLICATIONS.values()), without=["Documents/ideas.txt"])
    flow = [
        ("simulated_notes", "write_note", {"text_path": "Documents/ideas.txt", "text": "Buy a new lamp"}),
        ("simulated_notes", "copy_note", {"text_path": "Documents/ideas.txt"}),
        ("simulated_mail", "send_clipboard", {"receiver": "ann@example.org", "subject": "Lamp"}),
        (
            "simulated_files",
            "move_text",
            {"source": "Documents/ideas.txt", "text_path": "Documents/final2.txt"},
        ),
    ]
    for name, subtask_name, parameters in flow:
        observation = await environment.bring_to_front(name)
        subtask = next(item for item in APPLICATIONS[name].example_subtasks if item.name == subtask_name)
        observation = await perform(environment, subtask, parameters, observation)
    files = {file.path: file.text or "" for file in (await environment.evidence()).files}
    assert "Buy a new lamp" in files[".applications/simulated_mail/outbox/Lamp.txt"]
    assert files["Documents/final2.txt"] == "Buy a new lamp" and "Documents/ideas.txt" not in files


async def test_typing_works_as_in_a_real_field(environment: Environment) -> None:
    observation = await environment.reset([APPLICATIONS["simulated_notes"]])
    field = next(control for control in observation.controls if control.text == "Text")
    observation = await environment.act(
        KeyboardInput(control_label=field.label, keys="one{ENTER}twoX{BACKSPACE}^a^c^vthree^a^x")
    )
    assert next(control for control in observation.controls if control.text == "Text").value == ""
    assert (await environment.evidence()).clipboard.text == "one\ntwothree"


async def test_refuses_applications_it_does_not_simulate(environment: Environment) -> None:
    real = APPLICATIONS["simulated_notes"].model_copy(update={"name": "jupyterlab"})
    with pytest.raises(ApplicationUnavailableError, match=r"jupyterlab.*simulated_notes"):
        await environment.reset([real])


async def test_a_path_out_of_the_home_is_not_written(environment: Environment) -> None:
    observation = await environment.reset([APPLICATIONS["simulated_notes"]])
    subtask = APPLICATIONS["simulated_notes"].example_subtasks[0]
    observation = await perform(
        environment, subtask, {"text_path": "../../x.txt", "text": "out"}, observation
    )
    assert any(control.text.startswith("Give a file name") for control in observation.controls)


async def test_pictures_show_the_controls_and_are_the_same_for_the_same_screen() -> None:
    module = platform("simulated")
    environment = module.create(module.SETTINGS.model_validate({}))
    try:
        first = await environment.reset(list(APPLICATIONS.values()))
        again = await environment.reset(list(APPLICATIONS.values()))
        assert first.screenshot.sha256 == again.screenshot.sha256
        with Image.open(io.BytesIO(first.screenshot.png)) as picture:
            assert picture.size == first.screen_size
        for one, other in pairwise(first.controls):
            assert not other.rectangle.contains(*one.rectangle.center)
    finally:
        await environment.close()


def test_entries_use_known_categories_and_say_that_they_are_simulated() -> None:
    resources, groups = load_resource_categories(), load_application_categories()
    for application in APPLICATIONS.values():
        assert application.platform == "simulated" and application.category in groups
        for subtask in application.example_subtasks:
            assert {item.category for item in (*subtask.inputs, *subtask.outputs)} <= set(resources)
