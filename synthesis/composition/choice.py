"""Which of the sets found become tasks: no near-duplicates, and no bound subtask in more than its share of
them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from fractions import Fraction
from math import ceil

from taskloom.taskgraph.bitmasks import bits

_ALWAYS_ALLOWED = 20
_TIMES_EVEN = 3
_ALWAYS_ALLOWED_PER_PATTERN = 5


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


class Patterns:
    """How often each set of subtasks was taken, whatever their values, and whether it may be taken again."""

    def __init__(self, share: float, wanted: int) -> None:
        """No set of subtasks in more than `share` of the `wanted` tasks; five tasks are always allowed."""
        self._most = max(_ALWAYS_ALLOWED_PER_PATTERN, int(share * wanted))
        self._taken: Counter[tuple[int, ...]] = Counter()

    def used_up(self, templates: tuple[int, ...]) -> bool:
        """Whether a set of subtasks has had its share."""
        return self._taken[templates] >= self._most

    def add(self, templates: tuple[int, ...]) -> None:
        """Count a set of subtasks as taken."""
        self._taken[templates] += 1


class Templates:
    """How often each subtask was taken, whatever its values, and whether it may be taken again."""

    def __init__(self, share: float, wanted: int) -> None:
        """No subtask in more than `share` of the `wanted` tasks; twenty tasks are always allowed."""
        self._most = max(_ALWAYS_ALLOWED, int(share * wanted))
        self._taken: Counter[int] = Counter()

    def used_up(self, templates: tuple[int, ...]) -> bool:
        """Whether one of the subtasks has had its share."""
        return any(self._taken[template] >= self._most for template in templates)

    def add(self, templates: tuple[int, ...]) -> set[int]:
        """Count the subtasks of a set as taken; returns those that have had their share now."""
        self._taken.update(set(templates))
        return {template for template in templates if self._taken[template] >= self._most}


class Deeds:
    """How often each kind of deed was taken, such as attaching anything to a page, and whether it may be
    taken again."""

    def __init__(self, share: float, wanted: int, subtask_ids: Sequence[str]) -> None:
        """No deed in more than `share` of the `wanted` tasks; twenty tasks are always allowed.

        Args:
            share: largest share of the tasks.
            wanted: number of tasks.
            subtask_ids: ids by template number; a deed is an application and the first word of a name.
        """
        self._most = max(_ALWAYS_ALLOWED, int(share * wanted))
        self._deeds = [deed_of(name) for name in subtask_ids]
        self._taken: Counter[str] = Counter()

    def used_up(self, templates: tuple[int, ...]) -> bool:
        """Whether one of the deeds has had its share."""
        return any(self._taken[self._deeds[template]] >= self._most for template in templates)

    def add(self, templates: tuple[int, ...]) -> set[int]:
        """Count the deeds of a set as taken; returns the subtasks that are one of which there is enough
        now."""
        self._taken.update({self._deeds[template] for template in templates})
        enough = {deed for deed in self._taken if self._taken[deed] >= self._most}
        return {template for template, deed in enumerate(self._deeds) if deed in enough}


def deed_of(subtask_id: str) -> str:
    """Application and first word of the name, which is a verb.

    >>> deed_of("trac.attach_csv")
    'trac.attach'
    """
    application, dot, name = subtask_id.partition(".")
    return f"{application}{dot}{name.partition('_')[0]}"


class Collecting:
    """How many tasks make a place for several things, and whether more may."""

    def __init__(self, share: float, wanted: int, gatherers: Set[int]) -> None:
        """Not more than `share` of the `wanted` tasks with one of the `gatherers`; twenty tasks are always
        allowed."""
        self._most = max(_ALWAYS_ALLOWED, int(share * wanted))
        self._gatherers = gatherers
        self._taken = 0

    def used_up(self, templates: tuple[int, ...]) -> bool:
        """Whether a set makes such a place, and enough others do."""
        return self._taken >= self._most and not self._gatherers.isdisjoint(templates)

    def add(self, templates: tuple[int, ...]) -> Set[int]:
        """Count the subtasks of a set as taken; returns those that are not to be taken any more."""
        self._taken += not self._gatherers.isdisjoint(templates)
        return self._gatherers if self._taken >= self._most else set()


class Shares:
    """How often each bound subtask was taken, and whether it may be taken again."""

    def __init__(self, share: float, wanted: int, even: float = 0.0) -> None:
        """No bound subtask in more than `share` of the `wanted` tasks.

        Twenty tasks are always allowed, and so is three times `even`: how often each would be taken if all
        were taken equally often, which in a small pool is more than a share.
        """
        self._most = max(_ALWAYS_ALLOWED, int(share * wanted), int(_TIMES_EVEN * even))
        self._taken: Counter[int] = Counter()

    def used_up(self, members: int) -> bool:
        """Whether a member has had its share."""
        return any(self._taken[number] >= self._most for number in bits(members))

    def add(self, members: int) -> None:
        """Count a set as taken."""
        self._taken.update(bits(members))
