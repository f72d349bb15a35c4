"""Chain twins and instruction permutations: the same work in another shape or another telling (Figure 7,
Table 8)."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from taskloom.synthesis.composition.groups import Paths
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.records.task import Task

_CHAINS_LOOKED_AT = 300


def chains_like(members: int, pool: CompiledPool, paths: Paths, seed: int) -> list[int]:
    """Chains of as many subtasks as the set `members`, from its application categories, those most like it
    first.

    A closed chain has depth n, so that only one order exists.
    """
    generator = random.Random(f"twin {seed} {members}")

    def categories(of: int) -> Counter[int]:
        return Counter(pool.instances[number].application_category for number in bits(of))

    wanted = categories(members)
    allowed = mask_of([item.number for item in pool.instances if item.application_category in wanted])
    size = members.bit_count()
    drawn = {mask_of(paths.draw(allowed, size, generator)) for _ in range(_CHAINS_LOOKED_AT)} - {0}

    def unlikeness(chain: int) -> tuple[int, int, int]:
        return (wanted - categories(chain)).total(), -(chain & members).bit_count(), chain

    return sorted(drawn, key=unlikeness)


def permuted_orders(task: Task, number: int = 3) -> list[tuple[str, ...]]:
    """Up to `number` different successful orders of a task as instance ids, far apart from one another.

    An instruction written along each of them tells the same task in another order. The first is the order of
    `low_level_instructions`; each further one is, of a uniform draw, the one with the most pairs turned
    round.
    """
    graph = task.graph
    table = successful_table(graph.predecessors, threats_of(graph))
    drawn = table.listed(1)
    if task.successful_order_count > 1:
        pool = min(task.successful_order_count, 40)
        candidates = table.sampled(pool, random.Random(f"permutations 0 {task.task_id}"))
        while candidates and len(drawn) < number:
            best = max(candidates, key=lambda order: (min(_turned(order, other) for other in drawn), order))
            candidates.remove(best)
            if best not in drawn:
                drawn.append(best)
    return [tuple(graph.nodes[index].instance_id for index in order) for order in drawn]


def _turned(first: Sequence[int], second: Sequence[int]) -> int:
    places = map(second.index, first)
    return sum(early > late for early, late in combinations(places, 2))
