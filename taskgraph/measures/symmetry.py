"""Nodes and components of a graph that are interchangeable, so that searches see equal situations as one:
fifteen pairs of copy and paste through one clipboard can be under way in only sixteen ways that differ."""

import hashlib
from collections.abc import Iterable, Sequence

from taskloom.taskgraph.bitmasks import bits, components, mask_of, successors

Spoilers = Sequence[Sequence[tuple[int, int]]]
"""For every node, the pairs (producer, consumer) between which it must not stand."""


class Symmetry:
    """Groups of interchangeable nodes and of interchangeable components: exchanging two changes nothing."""

    def __init__(
        self, predecessors: Sequence[int], spoilers: Spoilers, labels: Sequence[object] = ()
    ) -> None:
        """Find the groups of a graph; nodes of different `labels` are different."""
        self._before = tuple(predecessors)
        self._labels = tuple(labels) or (0,) * len(self._before)
        self._triples = {(node, *pair) for node, pairs in enumerate(spoilers) for pair in pairs}
        self._twins = self._groups_of_nodes()
        self._blocks = self._groups_of_components()

    def __bool__(self) -> bool:
        """Whether anything is interchangeable."""
        return bool(self._twins or self._blocks)

    def canonical(self, nodes: int) -> int:
        """One set for all sets that only exchange interchangeable nodes of the set `nodes`.

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
                sum(1 << place for place, node in enumerate(block) if nodes >> node & 1) for block in blocks
            )
            nodes &= ~group
            for part, block in zip(parts, blocks, strict=True):
                for place in bits(part):
                    nodes |= 1 << block[place]
        return nodes

    def _groups_of_nodes(self) -> list[tuple[int, list[int]]]:
        """Nodes of the same neighbours and part in all spoilers, with the sets of their first members."""
        after = successors(self._before)
        parts: list[set[tuple[int, ...]]] = [set() for _ in self._before]
        for triple in self._triples:
            for role, node in enumerate(triple):
                parts[node].add((role, *(other for place, other in enumerate(triple) if place != role)))
        groups: dict[object, list[int]] = {}
        for node, before in enumerate(self._before):
            likeness = (before, after[node], frozenset(parts[node]), self._labels[node])
            groups.setdefault(likeness, []).append(node)
        return [
            (mask_of(group), [mask_of(group[:number]) for number in range(len(group) + 1)])
            for group in groups.values()
            if len(group) > 1
        ]

    def _groups_of_components(self) -> list[tuple[int, list[list[int]]]]:
        after = successors(self._before)
        ranks = [(mask.bit_count(), after[node].bit_count()) for node, mask in enumerate(self._before)]
        alike: dict[object, list[list[list[int]]]] = {}
        for component in components(self._before):
            block = sorted(bits(component), key=lambda node: (ranks[node], node))
            if len(block) == 1:
                continue
            place = {node: number for number, node in enumerate(block)}
            inside = tuple(
                tuple(sorted(place[other] for other in bits(self._before[node]))) for node in block
            )
            groups = alike.setdefault((inside, tuple(self._labels[node] for node in block)), [])
            group = next((group for group in groups if self._may_be_exchanged(group[0], block)), None)
            if group is None:
                groups.append([block])
            else:
                group.append(block)
        return [
            (mask_of([node for block in group for node in block]), group)
            for groups in alike.values()
            for group in groups
            if len(group) > 1
        ]

    def _may_be_exchanged(self, first: Sequence[int], second: Sequence[int]) -> bool:
        new = list(range(len(self._before)))
        for mine, other in zip(first, second, strict=True):
            new[mine], new[other] = other, mine
        return all(
            (new[node], new[producer], new[consumer]) in self._triples
            for node, producer, consumer in self._triples
        )


CanonicalKey = tuple[tuple[str, ...], tuple[tuple[int, int], ...]]
"""Sorted labels, and edges as sorted pairs of positions in them."""


def canonical_key(labels: Sequence[str], edges: Iterable[tuple[str, str]]) -> CanonicalKey:
    """The canonical form of a labelled graph whose labels are distinct.

    No isomorphism test is needed: a task never holds the same bound subtask twice, so sorting is canonical.

    >>> canonical_key(["b", "a"], [("b", "a")])
    (('a', 'b'), ((1, 0),))
    """
    ordered = tuple(sorted(labels))
    position = {label: index for index, label in enumerate(ordered)}
    pairs = sorted({(position[producer], position[consumer]) for producer, consumer in edges})
    return ordered, tuple(pairs)


def task_id(key: CanonicalKey) -> str:
    """An opaque task id made from a canonical key alone: equal tasks have equal ids.

    >>> task_id(canonical_key(["b", "a"], [])) == task_id(canonical_key(["a", "b"], []))
    True
    """
    labels, pairs = key
    text = "\x1e".join(labels) + "\x1d" + ";".join(f"{first},{second}" for first, second in pairs)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
