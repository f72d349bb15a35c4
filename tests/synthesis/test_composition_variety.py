"""Tasks of one pool are as different as the pool allows."""

from __future__ import annotations

from collections import Counter
from math import comb

from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent
from tests.taskgraph.small_graphs import file, node


def pool_of_pairs(number: int) -> list[BoundSubtask]:
    """Writers and readers of files: `number` linked pairs, each in an application of its own."""
    nodes: list[BoundSubtask] = []
    for pair in range(number):
        made = file(f"{pair}.txt")
        nodes += [
            node(f"write {pair}", application=f"application {pair}", outputs=(made,)),
            node(f"read {pair}", application=f"application {pair}", inputs=(made,)),
        ]
    return nodes


def test_every_subtask_of_a_pool_of_equals_is_used_about_as_often() -> None:
    nodes = pool_of_pairs(8)
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))
    tasks = list(
        compose(
            nodes,
            [intent],
            CompositionRequest(count=80, maximum_size=6, maximum_components=3, near_duplicate_share=1),
            fixtures={},
        )
    )
    used = Counter(item.subtask_id for task in tasks for item in task.graph.nodes)
    assert len(used) == len(nodes)
    assert max(used.values()) <= 2 * min(used.values())


def test_finds_every_set_of_a_pool_without_intents() -> None:
    sizes = [
        writers + 2 * pairs
        for writers in range(6)
        for pairs in range(6 - writers)
        for _ in range(comb(5, writers) * comb(5 - writers, pairs))
        if writers + pairs <= 3
    ]
    wanted = sum(2 <= size <= 6 for size in sizes)
    request = CompositionRequest(
        count=wanted + 5,
        maximum_size=6,
        maximum_components=3,
        maximum_ends=3,
        near_duplicate_share=1,
    )
    result = compose(pool_of_pairs(5), [], request, fixtures={})
    assert len({task.task_id for task in result}) == wanted
    (shortfall,) = result.account.shortfalls
    assert (shortfall.kind, shortfall.missing) == ("used_up", 5)
