"""Groups of instances to enumerate: paths of a wanted shape with what they need."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell, by_measure, level_in
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits, mask_of

SMALL_POOL = 14
"""Instances in the largest pool with all closed sets enumerated."""

_GROUP_SIZE, _SPARE = 10, 4
"""Minimum size of a group, and members beyond the smallest set of the wanted levels."""
_CATEGORIES, _DEPTH, _WIDTH = (
    by_measure(measure).name for measure in ("application_categories", "depth", "width")
)
_CANDIDATES = 12
_PATH_DRAWS = 12
_MOST_CACHED_STARTS = 400
_CHAIN_DRAWS = 300


class Paths:
    """Draws dependency paths; caches where they can start."""

    def __init__(self, pool: CompiledPool) -> None:
        """Start with an empty cache."""
        self._pool = pool
        self._cached_starts: dict[int, list[int]] = {}

    def draw(self, allowed: int, length: int, generator: random.Random) -> list[int]:
        """A path of `length` instances, or an empty one if it reaches a dead end or none exists.

        Every step draws, among the instances from which the length can still be reached, first a subtask and
        then one of its instances, so that a subtask with many values is not in every path.
        """
        path: list[int] = []
        options, excluded = allowed, 0
        for starts in reversed(self._starts(allowed, length)):
            options &= starts & ~excluded
            if not options:
                return []
            siblings = [mask & options for mask in self._pool.siblings if mask & options]
            number = generator.choice(list(bits(generator.choice(siblings))))
            path.append(number)
            excluded |= 1 << number | self._pool.instances[number].clashes
            options = self._pool.feeds[number]
        return path

    def exist(self, allowed: int, length: int) -> bool:
        """Whether there may be a path of `length` instances."""
        return bool(self._starts(allowed, length)[-1])

    def _starts(self, allowed: int, length: int) -> list[int]:
        """For every number of steps below `length`, the instances from which a walk can take that many."""
        if len(self._cached_starts) > _MOST_CACHED_STARTS:
            self._cached_starts.clear()
        starts = self._cached_starts.setdefault(allowed, [allowed])
        while len(starts) < length:
            starts.append(mask_of([item for item in bits(allowed) if self._pool.feeds[item] & starts[-1]]))
        return starts[:length]


class Groups:
    """Draws groups around dependency paths; prefers subtasks that are in few groups so far."""

    def __init__(
        self,
        pool: CompiledPool,
        request: CompositionRequest,
        goals: Sequence[Sequence[str]],
        generator: random.Random,
    ) -> None:
        """Prepare; nothing is drawn yet. `goals` are the subtasks of each intent."""
        self._pool, self._ranges, self._generator = pool, request.ranges, generator
        self._minimum_size = request.minimum_size
        self._goals = [mask_of(pool.members_of(goal)) for goal in goals]
        self._paths = Paths(pool)
        self._allows_components = request.maximum_components > 1
        self._uses: Counter[int] = Counter()
        self._by_category = [0] * len(pool.application_categories)
        for item in pool.instances:
            self._by_category[item.application_category] |= 1 << item.number
        self.excluded = 0
        """Instances that no further group may contain."""

    def draw(self, cell: Cell, *, repeats: bool, part: int = 0) -> tuple[list[int], int]:
        """A group around a dependency path as deep as `cell` wants, empty if the pool has no such path; or
        around `part` of a set found earlier.

        The path is followed by the producers that its members need and by neighbours that widen it, from at
        most as many application categories as the cell's knowledge level allows. Two instances of one subtask
        are added only if `repeats` allows. The second value is the number of members, from the start, that
        form the path with its producers. A small pool is one group.
        """
        available = (1 << len(self._pool.instances)) - 1 & ~self.excluded
        low, high = self._ranges.within(_DEPTH, level_in(cell, "depth"))
        fewest = max(self._minimum_size, low + self._ranges.within(_WIDTH, level_in(cell, "width"))[0] - 1)
        size = min(max(_GROUP_SIZE, fewest + _SPARE), MAXIMUM_SUBTASKS)
        if len(self._pool.instances) <= max(size, SMALL_POOL):
            return list(bits(available)), 0
        most_categories = self._ranges.within(_CATEGORIES, level_in(cell, "application_categories"))[1]
        if part:
            group = _Group(self._pool, available, self._by_category, most_categories, size, repeats=repeats)
            return self._fill(group, list(bits(part & available)), cell)
        length = self._generator.randint(max(1, low), max(1, low, min(high, low + 1)))
        allowed = available
        if most_categories == 1:
            by_category = [available & mask for mask in self._by_category]
            deep = [mask for mask in by_category if self._paths.exist(mask, length)]
            allowed = self._generator.choice(deep or by_category)
        # Wide sets make sense if their branches meet at a gatherer, a place for several things.
        gathering = self._pool.gatherers if level_in(cell, "width") == "hard" else 0
        path: list[int] = []
        for _ in range(_PATH_DRAWS):
            drawn = self._paths.draw(allowed, length, self._generator)
            if (
                drawn
                and len({self._pool.instances[number].application_category for number in drawn})
                <= most_categories
            ):
                path = drawn
                if not gathering or mask_of(path) & gathering:
                    break
        group = _Group(self._pool, allowed, self._by_category, most_categories, size, repeats=repeats)
        return self._fill(group, path, cell)

    def _fill(self, group: _Group, path: Sequence[int], cell: Cell) -> tuple[list[int], int]:
        for number in path:
            group.add(number)
        for number in group.members:
            self._add_producers(group, number, with_fixtures=False)
        core = len(group.members)
        if core:
            self._widen(group, cell)
        self._uses.update({self._pool.instances[number].template for number in group.members})
        return group.members, core

    def _add_producers(self, group: _Group, number: int, *, with_fixtures: bool) -> None:
        """Add producers of what a member needs, `with_fixtures` also of fixtures; preferably from further
        application categories."""
        for need in self._pool.instances[number].needs:
            producers = 0 if need.producers & group.member_mask else need.producers & group.free
            if producers and len(group.members) < group.size and (with_fixtures or not need.fixture):
                group.add(self._generator.choice(list(bits(producers & ~group.same_categories or producers))))

    def _widen(self, group: _Group, cell: Cell) -> None:
        """Fill the group with instances and what each needs: preferably neighbours, instances of the intent
        nearest to the path, and subtasks in few groups."""
        pool, draw = self._pool, self._generator.random
        broad = level_in(cell, "application_categories") == "hard"
        wide = level_in(cell, "width") != "easy"
        goal = max(self._goals, key=lambda goal: (goal & group.member_mask).bit_count(), default=0)
        most_uses = 1 + max(self._uses.values(), default=0)

        def score(number: int) -> float:
            instance = pool.instances[number]
            value = draw() + 3.0 * (neighbours >> number & 1) + 2.5 * (goal >> number & 1)
            value -= 2.0 * self._uses[instance.template] / most_uses + 2.0 * (
                group.same_subtasks >> number & 1
            )
            value -= 6.0 * any(
                not producers & (group.member_mask | group.free) for producers in instance.required
            )
            return value + 2.0 * bool(
                broad and (instance.sources | 1 << number) & group.free & ~group.same_categories
            )

        while len(group.members) < group.size and group.joinable:
            neighbours = (group.readers | group.sources if wide else group.readers) & group.joinable
            candidates = self._sample(neighbours) + self._sample(goal & group.joinable) or self._sample(
                group.joinable
            )
            if self._allows_components:
                candidates += self._sample(group.joinable & ~neighbours)
            chosen = max(candidates, key=score)
            before = len(group.members)
            group.add(chosen)
            for number in group.members[before:]:
                self._add_producers(group, number, with_fixtures=(wide or broad) and number == chosen)

    def _sample(self, mask: int) -> list[int]:
        """A few instances of a set: those that follow random places in it."""
        found = set()
        for _ in range(_CANDIDATES if mask else 0):
            place = int(self._generator.random() * mask.bit_length())
            after = mask >> place << place
            found.add((after & -after).bit_length() - 1)
        return sorted(found)


class _Group:
    def __init__(
        self,
        pool: CompiledPool,
        allowed: int,
        by_category: Sequence[int],
        most_categories: int,
        size: int,
        *,
        repeats: bool,
    ) -> None:
        self.size = size
        self._pool, self._by_category, self._most_categories, self._repeats = (
            pool,
            by_category,
            most_categories,
            repeats,
        )
        self._categories: set[int] = set()
        self.members: list[int] = []
        self.member_mask = 0
        self.free = allowed
        """Instances that no member excludes."""
        self.same_subtasks = 0
        """Instances of the members' subtasks."""
        self.same_categories = 0
        """Instances of the members' application categories."""
        self.readers = self.sources = self._gathered = 0

    @property
    def joinable(self) -> int:
        """Instances that can join; further ones of a subtask only if allowed or if a gatherer takes them."""
        return self.free if self._repeats else self.free & (~self.same_subtasks | self._gathered)

    def add(self, number: int) -> None:
        instance = self._pool.instances[number]
        self.members.append(number)
        self.member_mask |= 1 << number
        self.free &= ~(instance.clashes | 1 << number)
        self.same_subtasks |= self._pool.siblings[instance.template]
        self.same_categories |= self._by_category[instance.application_category]
        self._categories.add(instance.application_category)
        if len(self._categories) >= self._most_categories:
            self.free &= self.same_categories
        self.readers |= self._pool.feeds[number]
        self.sources |= instance.sources
        self._gathered |= self._pool.feeds[number] if self._pool.gatherers >> number & 1 else 0


def chains_like(members: int, pool: CompiledPool, paths: Paths, seed: int) -> list[int]:
    """Chains of as many subtasks as the set `members`, from its application categories, most similar first.

    A closed chain of n has depth n, so only one order exists.
    """
    generator = random.Random(f"twin {seed} {members}")

    def categories(of: int) -> Counter[int]:
        return Counter(pool.instances[number].application_category for number in bits(of))

    wanted = categories(members)
    allowed = mask_of([item.number for item in pool.instances if item.application_category in wanted])
    size = members.bit_count()
    drawn = {mask_of(paths.draw(allowed, size, generator)) for _ in range(_CHAIN_DRAWS)} - {0}

    def unlikeness(chain: int) -> tuple[int, int, int]:
        return (wanted - categories(chain)).total(), -(chain & members).bit_count(), chain

    return sorted(drawn, key=unlikeness)
