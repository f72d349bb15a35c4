"""Sets taken so far: which others are near-duplicates, exceed a share, or add the most variety."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.bitmasks import bits

_ALWAYS_ALLOWED = 20
_ALWAYS_ALLOWED_PER_PATTERN = 5
_EVEN_SHARES = 3
_BOUND_PER_SUBTASK = 5
_UNLINKED_WEIGHT, _BOUND_WEIGHT = 2.0, 0.5
_APPLICATIONS_WEIGHT = 0.5
_SINGLE_ROOT_SHARE, _SINGLE_ROOT_EXCESS = 0.6, 10
_PER_PATTERN = 4
"""Wanted tasks per pattern at which variety is enough."""


class TakenSets:
    """The sets that tasks were made from, counted by their subtasks and applications."""

    def __init__(self, pool: CompiledPool, request: CompositionRequest) -> None:
        """Start without any set."""
        self._pool = pool
        self._near_duplicate_share = Fraction(str(request.near_duplicate_share))
        self._sets_by_bound: defaultdict[int, list[int]] = defaultdict(list)
        even_share = request.wanted * request.maximum_size / max(1, len(set(pool.originals)))
        least = max(_ALWAYS_ALLOWED, int(_EVEN_SHARES * even_share))
        share = request.subtask_share * request.wanted
        self._most_per_bound = max(least, int(share))
        self._most_per_subtask = max(least, int(min(request.wanted, _BOUND_PER_SUBTASK * share)))
        self._most_per_pattern = max(_ALWAYS_ALLOWED_PER_PATTERN, int(request.pattern_share * request.wanted))
        self._enough_patterns = request.wanted / _PER_PATTERN
        self._original_numbers = [mask.bit_length() - 1 for mask in pool.originals]
        self._adjacent = [pool.feeds[instance.number] | instance.sources for instance in pool.instances]
        self._bound_counts: Counter[int] = Counter()
        self._template_counts: Counter[int] = Counter()
        self._pattern_counts: Counter[tuple[int, ...]] = Counter()
        self._application_counts: Counter[frozenset[str]] = Counter()
        self._single_root_count = 0

    def add(self, members: int) -> list[int]:
        """Count a set; returns those of its subtasks that have now reached their share."""
        bound = self._pool.bound_subtasks(members)
        pattern = self._pool.pattern(members)
        for number in bits(bound):
            self._sets_by_bound[number].append(bound)
        self._bound_counts.update(bits(bound))
        self._template_counts.update(set(pattern))
        self._pattern_counts[pattern] += 1
        self._application_counts[self._applications_of(members)] += 1
        self._single_root_count += self._has_single_root(members)
        return [number for number in set(pattern) if self._template_counts[number] >= self._most_per_subtask]

    def has_near_duplicate(self, members: int) -> bool:
        """Whether a near-duplicate was taken: a set that shares enough members, relative to the larger set.

        A near-duplicate lacks at most n − k of the n members, where k is the smallest number in common. So it
        contains one of any n − k + 1 members, and only sets with one of the rarest need to be compared. With
        a share of 1 there are none: equal sets are compared by their ids, which include their links.
        """
        if self._near_duplicate_share == 1:
            return False
        bound = self._pool.bound_subtasks(members)
        numbers = sorted(bits(bound), key=lambda number: len(self._sets_by_bound.get(number, ())))
        compared = numbers[: len(numbers) - ceil(self._near_duplicate_share * len(numbers)) + 1]
        return any(
            (bound & other).bit_count() >= self._near_duplicate_share * max(len(numbers), other.bit_count())
            for number in compared
            for other in self._sets_by_bound.get(number, ())
        )

    def is_over_share(self, members: int) -> bool:
        """Whether a bound subtask, a subtask or the pattern of a set is already in enough tasks."""
        pattern, bound = self._pool.pattern(members), bits(self._pool.bound_subtasks(members))
        return (
            self._pattern_counts[pattern] >= self._most_per_pattern
            or any(self._template_counts[number] >= self._most_per_subtask for number in pattern)
            or any(self._bound_counts[number] >= self._most_per_bound for number in bound)
        )

    def exceeds_single_root_share(self, members: int) -> bool:
        """Whether a set has a single root and enough taken sets have one."""
        excess = self._single_root_count - _SINGLE_ROOT_SHARE * self._pattern_counts.total()
        return excess > _SINGLE_ROOT_EXCESS and self._has_single_root(members)

    @property
    def has_many_patterns(self) -> bool:
        """Whether the sets vary enough to add variants of them, which need no replays."""
        return len(self._pattern_counts) >= self._enough_patterns

    def cost(self, members: int) -> float:
        """The cost of taking a set: its share of unlinked subtasks, and how often its subtasks, bound
        subtasks and group of applications were already taken, relative to the average."""
        size = unlinked = templates = bound = 0
        for number in bits(members):
            size += 1
            templates += self._template_counts[self._pool.instances[number].template]
            bound += self._bound_counts[self._original_numbers[number]]
            unlinked += not self._adjacent[number] & members
        bound_total, tasks = max(1, self._bound_counts.total()), max(1, self._application_counts.total())
        group_count = self._application_counts[self._applications_of(members)]
        return (
            _UNLINKED_WEIGHT * unlinked / size
            + templates * len(self._template_counts) / size / bound_total
            + _BOUND_WEIGHT * bound * len(self._bound_counts) / size / bound_total
            + _APPLICATIONS_WEIGHT * group_count * len(self._application_counts) / tasks
        )

    def _has_single_root(self, members: int) -> bool:
        return sum(not self._pool.instances[number].sources & members for number in bits(members)) == 1

    def _applications_of(self, members: int) -> frozenset[str]:
        return frozenset(self._pool.instances[number].node.application for number in bits(members))
