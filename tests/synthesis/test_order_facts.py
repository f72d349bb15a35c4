"""Facts about orders: what replays show, what counts as a clash, and what composition leaves out."""

from __future__ import annotations

from taskloom.environments.episode import describe_failure
from taskloom.environments.errors import ApplicationStartFailedError
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.replay.order_facts import (
    clashes,
    facts_of,
    failed_prefix,
    pairs_to_measure,
    without_clashes,
    without_prefixes,
)
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import OrderFact, Replay, ReplayedSubtask, Task
from tests.synthesis.test_components import _graph, _node, _task

A, B, C = _node("app.draw", "x"), _node("mail.send", "x"), _node("app.save", "x")


def _replay(nodes: list[BoundSubtask], failing: int | None = None) -> Replay:
    done = nodes if failing is None else nodes[: failing + 1]
    return Replay(
        replay_id="t(0)",
        task_id="t",
        order=tuple(node.instance_id for node in nodes),
        success=failing is None,
        subtasks=tuple(
            ReplayedSubtask(
                instance_id=node.instance_id, success=index != failing, first_step=index, last_step=index
            )
            for index, node in enumerate(done)
        ),
    )


def _ordered(*orders: list[BoundSubtask]) -> Task:
    task = _task("t", _graph([A, B, C]))
    listed = tuple(tuple(node.instance_id for node in order) for order in orders)
    return task.model_copy(update={"successful_orders": listed, "successful_order_count": len(listed)})


def test_a_replay_shows_each_subtask_after_the_last_one_of_its_application() -> None:
    task = _ordered([A, B, C])
    (fact,) = facts_of(task, _replay([A, B, C]))
    assert (fact.first, fact.second, fact.works) == ("app.draw", "app.save", True)
    (failed,) = facts_of(task, _replay([C, A, B], failing=1))
    assert (failed.first, failed.second, failed.works) == ("app.save", "app.draw", False)
    assert list(facts_of(task, _replay([A, B, C], failing=0))) == []


def test_a_function_that_does_not_run_says_nothing_about_orders() -> None:
    replay = _replay([C, A, B], failing=1)
    unfit = replay.subtasks[1].model_copy(update={"message": "refused: line 5: there is no check `check_it`"})
    assert (
        list(
            facts_of(_ordered([C, A, B]), replay.model_copy(update={"subtasks": (replay.subtasks[0], unfit)}))
        )
        == []
    )


def test_an_application_that_does_not_come_back_to_its_first_page_speaks_against_the_order() -> None:
    task, replay = _ordered([C, A, B]), _replay([C, A, B], failing=1)
    message = describe_failure(ApplicationStartFailedError("the text 'Text File' did not appear"))
    stuck = replay.subtasks[1].model_copy(update={"message": f"environment_error: {message}"})
    invalid = replay.model_copy(update={"subtasks": (replay.subtasks[0], stuck), "invalid": True})
    (fact,) = facts_of(task, invalid)
    assert (fact.first, fact.second, fact.works) == ("app.save", "app.draw", False)
    alone = replay.model_copy(update={"subtasks": (stuck,)})
    assert list(facts_of(task, alone)) == []


def _fact(first: str, second: str, works: bool) -> OrderFact:
    return OrderFact(
        fact_id=f"{first}{second}{works}", application="app", first=first, second=second, works=works
    )


def test_a_pair_that_worked_once_is_no_clash() -> None:
    facts = [_fact("a", "b", False), _fact("b", "a", True), _fact("c", "d", False), _fact("c", "d", True)]
    assert clashes(facts) == {("a", "b")}


def test_orders_that_contradict_a_fact_are_dropped_and_tasks_without_others_are_named() -> None:
    known = {("app.draw", "app.save")}
    both = _ordered([A, B, C], [C, A, B])
    fit = without_clashes(both, known)
    assert isinstance(fit, Task)
    assert fit.successful_orders == (tuple(node.instance_id for node in (C, A, B)),)
    assert fit.successful_order_count == 1
    assert fit.low_level_instructions[0] == C.instruction
    assert without_clashes(_ordered([A, B, C]), known) == ("app.draw", "app.save")
    assert without_clashes(both, ()) is both


def test_a_failed_order_is_known_by_what_was_performed_until_it_failed() -> None:
    task = _ordered([A, B, C], [C, A, B])
    assert failed_prefix(task, _replay([A, B, C])) == ()
    failed = _replay([C, A, B], failing=1)
    assert failed_prefix(task, failed) == ("app.save", "app.draw")
    assert failed_prefix(task, failed.model_copy(update={"invalid": True})) == ()
    fit = without_prefixes(task, [("app.save", "app.draw")])
    assert fit is not None and fit.successful_orders == task.successful_orders[:1]
    assert without_prefixes(task, [("app.draw",), ("app.save",)]) is None
    assert without_prefixes(task, ()) is task


def _writer(name: str, value: str = "", kind: ResourceKind = ResourceKind.OPEN_DOCUMENT) -> BoundSubtask:
    output = Resource(category="thing", kind=kind, application="app", value=value)
    return _node(name, "x").model_copy(update={"outputs": (output,)})


def test_pairs_that_share_a_slot_or_a_record_are_measured_in_both_orders() -> None:
    pool = {
        "app.draw": [_writer("app.draw")],
        "app.write": [_writer("app.write")],
        "app.note": [_writer("app.note", "n", ResourceKind.RECORD)],
        "mail.send": [B],
    }
    (task,) = pairs_to_measure(pool, ())
    assert {node.subtask_id for node in task.graph.nodes} == {"app.draw", "app.write"}
    assert len(task.successful_orders) == 2
    assert pairs_to_measure(pool, {("app.draw", "app.write"), ("app.write", "app.draw")}) == []
    assert len(pairs_to_measure(pool, {("app.draw", "app.write")})) == 1


def test_a_pair_that_never_worked_is_measured_again_whatever_it_touches() -> None:
    pool = {
        "app.draw": [_node("app.draw", "x"), _node("app.draw", "y")],
        "app.save": [_node("app.save", "y")],
    }
    both = {("app.draw", "app.save"), ("app.save", "app.draw")}
    assert pairs_to_measure(pool, both) == [] == pairs_to_measure(pool, ())
    (task,) = pairs_to_measure(pool, both, {("app.save", "app.draw")})
    assert {node.subtask_id for node in task.graph.nodes} == set(pool)
    (twice,) = pairs_to_measure(pool, (), {("app.draw", "app.draw")})
    assert twice.graph.nodes == tuple(pool["app.draw"])
