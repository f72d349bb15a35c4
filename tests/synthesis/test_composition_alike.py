"""Tasks of all levels, and tasks like others, which need no replay of their own."""

from __future__ import annotations

import random
from collections import Counter

from taskloom.resources.dimensions import DIMENSIONS
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.compiled_pool import compile_pool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.composition.supply import beginnings, variants
from taskloom.taskgraph.bitmasks import mask_of
from tests.synthesis.compositions import Pool
from tests.taskgraph.small_graphs import file, node


def test_every_level_is_in_a_tenth_of_the_tasks_and_every_capability_in_some(pool: Pool) -> None:
    nodes, intents, fixtures = pool
    request = CompositionRequest(count=100, maximum_size=12, maximum_ends=9, maximum_readers=9)
    capabilities = load_capabilities()
    tasks = list(compose(nodes, intents, request, fixtures=fixtures, capabilities=capabilities))
    for dimension in DIMENSIONS:
        levels = Counter(getattr(task.complexity, f"{dimension}_level") for task in tasks)
        assert min(levels[level] for level in ("easy", "medium", "hard")) >= 10, (dimension, levels)
    met = Counter(name for task in tasks for name in task.capabilities)
    assert all(met[item.name] >= 4 for item in capabilities)


def test_the_same_subtasks_with_other_values_are_linked_in_the_same_way() -> None:
    """Of three chains; a reader of what the first one's beginning makes is in no set like them."""
    nodes = [
        item
        for name in "abc"
        for item in (
            node(f"make {name}", outputs=(file(f"{name}.1"),), subtask="make"),
            node(f"turn {name}", inputs=(file(f"{name}.1"),), outputs=(file(f"{name}.2"),), subtask="turn"),
            node(f"read {name}", inputs=(file(f"{name}.2"),), subtask="read"),
        )
    ]
    nodes.append(node("read other", inputs=(file("a.1"),), subtask="read"))
    pool = compile_pool(nodes, {})
    number = {item.node.instance_id: item.number for item in pool.instances}
    chain = mask_of([number["make a"], number["turn a"], number["read a"]])
    found = set(variants(chain, pool, random.Random(0)))
    assert found == {
        mask_of([number[f"{deed} {name}"] for deed in ("make", "turn", "read")]) for name in "abc"
    }
    assert beginnings(chain, 2, pool, random.Random(0)) == [chain, chain & ~(1 << number["read a"])]

    pool.occasions[number["make b"]], pool.occasions[number["read b"]] = 0b001, 0b110
    pool.occasions[number["make c"]], pool.occasions[number["read c"]] = 0b011, 0b110
    wanted_together = {mask for mask in found if not mask >> number["make b"] & 1}
    assert set(variants(chain, pool, random.Random(0))) == wanted_together and len(wanted_together) == 2


def test_some_tasks_are_like_others_before_all_kinds_are_used() -> None:
    """Of thirty kinds of pairs with four values each, sixty tasks: fifteen first, then more of these."""
    nodes = [
        item
        for kind in range(30)
        for value in range(4)
        for item in (
            node(f"make {kind} {value}", outputs=(file(f"{kind}.{value}"),), subtask=f"make {kind}"),
            node(f"read {kind} {value}", inputs=(file(f"{kind}.{value}"),), subtask=f"read {kind}"),
        )
    ]
    tasks = list(compose(nodes, [], CompositionRequest(count=60), fixtures={}))
    kinds = Counter(task.graph.nodes[0].subtask_id for task in tasks)
    assert kinds.total() == 60 and 15 <= len(kinds) < 25 and max(kinds.values()) <= 4


def test_unfinished_tasks_come_first_and_count_when_the_others_are_chosen(pool: Pool) -> None:
    """A pool that has grown since: what of them it still allows, once; others as if these had been chosen."""
    nodes, intents, fixtures = pool
    request = CompositionRequest(count=100, maximum_size=12, maximum_ends=9, maximum_readers=9)
    capabilities = load_capabilities()
    earlier = list(
        compose(nodes[::2], intents, request, fixtures=fixtures, capabilities=capabilities, seed=1)
    )
    lost = node("elsewhere", outputs=(file("elsewhere"),))
    unfinished = [
        earlier[0].graph.model_copy(update={"nodes": (*earlier[0].graph.nodes, lost)}),
        *(task.graph for task in earlier[:0:-1]),
    ]
    result = compose(
        nodes,
        intents,
        request,
        fixtures=fixtures,
        capabilities=capabilities,
        known={earlier[1].task_id},
        unfinished=[*unfinished, *unfinished],
    )
    tasks = list(result)
    kept = [task.task_id for task in earlier[:1:-1]]
    names = [task.task_id for task in tasks]
    assert kept and names[: len(kept)] == kept and len(set(names)) == len(names) == 100
    assert result.account.composed == 100 and earlier[1].task_id not in names
    for dimension in DIMENSIONS:
        levels = Counter(getattr(task.complexity, f"{dimension}_level") for task in tasks)
        assert min(levels[level] for level in ("easy", "medium", "hard")) >= 10, (dimension, levels)
