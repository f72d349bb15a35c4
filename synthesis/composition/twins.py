"""Chain twins and instruction permutations: the same work in another shape or another telling (Figure 7,
Table 8)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from taskloom.synthesis.composition.groups import Paths
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Task

_CHAINS_LOOKED_AT = 300


class ChainTwins:
    """Finds chains of a pool that are as like a given task as can be."""

    def __init__(self, pool: CompiledPool, seed: int) -> None:
        """Prepare; chains are looked for on demand."""
        self._pool, self._seed = pool, seed
        self._paths = Paths(pool)

    def twin_of(
        self, members: int, taken: Collection[int], built: Callable[[int], Task | None]
    ) -> tuple[int, Task] | None:
        """A chain with as many subtasks as the set `members`, from the same application categories, and its
        task.

        A chain is a closed set whose graph has depth n, so that only one order exists. Of the chains drawn,
        the one with the most equal applications, subtasks and number of edges is taken; None if none fits.

        Args:
            members: The set.
            taken: Sets that are tasks already.
            built: The task of a set; None if it cannot be one, because something is lost in its only order.
        """
        generator = random.Random(f"twin {self._seed} {members}")
        categories = self._categories(members)
        allowed = mask_of([i.number for i in self._pool.instances if i.application_category in categories])
        drawn = {
            mask_of(path)
            for _ in range(_CHAINS_LOOKED_AT)
            if self._is_closed(path := self._paths.draw(allowed, members.bit_count(), generator))
        }
        for chain in sorted(drawn - set(taken), key=lambda chain: (*self._unlike(chain, members), chain)):
            task = built(chain)
            if task is not None:
                return chain, task
        return None

    def _is_closed(self, path: Sequence[int]) -> bool:
        """Whether every member of a path finds what it needs before it, and nothing after."""
        before = 0
        for number in path:
            instance = self._pool.instances[number]
            if self._pool.feeds[number] & before or not all(mask & before for mask in instance.required):
                return False
            before |= 1 << number
        return bool(path)

    def _unlike(self, chain: int, members: int) -> tuple[int, int, int]:
        """How unlike the set `members` a chain is: applications, subtasks, edges."""
        difference = sum((self._categories(members) - self._categories(chain)).values())
        edges = abs(self._edges(chain) - self._edges(members))
        return difference, -(chain & members).bit_count(), edges

    def _edges(self, members: int) -> int:
        return sum((self._pool.instances[number].sources & members).bit_count() for number in bits(members))

    def _categories(self, members: int) -> Counter[int]:
        return Counter(self._pool.instances[number].application_category for number in bits(members))


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
