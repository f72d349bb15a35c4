"""A start that is not what a subtask needs says nothing about the subtask: no work is done, none is
judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.synthesis.trajectories.setup_trajectories import fixtures_laid
from taskloom.taskgraph.records.model_calls import ModelRole
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, World
from tests.synthesis.spoilt_environments import WAYS, SpoiltEnvironments

NAME = "simulated_notes"
NOTES = {NAME: APPLICATIONS[NAME]}


@pytest.mark.parametrize(("spoil", "said"), WAYS)
async def test_verification_from_a_wrong_start_is_neither_passed_nor_failed(
    shared_sandbox: EvaluationSandbox, spoil: str, said: str
) -> None:
    models = TestModels(NOTES)
    world = World(models, shared_sandbox, NOTES)
    environments = SpoiltEnvironments(world.environments, spoil)
    world.verifier.stage = replace(world.verifier.stage, environments=environments)
    copies = f"{NAME}.copy_note"

    done = (await world.verify(copies))[copies]

    assert done.verified is None
    assert done.rejection is not None
    assert done.rejection.reason == "invalid_start"
    assert said in done.rejection.message
    assert {item.termination for item in done.trajectories} <= {"invalid_start", "environment_error"}
    assert all(environment.acts == 0 for environment in environments.leased)
    assert not models.calls[ModelRole.ACTOR]
    assert not done.functions
    assert not done.rounds
    assert not done.effects


def test_hashes_are_known_of_text_fixtures_that_are_laid() -> None:
    laid = fixtures_laid(NOTES.values())
    files = {item.value for item in NOTES[NAME].fixtures if item.content}

    assert files
    assert set(laid) == files
    assert fixtures_laid(NOTES.values(), without=files) == {}
