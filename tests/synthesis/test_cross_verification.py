from collections.abc import Sequence
from dataclasses import replace

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.prompts.replies import ActorReply, EvaluationWriterReply
from taskloom.resources.applications import WorkedStep
from taskloom.synthesis.cross_verification import performances
from taskloom.synthesis.cross_verification.agreement import Result, results
from taskloom.synthesis.cross_verification.function_writing import VerificationSettings
from taskloom.synthesis.cross_verification.performances import Performance, TriedBefore
from taskloom.synthesis.trajectories.trajectories import TrajectorySettings
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.models import TestModels
from tests.synthesis.recordings import click, file, recording
from tests.synthesis.simulated_world import APPLICATIONS, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}
WRITE, COPY, PASTE = (f"simulated_notes.{name}" for name in ("write_note", "copy_note", "paste_note"))
HEAD = "def evaluate_agent_task_completion(text: str, text_path: str):\n"
ACCEPTS_ALL = HEAD + "    check_text_exists(text)\n    return EvalResult(True, text_path, 1.0)\n"
ONE_SET_ONLY = (
    HEAD
    + "    done = check_file_contains('Documents/agenda.txt', 'Talk about the budget') and text != '' and"
    " text_path != ''\n    return EvalResult(done, 'looks for one note only', 1.0 if done else 0.0)\n"
)
BLIND = (
    HEAD + "    done = check_file_exists(text_path)\n"
    "    return EvalResult(done, 'looks at the file only', 1.0 if done else 0.0)\n"
)
NOT_PYTHON = "the function you want"


def world(sandbox: EvaluationSandbox, models: TestModels, **settings: int) -> World:
    return World(models, sandbox, NOTES, verification=VerificationSettings(**settings))


async def test_a_subtask_is_verified_with_two_parameter_sets(shared_sandbox: EvaluationSandbox) -> None:
    done = (await world(shared_sandbox, TestModels(NOTES)).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert done.rejection is None
    assert len({item.instance_id for item in done.verified.trajectories}) == 2
    assert [dict(item.parameters) for item in done.verified.trajectories] == list(
        done.verified.subtask.available_parameters
    )
    assert "Buy a new lamp" not in done.verified.function.source
    families = {item.family: item.killed == item.total for item in done.verified.function.quality.families}
    assert families["no_op"]
    assert families["wrong_parameter"]
    assert all(families.values())


async def test_performances_are_compared_once_until_there_are_others(
    shared_sandbox: EvaluationSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, ...]] = []

    def counted(trajectories: Sequence[Trajectory]) -> dict[str, Result]:
        compared.append(tuple(item.trajectory_id for item in trajectories))
        return results(trajectories)

    monkeypatch.setattr(performances, "results", counted)
    done = (await world(shared_sandbox, TestModels(NOTES)).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert compared == [tuple(item.trajectory_id for item in done.verified.trajectories)]


async def test_each_judgement_is_kept_with_both_sides(shared_sandbox: EvaluationSandbox) -> None:
    done = (await world(shared_sandbox, TestModels(NOTES)).verify(WRITE))[WRITE]
    assert done.verified is not None
    accepted = [judged for judged in done.rounds if judged.accepted]
    assert accepted
    assert all(judged.reason for judged in done.rounds if not judged.accepted)
    for judged in accepted:
        assert judged.function_id == done.verified.function.function_id
        assert judged.trajectory_id in {item.trajectory_id for item in done.trajectories}
        assert judged.evaluation is not None
        assert judged.evaluation.passed
        assert judged.quality is not None


async def test_inputs_that_no_reset_provides_are_made_by_a_verified_subtask_first(
    shared_sandbox: EvaluationSandbox,
) -> None:
    done = await world(shared_sandbox, TestModels(NOTES)).verify(COPY, PASTE)
    pasted = done[PASTE].verified
    assert pasted is not None
    for trajectory in pasted.trajectories:
        assert trajectory.initial_evidence.clipboard.text
        assert trajectory.initial_evidence.inputs == ()
        assert trajectory.initial_evidence.step == 0
        assert [step.step for step in trajectory.steps] == list(range(1, len(trajectory.steps) + 1))


async def test_without_a_producer_the_subtask_is_rejected_unperformed(
    shared_sandbox: EvaluationSandbox,
) -> None:
    done = (await world(shared_sandbox, TestModels(NOTES)).verify(PASTE))[PASTE]
    assert done.rejection is not None
    assert done.rejection.reason == "inputs_unavailable"
    assert "text_in_clipboard" in done.rejection.message
    assert done.trajectories == ()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (ACCEPTS_ALL, "no_op"),
        (ONE_SET_ONLY, "looks for one note only"),
        (BLIND, "text is "),
        (NOT_PYTHON, "refused"),
    ],
    ids=["accepts everything", "one parameter set only", "ignores a parameter", "no Python"],
)
async def test_a_bad_function_goes_back_to_its_writer_with_the_reason(
    shared_sandbox: EvaluationSandbox, source: str, said: str
) -> None:
    scripted = {ModelRole.EVALUATION_WRITER: [EvaluationWriterReply(source=source)]}
    models = TestModels(NOTES, scripted=scripted)
    done = (await world(shared_sandbox, models).verify(WRITE))[WRITE]
    assert done.verified is not None
    first, second = models.calls[ModelRole.EVALUATION_WRITER][:2]
    assert first.attempt == 0
    assert second.attempt == 1
    assert second.question.previous_source == source
    assert said in str(second.question.feedback)
    assert [item.accepted for item in done.rounds][:2] == [False, False]
    assert len(done.trajectories) == 2, "recorded evidence is enough to judge a new function"


