"""The proof that the method catches what models get wrong: nothing of it is in what comes out."""

import asyncio
from collections import Counter
from collections.abc import Mapping

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.effects import effects
from taskloom.prompts.replies import EvaluationWriterReply, SummarizerReply
from taskloom.synthesis.cross_verification.cross_verification import Verification
from taskloom.synthesis.exploration.exploration import ExplorationSettings
from taskloom.synthesis.validation.validation import ValidationSettings, validate_task
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, PROVENANCE, World
from tests.synthesis.task_samples import TITLES, sample_tasks


@pytest.mark.parametrize("seed", [3, 11])
@pytest.mark.slow
async def test_no_mistake_of_actor_or_writer_is_in_the_pool(
    shared_sandbox: EvaluationSandbox, seed: int
) -> None:
    models = TestModels(APPLICATIONS, mistakes=0.3, seed=seed)
    done = await _verified(models, shared_sandbox)
    verified = {name: item.verified for name, item in done.items() if item.verified}
    made = Counter(call.mistake for calls in models.calls.values() for call in calls if call.mistake)
    assert made.total() >= 10, f"too few mistakes to prove anything: {made}"
    assert 3 * len(verified) >= 2 * len(done), "mistakes may cost a third of the subtasks, and no more"

    accepted = {(item.instance_id, item.attempt) for one in verified.values() for item in one.trajectories}
    functions = {one.function.source for one in verified.values()}
    for call in models.calls[ModelRole.ACTOR]:
        if call.mistake not in (None, "wrong_control"):
            assert (call.item_id, call.attempt) not in accepted, call.mistake
    for call in models.calls[ModelRole.EVALUATION_WRITER]:
        if call.mistake:
            assert isinstance(call.reply, EvaluationWriterReply)
            assert call.reply.source not in functions, call.mistake

    # A click on a wrong control is a detour if nothing comes of it: what lasts must be what comes of no
    # mistakes at all.
    faultless = await _verified(TestModels(APPLICATIONS), shared_sandbox)
    right = {item.instance_id: _lasting(item) for one in faultless.values() for item in one.trajectories}
    for one in verified.values():
        for item in one.trajectories:
            assert _lasting(item) == right[item.instance_id], item.trajectory_id


async def _verified(models: TestModels, sandbox: EvaluationSandbox) -> Mapping[str, Verification]:
    settings = ExplorationSettings(look_at_application=False)
    world = World(models, sandbox, APPLICATIONS, exploration=settings)
    done = await world.verify()
    await world.environments.close()
    return done


def _lasting(trajectory: Trajectory) -> set[tuple[object, ...]]:
    found = effects(trajectory.initial_evidence, trajectory.final_evidence, trajectory.parameters)
    return {(*item.key, item.after) for item in found if item.area in ("file", "directory", "clipboard")}


async def test_no_mistake_of_the_summarizer_is_in_an_accepted_instruction() -> None:
    models = TestModels({}, mistakes=0.5, seed=5)
    tasks = sample_tasks(80)
    done = await asyncio.gather(
        *(
            validate_task(task, TITLES, models=models, settings=ValidationSettings(), provenance=PROVENANCE)
            for task in tasks
        )
    )
    accepted = {item.task.instruction for item in done if item.rejection is None}
    mistaken = [call for call in models.calls[ModelRole.SUMMARIZER] if call.mistake]
    assert len(mistaken) >= 20
    assert len(accepted) >= len(tasks) * 3 // 4
    for call in mistaken:
        assert isinstance(call.reply, SummarizerReply)
        assert call.reply.instruction not in accepted
