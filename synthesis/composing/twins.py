"""Chain twins and instruction permutations: the same work in another shape or another telling (Figure 7, Table 8)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from synthesis.composing.compiled_pool import CompiledPool
from taskgraph.bitmasks import bits
from taskgraph.graph import TaskGraph
from taskgraph.interference import successful_table, threats_of
from taskgraph.task import Task

_CHAINS_LOOKED_AT = 400


class ChainTwins:
    """Finds chains of a pool that are as like a given task as can be."""

    def __init__(self, pool: CompiledPool, seed: int) -> None:
        """Prepare; chains are looked for on demand."""
        self._pool = pool
        self._seed = seed

    def twin_of(self, members: int, taken: Collection[int]) -> int | None:
        """A chain with as many subtasks as the set `members`, from the same application categories.

        A chain is a closed set whose graph has depth n, so that only one order exists. Of the chains looked at, the one
        with the most equal subtasks and then with the most similar number of edges is chosen, if it is not `taken`. None
        when the pool has no such chain.
        """
        size = members.bit_count()
        categories = self._categories(members)
        generator = random.Random(f"twin {self._seed} {members}")
        allowed = self._allowed(categories)
        best: tuple[tuple[int, int, int], int] | None = None
        for _ in range(_CHAINS_LOOKED_AT):
            chain = self._grown(size, members & allowed, allowed, generator)
            if chain is None or chain in taken:
                continue
            difference = sum((categories - self._categories(chain)).values())
            worth = (
                -difference,
                (chain & members).bit_count(),
                -abs(self._edges(chain) - self._edges(members)),
            )
            if best is None or (worth, chain) > best:
                best = (worth, chain)
        return best[1] if best else None

    def _grown(self, size: int, preferred: int, allowed: int, generator: random.Random) -> int | None:
        """A random chain: each new instance reads from the last one, and needs nothing that is not there."""
        starts = [
            number for number in bits(preferred or allowed) if not self._pool.instances[number].required
        ]
        if not starts:
            return None
        last = generator.choice(starts)
        chain = 1 << last
        for _ in range(size - 1):
            options = [
                number
                for number in bits(self._pool.feeds[last] & allowed & ~chain)
                if self._may_follow(number, chain)
            ]
            if not options:
                return None
            liked = [number for number in options if preferred >> number & 1]
            last = generator.choice(liked if liked and generator.random() < 0.7 else options)
            chain |= 1 << last
        return chain

    def _may_follow(self, number: int, chain: int) -> bool:
        instance = self._pool.instances[number]
        if instance.clashes & chain or self._pool.feeds[number] & chain:
            return False
        return all(producers & chain for producers in instance.required)

    def _edges(self, members: int) -> int:
        return sum((self._pool.instances[number].sources & members).bit_count() for number in bits(members))

    def _categories(self, members: int) -> Counter[int]:
        return Counter(self._pool.instances[number].application_category for number in bits(members))

    def _allowed(self, categories: Counter[int]) -> int:
        return sum(
            1 << instance.number
            for instance in self._pool.instances
            if instance.application_category in categories
        )


def permuted_orders(task: Task, number: int = 3, seed: int = 0) -> list[tuple[str, ...]]:
    """Up to `number` different successful orders of a task as instance ids, far apart from one another.

    An instruction written along each of them tells the same task in another order. The first is the order of
    `low_level_instructions`; each further one is, of a uniform draw, the one with the most pairs turned round.
    """
    graph: TaskGraph = task.graph
    table = successful_table(graph.predecessors, threats_of(graph))
    drawn = table.listed(1)
    if task.successful_order_count > 1:
        pool = min(task.successful_order_count, 40)
        candidates = table.sampled(pool, random.Random(f"permutations {seed} {task.task_id}"))
        while candidates and len(drawn) < number:
            best = max(candidates, key=lambda order: (min(_turned(order, other) for other in drawn), order))
            candidates.remove(best)
            if best not in drawn:
                drawn.append(best)
    return [tuple(graph.nodes[index].instance_id for index in order) for order in drawn]


def _turned(first: Sequence[int], second: Sequence[int]) -> int:
    """Pairs that the two orders have the other way round."""
    place = {node: position for position, node in enumerate(second)}
    return sum(
        place[first[early]] > place[first[late]]
        for early in range(len(first))
        for late in range(early + 1, len(first))
    )