async def test_a_function_that_stays_bad_rejects_the_subtask_and_keeps_the_rounds(
    shared_sandbox: EvaluationSandbox,
) -> None:
    scripted = {
        ModelRole.EVALUATION_WRITER: [
            EvaluationWriterReply(source=f"{ACCEPTS_ALL}# {number}\n") for number in range(4)
        ]
    }
    models = TestModels(NOTES, scripted=scripted)
    settings = {"rounds": 2, "functions_per_round": 2}
    done = (await world(shared_sandbox, models, **settings).verify(WRITE))[WRITE]
    assert done.verified is None
    assert done.rejection is not None
    assert done.rejection.reason == "not_verified"
    assert len(done.functions) == 4
    assert len(done.trajectories) == 2, "a bad function is no reason to doubt the performances"
    assert {item.round for item in done.rounds} == {1, 2}


async def test_performances_that_every_function_refuses_are_made_again_without_a_word_about_functions(
    shared_sandbox: EvaluationSandbox,
) -> None:
    strict = (
        HEAD + "    return EvalResult(check_file_exists('nowhere.txt'), 'there is no nowhere.txt' + text +"
        " text_path, 0.0)\n"
    )
    scripted = {ModelRole.EVALUATION_WRITER: [EvaluationWriterReply(source=strict)] * 2}
    models = TestModels(NOTES, scripted=scripted)
    settings = {"rounds": 2, "functions_per_round": 2}
    done = (await world(shared_sandbox, models, **settings).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert len(done.trajectories) == 4
    told = [str(call.question.feedback) for call in models.calls[ModelRole.ACTOR]]
    assert not any("nowhere" in item for item in told)


async def test_a_claim_of_success_alone_convinces_nobody(shared_sandbox: EvaluationSandbox) -> None:
    scripted = {ModelRole.ACTOR: [ActorReply(status="FINISH")] * 40}
    done = (await world(shared_sandbox, TestModels(NOTES, scripted=scripted)).verify(WRITE))[WRITE]
    assert done.rejection is not None
    assert done.rejection.reason == "not_reproducible"
    assert done.functions == ()


async def test_a_performance_that_strays_is_repeated_until_two_agree(
    shared_sandbox: EvaluationSandbox,
) -> None:
    stray = [
        ActorReply(status="CONTINUE", thought="The page may need a moment.", function="wait"),
        ActorReply(status="FINISH"),
    ]
    models = TestModels(NOTES, scripted={ModelRole.ACTOR: stray})
    done = (await world(shared_sandbox, models).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert len(done.trajectories) > 2
    assert all(len(item.steps) > len(stray) for item in done.verified.trajectories)


async def test_sets_that_agree_with_themselves_but_not_with_each_other_go_back_to_the_explorer(
    shared_sandbox: EvaluationSandbox,
) -> None:
    """A third performance of each would tell nothing; the explorer is told how the results differ."""
    models = TestModels(NOTES)
    here = world(shared_sandbox, models)
    performed: list[str] = []

    async def delegate(wanted: Performance) -> Trajectory:
        values = wanted.instance.parameters
        performed.append(wanted.instance.instance_id)
        written = [file(values["text_path"], values["text"])]
        if wanted.instance.instance_id != performed[0]:
            written.append(file("Documents/index.txt", "one more"))
        moves = [click("Save", files=tuple(written))]
        return recording(wanted.instance.subtask_id, values, moves, attempt=wanted.attempt)

    here.verifier.stage = replace(here.verifier.stage, delegate=delegate)
    done = (await here.verify(WRITE))[WRITE]
    assert sorted(performed.count(name) for name in set(performed)) == [2, 2]
    assert done.rejection is not None and done.rejection.reason == "not_reproducible"
    assert "sets of parameters disagree" in done.rejection.message
    (told,) = models.calls[ModelRole.EXPLORER][-1].question.feedback
    assert "its own result" in told and "Documents/index.txt added" in told


async def test_what_an_application_changes_with_some_sets_only_is_clean_where_it_comes_about_again(
    shared_sandbox: EvaluationSandbox,
) -> None:
    """It depends on what was there, such as a value that is set only where it was another one."""
    here = world(shared_sandbox, TestModels(NOTES))
    first: list[str] = []

    async def delegate(wanted: Performance) -> Trajectory:
        values, kept = wanted.instance.parameters, ".applications/simulated_notes/kept.json"
        first.append(wanted.instance.instance_id)
        start = {"files": (file(kept, '{"unit": 0}'),)}
        more = file(kept, '{"unit": 1}') if wanted.instance.instance_id != first[0] else start["files"][0]
        moves = [click("Save", files=(file(values["text_path"], values["text"]), more))]
        return recording(wanted.instance.subtask_id, values, moves, start=start, attempt=wanted.attempt)

    here.verifier.stage = replace(here.verifier.stage, delegate=delegate)
    done = (await here.verify(WRITE))[WRITE]
    assert done.verified is not None, done.rejection
    assert sorted(first.count(name) for name in set(first)) == [2, 2]


async def test_what_is_tried_again_asks_no_question_for_the_second_time(
    shared_sandbox: EvaluationSandbox,
) -> None:
    first, second = TestModels(NOTES), TestModels(NOTES)
    lost = (await world(shared_sandbox, first).verify(WRITE))[WRITE]
    once_more = world(shared_sandbox, second)
    once_more.verifier.stage = replace(
        once_more.verifier.stage,
        tried=TriedBefore({item.instance_id: item.attempt + 1 for item in lost.trajectories}, {WRITE: 1}),
    )
    done = (await once_more.verify(WRITE))[WRITE]
    assert done.verified is not None
    assert {item.trajectory_id for item in done.trajectories}.isdisjoint(
        item.trajectory_id for item in lost.trajectories
    )
    asked, again = (
        [
            [call.attempt for call in models.calls[role]]
            for role in (ModelRole.ACTOR, ModelRole.EVALUATION_WRITER)
        ]
        for models in (first, second)
    )
    assert again == [[number + 1 for number in numbers] for numbers in asked]
    assert [call.question.another_way for call in second.calls[ModelRole.ACTOR]] == [
        call.question.another_way for call in first.calls[ModelRole.ACTOR]
    ]


async def test_giving_up_is_told_to_the_next_attempt(shared_sandbox: EvaluationSandbox) -> None:
    reason = "the button is missing"
    models = TestModels(NOTES, scripted={ModelRole.ACTOR: [ActorReply(status="GIVE_UP", message=reason)]})
    done = (await world(shared_sandbox, models).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert any(reason in str(call.question.feedback) for call in models.calls[ModelRole.ACTOR])


@pytest.mark.parametrize(("times", "performed"), [(2, 4), (99, 4)], ids=["at first", "always"])
async def test_replies_that_cannot_be_used_say_nothing_of_the_subtask(
    shared_sandbox: EvaluationSandbox, times: int, performed: int
) -> None:
    """Nobody is asked to propose the subtask otherwise."""
    models = TestModels(NOTES, scripted={ModelRole.ACTOR: ["{}"] * times})
    done = (await world(shared_sandbox, models).verify(WRITE))[WRITE]
    assert (done.verified is not None) == (times < performed)
    assert len(done.trajectories) == performed
    assert models.calls[ModelRole.EXPLORER]
    assert not any(call.question.feedback for call in models.calls[ModelRole.EXPLORER])


async def test_a_set_whose_input_nothing_provides_gives_way_to_a_further_one(
    shared_sandbox: EvaluationSandbox,
) -> None:
    missing = {"text_path": "Documents/nowhere.txt"}
    here = world(shared_sandbox, TestModels(NOTES))
    (subtask,) = (
        item for item in (await here.explore("simulated_notes")).subtasks if item.subtask_id == COPY
    )
    first, *others = subtask.available_parameters
    await here.pool.announce([subtask.model_copy(update={"available_parameters": (first, missing, *others)})])
    await here.pool.complete()
    done = await here.verifier.verify(
        subtask.model_copy(update={"available_parameters": (first, missing, *others)})
    )
    assert done.verified is not None
    assert done.verified.subtask.available_parameters == (first, others[0])
    without = await here.verifier.verify(
        subtask.model_copy(update={"available_parameters": (first, missing)})
    )
    assert without.rejection is not None and without.rejection.reason == "inputs_unavailable"
    assert "nowhere" in without.rejection.message


async def test_rubbish_from_the_writer_is_a_rejection(shared_sandbox: EvaluationSandbox) -> None:
    models = TestModels(NOTES, scripted={ModelRole.EVALUATION_WRITER: ["{}"]})
    done = (await world(shared_sandbox, models).verify(WRITE))[WRITE]
    assert done.rejection is not None
    assert done.rejection.reason == "no_usable_reply"
    assert len(done.trajectories) == 2


async def test_the_second_performance_goes_another_way_where_one_is_known(
    shared_sandbox: EvaluationSandbox,
) -> None:
    models = TestModels(NOTES)
    done = await world(shared_sandbox, models).verify(WRITE, COPY)
    written, copied = done[WRITE].verified, done[COPY].verified
    assert written is not None
    assert copied is not None
    asked = {call.item_id: call.question.another_way for call in models.calls[ModelRole.ACTOR]}
    assert [asked[item.instance_id] for item in written.trajectories] == [False, True]
    assert written.function.quality.routes == 2
    assert copied.function.quality.routes == 1, "only one way is known"
    keys = [step.action.operation for step in written.trajectories[1].steps]
    assert keys[-1] == "keyboard_input"


async def test_another_way_that_leads_nowhere_is_followed_by_the_usual_one(
    shared_sandbox: EvaluationSandbox,
) -> None:
    notes = NOTES["simulated_notes"]
    nowhere = (WorkedStep(operation="wait", seconds=0.1),)
    examples = [item.model_copy(update={"second_example": nowhere}) for item in notes.example_subtasks]
    applications = {"simulated_notes": notes.model_copy(update={"example_subtasks": tuple(examples)})}
    done = (await World(TestModels(applications), shared_sandbox, applications).verify(WRITE))[WRITE]
    assert done.verified is not None
    assert done.verified.function.quality.routes == 1
    assert len(done.trajectories) > 2


async def test_another_way_need_not_be_asked_for(shared_sandbox: EvaluationSandbox) -> None:
    models = TestModels(NOTES)
    once = world(shared_sandbox, models)
    once.verifier.stage = replace(
        once.verifier.stage, settings=TrajectorySettings(step_limit=12, another_way=False)
    )
    done = (await once.verify(WRITE))[WRITE]
    assert done.verified is not None
    assert done.verified.function.quality.routes == 1
    assert not any(call.question.another_way for call in models.calls[ModelRole.ACTOR])
