"""The proof that the method catches what models get wrong: nothing of it is in what comes out."""

import asyncio
from collections import Counter

import pytest

from evaluators_api.interpreter.sandbox import EvaluationSandbox
from prompts.replies import EvaluationWriterReply, SummarizerReply
from synthesis.exploration.exploration import ExplorationSettings
from synthesis.validation.validation import ValidationSettings, validate_task
from taskgraph.records.model_calls import ModelRole
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, PROVENANCE, World
from tests.synthesis.task_samples import TITLES, sample_tasks


@pytest.mark.parametrize("seed", [3, 11])
async def test_no_mistake_of_actor_or_writer_is_in_the_pool(
    shared_sandbox: EvaluationSandbox, seed: int
) -> None:
    models = TestModels(APPLICATIONS, mistakes=0.3, seed=seed)
    world = World(
        models,
        shared_sandbox,
        APPLICATIONS,
        exploration=ExplorationSettings(look_at_application=False),
    )
    done = await world.verify()
    await world.environments.close()
    verified = {name: item.verified for name, item in done.items() if item.verified}
    made = Counter(
        mistake.kind for calls in models.calls.values() for call in calls for mistake in call.mistakes
    )
    assert made.total() >= 10, f"too few mistakes to prove anything: {made}"
    assert len(verified) >= len(done) - 3

    accepted = {(item.instance_id, item.attempt) for one in verified.values() for item in one.trajectories}
    functions = {one.function.source for one in verified.values()}
    # A click on a wrong control that leads to the right result is a detour, and detours are no mistakes.
    for call in models.calls[ModelRole.ACTOR]:
        if any(mistake.kind != "wrong_control" for mistake in call.mistakes):
            assert (call.item_id, call.attempt) not in accepted, call.mistakes
    for call in models.calls[ModelRole.EVALUATION_WRITER]:
        if call.mistakes:
            assert isinstance(call.reply, EvaluationWriterReply)
            assert call.reply.source not in functions, call.mistakes


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
    mistaken = [call for call in models.calls[ModelRole.SUMMARIZER] if call.mistakes]
    assert len(mistaken) >= 20
    assert len(accepted) >= 60
    for call in mistaken:
        assert isinstance(call.reply, SummarizerReply)
        assert call.reply.instruction not in accepted
