"""Which of the sets found become tasks: no near-duplicates, and no bound subtask in more than its share of
them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from fractions import Fraction
from math import ceil

from taskloom.taskgraph.bitmasks import bits


class Neighbours:
    """The sets taken so far, and whether another one is too much like one of them."""

    def __init__(self, share: float) -> None:
        """Sets with at least `share` of their members in common, of the larger of the two, are
        near-duplicates.

        With a share of 1 none are: equal sets are told apart elsewhere, by what flows between their members.
        """
        self._share = Fraction(str(share))
        self._with: defaultdict[int, list[int]] = defaultdict(list)

    def has_near(self, members: int) -> bool:
        """Whether a set taken before is a near-duplicate of `members`.

        A near-duplicate lacks at most n − k of the n members, where k is the least number in common; so it
        has one of any n − k + 1 members, and only the sets with one of the rarest need to be compared.
        """
        if self._share == 1:
            return False
        numbers = list(bits(members))
        size = len(numbers)
        least = ceil(self._share * size)
        numbers.sort(key=lambda number: len(self._with.get(number, ())))
        return any(
            (members & other).bit_count() >= self._share * max(size, other.bit_count())
            for number in numbers[: size - least + 1]
            for other in self._with.get(number, ())
        )

    def add(self, members: int) -> None:
        """Count a set as taken."""
        for number in bits(members):
            self._with[number].append(members)


class Shares:
    """How often each thing was taken, such as a bound subtask, and whether it may be taken again."""

    def __init__(self, share: float, wanted: int, at_least: float = 20) -> None:
        """Nothing in more than `share` of the `wanted` tasks; `at_least` so many tasks are always allowed."""
        self._most = max(int(at_least), int(share * wanted))
        self._taken: Counter[Hashable] = Counter()

    def used_up(self, things: Iterable[Hashable]) -> bool:
        """Whether one of the things has had its share."""
        return any(self._taken[thing] >= self._most for thing in things)

    def add(self, things: Iterable[Hashable]) -> None:
        """Count things as taken."""
        self._taken.update(things)
