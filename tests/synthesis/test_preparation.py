from collections.abc import AsyncIterator, Sequence

import pytest

from taskloom.environments.environment import Environment
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.lookup import platform
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.trajectories.reperformance import perform_again
from taskloom.synthesis.trajectories.setup_trajectories import (
    PreparedEnvironment,
    SetupTrajectory,
    made_files,
    since,
)
from taskloom.taskgraph.records.evidence import Evidence, InputEvent
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, World

NOTES = {"simulated_notes": APPLICATIONS["simulated_notes"]}
COPY = "simulated_notes.copy_note"


def bound(*, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> BoundSubtask:
    return BoundSubtask(
        instance_id="x:1",
        subtask_id="x",
        application="notes",
        application_category="",
        instruction="",
        inputs=tuple(Resource(category="text_path", kind=ResourceKind.FILE, value=item) for item in inputs),
        outputs=tuple(Resource(category="text_path", kind=ResourceKind.FILE, value=item) for item in outputs),
    )


def test_files_that_are_only_written_are_made() -> None:
    assert made_files([bound(inputs=["a"], outputs=["a", "b"]), bound(outputs=["c"])]) == {"b", "c"}


def test_evidence_is_counted_from_where_a_subtask_began() -> None:
    evidence = Evidence(
        step=5,
        inputs=(InputEvent(step=2, kind="text", text="old"), InputEvent(step=4, kind="text", text="new")),
        window_title="Notes",
    )
    seen = since(evidence, 3, 1)
    assert (seen.step, [(item.step, item.text) for item in seen.inputs]) == (2, [(1, "new")])
    assert seen.window_title == "Notes"


@pytest.fixture
async def copied(shared_sandbox: EvaluationSandbox) -> Trajectory:
    world = World(TestModels(NOTES), shared_sandbox, NOTES)
    verified = (await world.verify(COPY))[COPY].verified
    await world.environments.close()
    assert verified is not None
    return verified.trajectories[0]


@pytest.fixture
async def environment() -> AsyncIterator[Environment]:
    module = platform("simulated")
    made = module.create(module.SETTINGS.model_validate({"pictures": False}))
    yield made
    await made.close()


async def test_a_recorded_trajectory_does_the_same_again(
    copied: Trajectory, environment: Environment
) -> None:
    observation = await environment.reset([*NOTES.values()])
    recording = await perform_again(environment, copied, observation)
    assert recording.termination == "finished"
    assert [step.target for step in recording.steps] == [step.target for step in copied.steps]
    assert (await environment.evidence()).clipboard == copied.final_evidence.clipboard


async def test_steps_that_had_failed_are_not_done_again(copied: Trajectory, environment: Environment) -> None:
    failed = copied.steps[0].model_copy(update={"problem": "nothing was there"})
    spoiled = copied.model_copy(update={"steps": (failed, *copied.steps)})
    observation = await environment.reset([*NOTES.values()])
    recording = await perform_again(environment, spoiled, observation)
    assert len(recording.steps) == len(copied.steps)


async def test_a_setup_trajectory_that_cannot_be_performed_breaks_the_environment(
    copied: Trajectory, environment: Environment
) -> None:
    target = copied.steps[0].target
    assert target is not None
    gone = copied.steps[0].model_copy(update={"target": target.model_copy(update={"text": "Gone"})})
    spoiled = copied.model_copy(update={"steps": (gone,)})
    instance = bound().model_copy(update={"application": "simulated_notes"})
    prepared = PreparedEnvironment(environment, SetupTrajectory(((instance, spoiled),)), [*NOTES.values()])
    with pytest.raises(EnvironmentBrokenError, match="preparing with x:1 failed"):
        await prepared.reset([*NOTES.values()])
