import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jinja2 import meta
from pydantic import JsonValue

from taskloom.model_clients.conversation import first_request
from taskloom.model_clients.messages import ImageContent, TextContent
from taskloom.prompts import agent_inputs, rendering
from taskloom.prompts import inputs as prompt_inputs
from taskloom.prompts.inputs import (
    ActorInput,
    DependencyJudgeInput,
    NumberedSubtask,
    ResourceLink,
    StepInHistory,
    SummarizerInput,
)
from taskloom.prompts.prompt_input import PromptInput
from taskloom.prompts.rendering import UnknownTemplateError, render, template_hash, template_names
from taskloom.taskgraph.records.interaction import Screenshot

INPUTS = sorted(
    {
        item
        for module in (prompt_inputs, agent_inputs)
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, PromptInput) and hasattr(item, "role")
    },
    key=lambda item: item.template or item.role,
)


STEP = ActorInput(
    application="notes",
    title="Notes",
    manual="Press New.",
    instruction="Create 'a'.",
    steps_left=9,
    screenshot=Screenshot.of(b"one"),
)


def test_every_template_has_one_typed_input() -> None:
    assert tuple(item.template or item.role for item in INPUTS) == template_names()


def template_variables(name: str) -> set[str]:
    """The variables that a template uses in either part."""
    folder = files("taskloom.prompts") / "templates" / name
    sources = (item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith(".jinja"))
    return {
        found
        for source in sources
        for found in meta.find_undeclared_variables(rendering._environment().parse(source))
        if found != "cached_up_to_here"
    }


@pytest.mark.parametrize("record", INPUTS, ids=lambda item: item.template or item.role)
def test_template_uses_exactly_the_fields_of_its_input(record: type[PromptInput[Any]]) -> None:
    pictures = {name for name, field in record.model_fields.items() if "Screenshot" in str(field.annotation)}
    sent_beside = {name for name, field in record.model_fields.items() if field.exclude}
    assert (
        template_variables(record.template or record.role)
        == set(record.model_fields) - pictures - sent_beside
    )


def test_text_of_a_model_is_data_and_never_a_template() -> None:
    prompt = DependencyJudgeInput(
        instruction="{{ 7 * 6 }} {% for x in y %}",
        subtasks=(NumberedSubtask(number=1, application="Wiki", instruction="{{ config }}"),),
    ).rendered()
    assert "{{ 7 * 6 }} {% for x in y %}" in prompt.user
    assert "{{ config }}" in prompt.user


def test_the_unchanging_part_is_equal_for_two_steps_of_one_subtask() -> None:
    second = STEP.model_copy(update={"steps_left": 8, "screenshot": Screenshot.of(b"two")})
    assert STEP.rendered().system == second.rendered().system
    assert STEP.rendered().user != second.rendered().user
    assert second.rendered().images[0].png == b"two"


def test_a_dumped_input_names_pictures_by_hash_only() -> None:
    picture = Screenshot.of(b"pixels")
    question = ActorInput(
        application="notes", title="Notes", manual="", instruction="Do.", steps_left=1, screenshot=picture
    )
    assert question.model_dump(mode="json")["screenshot"] == {"sha256": picture.sha256}


def test_links_are_shown_with_their_values() -> None:
    prompt = SummarizerInput(
        goal="Keep order",
        subtasks=(NumberedSubtask(number=1, application="Notes", instruction="Write 'ä'."),),
        links=(
            ResourceLink(producer=1, consumer=2, category="csv_path", kind="file", value='Documents/"a".csv'),
        ),
    ).rendered()
    assert '2 needs from 1: csv_path (file) "Documents/\\"a\\".csv"' in prompt.user
    assert "Write 'ä'." in prompt.user


def test_an_unknown_template_is_named_with_the_known_ones() -> None:
    with pytest.raises(
        UnknownTemplateError, match=r"'nothing'; known: actor, attempt_critic, computer_actor, critic"
    ):
        template_hash("nothing")


@pytest.mark.parametrize("record", [item for item in INPUTS if not item.template], ids=lambda item: item.role)
def test_every_prompt_shows_one_worked_example_of_its_reply(record: type[PromptInput[Any]]) -> None:
    values: dict[str, JsonValue] = {
        name: [] if "tuple" in str(info.annotation) else "" for name, info in record.model_fields.items()
    }
    system = render(record.role, values).system
    (example,) = re.findall(r"```json\n(.*?)\n```", system.partition("## Reply")[2], flags=re.DOTALL)
    reply_type = record.model_construct().reply_type
    reply = reply_type.model_validate_json(example)
    assert any(getattr(reply, name) for name in reply_type.model_fields)


def test_the_history_of_one_step_begins_that_of_the_next() -> None:
    first = ActorInput(
        application="notes",
        title="Notes",
        manual="Press New.",
        instruction="Create 'a'.",
        history=(StepInHistory(step=1, function="click_input", control_text="New"),),
        steps_left=9,
        screenshot=Screenshot.of(b"one"),
    )
    later = (*first.history, StepInHistory(step=2, function="wait"))
    second = first.model_copy(update={"history": later, "steps_left": 8})
    one, two = first.rendered(), second.rendered()
    assert one.stable and two.user.startswith(one.user[: one.stable])
    assert "Create 'a'." in one.user[: one.stable] and "9 more steps" in one.user[one.stable :]


def test_thoughts_without_end_are_cut_in_the_history_and_whole_requests_stay_short() -> None:
    thought = "The form is open.\n" + "Let me think about it once more. " * 200
    history = tuple(StepInHistory(step=number, function="wait", thought=thought) for number in range(1, 11))
    asked = ActorInput(
        application="notes",
        title="Notes",
        manual="Press New.",
        instruction="Create 'a'.",
        history=history,
        steps_left=9,
        screenshot=Screenshot.of(b"one"),
    )
    user = asked.rendered().user
    assert user.count("Thought: The form is open. Let me think") == 10 and user.count("…") == 10
    assert len(user) < 5000


def test_requests_hold_what_stays_before_what_grows_before_what_differs() -> None:
    system, user = first_request(STEP, stage="s", item_id="i").messages
    parts = [(type(item), getattr(item, "cacheable", False)) for item in (*system.content, *user.content)]
    assert parts == [(TextContent, True), (TextContent, True), (TextContent, False), (ImageContent, False)]


def test_a_template_that_is_edited_meanwhile_stays_as_it_was_and_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "edited_meanwhile"
    folder.mkdir()
    (folder / "system.md.jinja").write_text("You judge.", encoding="utf-8")
    (folder / "user.md.jinja").write_text("Is {{ thing }} new?", encoding="utf-8")
    monkeypatch.setattr(rendering, "_folder", lambda: tmp_path)
    try:
        before = render("edited_meanwhile", {"thing": "this"})
        (folder / "system.md.jinja").write_text("You judge {{ another_input }}.", encoding="utf-8")
        (folder / "user.md.jinja").write_text("Is {{ thing }} old?", encoding="utf-8")
        rendering._template.cache_clear()
        after = [render("edited_meanwhile", {"thing": "this"}) for _ in range(2)]
        assert after == [before, before] and before.user == "Is this new?"
        assert [record.getMessage().partition(" was")[0] for record in caplog.records] == [
            "prompt template 'edited_meanwhile'"
        ]
    finally:
        rendering.template_hash.cache_clear()
        rendering._template.cache_clear()
