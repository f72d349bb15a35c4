"""The loop that fills the demand from the supply."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from taskloom.resources.dimensions import Cell
from taskloom.synthesis.composition.building import TaskBuilder, describe_clash
from taskloom.synthesis.composition.demand import demand_of
from taskloom.synthesis.composition.enumeration import all_cells
from taskloom.synthesis.composition.goals import goal_set
from taskloom.synthesis.composition.pool.compiled_pool import CompiledPool
from taskloom.synthesis.composition.reasons import missing_links, shortfalls_of
from taskloom.synthesis.composition.request import (
    CompositionAccount,
    CompositionRequest,
    Limits,
    NotComposed,
)
from taskloom.synthesis.composition.supply import Supply
from taskloom.synthesis.composition.twins import ChainTwins
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.interference import clash_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Intent, Task

_MAY_BE_UNCOUNTABLE = 20
_ALWAYS_ALLOWED = 20
_ALWAYS_ALLOWED_PER_PATTERN = 5
_TIMES_EVEN = 3
_BOUND_PER_SUBTASK = 5
_NO_SET = "no set of its subtasks was left that is new, links up within the limits and has a working order."
_NONE_TRIED = "no set was tried: the request wants no task of levels that its limits allow."
_PATIENCE = 300
"""Sets of a cell too much like others, one after the other, after which no more are searched for."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A closed set that was chosen."""

    members: int
    """Its instances, as a bitmask over the pool."""
    graph: TaskGraph
    """Its task graph; it has a successful order."""
    cell: Cell
    intent: Intent | None
    """The intent it serves, if any."""


