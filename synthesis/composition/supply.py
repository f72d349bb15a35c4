"""Closed sets in store by cell, and the work that brings in more."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS, Cell
from taskloom.synthesis.composition.enumeration import Enumeration, all_cells
from taskloom.synthesis.composition.groups import GROUP_SIZE, Paths, group_size, intent_group
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.request import CompositionRequest, Limits
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.records.task import Intent

_VISITS_WITHOUT_FRUIT = 3
_PATHS_WITHOUT_FRUIT = 8
_THOROUGH_PATHS = 16
_INSTANCES_PER_PATH = 20
"""Of a large pool, more paths are tried in vain before a cell counts as dry."""
_INTENTS_PER_PORTION = 32
_FEW_INTENTS = 100
_KEPT = 24
_MOST_KEPT = 400
NO_INTENT = -1


@dataclass(slots=True)
class _IntentWork:
    """An intent's instances, how many visits it is owed in any case, and how visits to it went."""

    number: int
    members: list[int]
    templates: frozenset[int]
    owed: int
    fruitless: int = 0
    reached: set[Cell] = field(default_factory=set)

    def promises(self, targets: Set[Cell]) -> bool:
        """Whether another visit may bring something for the targets."""
        if self.owed:
            return True
        return self.fruitless < _VISITS_WITHOUT_FRUIT and not self.reached.isdisjoint(targets)


@dataclass(slots=True)
class _Rounds:
    """Visits to all intents in turn, a portion at a time."""

    intents: list[_IntentWork]
    repeats: bool
    position: int = 0


