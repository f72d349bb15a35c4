"""Canonical keys identify labelled graphs."""

from __future__ import annotations

from collections.abc import Sequence

import networkx
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import DiGraphMatcher

from taskloom.taskgraph.measures.orders import CanonicalKey, canonical_key, task_id
from tests.taskgraph.small_graphs import graphs, shaped
from tests.taskgraph.test_bitmasks import as_networkx


def key(predecessors: tuple[int, ...], labels: Sequence[str]) -> CanonicalKey:
    edges = [(labels[u], labels[v]) for u, v in as_networkx(predecessors).edges]
    return canonical_key(labels, edges)


def labelled(predecessors: tuple[int, ...], labels: Sequence[str]) -> networkx.DiGraph[int]:
    graph = as_networkx(predecessors)
    networkx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    return graph


@given(graphs(5), graphs(5), st.permutations("abcde"), st.permutations("abcde"))
def test_equal_exactly_for_equal_labelled_graphs(
    first: tuple[int, ...], second: tuple[int, ...], first_labels: Sequence[str], second_labels: Sequence[str]
) -> None:
    one, two = first_labels[: len(first)], second_labels[: len(second)]
    matcher = DiGraphMatcher(
        labelled(first, one), labelled(second, two), node_match=lambda a, b: a["label"] == b["label"]
    )
    assert (key(first, one) == key(second, two)) == matcher.is_isomorphic()
    assert (task_id(key(first, one)) == task_id(key(second, two))) == matcher.is_isomorphic()


@given(graphs(6))
def test_does_not_depend_on_the_order_of_nodes_and_edges(predecessors: tuple[int, ...]) -> None:
    graph = shaped(predecessors)
    turned = graph.model_copy(update={"nodes": graph.nodes[::-1], "edges": graph.edges[::-1]})
    one, other = (
        canonical_key([node.instance_id for node in item.nodes], item.pairs) for item in (graph, turned)
    )
    assert one == other


def test_ids_are_short_text_without_meaning() -> None:
    assert task_id(canonical_key(["a"], [])) != task_id(canonical_key(["b"], []))
    assert len(task_id(canonical_key(["a"], []))) == 24
