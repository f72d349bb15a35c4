"""Groups of instances that are worth enumerating: paths of a wanted shape with what they need."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell, by_measure, level_in
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits, mask_of

SMALL_POOL = 14
"""Instances of a pool of which all closed sets are enumerated."""

_GROUP_SIZE, _SPARE = 10, 4
"""Fewest members of a group, and how many more it has than the smallest set of the wanted levels."""
_CATEGORIES, _DEPTH, _WIDTH = (
    by_measure(measure).name for measure in ("application_categories", "depth", "width")
)
_LOOKED_AT = 12
_DRAWS = 12
_KNOWN_WALKS = 400
_CHAINS_LOOKED_AT = 300


class Paths:
    """Draws dependency paths; keeps from where they can be drawn."""

    def __init__(self, pool: CompiledPool) -> None:
        """Prepare; nothing is known yet."""
        self._pool = pool
        self._known: dict[int, list[int]] = {}

    def draw(self, allowed: int, length: int, generator: random.Random) -> list[int]:
        """A path of `length` instances, or an empty one when it runs into itself or none exists.

        Every step keeps to instances from which the length can still be reached: of any of their subtasks,
        and then any of its instances, so that a subtask with many values is not in every path.
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
        """For every number of steps below `length`, the instances from which a walk goes on so far."""
        if len(self._known) > _KNOWN_WALKS:
            self._known.clear()
        starts = self._known.setdefault(allowed, [allowed])
        while len(starts) < length:
            starts.append(mask_of([item for item in bits(allowed) if self._pool.feeds[item] & starts[-1]]))
        return starts[:length]


class Groups:
    """Groups around dependency paths; knows which subtasks are in many already."""

    def __init__(
        self,
        pool: CompiledPool,
        request: CompositionRequest,
        goals: Sequence[Sequence[str]],
        generator: random.Random,
    ) -> None:
        """Prepare; nothing is drawn yet. `goals` are the subtasks of each intent."""
        self._pool, self._ranges, self._generator = pool, request.ranges, generator
        self._fewest = request.minimum_size
        self._goals = [mask_of(pool.members_of(goal)) for goal in goals]
        self._paths = Paths(pool)
        self._apart = request.maximum_components > 1
        self._used: Counter[int] = Counter()
        self._inside = [0] * len(pool.application_categories)
        for item in pool.instances:
            self._inside[item.application_category] |= 1 << item.number
        self.excluded = 0
        """Instances that are in no further group."""

    def around(self, cell: Cell, *, repeats: bool, part: int = 0) -> tuple[list[int], int]:
        """A group around a dependency path as deep as `cell` wants, empty when the pool has no such path; or
        around `part` of a set that was found.

        After the path come the producers that its members need, and neighbours that widen it, from as many
        application categories as the cell's knowledge level allows, whichever come first; two instances of
        one subtask only where `repeats` allows. The second number says how many members, from the start, make
        the path with its producers. A small pool is one group.
        """
        everything = (1 << len(self._pool.instances)) - 1 & ~self.excluded
        low, high = self._ranges.within(_DEPTH, level_in(cell, "depth"))
        fewest = max(self._fewest, low + self._ranges.within(_WIDTH, level_in(cell, "width"))[0] - 1)
        size = min(max(_GROUP_SIZE, fewest + _SPARE), MAXIMUM_SUBTASKS)
        if len(self._pool.instances) <= max(size, SMALL_POOL):
            return list(bits(everything)), 0
        most = self._ranges.within(_CATEGORIES, level_in(cell, "application_categories"))[1]
        if part:
            group = _Group(self._pool, everything, self._inside, most, size, repeats=repeats)
            return self._filled(group, list(bits(part & everything)), cell)
        length = self._generator.randint(max(1, low), max(1, low, min(high, low + 1)))
        allowed = everything
        if most == 1:
            inside = [everything & mask for mask in self._inside]
            deep = [mask for mask in inside if self._paths.exist(mask, length)]
            allowed = self._generator.choice(deep or inside)
        # Much side by side has sense where it meets: at a place for several things.
        meets = self._pool.gatherers if level_in(cell, "width") == "hard" else 0
        path: list[int] = []
        for _ in range(_DRAWS):
            drawn = self._paths.draw(allowed, length, self._generator)
            if drawn and len({self._pool.instances[number].application_category for number in drawn}) <= most:
                path = drawn
                if not meets or mask_of(path) & meets:
                    break
        group = _Group(self._pool, allowed, self._inside, most, size, repeats=repeats)
        return self._filled(group, path, cell)

    def _filled(self, group: _Group, path: Sequence[int], cell: Cell) -> tuple[list[int], int]:
        for number in path:
            group.add(number)
        for number in group.members:
            self._add_makers(group, number, everything=False)
        core = len(group.members)
        if core:
            self._widen(group, cell)
        self._used.update({self._pool.instances[number].template for number in group.members})
        return group.members, core

    def _add_makers(self, group: _Group, number: int, *, everything: bool) -> None:
        """Add who makes what a member needs, of `everything` or only of what is not there at reset; best
        from further application categories."""
        for need in self._pool.instances[number].needs:
            makers = 0 if need.producers & group.taken else need.producers & group.free
            if makers and len(group.members) < group.size and (everything or not need.fixture):
                group.add(self._generator.choice(list(bits(makers & ~group.known or makers))))

    def _widen(self, group: _Group, cell: Cell) -> None:
        """Fill the group up, one by one with what it needs: best with neighbours, of the intent nearest to
        the path, that were in few groups."""
        pool, draw = self._pool, self._generator.random
        broad = level_in(cell, "application_categories") == "hard"
        wide = level_in(cell, "width") != "easy"
        goal = max(self._goals, key=lambda goal: (goal & group.taken).bit_count(), default=0)
        most_used = 1 + max(self._used.values(), default=0)

        def worth(number: int) -> float:
            instance = pool.instances[number]
            value = draw() + 3.0 * (near >> number & 1) + 2.5 * (goal >> number & 1)
            value -= 2.0 * self._used[instance.template] / most_used + 2.0 * (group.alike >> number & 1)
            value -= 6.0 * any(not makers & (group.taken | group.free) for makers in instance.required)
            return value + 2.0 * bool(broad and (instance.sources | 1 << number) & group.free & ~group.known)

        while len(group.members) < group.size and group.open:
            near = (group.read_by | group.sources if wide else group.read_by) & group.open
            looked_at = self._some(near) + self._some(goal & group.open) or self._some(group.open)
            if self._apart:
                looked_at += self._some(group.open & ~near)
            chosen = max(looked_at, key=worth)
            before = len(group.members)
            group.add(chosen)
            for number in group.members[before:]:
                self._add_makers(group, number, everything=(wide or broad) and number == chosen)

    def _some(self, mask: int) -> list[int]:
        """A few instances of a set: those after places drawn in it."""
        found = set()
        for _ in range(_LOOKED_AT if mask else 0):
            place = int(self._generator.random() * mask.bit_length())
            after = mask >> place << place
            found.add((after & -after).bit_length() - 1)
        return sorted(found)


