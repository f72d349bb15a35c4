"""What a later exploration knows of earlier ones."""

from __future__ import annotations

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.prompts.replies import ExplorerReply, NewCategory, ProposedSubtask
from taskloom.resources.applications import ResourceDeclaration
from taskloom.synthesis.exploration.exploration import Exploration, explore_application
from taskloom.synthesis.exploration.memory import ExplorationMemory
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import CATEGORIES, PROVENANCE, World
from tests.synthesis.test_exploration import BARE, ONE_VOTE, proposal

APPLICATION = BARE["simulated_notes"]


async def explored(models: TestModels, memory: ExplorationMemory) -> Exploration:
    return await explore_application(
        APPLICATION,
        models=models,
        environments=None,
        categories=CATEGORIES,
        settings=ONE_VOTE,
        memory=memory,
        provenance=PROVENANCE,
    )


def replying(*proposals: ProposedSubtask, categories: tuple[NewCategory, ...] = ()) -> TestModels:
    reply = ExplorerReply(subtasks=list(proposals), categories=list(categories))
    return TestModels(BARE, scripted={ModelRole.EXPLORER: [reply]})


async def first_subtask() -> Subtask:
    return (await explored(replying(proposal()), ExplorationMemory())).subtasks[0]


def rejection(subtask: Subtask, reason: str) -> Rejection:
    return Rejection(
        item_kind="subtask",
        item_id=subtask.subtask_id,
        stage="cross_verification",
        reason=reason,
        message="the actor found no such field",
        details={"instruction_template": subtask.instruction_template},
    )


async def test_the_explorer_is_told_what_is_verified_rejected_and_missing() -> None:
    subtask = await first_subtask()
    memory = ExplorationMemory(
        verified=(subtask,),
        rejected=(
            rejection(subtask.model_copy(update={"subtask_id": "simulated_notes.fly"}), "not_reproducible"),
        ),
        wishes=("no subtask reads csv_path",),
    )
    models = replying()
    await explored(models, memory)
    prompt = models.calls[ModelRole.EXPLORER][0].question.rendered()
    assert f"- `write`: {subtask.instruction_template}" in prompt.user
    made = f'(makes text_path "{subtask.available_parameters[0]["text_path"]}"'
    assert f"{subtask.instruction_template} {made}" in prompt.user
    assert "2 parameter sets are performed" in prompt.system
    assert "`fly`" in prompt.user and "not_reproducible: the actor found no such field" in prompt.user
    assert "- no subtask reads csv_path" in prompt.user
    assert "- check_record: " in prompt.system
    assert f"at most {ONE_VOTE.subtasks_per_application - 1} subtasks" in prompt.user


async def test_what_is_verified_is_proposed_no_second_time() -> None:
    memory = ExplorationMemory(verified=(await first_subtask(),))
    found = await explored(replying(proposal(name="write_again")), memory)
    assert (found.subtasks, [item.reason for item in found.rejections]) == ((), ["duplicate"])


async def test_what_a_stopped_run_proposed_is_proposed_no_second_time_either() -> None:
    subtask = await first_subtask()
    models = replying(proposal(name="write_again"))
    found = await explored(models, ExplorationMemory(undecided=(subtask,)))
    asked = models.calls[ModelRole.EXPLORER][0].question.rendered().user
    shown, _, beyond = asked.partition("but not yet tried. Do not propose them again:\n")
    assert (
        beyond.startswith(f"- `write`: {subtask.instruction_template}\n") and "Verified already" not in shown
    )
    assert f"at most {ONE_VOTE.subtasks_per_application - 1} subtasks" in asked
    assert (found.subtasks, [item.reason for item in found.rejections]) == ((), ["duplicate"])


async def test_what_was_rejected_is_not_paid_for_again_unless_it_changes() -> None:
    subtask = await first_subtask()
    memory = ExplorationMemory(rejected=(rejection(subtask, "not_reproducible"),))
    same = await explored(replying(proposal()), memory)
    assert [item.reason for item in same.rejections] == ["repeated"]
    assert "the actor found no such field" in same.rejections[0].message
    other = proposal(instruction_template="In the editor, write '{text}' into '{text_path}'.")
    assert len((await explored(replying(other), memory)).subtasks) == 1


async def test_a_rejection_that_may_not_last_is_no_obstacle() -> None:
    memory = ExplorationMemory(rejected=(rejection(await first_subtask(), "inputs_unavailable"),))
    assert len((await explored(replying(proposal()), memory)).subtasks) == 1


async def test_a_full_pool_asks_nobody() -> None:
    subtask = await first_subtask()
    many = tuple(
        subtask.model_copy(update={"subtask_id": f"simulated_notes.s{number}"})
        for number in range(ONE_VOTE.subtasks_per_application)
    )
    models = replying(proposal())
    assert (await explored(models, ExplorationMemory(verified=many))).subtasks == ()
    assert ModelRole.EXPLORER not in models.calls


def bookmark(name: str, **changes: object) -> ProposedSubtask:
    return proposal(name=name, instruction_template=f"{name} '{{text}}' in '{{text_path}}'.", **changes)


WRITER = bookmark("add", outputs=[ResourceDeclaration(category="bookmark", parameter="text")])
READER = bookmark("drop", inputs=[ResourceDeclaration(category="bookmark", parameter="text", consumed=True)])
BOOKMARK = NewCategory(name="bookmark", kind="record", description="A bookmark, by its title.")


async def test_a_category_that_is_written_and_read_joins_subtasks() -> None:
    found = await explored(replying(WRITER, READER, categories=(BOOKMARK,)), ExplorationMemory())
    assert [(item.name, item.kind) for item in found.categories] == [("bookmark", "record")]
    assert [item.outputs[0].category for item in found.subtasks[:1]] == ["bookmark"]
    assert found.subtasks[1].inputs[0].consumed


@pytest.mark.parametrize(
    ("category", "proposals", "reason"),
    [
        (BOOKMARK, (WRITER,), "one_sided"),
        (BOOKMARK, (READER,), "one_sided"),
        (BOOKMARK.model_copy(update={"kind": "cloud"}), (WRITER, READER), "unknown_kind"),
        (BOOKMARK.model_copy(update={"description": " "}), (WRITER, READER), "no_description"),
        (BOOKMARK.model_copy(update={"name": "Book mark"}), (WRITER, READER), "name_invalid"),
    ],
)
async def test_other_categories_are_rejected_with_their_reason(
    category: NewCategory, proposals: tuple[ProposedSubtask, ...], reason: str
) -> None:
    found = await explored(replying(*proposals, categories=(category,)), ExplorationMemory())
    assert found.categories == ()
    refused = [item for item in found.rejections if item.item_kind == "resource_category"]
    assert [(item.reason, bool(item.message)) for item in refused] == [(reason, True)]


async def test_a_category_of_the_catalogue_needs_no_proposal() -> None:
    known = NewCategory(name="text_path", kind="slot", description="")
    found = await explored(replying(proposal(), categories=(known,)), ExplorationMemory())
    assert (found.categories, found.rejections) == ((), ())


async def test_votes_name_inputs_and_outputs_only(shared_sandbox: EvaluationSandbox) -> None:
    vote = ExplorerReply(subtasks=[ProposedSubtask(name="write", outputs=list(proposal().outputs))])
    first = ExplorerReply(subtasks=[proposal()])
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: [first, vote, vote]})
    settings = ONE_VOTE.model_copy(update={"declaration_votes": 3})
    found = await World(models, shared_sandbox, BARE, exploration=settings).explore("simulated_notes")
    assert [item.instruction_template for item in found.subtasks] == [proposal().instruction_template]
