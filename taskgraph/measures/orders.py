"""Orders in which a task's subtasks can be performed: counted, listed and sampled exactly. A node w with the
*spoiler* (p, c) may come anywhere except between p and c, which follows from the set of nodes already done (p
is in it and c is not), so dynamic programming over down-sets needs no further state. Sets that only exchange
interchangeable nodes or components count as one: fifteen pairs of copy and paste through one clipboard have
only sixteen different states."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import factorial

from taskloom.taskgraph.bitmasks import bits, components, mask_of, neighbours, parts, require_size, successors
from taskloom.taskgraph.errors import GraphTooLargeError

Spoilers = Sequence[Sequence[tuple[int, int]]]
"""For every node, the pairs (producer, consumer) between which it must not come."""


class Symmetry:
    """Groups of interchangeable nodes and of interchangeable components: exchanging two changes nothing."""

    def __init__(
        self, predecessors: Sequence[int], spoilers: Spoilers, labels: Sequence[object] = ()
    ) -> None:
        """Find the groups of a graph; nodes with different `labels` are not interchangeable."""
        self._before = tuple(predecessors)
        self._labels = tuple(labels) or (0,) * len(self._before)
        self._triples = {(node, *pair) for node, pairs in enumerate(spoilers) for pair in pairs}
        self._twins = self._groups_of_nodes()
        self._blocks = self._groups_of_components()

    def __bool__(self) -> bool:
        """Whether anything is interchangeable."""
        return bool(self._twins or self._blocks)

    def canonical(self, nodes: int) -> int:
        """The representative of all sets that differ from `nodes` only by interchangeable nodes.

        >>> fork = Symmetry((0, 0b1, 0b1), ((), (), ()))
        >>> fork.canonical(0b101) == fork.canonical(0b011)
        True
        """
        for group, beginnings in self._twins:
            inside = nodes & group
            if inside:
                nodes = nodes ^ inside | beginnings[inside.bit_count()]
        for group, blocks in self._blocks:
            if not nodes & group:
                continue
            parts = sorted(
                sum(1 << index for index, node in enumerate(block) if nodes >> node & 1) for block in blocks
            )
            nodes &= ~group
            for part, block in zip(parts, blocks, strict=True):
                for index in bits(part):
                    nodes |= 1 << block[index]
        return nodes

    def _groups_of_nodes(self) -> list[tuple[int, list[int]]]:
        """Groups of nodes with equal neighbours and roles in spoilers, with the sets of first members."""
        after = successors(self._before)
        roles: list[set[tuple[int, ...]]] = [set() for _ in self._before]
        for triple in self._triples:
            for role, node in enumerate(triple):
                roles[node].add((role, *(other for index, other in enumerate(triple) if index != role)))
        groups: dict[object, list[int]] = {}
        for node, before in enumerate(self._before):
            signature = (before, after[node], frozenset(roles[node]), self._labels[node])
            groups.setdefault(signature, []).append(node)
        return [
            (mask_of(group), [mask_of(group[:number]) for number in range(len(group) + 1)])
            for group in groups.values()
            if len(group) > 1
        ]

    def _groups_of_components(self) -> list[tuple[int, list[list[int]]]]:
        after = successors(self._before)
        ranks = [(mask.bit_count(), after[node].bit_count()) for node, mask in enumerate(self._before)]
        by_signature: dict[object, list[list[list[int]]]] = {}
        for component in components(self._before):
            block = sorted(bits(component), key=lambda node: (ranks[node], node))
            if len(block) == 1:
                continue
            index = {node: number for number, node in enumerate(block)}
            edges = tuple(tuple(sorted(index[other] for other in bits(self._before[node]))) for node in block)
            groups = by_signature.setdefault((edges, tuple(self._labels[node] for node in block)), [])
            group = next((group for group in groups if self._are_interchangeable(group[0], block)), None)
            if group is None:
                groups.append([block])
            else:
                group.append(block)
        return [
            (mask_of([node for block in group for node in block]), group)
            for groups in by_signature.values()
            for group in groups
            if len(group) > 1
        ]

    def _are_interchangeable(self, first: Sequence[int], second: Sequence[int]) -> bool:
        new = list(range(len(self._before)))
        for one, other in zip(first, second, strict=True):
            new[one], new[other] = other, one
        return all(
            (new[node], new[producer], new[consumer]) in self._triples
            for node, producer, consumer in self._triples
        )


CanonicalKey = tuple[tuple[str, ...], tuple[tuple[int, int], ...]]
"""Sorted labels, and edges as sorted pairs of positions in the labels."""


def canonical_key(labels: Sequence[str], edges: Iterable[tuple[str, str]]) -> CanonicalKey:
    """The canonical form of a labelled graph whose labels are distinct.

    No isomorphism test is needed: a task never has the same bound subtask twice, so sorting is canonical.

    >>> canonical_key(["b", "a"], [("b", "a")])
    (('a', 'b'), ((1, 0),))
    """
    ordered = tuple(sorted(labels))
    position = {label: index for index, label in enumerate(ordered)}
    pairs = sorted({(position[producer], position[consumer]) for producer, consumer in edges})
    return ordered, tuple(pairs)


def task_id(key: CanonicalKey) -> str:
    """An opaque task id, a hash of the canonical key: equal tasks have equal ids.

    >>> task_id(canonical_key(["b", "a"], [])) == task_id(canonical_key(["a", "b"], []))
    True
    """
    labels, pairs = key
    text = "\x1e".join(labels) + "\x1d" + ";".join(f"{first},{second}" for first, second in pairs)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


ORDERS_LISTED = 120
"""Number of orders up to which all are listed."""

ORDERS_SAMPLED = 24
"""Number of orders that are drawn uniformly if there are more."""

_SPLIT_FROM = 9
_SYMMETRY_FROM = 500


class OrderTable:
    """The number of orders of every reachable set of remaining nodes, computed on demand.

    Independent parts are counted separately and interleaved with binomial coefficients, and a part is reduced
    from the end with fewer choices, so stars and forests of 30 nodes are immediate. Above a few hundred sets,
    those that only exchange interchangeable subtasks count as one (`Symmetry`).
    """

    def __init__(
        self, predecessors: Sequence[int], spoilers: Spoilers = (), *, maximum_states: int = 1_000_000
    ) -> None:
        """Prepare the table; a cyclic graph is accepted and has no order.

        Raises:
            GraphTooLargeError: more than 30 nodes. Every method raises it if more than `maximum_states`
                down-sets would have to be stored.
        """
        require_size(predecessors)
        self._maximum_states = maximum_states
        self._before = tuple(predecessors)
        self._after = successors(predecessors)
        self._spoilers = tuple(spoilers) or ((),) * len(self._before)
        self._all = (1 << len(self._before)) - 1
        self._adjacent = neighbours(predecessors)
        self._spoiler_nodes = 0
        for node, pairs in enumerate(self._spoilers):
            for pair in pairs:
                for other in pair:
                    self._adjacent[node] |= 1 << other
                    self._adjacent[other] |= 1 << node
                    self._spoiler_nodes |= 1 << other | 1 << node
        self._counts: dict[int, int] = {0: 1}
        self._symmetry: Symmetry | None = None

    @property
    def constraints(self) -> tuple[tuple[int, ...], Spoilers]:
        """The predecessors and the spoilers.

        >>> OrderTable((0, 0b1)).constraints
        ((0, 1), ((), ()))
        """
        return self._before, self._spoilers

    def holds(self, order: Sequence[int]) -> bool:
        """Whether `order`, a permutation of the nodes, is one of the orders.

        >>> table = OrderTable((0, 0, 0b1), ((), ((0, 2),), ()))
        >>> table.holds((0, 2, 1)), table.holds((2, 0, 1)), table.holds((0, 1, 2))
        (True, False, False)
        """
        position = {node: number for number, node in enumerate(order)}
        done = 0
        for node in order:
            if self._before[node] & ~done:
                return False
            if any(position[one] < position[node] < position[other] for one, other in self._spoilers[node]):
                return False
            done |= 1 << node
        return True

    def count(self) -> int:
        """Number of orders, exact.

        >>> OrderTable((0, 0, 0b1)).count(), OrderTable((0, 0, 0b1), ((), ((0, 2),), ())).count()
        (3, 2)

        Raises:
            GraphTooLargeError: the graph has too many down-sets to be counted.
        """
        return self._product(self._all)

    def listed(self, limit: int) -> list[tuple[int, ...]]:
        """The first `limit` orders in lexicographic order of node numbers.

        >>> OrderTable((0, 0, 0b1), ((), ((0, 2),), ())).listed(5)
        [(0, 2, 1), (1, 0, 2)]
        """
        return list(islice(self._walk(self._all, []), limit))

    def sampled(self, number: int, generator: random.Random) -> list[tuple[int, ...]]:
        """`number` different orders, drawn uniformly.

        >>> sorted(OrderTable((0, 0, 0b1)).sampled(3, random.Random(0)))
        [(0, 1, 2), (0, 2, 1), (1, 0, 2)]

        Raises:
            ValueError: there are fewer orders than that.
        """
        if self.count() < number:
            raise ValueError(f"There are {self.count()} orders; {number} different ones were requested.")
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < number:
            drawn[tuple(self._draw(self._all, generator))] = None
        return list(drawn)

    def _count(self, remaining: int) -> int:
        if self._symmetry:
            remaining = self._symmetry.canonical(remaining)
        known = self._counts.get(remaining)
        if known is not None:
            return known
        splits = remaining.bit_count() >= _SPLIT_FROM
        result = self._product(remaining) if splits else self._count_by_node(remaining)
        return self._store(remaining, result)

    def _store(self, remaining: int, result: int) -> int:
        if len(self._counts) >= self._maximum_states:
            raise GraphTooLargeError(
                f"The orders of this graph of {len(self._before)} subtasks cannot be counted within"
                f" {self._maximum_states} states. Use fewer subtasks, or add dependencies."
            )
        self._counts[remaining] = result
        if len(self._counts) == _SYMMETRY_FROM:
            self._symmetry = Symmetry(self._before, self._spoilers)
        return result

    def _product(self, nodes: int) -> int:
        separate = parts(self._adjacent, nodes)
        if len(separate) == 1:
            if self._symmetry:
                nodes = self._symmetry.canonical(nodes)
            known = self._counts.get(nodes)
            return self._store(nodes, self._count_by_node(nodes)) if known is None else known
        result = factorial(nodes.bit_count())
        for part in separate:
            result = result // factorial(part.bit_count()) * self._count(part)
        return result

    def _count_by_node(self, remaining: int) -> int:
        first, last = self._ends(remaining)
        ends = first if first.bit_count() <= last.bit_count() or remaining & self._spoiler_nodes else last
        result = 0
        for node in bits(ends):
            result += self._count(remaining ^ 1 << node)
        return result

    def _ends(self, remaining: int) -> tuple[int, int]:
        before, after = self._before, self._after
        first = last = 0
        mask = remaining
        while mask:
            low = mask & -mask
            node = low.bit_length() - 1
            mask ^= low
            if not before[node] & remaining:
                first |= low
            if not after[node] & remaining:
                last |= low
        if remaining & self._spoiler_nodes:
            for node in bits(first & self._spoiler_nodes):
                pairs = self._spoilers[node]
                if any(
                    remaining >> consumer & 1 and not remaining >> producer & 1
                    for producer, consumer in pairs
                ):
                    first ^= 1 << node
        return first, last

    def _walk(self, remaining: int, done: list[int]) -> Iterator[tuple[int, ...]]:
        if not remaining:
            yield tuple(done)
            return
        for node in bits(self._ends(remaining)[0]):
            rest = remaining ^ 1 << node
            if not remaining & self._spoiler_nodes or self._product(rest):
                done.append(node)
                yield from self._walk(rest, done)
                done.pop()

    def _draw(self, nodes: int, generator: random.Random) -> list[int]:
        separate = parts(self._adjacent, nodes)
        if len(separate) > 1:
            turns = [index for index, part in enumerate(separate) for _ in range(part.bit_count())]
            generator.shuffle(turns)
            sequences = [iter(self._draw(part, generator)) for part in separate]
            return [next(sequences[turn]) for turn in turns]
        order: list[int] = []
        while nodes:
            ticket = generator.randrange(self._count(nodes))
            for node in bits(self._ends(nodes)[0]):
                count = self._count(nodes ^ 1 << node)
                if ticket < count:
                    order.append(node)
                    nodes ^= 1 << node
                    break
                ticket -= count
        return order