class Supply:
    """Finds closed sets for wanted cells: from the intents first, then around paths, then with repeated
    subtasks."""

    def __init__(
        self, pool: CompiledPool, intents: Sequence[Intent], request: CompositionRequest, limits: Limits
    ) -> None:
        """Prepare the intents' groups; nothing is enumerated yet."""
        self._pool = pool
        self._limits = limits
        self._generator = random.Random(f"composition {request.seed}")
        enough = min(_MOST_KEPT, max(1, request.wanted // 500))
        self._keep = max(_KEPT, enough)
        self._worthwhile = max(1, enough // 4)
        self._variety = Variety(pool)
        self._budget = 3_000 if request.wanted <= 200_000 else 20_000
        groups = [
            (number, members)
            for number, intent in enumerate(intents)
            if (members := pool.members_of(intent.subtask_ids))
        ]
        self._generator.shuffle(groups)
        owed = 1 if len(groups) > _FEW_INTENTS else 3
        self._plain, self._repeated = (
            _Rounds(
                [
                    _IntentWork(
                        number, members, frozenset(pool.instances[item].template for item in members), owed
                    )
                    for number, members in groups
                ],
                repeats,
            )
            for repeats in (False, True)
        )
        self._intents_of: list[list[int]] = [[] for _ in pool.templates]
        for work in self._plain.intents:
            for template in work.templates:
                self._intents_of[template].append(work.number)
        self._paths = Paths(
            pool,
            [work.templates for work in self._plain.intents],
            ranges=limits.ranges,
            group_size=group_size(limits.minimum_size),
        )
        self._misses: dict[Cell, int] = {}
        self._stores: dict[Cell, Store] = {}
        self._enough = enough
        self._thorough: set[Cell] = set()
        self.found: set[int] = set()
        """Every set that was ever in store."""
        self._retired = 0
        self._thorough_paths = max(_THOROUGH_PATHS, len(pool.instances) // _INSTANCES_PER_PATH)
        self.examined = 0
        self.reached: set[Cell] = set()

    def filled_cells(self) -> Set[Cell]:
        """Cells with something in store."""
        return self._stores.keys()

    def retire(self, templates: Set[int]) -> None:
        """Look for no further sets with these subtasks."""
        for template in templates:
            self._retired |= self._pool.siblings[template]
        self._paths.excluded = self._retired

    def taken_from(self, cell: Cell) -> Iterator[tuple[int, int]]:
        """Take sets of `cell` out of the store one by one, each with the number of its intent or
        `NO_INTENT`."""
        while (store := self._stores.get(cell)) is not None:
            members, intent = store.get()
            if not store.by_intent:
                del self._stores[cell]
            yield members, self._nearest_intent(members) if intent == NO_INTENT else intent

    def stock(self, targets: frozenset[Cell]) -> None:
        """Look at every intent before anything is taken, where there are few, so that all are there to choose
        from."""
        if len(self._plain.intents) <= _FEW_INTENTS:
            while any(intent.owed for intent in self._plain.intents):
                self._visit(self._plain, targets)

    def work_for(self, targets: frozenset[Cell]) -> set[Cell]:
        """Do a portion of work towards the `targets`; returns those found to be dry."""
        if self._visit(self._plain, targets):
            return set()
        if self._follow_paths(targets):
            return set()
        again = targets & self.reached - self._thorough
        if again:
            self._search_thoroughly(again)
            return set()
        if self._visit(self._repeated, targets):
            return set()
        return set() if self._take_whole_pool(targets) else set(targets)

    def _take_whole_pool(self, targets: frozenset[Cell]) -> bool:
        """Enumerate a pool that is no larger than a group until nothing is new: of small pools nothing is
        missed."""
        if len(self._pool.instances) > GROUP_SIZE:
            return False
        self._thorough |= targets
        everything = [instance.number for instance in self._pool.instances]
        return bool(self._enumerate(everything, NO_INTENT, targets, budget=1 << GROUP_SIZE)[0])

    def _search_thoroughly(self, cells: Set[Cell]) -> None:
        """Try again for cells that some group reached, take all that a group brings, and go on while it is
        anything."""
        self._thorough |= cells
        for cell in cells:
            self._misses[cell] = 0
        for intent in self._plain.intents:
            intent.fruitless = 0

    def survey(self) -> set[Cell]:
        """All cells seen so far and those that one group around a path towards every cell shows; nothing is
        stored."""
        everything = all_cells(self._limits)
        for cell in sorted(everything - self.reached):
            group, core = self._paths.group(cell, self._generator, repeats=True)
            if group:
                enumeration = Enumeration(
                    self._pool, group, self._limits, everything, self._generator, first=core
                )
                self.reached |= enumeration.run(keep=1, budget=self._budget).cells
        return self.reached

    def survey_beyond_limits(self) -> set[Cell]:
        """Cells that groups around paths show when sizes and ranges are free: what to say is near where none
        is reached."""
        free = Limits(1, MAXIMUM_SUBTASKS, self._limits.maximum_components)
        paths = Paths(self._pool)
        found: set[Cell] = set()
        everything = all_cells(free)
        for cell in sorted(everything):
            group, core = paths.group(cell, self._generator, repeats=True)
            if group and cell not in found:
                enumeration = Enumeration(self._pool, group, free, everything, self._generator, first=core)
                found |= enumeration.run(keep=1, budget=self._budget).cells
        return found

    def _visit(self, rounds: _Rounds, targets: frozenset[Cell]) -> bool:
        """Enumerate one group of each of the next intents that promise something; False when none does."""
        worked = 0
        for _ in range(len(rounds.intents)):
            intent = rounds.intents[rounds.position]
            rounds.position = (rounds.position + 1) % len(rounds.intents)
            if not intent.promises(targets):
                continue
            group = intent_group(
                self._pool,
                intent.members,
                self._generator,
                repeats=rounds.repeats,
                size=group_size(self._limits.minimum_size),
            )
            brought, reached = self._enumerate(group, intent.number, targets)
            intent.owed = max(0, intent.owed - 1)
            fruitful = sum(brought.values()) >= self._worthwhile or any(map(brought.get, self._thorough))
            intent.fruitless = 0 if fruitful else intent.fruitless + 1
            intent.reached |= reached
            worked += 1
            if worked == _INTENTS_PER_PORTION:
                break
        return worked > 0

    def _follow_paths(self, targets: frozenset[Cell]) -> bool:
        """Enumerate a group around one path per target; False when all targets have been fruitless of
        late."""
        worked = False
        for cell in sorted(targets):
            misses = self._misses.get(cell, 0)
            thorough = cell in self._thorough
            if misses >= (self._thorough_paths if thorough else _PATHS_WITHOUT_FRUIT):
                continue
            worked = True
            repeats = misses >= _PATHS_WITHOUT_FRUIT // 2 and (thorough or cell not in self.reached)
            group, core = self._paths.group(cell, self._generator, repeats=repeats)
            brought = self._enumerate(group, NO_INTENT, targets, core)[0].get(cell, 0) if group else 0
            fruitful = brought >= (1 if thorough else self._worthwhile)
            self._misses[cell] = 0 if fruitful else misses + 1
        return worked

    def _enumerate(
        self, group: Sequence[int], intent: int, targets: frozenset[Cell], first: int = 0, budget: int = 0
    ) -> tuple[dict[Cell, int], set[Cell]]:
        """Put the new closed sets of a group in store; returns how many each cell got, and the cells
        reached."""
        if self._retired:
            group = [number for number in group if not self._retired >> number & 1]
        enumeration = Enumeration(self._pool, group, self._limits, targets, self._generator, first=first)
        harvest = enumeration.run(keep=self._keep, budget=budget or self._budget, known=self.found)
        self.examined += harvest.examined
        self.reached |= harvest.cells
        for cell, sets in harvest.sets.items():
            if self._keep > self._enough and cell not in self._thorough:
                sets = harvest.sets[cell] = self._variety.chosen(sets, self._enough)
            self.found.update(sets)
            self._stores.setdefault(cell, Store()).put(intent, sets)
        return {cell: len(sets) for cell, sets in harvest.sets.items()}, harvest.cells

    def _nearest_intent(self, members: int) -> int:
        """The intent that covers most of a set built around a path, if at least half of it."""
        covered: Counter[int] = Counter()
        size = 0
        for number in bits(members):
            covered.update(self._intents_of[self._pool.instances[number].template])
            size += 1
        best = min(covered, key=lambda intent: (-covered[intent], intent), default=NO_INTENT)
        return best if covered[best] * 2 >= size else NO_INTENT


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
