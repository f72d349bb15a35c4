"""Groups of instances that are worth enumerating: an intent's subtasks, and paths of a wanted shape with what
they need."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell, by_measure, level_in
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.pool.instances import Instance
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.measures.per_dimension import MeasureRanges

GROUP_SIZE = 14
"""Most instances of a group; its closed sets number at most 2 to this power."""

_CATEGORIES, _DEPTH = by_measure("application_categories").name, by_measure("depth").name
_LONGEST_PATH = 8
_LOOKED_AT = 10
_OTHERS_LOOKED_AT = 30
_KNOWN_WALKS = 400
_DRAWS = 12


def group_size(minimum_size: int) -> int:
    """Most instances of a group for tasks of at least so many subtasks.

    >>> group_size(2), group_size(20)
    (14, 24)
    """
    return max(GROUP_SIZE, min(minimum_size + 4, MAXIMUM_SUBTASKS))


def intent_group(
    pool: CompiledPool,
    members: Sequence[int],
    generator: random.Random,
    *,
    repeats: bool,
    size: int = GROUP_SIZE,
) -> list[int]:
    """Up to `size` of an intent's `members`, with parameter sets chosen so that they link up.

    Starts anywhere and adds the instance with the most links to those chosen; one instance per subtask
    template, or several where `repeats` allows.
    """
    inside = mask_of(members)
    left = list(members)
    chosen: list[int] = []
    taken = 0
    while left and len(chosen) < size:
        looked_at = generator.sample(left, min(_LOOKED_AT, len(left)))
        best = max(
            looked_at, key=lambda number: _worth(pool.instances[number], pool, taken, inside, generator)
        )
        chosen.append(best)
        taken |= 1 << best
        template = pool.instances[best].template
        left = [
            number
            for number in left
            if number != best and (repeats or pool.instances[number].template != template)
        ]
    return chosen


def _worth(
    instance: Instance, pool: CompiledPool, taken: int, inside: int, generator: random.Random
) -> float:
    linked = (instance.sources | pool.feeds[instance.number]) & taken
    worth = 2.0 * linked.bit_count() + generator.random() * 1.5
    for producers in instance.required:
        if not producers & taken:
            worth -= 1.0 if producers & inside else 6.0
    return worth - (3.0 if instance.clashes & taken else 0.0)


class Paths:
    """Groups around dependency paths; keeps the numbers of walks that paths are drawn by."""

    def __init__(
        self,
        pool: CompiledPool,
        intents: Sequence[frozenset[int]] = (),
        *,
        ranges: MeasureRanges | None = None,
        group_size: int = GROUP_SIZE,
    ) -> None:
        """Prepare; walks are counted on demand. `intents` are the templates of each intent."""
        self._ranges = ranges or MeasureRanges()
        self._group_size = group_size
        self._pool = pool
        self._intents = intents
        self._walks: dict[int, list[dict[int, int]]] = {}
        self._used: Counter[int] = Counter()
        self.excluded = 0
        """Instances that are in no further group."""

    def group(self, cell: Cell, generator: random.Random, *, repeats: bool) -> tuple[list[int], int]:
        """A group around a dependency path as deep as `cell` wants, empty when the pool has no such path.

        After the path come the producers that its members need, and neighbours that widen it, best those of
        the intent nearest to the path, from as many application categories as the cell's knowledge level
        allows; two instances of one subtask only where `repeats` allows. The second number says how many
        members, from the start, make the path with its producers.
        """
        pool = self._pool
        allowed = _allowed_instances(
            pool, self._ranges.within(_CATEGORIES, level_in(cell, "application_categories"))[1], generator
        )
        allowed &= ~self.excluded
        low, high = self._ranges.within(_DEPTH, level_in(cell, "depth"))
        length = generator.randint(max(1, low), max(1, low, min(high, low + 1)))
        path = self.draw(allowed, length, generator)
        if level_in(cell, "width") == "hard" and pool.gatherers & allowed:
            # Much side by side has sense where it meets: at a place for several things.
            for _ in range(_DRAWS):
                if mask_of(path) & pool.gatherers:
                    break
                path = self.draw(allowed, length, generator) or path
        if not path:
            return [], 0
        chosen, taken = list(path), mask_of(path)
        for number in chosen:
            for producers in pool.instances[number].required:
                if producers & taken or len(chosen) >= self._group_size:
                    continue
                options = [
                    producer
                    for producer in bits(producers & allowed)
                    if not pool.instances[producer].clashes & taken
                ]
                if options:
                    producer = generator.choice(options)
                    chosen.append(producer)
                    taken |= 1 << producer
        core = len(chosen)
        templates = {pool.instances[number].template for number in chosen}
        goal = max(self._intents, key=lambda intent: len(intent & templates), default=frozenset[int]())
        group = _widened(
            pool, chosen, allowed, cell, goal, self._used, generator, repeats=repeats, size=self._group_size
        )
        self._used.update(pool.instances[number].template for number in group)
        return group, core

    def draw(self, allowed: int, length: int, generator: random.Random) -> list[int]:
        """A path of `length` instances, or an empty one when it runs into itself or none exists.

        Every step keeps to walks that can still reach the length. Subtasks from which many walks go on are
        preferred a little, those in many groups before are avoided: otherwise a few subtasks with many
        parameter sets would be in every task.
        """
        ways = self._counted(allowed, length)
        path: list[int] = []
        options: Iterable[int] = ways[-1]
        excluded = 0
        for table in reversed(ways):
            weights = {
                number: table[number] for number in options if number in table and not excluded >> number & 1
            }
            if not weights:
                return []
            number = generator.choices(list(weights), weights=[float(weight) for weight in weights.values()])[
                0
            ]
            path.append(number)
            excluded |= 1 << number | self._pool.instances[number].clashes
            options = bits(self._pool.feeds[number] & allowed)
        return path

    def longest(self) -> list[int]:
        """A longest chain of dependencies of the pool, up to eight instances, by trying lengths."""
        generator = random.Random(0)
        everything = (1 << len(self._pool.instances)) - 1
        best: list[int] = []
        for length in range(1, _LONGEST_PATH + 1):
            tries = (self.draw(everything, length, generator) for _ in range(20))
            found = next((path for path in tries if path), [])
            if not found:
                break
            best = found
        return best

    def _counted(self, allowed: int, length: int) -> list[dict[int, int]]:
        """For every number of steps below `length`, how many walks start at each instance that has any."""
        if len(self._walks) > _KNOWN_WALKS:
            self._walks.clear()
        if allowed not in self._walks:
            self._walks[allowed] = [dict.fromkeys(bits(allowed), 1)]
        ways = self._walks[allowed]
        while len(ways) < length:
            last = ways[-1]
            following = {
                number: sum(last.get(fed, 0) for fed in bits(self._pool.feeds[number] & allowed))
                for number in ways[0]
            }
            ways.append({number: count for number, count in following.items() if count})
        return ways[:length]


def _widened(
    pool: CompiledPool,
    chosen: list[int],
    allowed: int,
    cell: Cell,
    goal: frozenset[int],
    used: Counter[int],
    generator: random.Random,
    *,
    repeats: bool,
    size: int,
) -> list[int]:
    broad = level_in(cell, "application_categories") == "hard"
    very_wide = level_in(cell, "width") == "hard"
    if (broad or very_wide) and mask_of(chosen) & pool.gatherers:
        most = size if very_wide else (len(chosen) + size) // 2
        chosen = _with_contributions(pool, chosen, allowed, generator, most, alike=very_wide)
    taken = mask_of(chosen)
    most_used = 1 + max(used.values(), default=0)
    templates = {pool.instances[number].template for number in chosen}
    categories = {pool.instances[number].application_category for number in chosen}
    wide = level_in(cell, "width") != "easy"
    near = 0
    for number in chosen:
        near |= pool.feeds[number] | (pool.instances[number].sources if wide else 0)
    candidates = list(bits(allowed & near & ~taken))
    others = list(bits(allowed & ~near & ~taken))
    candidates += generator.sample(others, min(_OTHERS_LOOKED_AT, len(others)))
    for template in sorted(goal):
        candidates += bits(pool.siblings[template] & allowed & ~taken)
    candidates = list(dict.fromkeys(candidates))

    def worth(number: int) -> float:
        instance = pool.instances[number]
        unmet = any(not producers & taken for producers in instance.required)
        value = 3.0 * (near >> number & 1) - 6.0 * unmet + generator.random()
        value += 2.5 * (instance.template in goal) - 2.0 * used[instance.template] / most_used
        value -= 2.0 if instance.template in templates else 0.0
        if broad and instance.application_category not in categories:
            value += 2.0
        return value

    candidates.sort(key=worth, reverse=True)
    for number in candidates:
        if len(chosen) >= size:
            break
        instance = pool.instances[number]
        gathered = instance.sources & taken & pool.gatherers
        if not instance.clashes & taken and (repeats or gathered or instance.template not in templates):
            chosen.append(number)
            taken |= 1 << number
            templates.add(instance.template)
    return chosen


def _with_contributions(
    pool: CompiledPool,
    chosen: list[int],
    allowed: int,
    generator: random.Random,
    size: int,
    *,
    alike: bool = False,
) -> list[int]:
    """The members with what goes into the place that one of them makes: what is made elsewhere, and how it
    gets there.

    What comes from applications of further categories comes first, and other things only where they may be
    `alike`.
    """
    found, taken = list(chosen), mask_of(chosen)
    categories = {pool.instances[number].application_category for number in chosen}
    fed = 0
    for number in bits(taken & pool.gatherers):
        fed |= pool.feeds[number]
    pairs = [
        (contribution, maker)
        for contribution in bits(fed & allowed & ~taken)
        for maker in bits(pool.instances[contribution].sources & allowed & ~pool.gatherers)
    ]
    generator.shuffle(pairs)
    pairs.sort(key=lambda pair: pool.instances[pair[1]].application_category in categories)
    for pair in pairs:
        fits = not any((pool.instances[number].clashes | 1 << number) & taken for number in pair)
        category = pool.instances[pair[1]].application_category
        if len(found) + len(pair) > size or not fits or (category in categories and not alike):
            continue
        found += pair
        taken |= mask_of(pair)
        categories.add(category)
    return found


def _allowed_instances(pool: CompiledPool, categories: int, generator: random.Random) -> int:
    """Instances of at most so many application categories."""
    numbers = list(range(len(pool.application_categories)))
    if categories < len(numbers):
        generator.shuffle(numbers)
        numbers = numbers[:categories]
    chosen = set(numbers)
    return mask_of([i.number for i in pool.instances if i.application_category in chosen])
