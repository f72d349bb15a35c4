"""Coverage rate and logical consistency (section 4.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from itertools import permutations
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.omnieval.errors import SequenceImpossibleError
from taskloom.omnieval.lookup import METRICS, PAPER, Attempt, further, measured
from taskloom.omnieval.metrics.coverage_rate import coverage_rate
from taskloom.omnieval.scoring import score_of
from taskloom.taskgraph.measures.interference import orders_of
from taskloom.taskgraph.records.graph import TaskGraph
from tests.taskgraph.small_graphs import clipboard, file, graphs, is_order, linked, node, shaped

DIAMOND = shaped((0, 0b1, 0b1, 0b110), "aabb")


def test_deeper_subtasks_weigh_more() -> None:
    score = score_of(DIAMOND, ["s0", "s1"])
    assert score.coverage_rate == pytest.approx(3 / 8)
    assert not score.success


@pytest.mark.parametrize("name", METRICS.built_in())
def test_every_metric_states_its_source_and_has_a_value_where_it_is_defined(name: str) -> None:
    module = import_module(f"taskloom.omnieval.metrics.{name}")
    assert re.search(r"\((section|table|equation) \S+\)\.", module.__doc__ or "", re.IGNORECASE)
    names = tuple(item.instance_id for item in DIAMOND.nodes)
    for done in (names, names[:1], ()):
        value = module.measure(Attempt(DIAMOND, done))
        assert value is None or isfinite(value)


@pytest.mark.parametrize("name", PAPER)
def test_a_perfect_attempt_has_the_value_1_in_the_metrics_of_the_paper(name: str) -> None:
    names = tuple(item.instance_id for item in DIAMOND.nodes)
    assert measured(Attempt(DIAMOND, names))[name] == 1
    assert 0 <= (measured(Attempt(DIAMOND, names[:1]))[name] or 0) < 1


@given(graphs(6))
def test_coverage_is_between_0_and_1_and_grows_with_every_subtask(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors)
    names = [item.instance_id for item in graph.nodes]
    rates = [score_of(graph, names[:number]).coverage_rate for number in range(len(names) + 1)]
    assert rates[0] == 0
    assert rates[-1] == pytest.approx(1)
    assert rates == sorted(rates)


def test_consistency_is_the_ratio_to_the_best_order() -> None:
    assert score_of(DIAMOND, ["s0", "s1", "s2", "s3"]).logical_consistency == 1.0
    assert score_of(DIAMOND, ["s0", "s2", "s1", "s3"]).logical_consistency == 0.0


@given(graphs(5), st.lists(st.sampled_from("ab"), min_size=5, max_size=5))
def test_consistency_never_exceeds_1_for_any_order(
    predecessors: tuple[int, ...], applications: list[str]
) -> None:
    graph = shaped(predecessors, "".join(applications[: len(predecessors)]))
    masks = graph.predecessors
    for order in permutations(range(len(masks))):
        if is_order(masks, order):
            score = score_of(graph, [graph.nodes[index].instance_id for index in order])
            assert score.logical_consistency is None or 0 <= score.logical_consistency <= 1
            assert (score.logical_consistency is None) == (score.maximum_coherency == 0)


def test_consistency_is_undefined_where_nothing_can_be_coherent() -> None:
    assert score_of(shaped((0, 0b1), "ab"), ["s0"]).logical_consistency is None


def test_the_maximum_is_taken_over_successful_orders_only() -> None:
    graph = linked(
        node("copy 1", application="a", outputs=(clipboard("1"),)),
        node("copy 2", application="a", outputs=(clipboard("2"),)),
        node("paste 1", application="b", inputs=(clipboard("1"),)),
        node("paste 2", application="b", inputs=(clipboard("2"),)),
    )
    assert orders_of(graph).successful_count == 2
    assert score_of(graph, ["copy 1", "paste 1"]).maximum_coherency == 0


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        (["s1"], r"'s1' \(number 1\) depends on 's0' for text_path 0-1, which is not completed before it"),
        (["s0", "s3"], r"'s3' \(number 2\) depends on 's1'"),
        (["s0", "s0"], "occurs twice in the sequence, the second time as number 2"),
        (["s0", "x"], "Number 2 of the sequence, 'x', is not in the graph"),
    ],
)
def test_an_impossible_sequence_is_refused_with_the_first_violation(
    sequence: Sequence[str], message: str
) -> None:
    with pytest.raises(SequenceImpossibleError, match=message):
        score_of(DIAMOND, sequence)


def test_a_subtask_that_reads_what_is_lost_is_refused() -> None:
    graph = linked(
        node("copy 1", outputs=(clipboard("1"),)),
        node("copy 2", outputs=(clipboard("2"),)),
        node("paste 1", inputs=(clipboard("1"),)),
    )
    lost = r"'paste 1' \(number 3\) reads text_in_clipboard 1, which 'copy 2' has overwritten before"
    with pytest.raises(SequenceImpossibleError, match=lost):
        score_of(graph, ["copy 1", "copy 2", "paste 1"])
    assert score_of(graph, ["copy 2", "copy 1", "paste 1"]).success
    old = file("old")
    graph = linked(node("delete", inputs=(old,), consumed=(old,)), node("read", inputs=(old,)))
    with pytest.raises(
        SequenceImpossibleError, match=r"reads text_path old, which 'delete' has consumed before"
    ):
        score_of(graph, ["delete", "read"])


def test_an_agent_may_lose_what_it_never_reads() -> None:
    graph = linked(
        node("copy 1", outputs=(clipboard("1"),)),
        node("copy 2", outputs=(clipboard("2"),)),
        node("paste 1", inputs=(clipboard("1"),)),
    )
    assert score_of(graph, ["copy 1", "copy 2"]).coverage_rate == 0.5


def test_consistency_is_undefined_where_applications_are_unknown() -> None:
    graph = shaped((0, 0b1, 0b1))
    unknown = graph.model_copy(
        update={"nodes": tuple(item.model_copy(update={"application": ""}) for item in graph.nodes)}
    )
    assert score_of(graph, ["s0", "s1"]).logical_consistency == 0.5
    assert score_of(unknown, ["s0", "s1"]).logical_consistency is None


def test_an_empty_graph_has_nothing_to_cover() -> None:
    with pytest.raises(SequenceImpossibleError, match="no subtasks"):
        score_of(TaskGraph(nodes=()), [])
    with pytest.raises(SequenceImpossibleError, match="not in the graph"):
        coverage_rate({"a": 1}, ["b"])


def test_metrics_beyond_the_papers_are_kept_where_they_are_defined() -> None:
    values = {name: value for name, value in measured(Attempt(DIAMOND, ())).items() if name in PAPER}
    assert further(values) == {}
    assert further(values | {"tact": None, "speed": 2.0}) == {"speed": 2.0}
