"""A store of closed sets by cell, and the search for more."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice

from taskloom.resources.dimensions import LEVELS, Cell
from taskloom.synthesis.composition.enumeration import Enumeration, all_cells, cell_of_set
from taskloom.synthesis.composition.groups import SMALL_POOL, Groups
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.composition.taken_sets import TakenSets
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.records.task import Intent

_FEWEST_GROUPS, _INSTANCES_PER_GROUP = 32, 8
"""Minimum groups without a new set before a cell is exhausted, and instances of a world per group."""
_SCARCE_REACHED_FACTOR, _SCARCE_UNREACHED_FACTOR = 16, 4
"""How many times more groups are tried for scarce cells that some set has, and for those that none has."""
_FRESH_SHARE = 0.2
"""Share of searches for scarce cells that do not start from a set of a similar cell."""
_BUDGET = 1_000
"""Closed sets examined per group."""
_FEWEST_KEPT, _MOST_KEPT = 8, 400
_MOST_VARIANTS = 4
"""Maximum variants stored for each beginning of a taken set."""
_MOST_STEPS = 300
"""Maximum steps in searching a set's variants."""
_CANDIDATES = 60
"""Stored sets that are compared before one is taken."""
_MOST_WANTED_TO_COMPARE = 12_000
"""Maximum wanted tasks for which stored sets are compared."""


