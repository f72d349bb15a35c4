"""Chain twins and instruction permutations: the same work in another shape or another telling (Figure 7,
Table 8)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain as joined
from itertools import islice

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task

_CHAINS_LOOKED_AT = 100
_CHAINS_TRIED = 20_000


class ChainTwins:
    """Finds chains of a pool that are as like a given task as can be."""

    def __init__(self, pool: CompiledPool, seed: int) -> None:
        """Prepare; chains are looked for on demand."""
        self._pool = pool
        self._seed = seed
        self._ways: dict[tuple[int, int], list[int]] = {}

    def twin_of(
        self, members: int, taken: Collection[int], built: Callable[[int], Task | None]
    ) -> tuple[int, Task] | None:
        """A chain with as many subtasks as the set `members`, from the same application categories, and its
        task.

        A chain is a closed set whose graph has depth n, so that only one order exists. Of the chains looked
        at, the one with the most equal subtasks and then with the most similar number of edges is chosen.
        None when no chain was found, in the end by trying all of them in order, up to a limit.

        Args:
            members: The set.
            taken: Sets that are tasks already.
            built: The task of a set; None if it cannot be one, because something is lost in its only order.
        """
        size = members.bit_count()
        categories = self._categories(members)
        generator = random.Random(f"twin {self._seed} {members}")
        allowed = self._allowed(categories)
        ways = self._ways_on(allowed, size)
        grown = (self._grown(members & allowed, ways, generator) for _ in range(_CHAINS_LOOKED_AT))
        likest = sorted(
            {chain for chain in grown if chain is not None},
            key=lambda chain: (self._worth(chain, members, categories), chain),
            reverse=True,
        )
        for chain in joined(likest, islice(self._every(ways), _CHAINS_TRIED)):
            if chain and chain not in taken and (task := built(chain)) is not None:
                return chain, task
        return None

    def _worth(self, chain: int, members: int, categories: Counter[int]) -> tuple[int, int, int]:
        """How like the set `members` a chain is: applications, equal subtasks, edges."""
        difference = sum((categories - self._categories(chain)).values())
        edges = abs(self._edges(chain) - self._edges(members))
        return -difference, (chain & members).bit_count(), -edges

    def _ways_on(self, allowed: int, size: int) -> list[int]:
        """For every place of a chain of `size`, the instances from which walks go on to its end."""
        if (allowed, size) not in self._ways:
            ways = [allowed]
            for _ in range(size - 1):
                ways.append(mask_of([n for n in bits(allowed) if self._pool.feeds[n] & ways[-1]]))
            self._ways[allowed, size] = ways[::-1]
        return self._ways[allowed, size]

    def _grown(self, preferred: int, ways: Sequence[int], generator: random.Random) -> int | None:
        """A random chain: each new instance reads from the last one, and needs nothing that is not there."""
        starts = [
            number
            for number in bits(preferred & ways[0] or ways[0])
            if not self._pool.instances[number].required
        ]
        if not starts:
            return None
        last = generator.choice(starts)
        chain = 1 << last
        for way in ways[1:]:
            options = self._followers(last, chain, way)
            if not options:
                return None
            liked = [number for number in options if preferred >> number & 1]
            last = generator.choice(liked if liked and generator.random() < 0.7 else options)
            chain |= 1 << last
        return chain

    def _every(self, ways: Sequence[int]) -> Iterator[int]:
        """All chains, and 0 for every beginning of one, so that the work can be limited."""
        stack = [
            (1 << number, number, 1) for number in bits(ways[0]) if not self._pool.instances[number].required
        ]
        while stack:
            chain, last, length = stack.pop()
            if length == len(ways):
                yield chain
                continue
            yield 0
            stack += [
                (chain | 1 << number, number, length + 1)
                for number in self._followers(last, chain, ways[length])
            ]

    def _followers(self, last: int, chain: int, way: int) -> list[int]:
        return [
            number
            for number in bits(self._pool.feeds[last] & way & ~chain)
            if self._may_follow(number, chain)
        ]

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
    `low_level_instructions`; each further one is, of a uniform draw, the one with the most pairs turned
    round.
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