class _Group:
    def __init__(
        self, pool: CompiledPool, allowed: int, inside: Sequence[int], most: int, size: int, *, repeats: bool
    ) -> None:
        self.size = size
        self._pool, self._inside, self._most, self._repeats = pool, inside, most, repeats
        self._categories: set[int] = set()
        self.members: list[int] = []
        self.taken = 0
        self.free = allowed
        """Instances that no member excludes."""
        self.alike = 0
        """Instances of the members' subtasks."""
        self.known = 0
        """Instances of the members' application categories."""
        self.read_by = self.sources = self._gathered = 0

    @property
    def open(self) -> int:
        """Instances that can join: of one subtask only where that is allowed or they go to one place."""
        return self.free if self._repeats else self.free & (~self.alike | self._gathered)

    def add(self, number: int) -> None:
        instance = self._pool.instances[number]
        self.members.append(number)
        self.taken |= 1 << number
        self.free &= ~(instance.clashes | 1 << number)
        self.alike |= self._pool.siblings[instance.template]
        self.known |= self._inside[instance.application_category]
        self._categories.add(instance.application_category)
        if len(self._categories) >= self._most:
            self.free &= self.known
        self.read_by |= self._pool.feeds[number]
        self.sources |= instance.sources
        self._gathered |= self._pool.feeds[number] if self._pool.gatherers >> number & 1 else 0


def chains_like(members: int, pool: CompiledPool, paths: Paths, seed: int) -> list[int]:
    """Chains of as many subtasks as the set `members`, from its application categories, those most like it
    first.

    A closed chain has depth n, so that only one order exists.
    """
    generator = random.Random(f"twin {seed} {members}")

    def categories(of: int) -> Counter[int]:
        return Counter(pool.instances[number].application_category for number in bits(of))

    wanted = categories(members)
    allowed = mask_of([item.number for item in pool.instances if item.application_category in wanted])
    size = members.bit_count()
    drawn = {mask_of(paths.draw(allowed, size, generator)) for _ in range(_CHAINS_LOOKED_AT)} - {0}

    def unlikeness(chain: int) -> tuple[int, int, int]:
        return (wanted - categories(chain)).total(), -(chain & members).bit_count(), chain

    return sorted(drawn, key=unlikeness)
