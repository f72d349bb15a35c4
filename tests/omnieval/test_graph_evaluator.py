"""Node states follow the agent through the graph (section 4.1)."""

from __future__ import annotations

import pytest

from taskloom.omnieval.errors import EvaluationEndedError
from taskloom.omnieval.scoring import GraphEvaluator, NodeState
from taskloom.taskgraph.records.evaluation_function import EvalResult, Evaluation
from taskloom.taskgraph.records.subtask import BoundSubtask
from tests.taskgraph.small_graphs import shaped

DIAMOND = shaped((0, 0b1, 0b1, 0b110), "aabb")


class World:
    """Judges by a list of what has been done, as evidence would show it."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.judged: list[tuple[str, int]] = []

    def __call__(self, node: BoundSubtask, since_step: int) -> Evaluation:
        self.judged.append((node.instance_id, since_step))
        success = node.instance_id in self.done
        return Evaluation(
            outcome="result", result=EvalResult(success=success, progress=1.0 if success else 0.25)
        )


@pytest.fixture
def world() -> World:
    return World()


def test_roots_start_as_evaluating_and_all_others_as_waiting(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    assert evaluator.state_of("s0") is NodeState.EVALUATING
    assert {evaluator.state_of(name) for name in ("s1", "s2", "s3")} == {NodeState.WAITING}


def test_only_evaluating_nodes_are_judged_and_followers_open_with_the_next_action(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    world.done = {"s0", "s1"}
    assert evaluator.after_action() == ("s0",)
    assert world.judged == [("s0", 0)]
    assert evaluator.after_action() == ("s1",)
    assert world.judged[1:] == [("s1", 1), ("s2", 1)]
    assert evaluator.state_of("s3") is NodeState.WAITING


def test_a_completed_node_stays_completed_and_is_not_judged_again(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    world.done = {"s0"}
    evaluator.after_action()
    world.done = set()
    evaluator.after_action()
    assert evaluator.state_of("s0") is NodeState.COMPLETED
    assert [name for name, _ in world.judged].count("s0") == 1


def test_the_task_is_completed_with_its_last_subtask(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    for name in ("s0", "s1", "s2", "s3"):
        world.done.add(name)
        evaluator.after_action()
    result = evaluator.finish()
    assert result.success
    assert (result.outcome, result.coverage_rate, result.logical_consistency) == ("completed", 1.0, 1.0)
    assert result.completed == ("s0", "s1", "s2", "s3")


def test_no_completion_for_n_steps_fails_the_whole_task(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world, patience=3)
    world.done = {"s0"}
    for _ in range(4):
        evaluator.after_action()
    assert evaluator.outcome == "stalled"
    with pytest.raises(EvaluationEndedError, match="stalled"):
        evaluator.after_action()
    result = evaluator.finish()
    assert not result.success
    assert result.coverage_rate == pytest.approx(1 / 8)


def test_the_step_limit_ends_the_task(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world, patience=10, step_limit=2)
    evaluator.after_action()
    evaluator.after_action()
    assert evaluator.finish().outcome == "step_limit"


def test_an_agent_that_stops_early_keeps_its_coverage_and_its_progress(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    world.done = {"s0"}
    evaluator.after_action()
    result = evaluator.finish()
    assert result.outcome == "finished_early"
    assert result.progress == {"s0": 1.0, "s1": 0.25, "s2": 0.25, "s3": 0.0}


def test_what_the_last_action_completed_further_down_is_seen_at_the_end(world: World) -> None:
    evaluator = GraphEvaluator(DIAMOND, world)
    world.done = {"s0", "s1", "s2", "s3"}
    evaluator.after_action()
    assert evaluator.finish().outcome == "completed"


def test_a_refused_evaluation_completes_nothing() -> None:
    def refuses(node: BoundSubtask, since_step: int) -> Evaluation:
        return Evaluation(outcome="timed_out", message="too slow")

    evaluator = GraphEvaluator(DIAMOND, refuses)
    assert evaluator.after_action() == ()
    assert evaluator.state_of("s0") is NodeState.EVALUATING
