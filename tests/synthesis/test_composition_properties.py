"""Composition from generated pools: exactly the sets that brute force finds, whatever the process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence, Set
from itertools import combinations, permutations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures
from taskloom.taskgraph.errors import GraphInvalidError
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent
from tests.shared_work import examples
from tests.synthesis.compositions import composed
from tests.taskgraph.small_graphs import clipboard, file, is_order, linked, node

RESOURCES = [*(file(name) for name in "pqr"), *(clipboard(name) for name in "xy")]


@st.composite
def small_pools(draw: st.DrawFn) -> tuple[list[BoundSubtask], Fixtures]:
    """Up to seven subtasks that read, write and consume three files and two texts in the clipboard; two are
    fixtures."""
    nodes = []
    for number in range(draw(st.integers(2, 7))):
        inputs = draw(st.lists(st.sampled_from(RESOURCES), max_size=2, unique=True))
        outputs = draw(st.lists(st.sampled_from(RESOURCES), max_size=1))
        nodes.append(
            node(
                f"s{number}",
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                consumed=tuple(item for item in inputs if draw(st.integers(0, 3)) == 0),
                subtask=f"t{number % draw(st.integers(1, 7))}",
            )
        )
    return nodes, {"editor": frozenset(RESOURCES[:2])}


def performable(graph: TaskGraph, present: Set[Resource]) -> bool:
    """Whether some order keeps everything until it is read, in a world with one clipboard and the files
    `present`."""
    text: Resource | None
    for order in permutations(range(len(graph.nodes))):
        files, text, sound = set(present), None, is_order(graph.predecessors, order)
        for item in (graph.nodes[number] for number in order):
            sound = sound and all(
                needed in files if needed.slot is None else needed == text for needed in item.inputs
            )
            files -= set(item.consumed)
            text = None if text in item.consumed else text
            files |= {made for made in item.outputs if made.slot is None}
            text = next((made for made in item.outputs if made.slot is not None), text)
        if sound:
            return True
    return False


def closed(chosen: Sequence[BoundSubtask], present: Set[Resource]) -> bool:
    """Whether everybody finds what it reads, nothing is written or taken away twice, and what is copied is
    read."""
    written = [made for item in chosen for made in item.outputs]
    taken = [
        gone for item in chosen for gone in item.consumed if gone.slot is None and gone not in item.outputs
    ]
    copied = [made for made in written if made.kind is ResourceKind.CLIPBOARD]
    return (
        len(written) == len(set(written))
        and all(any(made in item.inputs for item in chosen) for made in copied)
        and len(taken) == len(set(taken))
        and all(
            needed in present or any(needed in other.outputs for other in chosen if other is not item)
            for item in chosen
            for needed in item.inputs
        )
    )


def can_be_a_task(chosen: Sequence[BoundSubtask], present: Set[Resource]) -> bool:
    try:
        return closed(chosen, present) and performable(linked(*chosen), present)
    except GraphInvalidError:
        return False


@settings(max_examples=examples(26, 80), deadline=None)
@given(small_pools(), st.booleans(), st.integers(1, 4))
def test_small_pools_give_exactly_the_closed_sets_that_can_be_performed(
    pool: tuple[list[BoundSubtask], Fixtures], with_intent: bool, largest: int
) -> None:
    nodes, fixtures = pool
    intent = Intent(intent_id="i", text="", subtask_ids=tuple(sorted({item.subtask_id for item in nodes})))
    tasks, _ = composed(
        (nodes, [intent] if with_intent else [], fixtures),
        count=1000,
        minimum_size=1,
        maximum_size=largest,
        maximum_components=7,
    )
    expected = {
        frozenset(item.instance_id for item in chosen)
        for size in range(1, largest + 1)
        for chosen in combinations(nodes, size)
        if can_be_a_task(chosen, fixtures["editor"])
    }
    found = [frozenset(item.instance_id for item in task.graph.nodes) for task in tasks]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_the_same_bytes_in_every_process() -> None:
    """Sets and dictionaries of other processes have other orders; tasks must not."""
    code = (
        "from benchmarks.synthetic_pool import synthetic_pool\n"
        "from tests.synthesis.compositions import composed\n"
        "tasks, account = composed(synthetic_pool(seed=3, intents=20), count=25, seed=5, twins=True)\n"
        "print(*(task.model_dump_json() for task in tasks), account.model_dump_json(), sep='\\n')\n"
    )
    root = Path(__file__).parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert len(next(iter(printed)).splitlines()) > 25
