from collections.abc import Sequence

from taskloom.prompts.replies import IntentExtractorReply, NamedValue, ProposedEndProduct, ProposedIntent
from taskloom.resources.reading.catalog import load_scenarios
from taskloom.synthesis.intents import Intents, IntentSettings, extract_intents, linked_pairs
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import PROVENANCE
from tests.synthesis.task_samples import pooled_subtasks

LINKED = ["simulated_notes.write_note", "simulated_notes.copy_note", "simulated_notes.paste_note"]
UNLINKED = ["simulated_tables.add_row", "simulated_files.move_text", "simulated_notes.append_line"]


async def extracted(
    *replies: IntentExtractorReply | str, known: Sequence[Intent] = (), **settings: int
) -> tuple[Intents, TestModels]:
    scripted = {ModelRole.INTENT_EXTRACTOR: list(replies)} if replies else None
    models = TestModels({}, scripted=scripted)
    found = await extract_intents(
        pooled_subtasks(),
        models=models,
        scenarios=load_scenarios(),
        settings=IntentSettings(**settings),
        known=known,
        provenance=PROVENANCE,
    )
    return found, models


def instance(subtask_id: str) -> BoundSubtask:
    member = next(item for item in pooled_subtasks() if item.subtask.subtask_id == subtask_id)
    return member.instances[0]


def reply(goal: str, group: list[str], scenario: str = "") -> IntentExtractorReply:
    return IntentExtractorReply(intents=[ProposedIntent(goal=goal, subtask_ids=group, scenario=scenario)])


async def test_offline_intents_have_end_products_that_something_leads_to() -> None:
    found, _ = await extracted(wanted=12)
    assert len(found.intents) >= 6
    assert not found.rejections
    assert len({item.text.casefold() for item in found.intents}) == len(found.intents)
    assert len({frozenset(end.instance_id for end in item.end_products) for item in found.intents}) == len(
        found.intents
    )
    members = {item.subtask.subtask_id: item for item in pooled_subtasks()}
    for intent in found.intents:
        assert linked_pairs([members[name] for name in intent.subtask_ids])
        assert intent.end_products
        assert all(end.value in intent.text for end in intent.end_products)


async def test_an_end_product_exists_stands_in_its_group_and_can_be_reached() -> None:
    paste = ProposedEndProduct(
        subtask_id="simulated_notes.paste_note",
        parameters=[
            NamedValue(name=name, value=value)
            for name, value in instance("simulated_notes.paste_note").parameters.items()
        ],
    )
    nothing = ProposedEndProduct(subtask_id="simulated_notes.paste_note")
    bad = IntentExtractorReply(
        intents=[
            ProposedIntent(goal="No such", subtask_ids=LINKED, end_products=[nothing]),
            ProposedIntent(goal="Outside", subtask_ids=LINKED[:2], end_products=[paste]),
            ProposedIntent(goal="Unreached", subtask_ids=[LINKED[0], LINKED[2]], end_products=[paste]),
            ProposedIntent(goal="Good", subtask_ids=LINKED, end_products=[paste]),
        ]
    )
    found, _ = await extracted(bad, wanted=1)
    assert [item.reason for item in found.rejections] == [
        "no_such_product",
        "product_outside_group",
        "product_out_of_reach",
    ]
    assert [end.instance_id for end in found.intents[0].end_products] == [
        instance("simulated_notes.paste_note").instance_id
    ]


async def test_a_group_is_kept_with_a_scenario_that_exists() -> None:
    found, _ = await extracted(reply("Write things down", LINKED, "Note Taking"), wanted=1)
    assert [(item.text, item.scenario) for item in found.intents] == [("Write things down", "Note Taking")]
    found, _ = await extracted(reply("Write things down", LINKED, "Gardening"), wanted=1)
    assert found.intents[0].scenario == "Note Taking"


async def test_what_cannot_be_an_intent_is_rejected_and_told_to_the_extractor() -> None:
    bad = IntentExtractorReply(
        intents=[
            ProposedIntent(goal="Fly", subtask_ids=["simulated_notes.fly", *LINKED]),
            ProposedIntent(goal="Too small", subtask_ids=LINKED[:1]),
            ProposedIntent(goal=" ", subtask_ids=LINKED),
            ProposedIntent(goal="Unlinked", subtask_ids=UNLINKED),
            ProposedIntent(goal="Good", subtask_ids=LINKED),
            ProposedIntent(goal="Same group", subtask_ids=LINKED[::-1]),
            ProposedIntent(goal="good", subtask_ids=[*LINKED, "simulated_mail.send_file"]),
        ]
    )
    found, models = await extracted(bad, wanted=2)
    assert [item.reason for item in found.rejections][:6] == [
        "unknown_subtask",
        "group_size",
        "no_goal",
        "not_linked",
        "duplicate",
        "duplicate",
    ]
    assert found.intents[0].text == "Good"
    second = models.calls[ModelRole.INTENT_EXTRACTOR][1].question
    assert second.known_goals == ("Good",)
    assert "no subtask of the group makes what another one reads" in str(second.feedback)


async def test_calls_that_bring_nothing_new_end_the_extraction() -> None:
    same = reply("Write things down", LINKED)
    found, models = await extracted(same, same, same, same, wanted=9)
    assert len(found.intents) == 1
    assert len(models.calls[ModelRole.INTENT_EXTRACTOR]) == 3


async def test_known_intents_are_not_proposed_again() -> None:
    first, _ = await extracted(wanted=5)
    second, _ = await extracted(known=first.intents, wanted=5)
    texts = {item.text for item in first.intents}
    assert second.intents
    assert texts.isdisjoint({item.text for item in second.intents})


async def test_rubbish_ends_the_extraction_with_a_rejection() -> None:
    found, _ = await extracted("{", wanted=3)
    assert [item.reason for item in found.rejections] == ["no_usable_reply"]
