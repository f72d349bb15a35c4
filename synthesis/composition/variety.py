"""Sets in store by cell, and the choice among them that keeps a dataset varied."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.taskgraph.bitmasks import bits

_ALONE = 2.0
_SUBTASK = 1.0
_PARAMETERS = 0.5
_APPLICATIONS = 0.5
_LOOKED_AT = 60
_ROUNDS = 4


class Variety:
    """How often subtasks, parameter sets and groups of applications were taken, and what one more would cost.

    Choosing the cheapest of a few sets leaves rare subtasks less rare and common ones less common, and takes
    sets whose subtasks are linked before those in which they stand alone.
    """

    def __init__(self, pool: CompiledPool) -> None:
        """Nothing is taken yet."""
        self._template = [instance.template for instance in pool.instances]
        names = {name: 1 << n for n, name in enumerate(sorted({i.node.application for i in pool.instances}))}
        self._application = [names[instance.node.application] for instance in pool.instances]
        self._adjacent = [pool.feeds[instance.number] | instance.sources for instance in pool.instances]
        self._templates: Counter[int] = Counter()
        self._instances: Counter[int] = Counter()
        self._applications: Counter[int] = Counter()
        self._members = 0

    def cost(self, members: int) -> float:
        """What taking a set would cost: the share of its subtasks that stand alone, and how often, against
        the average, its subtasks, its parameter sets and its group of applications were taken already."""
        size = alone = templates = instances = applications = 0
        for number in bits(members):
            size += 1
            templates += self._templates[self._template[number]]
            instances += self._instances[number]
            applications |= self._application[number]
            alone += not self._adjacent[number] & members
        taken = max(1, self._members)
        return (
            _ALONE * alone / size
            + _SUBTASK * templates * len(self._templates) / size / taken
            + _PARAMETERS * instances * len(self._instances) / size / taken
            + _APPLICATIONS
            * self._applications[applications]
            * len(self._applications)
            / max(1, self._applications.total())
        )

    def chosen(self, sets: Sequence[int], number: int) -> list[int]:
        """The `number` sets that cost least of the first, chosen in a few rounds, each counted as taken."""
        left = list(sets[: number + _LOOKED_AT])
        result: list[int] = []
        portion = -(-number // _ROUNDS)
        while left and len(result) < number:
            left.sort(key=self.cost)
            for members in left[:portion]:
                self.take(members)
            result += left[:portion]
            del left[:portion]
        return result[:number]

    def take(self, members: int) -> None:
        """Count a set that is taken."""
        applications = 0
        for number in bits(members):
            self._templates[self._template[number]] += 1
            self._instances[number] += 1
            self._members += 1
            applications |= self._application[number]
        self._applications[applications] += 1


@dataclass(slots=True)
class Store:
    """Sets of one cell, by intent, handed out so that intents share a cell evenly."""

    by_intent: dict[int, deque[int]] = field(default_factory=dict)
    """Sets waiting, by intent."""
    turns: deque[int] = field(default_factory=deque)
    """Intents with sets waiting, the next one first."""

    def put(self, intent: int, members: Sequence[int]) -> None:
        """Add sets that serve an intent."""
        if intent not in self.by_intent:
            self.by_intent[intent] = deque()
            self.turns.append(intent)
        self.by_intent[intent].extend(members)

    def get(self) -> tuple[int, int]:
        """Take out a set and its intent."""
        intent = self.turns.popleft()
        waiting = self.by_intent[intent]
        members = waiting.popleft()
        if waiting:
            self.turns.append(intent)
        else:
            del self.by_intent[intent]
        return members, intent
