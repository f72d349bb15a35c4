from collections.abc import Collection
from typing import Any, Never

import pytest

from taskloom.environments.errors import ApplicationStartFailedError, ApplicationUnavailableError
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.prompts.replies import ExplorerReply, NamedValue, ProposedSubtask
from taskloom.resources.applications import ControlQuery, ResourceDeclaration
from taskloom.synthesis.exploration.exploration import (
    Exploration,
    ExplorationSettings,
    propose_again,
)
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import ClickInput, Control, Rectangle, Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}
BARE = {"simulated_notes": APPLICATIONS["simulated_notes"].model_copy(update={"example_subtasks": ()})}
"""The application without curated subtasks."""
ONE_VOTE = ExplorationSettings(look_at_application=False, declaration_votes=1)


def proposal(**changes: object) -> ProposedSubtask:
    values: dict[str, object] = {
        "name": "write",
        "instruction_template": "Write '{text}' into '{text_path}'.",
        "parameter_sets": [
            [
                NamedValue(name="text", value="Hello there"),
                NamedValue(name="text_path", value="Documents/a.txt"),
            ]
        ],
        "outputs": [ResourceDeclaration(category="text_path", parameter="text_path")],
        "fresh": ["text_path"],
        **changes,
    }
    return ProposedSubtask.model_validate(values)


async def explored(
    sandbox: EvaluationSandbox,
    *proposals: ProposedSubtask,
    settings: ExplorationSettings = ONE_VOTE,
    **others: Any,
) -> Exploration:
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: [ExplorerReply(subtasks=list(proposals))]})
    return await World(models, sandbox, BARE, exploration=settings, **others).explore("simulated_notes")


async def test_curated_subtasks_enter_the_pool_as_the_catalogue_has_them(
    shared_sandbox: EvaluationSandbox,
) -> None:
    models = TestModels(NOTES)
    found = await World(models, shared_sandbox, NOTES).explore("simulated_notes")
    examples = {f"simulated_notes.{item.name}": item for item in NOTES["simulated_notes"].example_subtasks}
    assert {item.subtask_id for item in found.subtasks} == set(examples)
    for item in found.subtasks:
        example = examples[item.subtask_id]
        assert (item.inputs, item.outputs, item.worked_example) == (
            example.inputs,
            example.outputs,
            example.worked_example,
        )
        assert item.origin == "curated"
    assert found.rejections == ()
    assert len(models.calls[ModelRole.EXPLORER]) == 1


async def test_no_more_than_wanted_enter_and_nobody_is_asked_for_more(
    shared_sandbox: EvaluationSandbox,
) -> None:
    models = TestModels(NOTES)
    two = ONE_VOTE.model_copy(update={"subtasks_per_application": 2})
    found = await World(models, shared_sandbox, NOTES, exploration=two).explore("simulated_notes")
    names = [example.name for example in NOTES["simulated_notes"].example_subtasks[:2]]
    assert [item.subtask_id for item in found.subtasks] == [f"simulated_notes.{name}" for name in names]
    assert ModelRole.EXPLORER not in models.calls


async def test_a_proposal_that_repeats_a_curated_subtask_is_a_duplicate(
    shared_sandbox: EvaluationSandbox,
) -> None:
    example = NOTES["simulated_notes"].example_subtasks[0]
    again = proposal(
        name="said_again",
        instruction_template=example.instruction_template,
        parameter_sets=[
            [NamedValue(name=name, value=value) for name, value in values.items()]
            for values in example.parameter_sets
        ],
        inputs=list(example.inputs),
        outputs=list(example.outputs),
        fresh=list(example.fresh),
    )
    models = TestModels(NOTES, scripted={ModelRole.EXPLORER: [ExplorerReply(subtasks=[again])]})
    found = await World(models, shared_sandbox, NOTES, exploration=ONE_VOTE).explore("simulated_notes")
    assert [item.reason for item in found.rejections] == ["duplicate"]
    assert f"says the same as simulated_notes.{example.name}" in found.rejections[0].message


async def test_curated_subtasks_stay_where_the_explorer_gives_no_usable_answer(
    shared_sandbox: EvaluationSandbox,
) -> None:
    models = TestModels(NOTES, scripted={ModelRole.EXPLORER: ["no JSON at all"]})
    found = await World(models, shared_sandbox, NOTES).explore("simulated_notes")
    assert len(found.subtasks) == len(NOTES["simulated_notes"].example_subtasks)
    assert [item.reason for item in found.rejections] == ["no_usable_reply"]


