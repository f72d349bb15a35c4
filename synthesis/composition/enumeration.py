"""Enumeration of the closed sets of a group of instances; each is found once and measured on the way.

A set is *closed* if every input of every member is a fixture or has exactly one producer in the set, and no
two members exclude each other. Closed sets with copies or selections that no member reads are dropped. In any
topological order the prefixes of a set are closed too, so adding only higher numbers reaches every set once.
All five dimensions only grow on the way, which allows pruning.
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
_MOST_PASTES = 2
"""Maximum number of places into which one copied text or picture is pasted."""
_cell = cache(cell_from_measures)


@dataclass(slots=True)
class EnumerationResult:
    """The sets found in one group."""

    sets: dict[Cell, list[int]]
    """Kept sets as pool bitmasks by cell, best first, sizes mixed."""
    examined: int
    cells: set[Cell]
    """Cells of all sets of the group within the limits, kept or not."""


class Enumeration:
    """The enumeration of one group."""

    def __init__(
        self,
        pool: CompiledPool,
        members: Sequence[int],
        limits: CompositionRequest,
        wanted: Set[Cell],
        generator: random.Random,
        *,
        core: int = 0,
    ) -> None:
        """Prepare `members` of `pool`; only sets whose cell is in `wanted` are kept.

        Sets that contain the first `core` members come first, which matters if the budget does not cover all.
        """
        self._limits = limits
        self._wanted = wanted
        self._maximums = [
            min(bound, limits.ranges.of(dimension)[1])
            for bound, dimension in zip(_maximums(wanted), DIMENSIONS, strict=True)
        ]
        self._minimums = [limits.ranges.of(dimension)[0] for dimension in DIMENSIONS]
        self._generator = generator
        order, self.is_acyclic = _topological(pool, members, core, generator)
        local = {number: 1 << position for position, number in enumerate(order)}
        group_mask = mask_of(order)

        def to_local(mask: int) -> int:
            return sum(local[number] for number in bits(mask & group_mask))

        instances = [pool.instances[number] for number in order]
        self._pool_bits = [1 << number for number in order]
        self._required = [[to_local(producers) for producers in instance.required] for instance in instances]
        self._sources = [to_local(instance.sources) for instance in instances]
        self._clashes = [to_local(instance.clashes) | local[instance.number] for instance in instances]
        self._feeds = [to_local(pool.feeds[number]) for number in order]
        self._readers = [tuple(map(to_local, pool.readers[number])) for number in order]
        self._with_means = sum(1 << position for position, masks in enumerate(self._readers) if masks)
        self._outdated = [
            tuple((to_local(writers), to_local(producers)) for writers, producers in pool.outdated[number])
            for number in order
        ]
        self._with_outdated = sum(1 << position for position, pairs in enumerate(self._outdated) if pairs)
        self._adds_nothing = to_local(pool.adds_nothing)
        self._gatherers = to_local(pool.gatherers)
        self._most_readers = [
            limits.maximum_size
            if self._gatherers >> position & 1
            else min(limits.maximum_readers, _MOST_PASTES if copies else limits.maximum_readers)
            for position, copies in enumerate(map(_is_copier, instances))
        ]
        self._category = [1 << instance.application_category for instance in instances]
        self._occasions = [pool.occasions[number] for number in order]
        self._template = [instance.template for instance in instances]
        merges = [max(0, len(instance.needs) - 1) for instance in instances]
        self._merges_left = [sum(merges[position:]) for position in range(len(merges) + 1)]

    def run(self, *, keep: int, budget: int, known: Collection[int] = ()) -> EnumerationResult:
        """Enumerate up to `budget` closed sets; keep up to `keep` per cell and size that are not `known`.

        If more are found, those with fewer components and without two instances of one subtask are kept,
        and among equals a uniform sample. One long function, because calls would dominate its time.
        """
        size_of_group, acyclic = len(self._required), self.is_acyclic
        required, sources, clashes, feeds = self._required, self._sources, self._clashes, self._feeds
        category, pool_bits, merges_left = self._category, self._pool_bits, self._merges_left
        occasions = self._occasions
        smallest, largest = self._limits.minimum_size, self._limits.maximum_size
        most_components = self._limits.maximum_components
        most_edges, _, most_categories, most_depth, most_width = self._maximums
        least_edges, _, least_categories, least_depth, least_width = self._minimums
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
                    closure, own_depth, mask, over_read = direct, 0, direct, False
                    while mask:
                        low = mask & -mask
                        other = low.bit_length() - 1
                        mask ^= low
                        closure |= above[other]
                        if bounded and (feeds[other] & grown).bit_count() > most_readers[other]:
                            over_read = True
                        if depths[other] > own_depth:
                            own_depth = depths[other]
                    own_depth += 1
                    new_depth = own_depth if own_depth > depth else depth
                    new_edges = edges + direct.bit_count()
                    new_categories = categories | category[position]
                    spread = new_categories.bit_count()
                    if (
                        over_read
                        or new_edges > most_edges
                        or new_depth > most_depth
                        or spread > most_categories
                    ):
                        continue
                    above[position], depths[position] = closure, own_depth
                    new_width, new_matched = width + 1, matched
                    if closure:
                        augmented = matched.copy()
                        if augment(position, above, augmented, 0)[0]:
                            new_width, new_matched = width, augmented
                    if new_width > most_width:
                        continue
                    if direct:
                        joined, separate = bit, []
                        for component in components:
                            if component & direct:
                                joined |= component
                            else:
                                separate.append(component)
                        new_components = (*separate, joined)
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
                        and self._is_purposeful(grown)
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
        return EnumerationResult(sets, examined, reached)

    def _is_purposeful(self, members: int) -> bool:
        """Whether everything in a set serves its ends, and there are not too many ends.

        Everything copied or selected is read by a member. A place for several things receives at least two.
        No end merely opens, shows or converts something that another member reads too or that was gathered in
        a place. No file is read in its old form if its content is written anew. Ends are members from which
        no other reads; those put into one place count once.
        """
        feeds = self._feeds
        for position in bits(members & self._with_means):
            if not all(readers & members for readers in self._readers[position]):
                return False
        for position in bits(members & self._with_outdated):
            for writers, producers in self._outdated[position]:
                if members & writers and not members & producers:
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


def _is_copier(instance: Instance) -> bool:
    return any(item.is_transient for item in instance.node.outputs)


def _maximums(wanted: Set[Cell]) -> tuple[int, ...]:
    bounds = []
    for index, row in enumerate(TABLE):
        hardest = LEVELS[max((LEVELS.index(cell[index]) for cell in wanted), default=0)]
        bounds.append(_UNBOUNDED if hardest == "hard" else row.values(hardest)[1])
    return tuple(bounds)


def _topological(
    pool: CompiledPool, members: Sequence[int], core: int, generator: random.Random
) -> tuple[list[int], bool]:
    """The members with producers before their consumers, and whether that was possible for all of them.

    Otherwise the first `core` members come first and the rest in random order.
    """
    rank = {
        number: position - core if position < core else generator.random()
        for position, number in enumerate(members)
    }
    pending = sorted(members, key=rank.__getitem__)
    remaining = mask_of(pending)
    order: list[int] = []
    while pending:
        ready = next((number for number in pending if not pool.instances[number].sources & remaining), None)
        if ready is None:
            return order + pending, False
        order.append(ready)
        pending.remove(ready)
        remaining ^= 1 << ready
    return order, True


def cell_of_set(pool: CompiledPool, members: int, limits: CompositionRequest) -> Cell | None:
    """The cell of a set; None if it is not closed or not within the limits."""
    size = members.bit_count()
    sized = limits.model_copy(update={"minimum_size": size})
    enumeration = Enumeration(pool, list(bits(members)), sized, all_cells(limits), random.Random(0))
    budget = size if enumeration.is_acyclic else 4 << size
    return next(iter(enumeration.run(keep=1, budget=budget).sets), None)


def all_cells(limits: CompositionRequest) -> frozenset[Cell]:
    """The cells of all possible graphs within the limits."""
    return possible_cells(
        minimum_size=limits.minimum_size,
        maximum_size=limits.maximum_size,
        maximum_components=limits.maximum_components,
        ranges=limits.ranges,
    )
