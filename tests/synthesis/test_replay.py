from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from taskloom.environments.agent import Decision
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.categories import ResourceKind
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.instances import fixtures_at_reset
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.errors import StageInputInvalidError
from taskloom.synthesis.replay.replay import Replayer, ReplaySettings, spread_orders
from taskloom.synthesis.trajectories.reperformance import SlippingAgent
from taskloom.synthesis.trajectories.setup_trajectories import first_needs
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.effect import SideEffects
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput
from taskloom.taskgraph.records.task import Intent, Task
from tests.synthesis.models import TestModels
from tests.synthesis.simulated_world import APPLICATIONS, CATEGORIES, PROVENANCE, World
from tests.synthesis.spoilt_environments import WAYS, SpoiltEnvironments

WANTED = ("simulated_notes.write_note", "simulated_notes.copy_note", "simulated_mail.send_clipboard")
Verified = tuple[World, dict[str, VerifiedSubtask]]


VERIFIED: dict[str, VerifiedSubtask] = {}
"""Subtasks that the first test verified."""
TASKS: list[Task] = []
"""Tasks composed of them, those of most subtasks first."""


@pytest.fixture
async def pool(shared_sandbox: EvaluationSandbox) -> AsyncIterator[Verified]:
    applications = {name: APPLICATIONS[name] for name in ("simulated_notes", "simulated_mail")}
    world = World(TestModels(applications), shared_sandbox, applications)
    if not VERIFIED:
        done = await world.verify(*WANTED)
        VERIFIED.update({name: item.verified for name, item in done.items() if item.verified})
        TASKS.extend(composed(VERIFIED))
    yield world, dict(VERIFIED)
    await world.environments.close()


def composed(verified: dict[str, VerifiedSubtask]) -> list[Task]:
    result = compose(
        [instance for item in verified.values() for instance in item.instances(CATEGORIES)],
        [Intent(intent_id="i", text="Write and send", subtask_ids=WANTED)],
        CompositionRequest(count=30, maximum_components=2),
        fixtures=fixtures_at_reset(APPLICATIONS.values(), CATEGORIES),
        seed=2,
    )
    return sorted(result, key=lambda task: -len(task.graph.nodes))


def replayer(world: World, verified: dict[str, VerifiedSubtask], **settings: float) -> Replayer:
    return Replayer(
        world.environments,
        world.sandbox,
        APPLICATIONS,
        verified,
        ReplaySettings.model_validate(settings),
        PROVENANCE,
    )


async def test_a_composed_task_works_in_each_order_tried(pool: Verified) -> None:
    world, verified = pool
    task = next(item for item in TASKS if item.successful_order_count > 1)
    player = replayer(world, verified)
    done = await player.replay(task)
    assert done.rejection is None
    assert len(done.replays) == 2
    first, last = (set(replay.components) for replay in done.replays)
    assert first <= last == player.shows(task)
    assert done.replays[0].order != done.replays[1].order
    for replay, recording in zip(done.replays, done.trajectories, strict=True):
        assert replay.success
        assert replay.trajectory_id == recording.trajectory_id
        assert [item.instance_id for item in replay.subtasks] == list(replay.order)
        assert replay.subtasks[-1].last_step == len(recording.steps)
        assert [step.step for step in recording.steps] == list(range(1, len(recording.steps) + 1))


async def test_files_that_the_task_makes_are_not_there_before(pool: Verified) -> None:
    world, verified = pool
    task = next(
        item
        for item in TASKS
        if any(node.subtask_id == "simulated_notes.write_note" for node in item.graph.nodes)
    )
    made = {
        node.parameters["text_path"]
        for node in task.graph.nodes
        if node.subtask_id == "simulated_notes.write_note"
    }
    done = await replayer(world, verified, orders=1).replay(task)
    assert made.isdisjoint(file.path for file in done.trajectories[0].initial_evidence.files)


async def test_a_task_whose_every_replay_failed_is_rejected_with_the_failing_node(pool: Verified) -> None:
    world, verified = pool
    task = TASKS[0]
    spoiled = {
        name: item.model_copy(
            update={
                "trajectories": tuple(
                    trajectory.model_copy(update={"steps": trajectory.steps[:1]})
                    for trajectory in item.trajectories
                )
            }
        )
        if name == "simulated_notes.write_note"
        else item
        for name, item in verified.items()
    }
    done = await replayer(world, spoiled).replay(task)
    if not any(node.subtask_id == "simulated_notes.write_note" for node in task.graph.nodes):
        pytest.fail("the sampled task must contain the spoiled subtask")
    assert done.rejection is not None
    assert done.rejection.reason == "not_executable"
    assert "simulated_notes.write_note" in done.rejection.message
    assert all(not replay.success for replay in done.replays)


async def test_a_control_that_is_gone_ends_the_replay_with_its_name(pool: Verified) -> None:
    world, verified = pool
    task = TASKS[-1]
    name = task.graph.nodes[0].subtask_id
    broken = [
        trajectory.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(
                        update={"target": step.target and step.target.model_copy(update={"text": "Gone"})}
                    )
                    for step in trajectory.steps
                )
            }
        )
        for trajectory in verified[name].trajectories
    ]
    spoiled = {**verified, name: verified[name].model_copy(update={"trajectories": tuple(broken)})}
    done = await replayer(world, spoiled, orders=1).replay(task)
    assert not done.replays[0].success
    assert "'Gone', which is not on the screen" in done.replays[0].message
    assert done.trajectories[0].termination == "gave_up"


