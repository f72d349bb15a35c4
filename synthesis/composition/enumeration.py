"""All closed sets of a group of instances, each found once and measured on the way.

A set is *closed* when every input of every member is a fixture or has exactly one producer in the set, and no
two members exclude each other. Of closed sets those are kept in which nothing is copied or selected that no
member reads. In any topological order the prefixes of a set are closed too, so by adding higher numbers every
set is reached once; all five dimensions only grow on the way, which prunes.
"""

import heapq
import random
from collections import defaultdict
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, TABLE, Cell
from taskloom.synthesis.composition.pool.compiled_pool import FEWEST_GATHERED, CompiledPool
from taskloom.synthesis.composition.pool.instances import Instance
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import augment, bits, mask_of
from taskloom.taskgraph.measures.cells import possible_cells
from taskloom.taskgraph.measures.complexity import cell_from_measures

_UNBOUNDED = 1_000_000
_SAME_TEMPLATE_PENALTY = 4
_MOST_PASTED = 2
"""Places into which one copied text or picture goes at most."""
_cell = cache(cell_from_measures)


@dataclass(slots=True)
class Harvest:
    """What the enumeration of one group brought."""

    sets: dict[Cell, list[int]]
    """Kept sets as pool bitmasks by cell, best first, sizes mixed."""
    examined: int
    cells: set[Cell]
    """Every cell that some set of the group within the limits has, kept or not."""


