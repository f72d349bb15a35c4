"""Every subtask starts on the first page of its application, reached by recorded actions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.lookup import platform
from taskloom.environments.starting_place import START_PAGE, go_to_starting_place, needs_open_page
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, Observation
from taskloom.taskgraph.records.subtask import BoundSubtask

APPLICATIONS = {item.name: item for item in platform("simulated").applications()}
NOTES, MAIL = APPLICATIONS["simulated_notes"], APPLICATIONS["simulated_mail"]


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({"pictures": False}))
    yield made
    await made.close()


async def written(environment: Environment) -> Observation:
    """A screen with something in a field of the notes."""
    observation = await environment.reset([NOTES, MAIL])
    field = next(item for item in observation.controls if item.control_type == "Edit")
    return await environment.act(KeyboardInput(control_label=field.label, keys="left over"))


async def test_the_first_page_is_reached_by_recorded_clicks(environment: Environment) -> None:
    observation = await written(environment)
    away = next(item for item in observation.controls if item.text == MAIL.title)
    observation = await environment.act(ClickInput(control_label=away.label))
    going = await go_to_starting_place(environment, NOTES.name, NOTES.title, observation, first_page=True)
    assert going.termination == "finished"
    assert [step.target.text for step in going.steps if step.target] == [NOTES.title, START_PAGE]
    assert going.observation.active_application == NOTES.name
    assert not any(item.value for item in going.observation.controls if item.control_type == "Edit")


async def test_what_is_open_stays_open_where_it_is_needed(environment: Environment) -> None:
    observation = await written(environment)
    going = await go_to_starting_place(environment, NOTES.name, NOTES.title, observation, first_page=False)
    assert going.steps == () and any(item.value == "left over" for item in going.observation.controls)


async def test_an_application_that_is_not_there_ends_the_way_with_its_name(environment: Environment) -> None:
    observation = await environment.reset([NOTES])
    going = await go_to_starting_place(environment, "other", "Other", observation, first_page=True)
    assert going.termination == "gave_up" and "'Other'" in going.message


@pytest.mark.parametrize(
    ("kind", "open_page"),
    [
        (ResourceKind.FILE, False),
        (ResourceKind.RECORD, False),
        (ResourceKind.CLIPBOARD, False),
        (ResourceKind.OPEN_DOCUMENT, True),
        (ResourceKind.SELECTION, True),
    ],
)
def test_only_slots_of_an_application_need_their_page(kind: ResourceKind, open_page: bool) -> None:
    instance = BoundSubtask(
        instance_id="x:1",
        subtask_id="x",
        application="notes",
        application_category="",
        instruction="",
        inputs=(Resource(category="any", kind=kind, value="x"),),
    )
    assert needs_open_page(instance) is open_page