async def test_a_node_that_nobody_verified_is_an_error(pool: Verified) -> None:
    world, _ = pool
    with pytest.raises(StageInputInvalidError, match="has no verified trajectory"):
        await replayer(world, {}).replay(TASKS[0])


def test_orders_are_taken_far_apart() -> None:
    task = Task.model_construct(successful_orders=(("a", "b"), ("b", "a"), ("c",)))  # type: ignore[call-arg]
    assert spread_orders(task, 2) == [("a", "b"), ("c",)]
    assert spread_orders(task, 1) == [("a", "b")]
    assert spread_orders(task, 9) == [("a", "b"), ("b", "a"), ("c",)]


def reading_task() -> Task:
    """A task that reads a fixture before anything else makes it."""
    for task in sorted(TASKS, key=lambda task: len(task.graph.nodes)):
        if any(need.kind is ResourceKind.FILE for need in first_needs(task.graph.nodes)):
            return task
    pytest.fail("no sampled task reads a fixture")


@pytest.mark.parametrize(("spoil", "said"), WAYS)
async def test_a_replay_whose_start_is_not_what_it_needs_is_invalid(
    pool: Verified, spoil: str, said: str
) -> None:
    world, verified = pool
    environments = SpoiltEnvironments(world.environments, spoil)
    spoilt = Replayer(
        environments, world.sandbox, APPLICATIONS, verified, ReplaySettings(orders=1), PROVENANCE
    )

    done = await spoilt.replay(reading_task())

    (replay,) = done.replays
    assert replay.invalid
    assert not replay.success
    assert replay.side_effects is None
    assert said in replay.message
    assert done.rejection is not None
    assert done.rejection.reason == "replay_invalid"
    assert all(environment.acts == 0 for environment in environments.leased), (
        "nothing is done from a wrong start"
    )


async def test_a_replay_as_verified_has_no_side_effects(pool: Verified) -> None:
    world, verified = pool
    done = await replayer(world, verified, orders=1).replay(reading_task())

    assert done.replays[0].side_effects == SideEffects()


async def test_work_of_an_instance_that_nobody_recorded_is_no_side_effect_either(
    shared_sandbox: EvaluationSandbox,
) -> None:
    """In most worlds a performance is made from recordings of others: what it changes is its work all the
    same."""
    world = World(TestModels(APPLICATIONS), shared_sandbox, APPLICATIONS)
    done = await world.verify("simulated_notes.copy_note", "simulated_notes.paste_note")
    verified = {name: item.verified for name, item in done.items() if item.verified}
    copied = verified["simulated_notes.copy_note"].instances(CATEGORIES)[0]
    pasting = verified["simulated_notes.paste_note"]
    pasted = pasting.subtask.bind({"text_path": "Documents/handover.txt"}, CATEGORIES)
    assert pasting.trajectory(pasted.instance_id) is None and pasting.performance(pasted) is not None
    graph = TaskGraph(nodes=(copied, pasted))
    task = Task(
        task_id="t",
        graph=graph,
        complexity=complexity_of(graph),
        successful_orders=((copied.instance_id, pasted.instance_id),),
    )

    replayed = await replayer(world, verified).replay(task)

    assert replayed.replays[0].success
    assert replayed.replays[0].side_effects == SideEffects()


async def test_on_request_the_player_slips_once_takes_it_back_and_the_task_still_works(
    pool: Verified,
) -> None:
    world, verified = pool
    tasks = [task for task in TASKS if "simulated_mail" in {n.application for n in task.graph.nodes}]
    plain = await replayer(world, verified, orders=1).replay(tasks[0])
    assert not any(step.slip for step in plain.trajectories[0].steps)
    slipped = []
    for task in tasks[:6]:
        done = await replayer(world, verified, orders=1, slip_share=1).replay(task)
        assert done.replays[0].success and done.replays[0].side_effects == SideEffects()
        marks = [step.slip for step in done.trajectories[0].steps if step.slip]
        assert marks in ([], ["slip", "recovery"], ["slip", "recovery", "recovery"])
        slipped += [done.trajectories[0]] if marks else []
    assert slipped
    for recording in slipped:
        (slip,) = [step for step in recording.steps if step.slip == "slip"]
        assert not slip.problem and slip.target is not None and slip.thought
        back = recording.steps[slip.step]
        assert back.slip == "recovery" and slip.target.text in back.thought


async def test_a_replay_that_fails_with_a_slip_is_performed_again_without(
    pool: Verified, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, verified = pool

    async def clumsy(agent: SlippingAgent, *seen: object) -> Decision:
        return Decision(status="give_up", message="a slip was not harmless: it changed a file")

    monkeypatch.setattr(SlippingAgent, "decide", clumsy)
    done = await replayer(world, verified, orders=1, slip_share=1).replay(TASKS[0])
    assert done.rejection is None and done.replays[0].success
    assert not any(step.slip for step in done.trajectories[0].steps)


async def test_steps_of_a_replay_say_what_is_seen_and_why_but_for_inserted_clicks(pool: Verified) -> None:
    world, verified = pool
    for task in TASKS[:4]:
        done = await replayer(world, verified, orders=1).replay(task)
        steps = done.trajectories[0].steps
        inserted = {
            click.step
            for click, typing in pairwise(steps)
            if isinstance(click.action, ClickInput) and isinstance(typing.action, KeyboardInput)
            if click.target == typing.target and not click.thought
        }
        for step in steps:
            assert len(step.description.split()) >= 4, step
            assert step.step in inserted or len(step.thought.split()) >= 3, step
