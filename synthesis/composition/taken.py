"""What was taken so far: what is too much like it, has had its share, or adds most to it."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits

_ALWAYS_ALLOWED = 20
_ALWAYS_ALLOWED_PER_PATTERN = 5
_TIMES_EVEN = 3
_BOUND_PER_SUBTASK = 5
_ALONE, _BOUND = 2.0, 0.5
_APPLICATIONS = 0.5
_MOST_OF_ONE_ROOT, _WITH_ONE_ROOT_AT_FIRST = 0.6, 10
_PER_PATTERN = 4
"""Of so many tasks one is of subtasks of its own before others are like it."""


class Taken:
    """The sets that tasks were made of, counted by what they are made of."""

    def __init__(self, pool: CompiledPool, request: CompositionRequest) -> None:
        """Nothing is taken yet."""
        self._pool = pool
        self._near = Fraction(str(request.near_duplicate_share))
        self._sets: defaultdict[int, list[int]] = defaultdict(list)
        even = request.wanted * request.maximum_size / max(1, len(set(pool.originals)))
        least = max(_ALWAYS_ALLOWED, int(_TIMES_EVEN * even))
        share = request.subtask_share * request.wanted
        self._most_bound = max(least, int(share))
        self._most_of_subtask = max(least, int(min(request.wanted, _BOUND_PER_SUBTASK * share)))
        self._most_alike = max(_ALWAYS_ALLOWED_PER_PATTERN, int(request.pattern_share * request.wanted))
        self._enough_patterns = request.wanted / _PER_PATTERN
        self._first = [mask.bit_length() - 1 for mask in pool.originals]
        self._adjacent = [pool.feeds[instance.number] | instance.sources for instance in pool.instances]
        self._bound: Counter[int] = Counter()
        self._templates: Counter[int] = Counter()
        self._patterns: Counter[tuple[int, ...]] = Counter()
        self._applications: Counter[frozenset[str]] = Counter()
        self._with_one_root = 0

    def add(self, members: int) -> list[int]:
        """Count a set; returns the subtasks of it that have had their share with it."""
        bound = self._pool.bound_subtasks(members)
        pattern = self._pool.pattern(members)
        for number in bits(bound):
            self._sets[number].append(bound)
        self._bound.update(bits(bound))
        self._templates.update(set(pattern))
        self._patterns[pattern] += 1
        self._applications[self._applications_of(members)] += 1
        self._with_one_root += self._has_one_root(members)
        return [number for number in set(pattern) if self._templates[number] >= self._most_of_subtask]

    def has_near(self, members: int) -> bool:
        """Whether a set taken before is a near-duplicate: has the share of members in common, of the larger.

        A near-duplicate lacks at most n − k of the n members, where k is the least number in common; so it
        has one of any n − k + 1 members, and only the sets with one of the rarest need to be compared. With a
        share of 1 none are: equal sets are told apart elsewhere, by what flows between their members.
        """
        if self._near == 1:
            return False
        bound = self._pool.bound_subtasks(members)
        numbers = sorted(bits(bound), key=lambda number: len(self._sets.get(number, ())))
        compared = numbers[: len(numbers) - ceil(self._near * len(numbers)) + 1]
        return any(
            (bound & other).bit_count() >= self._near * max(len(numbers), other.bit_count())
            for number in compared
            for other in self._sets.get(number, ())
        )

    def is_over_share(self, members: int) -> bool:
        """Whether enough tasks have one of its bound subtasks, or of its subtasks, or all of the latter."""
        pattern, bound = self._pool.pattern(members), bits(self._pool.bound_subtasks(members))
        return (
            self._patterns[pattern] >= self._most_alike
            or any(self._templates[number] >= self._most_of_subtask for number in pattern)
            or any(self._bound[number] >= self._most_bound for number in bound)
        )

    def is_one_more_with_one_root(self, members: int) -> bool:
        """Whether a set begins with one subtask, as enough others do."""
        more = self._with_one_root - _MOST_OF_ONE_ROOT * self._patterns.total()
        return more > _WITH_ONE_ROOT_AT_FIRST and self._has_one_root(members)

    @property
    def has_many_patterns(self) -> bool:
        """Whether the sets are so different that more of the same are wanted, which cost no replays."""
        return len(self._patterns) >= self._enough_patterns

    def cost(self, members: int) -> float:
        """What taking a set would cost: the share of its subtasks that stand alone, how often, against the
        average, its subtasks, its bound subtasks and its group of applications were taken already."""
        size = alone = templates = bound = 0
        for number in bits(members):
            size += 1
            templates += self._templates[self._pool.instances[number].template]
            bound += self._bound[self._first[number]]
            alone += not self._adjacent[number] & members
        taken, tasks = max(1, self._bound.total()), max(1, self._applications.total())
        together = self._applications[self._applications_of(members)]
        return (
            _ALONE * alone / size
            + templates * len(self._templates) / size / taken
            + _BOUND * bound * len(self._bound) / size / taken
            + _APPLICATIONS * together * len(self._applications) / tasks
        )

    def _has_one_root(self, members: int) -> bool:
        return sum(not self._pool.instances[number].sources & members for number in bits(members)) == 1

    def _applications_of(self, members: int) -> frozenset[str]:
        return frozenset(self._pool.instances[number].node.application for number in bits(members))
