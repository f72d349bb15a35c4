"""Closed sets in store by cell, and the work that brings in more."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice

from taskloom.resources.dimensions import LEVELS, Cell
from taskloom.synthesis.composition.enumeration import Enumeration, all_cells, cell_of_set
from taskloom.synthesis.composition.groups import SMALL_POOL, Groups
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.composition.taken import Taken
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.records.task import Intent

_FEWEST_GROUPS, _INSTANCES_PER_GROUP = 32, 8
"""Where a world has many instances, more groups are tried in vain before a cell counts as dry."""
_FOR_SCARCE, _FOR_UNSEEN = 16, 4
"""So many times more are tried where the cell's level or capability is lacking: if a set of it was ever seen,
and if none was."""
_AFRESH = 0.2
"""How often a set of such a cell is searched for without one that is nearly like it."""
_BUDGET = 1_000
"""Closed sets of a group that are looked at."""
_KEPT, _MOST_KEPT = 8, 400
_LIKE = 4
"""Most sets with other values that are put in store for one that was taken, and for each beginning."""
_MOST_STEPS = 300
"""Beginnings of sets that are looked at for one set like another one."""
_LOOKED_AT = 60
_CHOSEN_AMONG = 12_000
"""Most tasks wanted of which each is chosen among several sets."""


class Supply:
    """Finds closed sets of wanted cells, and hands out the ones that add most to what was taken."""

    def __init__(
        self,
        pool: CompiledPool,
        intents: Sequence[Intent],
        request: CompositionRequest,
        taken: Taken,
        seed: int,
    ) -> None:
        """Prepare; nothing is enumerated yet."""
        self._pool, self._request, self._taken = pool, request, taken
        self._generator = random.Random(f"composition {seed}")
        goals = [intent.subtask_ids for intent in intents]
        self.groups = Groups(pool, request, goals, self._generator)
        self._keep = min(_MOST_KEPT, max(_KEPT, request.wanted // 500))
        self._looked_at = _LOOKED_AT if request.wanted <= _CHOSEN_AMONG else 1
        self._is_one_group = len(pool.instances) <= SMALL_POOL
        self._budget = 1 << SMALL_POOL if self._is_one_group else _BUDGET
        per_world = Counter(instance.node.world for instance in pool.instances)
        self._patience = max(_FEWEST_GROUPS, max(per_world.values(), default=0) // _INSTANCES_PER_GROUP)
        self._in_vain: Counter[Cell] = Counter()
        self._stores: dict[Cell, list[int]] = {}
        self._aside: dict[int, Cell] = {}
        """Sets that begin with one subtask, of which there were enough."""
        self._takes_all = False
        self._alike: defaultdict[Cell | None, list[int]] = defaultdict(list)
        self._followed: list[int] = []
        self._examples: defaultdict[Cell, list[int]] = defaultdict(list)
        """Of every group and cell one set."""
        self.found: set[int] = set()
        """Every set that was ever in store."""
        self.examined = 0
        self.reached: set[Cell] = set()

    def has(self, cell: Cell) -> bool:
        """Whether a set of `cell` is in store."""
        alike = self._alike.get(cell, [])
        while alike and alike[-1] in self.found:
            alike.pop()
        return bool(alike or self._stores.get(cell))

    def take(self, cell: Cell) -> int:
        """Take the set out of the store of `cell` that adds most, of some that are looked at; best one that
        costs no replay. It is put aside, and 0 returned, if it would be one more that begins with one
        subtask."""
        if alike := self._alike.get(cell):
            self.found.add(alike[-1])
            return alike.pop()
        store = self._stores[cell]
        looked_at = range(min(self._looked_at, len(store)))
        best = min(looked_at, key=lambda place: self._taken.cost(store[place])) if looked_at.stop > 1 else 0
        store[best], store[-1] = store[-1], store[best]
        members = store.pop()
        if self._looked_at > 1 and not self._takes_all and self._taken.is_one_more_with_one_root(members):
            self._aside[members] = cell
            self.found.discard(members)
            return 0
        if members in self._aside:
            if members in self.found:
                return 0
            self.found.add(members)
        return members

    def put_back(self) -> bool:
        """Put what was put aside in store again, from now on for good; whether there was any."""
        self._takes_all = True
        for members, cell in reversed(self._aside.items()):
            self._stores.setdefault(cell, []).append(members)
        return bool(self._aside)

    def add_like(self, members: int, wanted: Set[Cell]) -> None:
        """Once sets of enough patterns were taken, put in store what their replays show besides: the same
        with other values, and beginnings. Tasks that are very many are not replayed."""
        self._followed.append(members)
        if self._looked_at == 1 or not self._taken.has_many_patterns:
            return
        for taken in self._followed:
            for part in beginnings(taken, self._request.minimum_size, self._pool, self._generator):
                cell = cell_of_set(self._pool, part, self._request)
                if cell in wanted:
                    found = alike(part, self._pool, self._generator)
                    new = (
                        mask for mask in found if mask not in self.found and not self._taken.has_near(mask)
                    )
                    self._alike[cell] += islice(new, _LIKE)
        self._followed.clear()

    def work_for(self, targets: Set[Cell], is_scarce: Callable[[Cell], bool]) -> set[Cell]:
        """Enumerate a group for each of the `targets`; returns those of which no more are to be found.

        Cells that are scarce, so that others cannot take their place, are searched for longer, and around
        parts of sets of their neighbours; not where tasks are so many that the best is not looked for either.
        """
        dry = set()
        for cell in sorted(targets):
            scarce = self._looked_at > 1 and is_scarce(cell)
            longer = _FOR_SCARCE if cell in self.reached else _FOR_UNSEEN
            patience = 1 if self._is_one_group else self._patience * (longer if scarce else 1)
            if self._in_vain[cell] >= patience:
                dry.add(cell)
                continue
            repeats = 4 * self._in_vain[cell] >= 3 * patience
            part = self._part_like(cell) if scarce else 0
            brought = self._enumerate(cell, targets, repeats=repeats, part=part)
            self._in_vain[cell] = 0 if cell in brought else self._in_vain[cell] + 1
        return dry

    def survey(self) -> set[Cell]:
        """All cells seen so far, and those that one group for every other cell shows."""
        everything = all_cells(self._request)
        for cell in sorted(everything - self.reached):
            self._enumerate(cell, everything, repeats=True)
        return self.reached

    def _part_like(self, cell: Cell) -> int:
        """Most times a part of a set found before whose cell differs from `cell` in one level at most; else
        0."""
        near = [
            sets
            for other, sets in self._examples.items()
            if sum(abs(LEVELS.index(a) - LEVELS.index(b)) for a, b in zip(cell, other, strict=True)) <= 1
        ]
        if not near or self._generator.random() < _AFRESH:
            return 0
        example = self._generator.choice(self._generator.choice(near))
        parts = beginnings(example, self._request.minimum_size, self._pool, self._generator)
        return self._generator.choice(parts)

    def _enumerate(self, cell: Cell, wanted: Set[Cell], *, repeats: bool, part: int = 0) -> Set[Cell]:
        """Put the new closed sets of a group in store; returns their cells."""
        group, core = self.groups.around(cell, repeats=repeats, part=part)
        if not group:
            return set()
        enumeration = Enumeration(self._pool, group, self._request, wanted, self._generator, first=core)
        harvest = enumeration.run(keep=self._keep, budget=self._budget, known=self.found)
        self.examined += harvest.examined
        self.reached |= harvest.cells
        new = {
            reached: found
            for reached, sets in harvest.sets.items()
            if (found := [members for members in sets if members not in self._aside])
        }
        for reached, sets in new.items():
            self.found.update(sets)
            self._stores.setdefault(reached, []).extend(sets)
            if self._looked_at > 1:
                self._examples[reached] += sets[:1]
        return new.keys()


def beginnings(members: int, fewest: int, pool: CompiledPool, generator: random.Random) -> list[int]:
    """The closed set `members` and what is left of it, down to the `fewest`, when ends are taken away one by
    one."""
    found = [members]
    while found[-1].bit_count() > fewest:
        ends = [number for number in bits(found[-1]) if not pool.feeds[number] & found[-1]]
        if not ends:
            break
        found.append(found[-1] & ~(1 << generator.choice(ends)))
    return found


def alike(members: int, pool: CompiledPool, generator: random.Random) -> Iterator[int]:
    """Sets of the same subtasks, linked in the same way, with other values that go with one occasion; in an
    order drawn anew."""
    order: list[int] = []
    left = members
    while left:
        ready = next((number for number in bits(left) if not pool.instances[number].sources & left), None)
        if ready is None:
            return
        order.append(ready)
        left ^= 1 << ready
    makers = []
    for number in order:
        found = (pool.producer(need, members) for need in pool.instances[number].needs)
        makers.append([None if maker is None else order.index(maker) for maker in found])
    steps = 0

    def grow(chosen: list[int], mask: int, excluded: int, occasion: int) -> Iterator[int]:
        nonlocal steps
        steps += 1
        if len(chosen) == len(order):
            yield mask
        elif steps < _MOST_STEPS:
            made_by = [None if maker is None else chosen[maker] for maker in makers[len(chosen)]]
            options = pool.siblings[pool.instances[order[len(chosen)]].template] & ~excluded
            for maker in made_by:
                options &= everything if maker is None else pool.feeds[maker]
            drawn = [
                option
                for option in bits(options)
                if occasion & pool.occasions[option] and _fits(pool, option, made_by, mask)
            ]
            generator.shuffle(drawn)
            for option in drawn:
                clashes = excluded | 1 << option | pool.instances[option].clashes
                left = occasion & pool.occasions[option]
                yield from grow([*chosen, option], mask | 1 << option, clashes, left)

    everything = (1 << len(pool.instances)) - 1
    yield from grow([], 0, 0, -1)


def _fits(pool: CompiledPool, option: int, made_by: Sequence[int | None], chosen: int) -> bool:
    """Whether each need of an instance is met by whom it is to be made by or a fixture, and it makes nothing
    for those chosen before."""
    needs = pool.instances[option].needs
    return (
        not pool.feeds[option] & chosen
        and len(needs) == len(made_by)
        and all(
            need.producers & chosen == (0 if maker is None else 1 << maker)
            and (maker is not None or need.fixture)
            for need, maker in zip(needs, made_by, strict=True)
        )
    )