async def test_a_new_proposal_is_kept_as_proposed(shared_sandbox: EvaluationSandbox) -> None:
    found = await explored(shared_sandbox, proposal())
    assert [(item.subtask_id, item.origin) for item in found.subtasks] == [
        ("simulated_notes.write", "proposed")
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "Write it"}, "name_invalid"),
        ({"parameter_sets": [[NamedValue(name="text", value="x")]]}, "parameters_mismatch"),
        (
            {
                "parameter_sets": [
                    [NamedValue(name="text", value=" "), NamedValue(name="text_path", value="a.txt")]
                ]
            },
            "empty_value",
        ),
        ({"fresh": ["folder"]}, "parameters_mismatch"),
        ({"parameter_sets": []}, "parameters_mismatch"),
    ],
)
async def test_a_malformed_proposal_is_rejected_with_its_reason(
    shared_sandbox: EvaluationSandbox, changes: dict[str, object], reason: str
) -> None:
    found = await explored(shared_sandbox, proposal(**changes))
    assert found.subtasks == ()
    assert [item.reason for item in found.rejections] == [reason]


@pytest.mark.parametrize(
    "outputs",
    [
        [ResourceDeclaration(category="telepathy")],
        [ResourceDeclaration(category="text_path", parameter="folder")],
        [ResourceDeclaration(category="markdown_path", parameter="text_path")],
        [ResourceDeclaration(category="text_path")],
    ],
    ids=["unknown category", "unknown parameter", "named like another category", "file without value"],
)
async def test_malformed_declarations_cost_the_vote_but_not_the_proposal(
    shared_sandbox: EvaluationSandbox, outputs: list[ResourceDeclaration]
) -> None:
    good = ExplorerReply(subtasks=[proposal()])
    models = TestModels(
        BARE,
        scripted={ModelRole.EXPLORER: [ExplorerReply(subtasks=[proposal(outputs=outputs)]), good]},
    )
    found = await World(models, shared_sandbox, BARE, exploration=ONE_VOTE).explore("simulated_notes")
    assert [item.outputs for item in found.subtasks] == [tuple(proposal().outputs)]


async def test_an_ending_speaks_against_a_declared_category(shared_sandbox: EvaluationSandbox) -> None:
    wrong = proposal(
        instruction_template="Write '{text}' into '{target}'.",
        parameter_sets=[
            [NamedValue(name="text", value="x y"), NamedValue(name="target", value="Documents/a.csv")]
        ],
        outputs=[ResourceDeclaration(category="json_path", parameter="target")],
        fresh=["target"],
    )
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: [ExplorerReply(subtasks=[wrong])] * 9})
    found = await World(models, shared_sandbox, BARE, exploration=ONE_VOTE).explore("simulated_notes")
    assert [item.reason for item in found.rejections] == ["declarations_disagree"]


async def test_a_proposal_that_says_the_same_as_another_is_a_duplicate(
    shared_sandbox: EvaluationSandbox,
) -> None:
    twin = proposal(
        name="write_again",
        instruction_template="write '{content}'  into '{text_path}'",
        parameter_sets=[
            [NamedValue(name="content", value="Hi"), NamedValue(name="text_path", value="Documents/b.txt")]
        ],
    )
    found = await explored(shared_sandbox, proposal(), twin)
    assert [item.reason for item in found.rejections] == ["duplicate"]


async def test_the_same_words_about_another_category_are_another_subtask(
    shared_sandbox: EvaluationSandbox,
) -> None:
    other = proposal(
        name="write_table",
        instruction_template="Write '{text}' into '{csv_path}'.",
        parameter_sets=[
            [NamedValue(name="text", value="a,b"), NamedValue(name="csv_path", value="Documents/b.csv")]
        ],
        outputs=[ResourceDeclaration(category="csv_path", parameter="csv_path")],
        fresh=[],
    )
    assert len((await explored(shared_sandbox, proposal(), other)).subtasks) == 2


async def test_declarations_need_independent_votes(shared_sandbox: EvaluationSandbox) -> None:
    wrong = proposal(outputs=[])
    right = ExplorerReply(subtasks=[proposal()])
    replies = [ExplorerReply(subtasks=[wrong]), right, right, right]
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: replies})
    settings = ExplorationSettings(look_at_application=False, declaration_votes=3)
    found = await World(models, shared_sandbox, BARE, exploration=settings).explore("simulated_notes")
    assert [item.outputs for item in found.subtasks] == [tuple(proposal().outputs)]
    asked = models.calls[ModelRole.EXPLORER][1]
    shown = asked.question.rendered().user
    assert "Declare inputs and outputs" in shown
    assert '"outputs"' not in shown


