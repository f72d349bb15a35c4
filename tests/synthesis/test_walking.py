"""Looking beyond the first screen, on simulated applications."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.lookup import platform
from taskloom.synthesis.exploration.memory import screens_in_view
from taskloom.synthesis.exploration.walking import Walk, named_in, never_shown, worth_opening
from taskloom.taskgraph.records.exploration import SeenScreen
from taskloom.taskgraph.records.interaction import Control, Rectangle
from taskloom.taskgraph.records.provenance import Provenance

NOTES = next(item for item in platform("simulated").applications() if item.name == "simulated_notes")


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({"pictures": False}))
    yield made
    await made.close()


async def walked(environment: Environment, budget: int, seen: list[SeenScreen] | None = None) -> Walk:
    walk = Walk(environment, NOTES, budget, list(seen or ()), Provenance(run_id="test"))
    await walk.go()
    return walk


async def test_short_paths_come_first_and_each_is_tried_once(environment: Environment) -> None:
    found = (await walked(environment, 400)).found
    depths = [len(screen.path) for screen in found]
    assert depths == sorted(depths) and depths[0] == 0 and depths[-1] > 1
    assert len({screen.path for screen in found}) == len(found)
    assert len({screen.screen_id for screen in found}) == len(found)


async def test_the_budget_bounds_the_walk_and_the_next_one_goes_on(environment: Environment) -> None:
    first = await walked(environment, 6)
    assert first.budget <= 0
    second = await walked(environment, 6, first.found)
    assert second.found and not {item.path for item in second.found} & {item.path for item in first.found}
    assert all(item.path for item in second.found)


async def test_a_walk_that_has_seen_everything_finds_nothing(environment: Environment) -> None:
    everything = (await walked(environment, 4000)).found
    again = await walked(environment, 50, everything)
    assert again.found == [] and again.budget == 50


async def test_nothing_that_was_changed_is_there_afterwards(environment: Environment) -> None:
    await environment.reset([NOTES])
    before = {(file.path, file.sha256) for file in (await environment.evidence()).files}
    await walked(environment, 400)
    await environment.reset([NOTES])
    assert {(file.path, file.sha256) for file in (await environment.evidence()).files} == before


async def test_models_are_shown_only_what_is_new_on_a_screen(environment: Environment) -> None:
    found = (await walked(environment, 400)).found
    shown = screens_in_view(found)
    assert shown and all(screen.path and screen.controls for screen in shown)
    first = {(item.control_type, item.text, item.row) for item in found[0].controls}
    assert not first & {
        (item.control_type, item.text, item.row) for screen in shown for item in screen.controls
    }


def test_what_opens_something_comes_before_what_does_something() -> None:
    place = Rectangle(left=0, top=0, right=9, bottom=9)

    def control(text: str, kind: str, **more: object) -> Control:
        return Control.model_validate(
            {"label": text, "text": text, "control_type": kind, "rectangle": place, **more}
        )

    found = worth_opening(
        [
            control("Save", "Button"),
            control("Edit", "Hyperlink", row="a"),
            control("Edit", "Hyperlink", row="b"),
            control("Title", "Edit"),
            control("Off", "Button", disabled=True),
            control("Start page", "Button", application="environment"),
            control("File", "MenuItem"),
        ]
    )
    assert [item.text for item in found] == ["File", "Edit", "Save"]


async def test_what_the_manual_names_is_opened_first_and_what_no_screen_shows_is_told(
    environment: Environment,
) -> None:
    first = (await walked(environment, 400)).found
    last = first[-1].path[0].text
    manual = f'Press "{last}". Later "Sprocket settings" come up, as "It was saved." says.'
    named = NOTES.model_copy(update={"manual": manual})
    walk = Walk(environment, named, 400, [], Provenance(run_id="test"), manual_first=True)
    await walk.go()
    assert first[1].path[-1].text != last == walk.found[1].path[-1].text
    assert never_shown(named_in(manual), walk.seen) == ("Sprocket settings",)