class Enumeration:
    """Enumerates one group; a new object for every group."""

    def __init__(
        self,
        pool: CompiledPool,
        members: Sequence[int],
        limits: CompositionRequest,
        wanted: Set[Cell],
        generator: random.Random,
        *,
        first: int = 0,
    ) -> None:
        """Prepare `members` of `pool`; only sets whose cell is in `wanted` are kept.

        Sets with the `first` members come first, which matters where the budget does not reach all.
        """
        self._limits = limits
        self._wanted = wanted
        self._bounds = [
            min(bound, limits.ranges.of(dimension)[1])
            for bound, dimension in zip(_bounds(wanted), DIMENSIONS, strict=True)
        ]
        self._least = [limits.ranges.of(dimension)[0] for dimension in DIMENSIONS]
        self._generator = generator
        order, self.is_acyclic = _topological(pool, members, first, generator)
        local = {number: 1 << position for position, number in enumerate(order)}
        inside = mask_of(order)

        def localised(mask: int) -> int:
            return sum(local[number] for number in bits(mask & inside))

        chosen = [pool.instances[number] for number in order]
        self._pool_bits = [1 << number for number in order]
        self._required = [[localised(producers) for producers in instance.required] for instance in chosen]
        self._sources = [localised(instance.sources) for instance in chosen]
        self._clashes = [localised(instance.clashes) | local[instance.number] for instance in chosen]
        self._feeds = [localised(pool.feeds[number]) for number in order]
        self._readers = [tuple(map(localised, pool.readers[number])) for number in order]
        self._means = sum(1 << position for position, masks in enumerate(self._readers) if masks)
        self._outdated = [
            tuple((localised(writers), localised(makers)) for writers, makers in pool.outdated[number])
            for number in order
        ]
        self._dated = sum(1 << position for position, pairs in enumerate(self._outdated) if pairs)
        self._adds_nothing = localised(pool.adds_nothing)
        self._gatherers = localised(pool.gatherers)
        self._most_readers = [
            limits.maximum_size
            if self._gatherers >> position & 1
            else min(limits.maximum_readers, _MOST_PASTED if copies else limits.maximum_readers)
            for position, copies in enumerate(map(_copies, chosen))
        ]
        self._category = [1 << instance.application_category for instance in chosen]
        self._occasions = [pool.occasions[number] for number in order]
        self._template = [instance.template for instance in chosen]
        merges = [max(0, len(instance.needs) - 1) for instance in chosen]
        self._merges_left = [sum(merges[position:]) for position in range(len(merges) + 1)]

    def run(self, *, keep: int, budget: int, known: Collection[int] = ()) -> Harvest:
        """Enumerate up to `budget` closed sets; keep up to `keep` per cell and size that are not `known`.

        Among more than `keep`, those with fewer components and without two instances of one subtask are kept,
        and otherwise a uniform draw. One long function, because calls dominate its time.
        """
        size_of_group, acyclic = len(self._required), self.is_acyclic
        required, sources, clashes, feeds = self._required, self._sources, self._clashes, self._feeds
        category, pool_bits, merges_left = self._category, self._pool_bits, self._merges_left
        occasions = self._occasions
        smallest, largest = self._limits.minimum_size, self._limits.maximum_size
        most_components = self._limits.maximum_components
        most_edges, _, most_categories, most_depth, most_width = self._bounds
        least_edges, _, least_categories, least_depth, least_width = self._least
        wanted, draw, most_readers = self._wanted, self._generator.random, self._most_readers
        bounded = min(most_readers, default=largest) < largest
        depths, above = [0] * size_of_group, [0] * size_of_group
        kept: defaultdict[Cell, defaultdict[int, list[tuple[float, int]]]]
        kept = defaultdict(lambda: defaultdict(list))
        reached: set[Cell] = set()
        visited: set[int] = set()
        examined = 0

        def grow(
            start: int,
            members: int,
            pool_mask: int,
            edges: int,
            size: int,
            categories: int,
            depth: int,
            width: int,
            matched: dict[int, int],
            components: tuple[int, ...],
            occasion: int,
        ) -> None:
            nonlocal examined
            size += 1
            for position in range(start, size_of_group):
                if members & clashes[position] or not occasion & occasions[position] or examined >= budget:
                    continue
                for producers in required[position]:
                    if not producers & members:
                        break
                else:
                    direct = sources[position] & members
                    bit = 1 << position
                    grown = members | bit
                    if not acyclic:
                        if grown in visited or feeds[position] & members:
                            continue
                        visited.add(grown)
                    examined += 1
                    closure, deepest, mask, crowded = direct, 0, direct, False
                    while mask:
                        low = mask & -mask
                        other = low.bit_length() - 1
                        mask ^= low
                        closure |= above[other]
                        if bounded and (feeds[other] & grown).bit_count() > most_readers[other]:
                            crowded = True
                        if depths[other] > deepest:
                            deepest = depths[other]
                    deepest += 1
                    new_depth = deepest if deepest > depth else depth
                    new_edges = edges + direct.bit_count()
                    new_categories = categories | category[position]
                    spread = new_categories.bit_count()
                    if (
                        crowded
                        or new_edges > most_edges
                        or new_depth > most_depth
                        or spread > most_categories
                    ):
                        continue
                    above[position], depths[position] = closure, deepest
                    new_width, new_matched = width + 1, matched
                    if closure:
                        larger = matched.copy()
                        if augment(position, above, larger, 0)[0]:
                            new_width, new_matched = width, larger
                    if new_width > most_width:
                        continue
                    if direct:
                        joined, apart = bit, []
                        for component in components:
                            if component & direct:
                                joined |= component
                            else:
                                apart.append(component)
                        new_components = (*apart, joined)
                    else:
                        new_components = (*components, bit)
                    number = len(new_components)
                    if acyclic and number - merges_left[position + 1] > most_components:
                        continue
                    new_mask = pool_mask | pool_bits[position]
                    if (
                        size >= smallest
                        and number <= most_components
                        and new_edges >= least_edges
                        and spread >= least_categories
                        and new_depth >= least_depth
                        and new_width >= least_width
                        and self._is_whole(grown)
                    ):
                        cell = _cell(new_edges, size, spread, new_depth, new_width)
                        reached.add(cell)
                        if cell in wanted and new_mask not in known:
                            rank = draw() - number - self._repetition(grown)
                            heap = kept[cell][size]
                            if len(heap) < keep:
                                heapq.heappush(heap, (rank, new_mask))
                            elif rank > heap[0][0]:
                                heapq.heapreplace(heap, (rank, new_mask))
                    if size < largest:
                        grow(
                            position + 1 if acyclic else 0,
                            grown,
                            new_mask,
                            new_edges,
                            size,
                            new_categories,
                            new_depth,
                            new_width,
                            new_matched,
                            new_components,
                            occasion & occasions[position],
                        )

        grow(0, 0, 0, 0, 0, 0, 0, 0, {}, (), -1)
        sets = {}
        for cell, by_size in kept.items():
            best_first = [sorted(heap, reverse=True) for _, heap in sorted(by_size.items())]
            turns = chain.from_iterable(zip_longest(*best_first))
            sets[cell] = [item[1] for item in turns if item is not None]
        return Harvest(sets, examined, reached)

    def _is_whole(self, members: int) -> bool:
        """Whether everything in a set serves its ends, and these are not too many.

        Nothing is copied or selected that no member reads; a place for several things is made for at least
        two; nothing is opened, shown or put into another format in the end that another member reads too, so
        that it is not the end, or that was gathered in a place. No file is taken as it was before what it is
        of is written anew.
        Of the members that no other one reads from, those that go to one place count once.
        """
        feeds = self._feeds
        for position in bits(members & self._means):
            if not all(readers & members for readers in self._readers[position]):
                return False
        for position in bits(members & self._dated):
            for writers, makers in self._outdated[position]:
                if members & writers and not members & makers:
                    return False
        ends = [position for position in bits(members) if not feeds[position] & members]
        count = len(ends)
        for position in bits(members & self._gatherers):
            if (feeds[position] & members).bit_count() < FEWEST_GATHERED:
                return False
            count -= max(0, sum(feeds[position] >> end & 1 for end in ends) - 1)
        shown = (self._sources[end] & members for end in ends if self._adds_nothing >> end & 1)
        for source in (source for sources in shown for source in bits(sources)):
            if (feeds[source] & members).bit_count() > 1:
                return False
            if self._sources[source] & members & self._gatherers:
                return False
        return count <= self._limits.maximum_ends

    def _repetition(self, members: int) -> int:
        templates = [self._template[position] for position in bits(members)]
        return _SAME_TEMPLATE_PENALTY * (len(templates) - len(set(templates)))