class Composer:
    """Makes the tasks of one request."""

    def __init__(
        self, pool: CompiledPool, intents: Sequence[Intent], request: CompositionRequest, builder: TaskBuilder
    ) -> None:
        """Prepare; nothing is enumerated yet."""
        self._pool = pool
        self._request = request
        self._builder = builder
        self._intents = list(intents)
        self._by_products = {
            frozenset(item.instance_id for item in intent.end_products): intent
            for intent in intents
            if intent.end_products
        }
        self._limits = Limits.of(request)
        self._demand = demand_of(request, all_cells(self._limits))
        self._supply = Supply(pool, intents, request, self._limits)
        self._known = set(request.known_task_ids)
        self._per_cell: Counter[Cell] = Counter()
        self._served: set[str] = set()
        self._without_intent = 0
        self._twins = ChainTwins(pool, request.seed)
        self._twin_count = 0
        self._without_twin = 0
        self._clashes = 0
        self._example_clash = ""
        self._uncountable = 0
        self._neighbours = Neighbours(request.near_duplicate_share)
        even = request.wanted * request.maximum_size / max(1, len(set(pool.originals)))
        least = max(_ALWAYS_ALLOWED, _TIMES_EVEN * even)
        self._shares = Shares(request.subtask_share, request.wanted, least)
        self._templates = Shares(min(1.0, _BOUND_PER_SUBTASK * request.subtask_share), request.wanted, least)
        self._patterns = Shares(request.pattern_share, request.wanted, _ALWAYS_ALLOWED_PER_PATTERN)
        self._near_duplicates = 0
        self._over_share = 0
        self._in_vain: Counter[Cell] = Counter()
        self._not_served: dict[str, str] = {}

    def tasks(self, close_account: Callable[[CompositionAccount], None]) -> Iterator[Task]:
        """The tasks one by one; gives the account at the end."""
        for selection in self.selections():
            built = self._builder.task_of(selection.graph, selection.intent)
            assert isinstance(built, Task), "a selection has a successful order"
            yield built
            if self._request.twins:
                yield from self._twin(selection, built)
        close_account(self.account())

    def _twin(self, selection: Selection, task: Task) -> Iterator[Task]:
        """The chain twin of a task that is no chain itself, where the pool has one."""
        if task.complexity.depth == task.complexity.nodes:
            return
        found = self._twins.twin_of(
            selection.members,
            self._supply.found,
            lambda chain: self._chain_twin(chain, selection.intent, task.task_id),
        )
        if found is not None and found[1].task_id not in self._known:
            chain, built = found
            self._supply.found.add(chain)
            self._twin_count += 1
            yield built
        else:
            self._without_twin += 1

    def _chain_twin(self, chain: int, intent: Intent | None, twin_of: str) -> Task | None:
        """The task of a chain, unless something it makes is unused or lost in its only order."""
        if self._pool.has_waste(chain):
            return None
        built = self._builder.task_of(self._builder.graph(chain), intent, twin_of=twin_of)
        return built if isinstance(built, Task) else None

    def selections(self) -> Iterator[Selection]:
        """The sets of which tasks are built: one for every intent that can be served, the others chosen to
        fill the demand."""
        yield from self._for_intents()
        dry: set[Cell] = set()
        self._supply.stock(self._demand.open_cells())
        while True:
            yield from self._taken()
            if not self._demand.open_cells():
                return
            filled = self._supply.filled_cells()
            targets = self._demand.urgent_cells() - dry - filled
            if targets:
                dry |= self._supply.work_for(targets)
                dry |= {cell for cell, refused in self._in_vain.items() if refused >= _PATIENCE}
            elif not self._demand.relax(frozenset(dry - filled)):
                return

    def _for_intents(self) -> Iterator[Selection]:
        """A set for every intent that names its end products; why there is none is kept."""
        if not self._demand.open_cells():
            self._not_served = {intent.intent_id: _NONE_TRIED for intent in self._intents}
            return
        for intent in self._intents:
            if not intent.end_products:
                continue
            found = goal_set(self._pool, intent, self._limits)
            if isinstance(found, str):
                self._not_served[intent.intent_id] = found
            elif found.cell not in self._demand.open_cells():
                levels = "/".join(found.cell)
                self._not_served[intent.intent_id] = f"of its levels ({levels}) no more tasks were asked for."
            elif isinstance(graph := self._accepted(found.members, found.cell), str):
                self._not_served[intent.intent_id] = graph
            else:
                self._supply.found.add(found.members)
                yield self._take(found.members, graph, found.cell, intent)

    def _take(self, members: int, graph: TaskGraph, cell: Cell, intent: Intent | None) -> Selection:
        """Count a set as taken."""
        self._in_vain[cell] = 0
        if intent:
            self._served.add(intent.intent_id)
        else:
            self._without_intent += 1
        bound = self._pool.bound_subtasks(members)
        self._neighbours.add(bound)
        self._shares.add(bits(bound))
        pattern = self._pool.pattern(members)
        self._patterns.add([pattern])
        self._templates.add(set(pattern))
        used_up = {template for template in pattern if self._templates.used_up([template])}
        if used_up:
            self._supply.retire(used_up)
        self._demand.take(cell)
        self._per_cell[cell] += 1
        return Selection(members, graph, cell, intent)

    def _taken(self) -> Iterator[Selection]:
        """Everything the demand takes from what is in store."""
        while (picked := self._demand.pick(self._supply.filled_cells())) is not None:
            cell, room = picked
            for members, number in self._supply.taken_from(cell):
                graph = self._accepted(members, cell)
                if isinstance(graph, str):
                    continue
                yield self._take(members, graph, cell, self._intent_of(graph, number))
                room -= 1
                if not room:
                    break

    def _is_common(self, members: int) -> bool:
        """Whether enough tasks are made of the same subtasks with other values, or with one of them."""
        pattern = self._pool.pattern(members)
        return self._patterns.used_up([pattern]) or self._templates.used_up(pattern)

    def _intent_of(self, graph: TaskGraph, number: int) -> Intent | None:
        """The intent whose end products are those of the graph, or the one it was found for if that names
        none."""
        producers = {edge.producer for edge in graph.edges}
        ends = frozenset(node.instance_id for node in graph.nodes if node.instance_id not in producers)
        if ends in self._by_products:
            return self._by_products[ends]
        found = self._intents[number] if number >= 0 else None
        return None if found is None or found.end_products else found

    def _accepted(self, members: int, cell: Cell) -> TaskGraph | str:
        """The graph of a set; or why there is none: it is known, too much like others, has no successful
        order or too many to count."""
        bound = self._pool.bound_subtasks(members)
        if self._neighbours.has_near(bound):
            self._near_duplicates += 1
            self._in_vain[cell] += 1
            return "a task made before it is a near-duplicate."
        if self._shares.used_up(bits(bound)) or self._is_common(members):
            self._over_share += 1
            self._in_vain[cell] += 1
            return "its subtasks are in as many tasks as their share allows."
        if self._known and self._builder.identity(members) in self._known:
            return "an earlier run made its task."
        graph = self._builder.graph(members)
        try:
            clash = clash_of(graph) if self._pool.may_interfere(members) else ()
            if members.bit_count() >= _MAY_BE_UNCOUNTABLE:
                self._builder.orders(graph)
        except GraphTooLargeError:
            self._uncountable += 1
            return "its orders are too many to count."
        if clash:
            self._clashes += 1
            self._example_clash = self._example_clash or describe_clash(clash)
            return f"no order works: {describe_clash(clash)}."
        return graph

    def account(self) -> CompositionAccount:
        """What came of the request so far."""
        missing = self._demand.missing()
        reached = self._supply.survey() if missing else self._supply.reached
        beyond = self._supply.survey_beyond_limits() if missing and not reached else reached
        unserved = tuple(
            NotComposed(
                intent_id=intent.intent_id,
                goal=intent.text,
                reason=self._not_served.get(intent.intent_id, _NO_SET),
            )
            for intent in self._intents
            if intent.intent_id not in self._served
        )
        return CompositionAccount(
            wanted=self._request.wanted,
            composed=sum(self._per_cell.values()),
            per_cell={"/".join(cell): count for cell, count in sorted(self._per_cell.items())},
            intents=len(self._served),
            without_intent=self._without_intent,
            twins=self._twin_count,
            without_twin=self._without_twin,
            examined=self._supply.examined,
            without_successful_order=self._clashes,
            example_clash=self._example_clash,
            near_duplicates=self._near_duplicates,
            over_share=self._over_share,
            uncountable=self._uncountable,
            shortfalls=shortfalls_of(missing, self._pool, self._request, self._limits, reached, beyond),
            not_composed=unserved,
            missing_links=missing_links(self._pool) if missing or unserved else (),
        )


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