class Supply:
    """Finds closed sets of wanted cells; hands out those adding the most variety."""

    def __init__(
        self,
        pool: CompiledPool,
        intents: Sequence[Intent],
        request: CompositionRequest,
        taken_sets: TakenSets,
        seed: int,
    ) -> None:
        """Prepare; nothing is enumerated yet."""
        self._pool, self._request, self._taken_sets = pool, request, taken_sets
        self._generator = random.Random(f"composition {seed}")
        goals = [intent.subtask_ids for intent in intents]
        self.groups = Groups(pool, request, goals, self._generator)
        self._keep = min(_MOST_KEPT, max(_FEWEST_KEPT, request.wanted // 500))
        self._candidate_limit = _CANDIDATES if request.wanted <= _MOST_WANTED_TO_COMPARE else 1
        self._is_one_group = len(pool.instances) <= SMALL_POOL
        self._budget = 1 << SMALL_POOL if self._is_one_group else _BUDGET
        per_world = Counter(instance.node.world for instance in pool.instances)
        self._patience = max(_FEWEST_GROUPS, max(per_world.values(), default=0) // _INSTANCES_PER_GROUP)
        self._failures: Counter[Cell] = Counter()
        self._stores: dict[Cell, list[int]] = {}
        self._deferred: dict[int, Cell] = {}
        """Sets with a single root that exceeded the share of such sets."""
        self._defers = True
        self._variants: defaultdict[Cell | None, list[int]] = defaultdict(list)
        self._without_variants: list[int] = []
        self._examples: defaultdict[Cell, list[int]] = defaultdict(list)
        """One set of each group per cell."""
        self.found: set[int] = set()
        """Every set that was ever stored."""
        self.examined = 0
        self.reached: set[Cell] = set()

    def has(self, cell: Cell) -> bool:
        """Whether a set of `cell` is stored."""
        stored = self._variants.get(cell, [])
        while stored and stored[-1] in self.found:
            stored.pop()
        return bool(stored or self._stores.get(cell))

    def take(self, cell: Cell) -> int:
        """Remove and return a stored set of `cell`: a variant, which needs no replay, or the
        candidate that adds the most variety. If it exceeds the share of sets with a single root, it is
        deferred and 0 is returned."""
        if stored := self._variants.get(cell):
            self.found.add(stored[-1])
            return stored.pop()
        store = self._stores[cell]
        candidates = range(min(self._candidate_limit, len(store)))
        cheapest = (
            min(candidates, key=lambda index: self._taken_sets.cost(store[index]))
            if candidates.stop > 1
            else 0
        )
        store[cheapest], store[-1] = store[-1], store[cheapest]
        members = store.pop()
        if self._candidate_limit > 1 and self._defers and self._taken_sets.exceeds_single_root_share(members):
            self._deferred[members] = cell
            self.found.discard(members)
            return 0
        if members in self._deferred:
            if members in self.found:
                return 0
            self.found.add(members)
        return members

    def restore_deferred(self) -> bool:
        """Store the deferred sets again and defer no more; returns whether there were any."""
        self._defers = False
        for members, cell in reversed(self._deferred.items()):
            self._stores.setdefault(cell, []).append(members)
        return bool(self._deferred)

    def add_variants(self, members: int, wanted: Set[Cell]) -> None:
        """Once sets of enough patterns are taken, also store what their replays prove: their beginnings, and
        variants of these. Very large numbers of tasks are not replayed."""
        self._without_variants.append(members)
        if self._candidate_limit == 1 or not self._taken_sets.has_many_patterns:
            return
        for taken in self._without_variants:
            for part in beginnings(taken, self._request.minimum_size, self._pool, self._generator):
                cell = cell_of_set(self._pool, part, self._request)
                if cell in wanted:
                    found = variants(part, self._pool, self._generator)
                    new = (
                        mask
                        for mask in found
                        if mask not in self.found and not self._taken_sets.has_near_duplicate(mask)
                    )
                    self._variants[cell] += islice(new, _MOST_VARIANTS)
        self._without_variants.clear()

    def search(self, targets: Set[Cell], is_scarce: Callable[[Cell], bool]) -> set[Cell]:
        """Enumerate a group for each of the `targets`; returns those with no more sets to find.

        Scarce cells, which others cannot replace, are searched for longer, and around parts of sets of
        similar cells, unless so many tasks are wanted that stored sets are not compared.
        """
        exhausted = set()
        for cell in sorted(targets):
            scarce = self._candidate_limit > 1 and is_scarce(cell)
            factor = _SCARCE_REACHED_FACTOR if cell in self.reached else _SCARCE_UNREACHED_FACTOR
            patience = 1 if self._is_one_group else self._patience * (factor if scarce else 1)
            if self._failures[cell] >= patience:
                exhausted.add(cell)
                continue
            repeats = 4 * self._failures[cell] >= 3 * patience
            part = self._draw_related_part(cell) if scarce else 0
            new_cells = self._enumerate(cell, targets, repeats=repeats, part=part)
            self._failures[cell] = 0 if cell in new_cells else self._failures[cell] + 1
        return exhausted

    def survey(self) -> set[Cell]:
        """All cells reached so far or by one group for every other cell."""
        possible = all_cells(self._request)
        for cell in sorted(possible - self.reached):
            self._enumerate(cell, possible, repeats=True)
        return self.reached

    def _draw_related_part(self, cell: Cell) -> int:
        """Usually a part of a known set whose cell differs from `cell` by at most one level; otherwise 0."""
        related = [
            sets
            for other, sets in self._examples.items()
            if sum(abs(LEVELS.index(a) - LEVELS.index(b)) for a, b in zip(cell, other, strict=True)) <= 1
        ]
        if not related or self._generator.random() < _FRESH_SHARE:
            return 0
        example = self._generator.choice(self._generator.choice(related))
        parts = beginnings(example, self._request.minimum_size, self._pool, self._generator)
        return self._generator.choice(parts)

    def _enumerate(self, cell: Cell, wanted: Set[Cell], *, repeats: bool, part: int = 0) -> Set[Cell]:
        """Store the new closed sets of a group; returns their cells."""
        group, core = self.groups.draw(cell, repeats=repeats, part=part)
        if not group:
            return set()
        enumeration = Enumeration(self._pool, group, self._request, wanted, self._generator, core=core)
        # Every set of a single group must be seen, so no known one may take the place of a new one.
        known = self.found | self._deferred.keys() if self._is_one_group else self.found
        result = enumeration.run(keep=self._keep, budget=self._budget, known=known)
        self.examined += result.examined
        self.reached |= result.cells
        new = {
            reached: found
            for reached, sets in result.sets.items()
            if (found := [members for members in sets if members not in self._deferred])
        }
        for reached, sets in new.items():
            self.found.update(sets)
            self._stores.setdefault(reached, []).extend(sets)
            if self._candidate_limit > 1:
                self._examples[reached] += sets[:1]
        return new.keys()


def beginnings(members: int, fewest: int, pool: CompiledPool, generator: random.Random) -> list[int]:
    """The closed set `members` and its remainders, down to the `fewest` members, as ends are removed one by
    one."""
    found = [members]
    while found[-1].bit_count() > fewest:
        ends = [number for number in bits(found[-1]) if not pool.feeds[number] & found[-1]]
        if not ends:
            break
        found.append(found[-1] & ~(1 << generator.choice(ends)))
    return found


def variants(members: int, pool: CompiledPool, generator: random.Random) -> Iterator[int]:
    """Sets of the same subtasks with the same links and other values that share an occasion; in random
    order."""
    order: list[int] = []
    remaining = members
    while remaining:
        ready = next(
            (number for number in bits(remaining) if not pool.instances[number].sources & remaining), None
        )
        if ready is None:
            return
        order.append(ready)
        remaining ^= 1 << ready
    producers_of_each = []
    for number in order:
        found = (pool.producer(need, members) for need in pool.instances[number].needs)
        producers_of_each.append([None if producer is None else order.index(producer) for producer in found])
    steps = 0

    def grow(chosen: list[int], mask: int, excluded: int, occasion: int) -> Iterator[int]:
        nonlocal steps
        steps += 1
        if len(chosen) == len(order):
            yield mask
        elif steps < _MOST_STEPS:
            expected = [
                None if producer is None else chosen[producer] for producer in producers_of_each[len(chosen)]
            ]
            options = pool.siblings[pool.instances[order[len(chosen)]].template] & ~excluded
            for producer in expected:
                options &= everything if producer is None else pool.feeds[producer]
            drawn = [
                option
                for option in bits(options)
                if occasion & pool.occasions[option] and _fits(pool, option, expected, mask)
            ]
            generator.shuffle(drawn)
            for option in drawn:
                clashes = excluded | 1 << option | pool.instances[option].clashes
                common = occasion & pool.occasions[option]
                yield from grow([*chosen, option], mask | 1 << option, clashes, common)

    everything = (1 << len(pool.instances)) - 1
    yield from grow([], 0, 0, -1)


def _fits(pool: CompiledPool, option: int, expected: Sequence[int | None], chosen: int) -> bool:
    """Whether every need of an instance is met by exactly the expected producer or a fixture, and it feeds no
    instance chosen earlier."""
    needs = pool.instances[option].needs
    return (
        not pool.feeds[option] & chosen
        and len(needs) == len(expected)
        and all(
            need.producers & chosen == (0 if producer is None else 1 << producer)
            and (producer is not None or need.fixture)
            for need, producer in zip(needs, expected, strict=True)
        )
    )