def _copies(instance: Instance) -> bool:
    return any(item.is_transient for item in instance.node.outputs)


def _bounds(wanted: Set[Cell]) -> tuple[int, ...]:
    bounds = []
    for index, row in enumerate(TABLE):
        hardest = LEVELS[max((LEVELS.index(cell[index]) for cell in wanted), default=0)]
        bounds.append(_UNBOUNDED if hardest == "hard" else row.values(hardest)[1])
    return tuple(bounds)


def _topological(
    pool: CompiledPool, members: Sequence[int], first: int, generator: random.Random
) -> tuple[list[int], bool]:
    """The members with producers before their consumers, and whether that was possible for all of them.

    Otherwise the `first` members come first and the rest in random order.
    """
    rank = {
        number: position - first if position < first else generator.random()
        for position, number in enumerate(members)
    }
    left = sorted(members, key=rank.__getitem__)
    remaining = mask_of(left)
    order: list[int] = []
    while left:
        ready = next((number for number in left if not pool.instances[number].sources & remaining), None)
        if ready is None:
            return order + left, False
        order.append(ready)
        left.remove(ready)
        remaining ^= 1 << ready
    return order, True


def cell_of_set(pool: CompiledPool, members: int, limits: CompositionRequest) -> Cell | None:
    """The cell of a set; None if it is not closed or not within the limits."""
    size = members.bit_count()
    whole = limits.model_copy(update={"minimum_size": size})
    enumeration = Enumeration(pool, list(bits(members)), whole, all_cells(limits), random.Random(0))
    budget = size if enumeration.is_acyclic else 4 << size
    return next(iter(enumeration.run(keep=1, budget=budget).sets), None)


def all_cells(limits: CompositionRequest) -> frozenset[Cell]:
    """The cells that some graph within the limits has."""
    return possible_cells(
        minimum_size=limits.minimum_size,
        maximum_size=limits.maximum_size,
        maximum_components=limits.maximum_components,
        ranges=limits.ranges,
    )