async def test_votes_that_never_agree_reject_the_subtask(shared_sandbox: EvaluationSandbox) -> None:
    one = ExplorerReply(subtasks=[proposal()])
    other = ExplorerReply(subtasks=[proposal(outputs=[])])
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: [one, other, one, other]})
    settings = ExplorationSettings(look_at_application=False, declaration_votes=3, declaration_rounds=4)
    found = await World(models, shared_sandbox, BARE, exploration=settings).explore("simulated_notes")
    assert (found.subtasks, [item.reason for item in found.rejections]) == ((), ["declarations_disagree"])


async def test_rubbish_for_ever_rejects_the_application(shared_sandbox: EvaluationSandbox) -> None:
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: ["no JSON at all"]})
    found = await World(models, shared_sandbox, BARE).explore("simulated_notes")
    assert [(item.item_kind, item.reason) for item in found.rejections] == [
        ("application", "no_usable_reply")
    ]


async def test_an_application_that_does_not_come_up_is_rejected_without_a_call(
    shared_sandbox: EvaluationSandbox,
) -> None:
    class Unavailable:
        def lease(self, platform: str, applications: Collection[str]) -> Never:
            raise ApplicationStartFailedError("port 8080 never opened")

    models = TestModels(BARE)
    settings = ExplorationSettings(look_at_application=True)
    world = World(models, shared_sandbox, BARE, environments=Unavailable(), exploration=settings)  # type: ignore[arg-type]
    found = await world.explore("simulated_notes")
    assert [item.reason for item in found.rejections] == ["application_unavailable"]
    assert "port 8080" in found.rejections[0].message
    assert not models.calls


@pytest.mark.parametrize(
    ("error", "starts"),
    [(ApplicationStartFailedError("port closed"), 3), (ApplicationUnavailableError("not installed"), 1)],
    ids=lambda value: type(value).__name__,
)
async def test_an_application_is_started_again_only_where_that_can_help(
    shared_sandbox: EvaluationSandbox, error: Exception, starts: int
) -> None:
    begun: list[str] = []

    class Failing:
        def lease(self, platform: str, applications: Collection[str]) -> Never:
            begun.append(platform)
            raise error

    world = World(
        TestModels(BARE),
        shared_sandbox,
        BARE,
        environments=Failing(),  # type: ignore[arg-type]
        exploration=ExplorationSettings(),
    )
    found = await world.explore("simulated_notes")
    assert [item.reason for item in found.rejections] == ["application_unavailable"]
    assert len(begun) == starts


def _control(control_type: str, text: str) -> Control:
    place = Rectangle(left=0, top=0, right=50, bottom=20)
    return Control(label="1", text=text, control_type=control_type, rectangle=place)


STOPPED = Trajectory(
    trajectory_id="t",
    subtask_id="s",
    instance_id="i",
    parameters={},
    instruction="Write.",
    platform="simulated",
    initial_evidence=Evidence(step=0),
    steps=(
        TrajectoryStep(
            step=1,
            observation_screenshot=Screenshot(sha256="1"),
            observation_controls=(_control("Button", "New"),),
            action=ClickInput(control_label="1"),
            target=ControlQuery(text="New", control_type="Button"),
            evidence=Evidence(step=1, controls=(_control("Button", "New"), _control("Edit", "Title"))),
        ),
    ),
    termination="gave_up",
)
"""A performance whose one click opened a form."""


async def test_a_revision_under_another_name_is_the_same_subtask_and_of_several_none_is(
    shared_sandbox: EvaluationSandbox,
) -> None:
    first = (await explored(shared_sandbox, proposal())).subtasks[0]
    renamed = proposal(name="write_text", instruction_template="Write '{text}' into the file '{text_path}'.")
    replies = [ExplorerReply(subtasks=[renamed]), ExplorerReply(subtasks=[renamed, proposal(name="other")])]
    models = TestModels(BARE, scripted={ModelRole.EXPLORER: list(replies)})

    async def again(attempt: int) -> Any:
        return await propose_again(
            first,
            BARE["simulated_notes"],
            ["it could not be performed"],
            models=models,
            categories=World(models, shared_sandbox, BARE).categories,
            attempt=attempt,
            performance=STOPPED,
        )

    revised = await again(1)
    assert revised.subtask_id == first.subtask_id
    assert revised.instruction_template == renamed.instruction_template
    assert await again(2) is None
    question = models.calls[ModelRole.EXPLORER][0].question
    (told,) = question.feedback
    assert [item.text for item in question.controls] == ["New"]
    assert [(item.path, [new.text for new in item.controls]) for item in question.screens] == [
        (("Button 'New'",), ["Title"])
    ]
    assert question.screenshot == STOPPED.steps[0].observation_screenshot
    assert first.instruction_template in told and "could not be performed" in told
