"""Composition of task graphs with controlled complexity, without any model call (section 3.1, App. B.3).

The same pool, request and seed give the same tasks in the same order, no two with the same canonical key.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import Cell
from taskloom.synthesis.composition.building import (
    TaskBuilder,
    combines_forms_of_one_file,
    describe_clash,
    identity,
)
from taskloom.synthesis.composition.demand import Demand
from taskloom.synthesis.composition.enumeration import all_cells, cell_of_set
from taskloom.synthesis.composition.goals import goal_set
from taskloom.synthesis.composition.groups import Paths, chains_like
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures, compile_pool
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.reasons import missing_links, shortfall_of
from taskloom.synthesis.composition.request import CompositionAccount, CompositionRequest, NotComposed
from taskloom.synthesis.composition.supply import Supply
from taskloom.synthesis.composition.taken_sets import TakenSets
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.interference import clash_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Task

_NO_SET = "no set of its subtasks remains that is new, links up within the limits and has a working order."
_NONE_TRIED = "no set was tried: the request wants no further task of levels that its limits allow."
_PATIENCE = 300
"""Number of consecutive refused sets of a cell after which its search ends."""


class Selection(NamedTuple):
    """A chosen closed set, its graph, which has a successful order, and the intent it serves."""

    members: int
    graph: TaskGraph
    intent: Intent | None


class Composer:
    """Makes the tasks of one request during iteration, so that a million can be stored one by one; its
    account is complete when the iteration has ended."""

    def __init__(
        self,
        intents: Sequence[Intent],
        request: CompositionRequest,
        builder: TaskBuilder,
        *,
        known: Collection[str] = (),
        unfinished: Sequence[TaskGraph] = (),
    ) -> None:
        """Prepare; nothing is enumerated yet."""
        pool, seed = builder.pool, builder.seed
        self._pool, self._seed = pool, seed
        self._request, self._builder = request.narrowed(), builder
        self._intents = list(intents)
        self._intents_by_products = {
            frozenset(item.instance_id for item in intent.end_products): intent
            for intent in intents
            if intent.end_products
        }
        self._intents_by_subtask: defaultdict[str, list[int]] = defaultdict(list)
        for number, intent in enumerate(intents):
            for subtask_id in () if intent.end_products else set(intent.subtask_ids):
                self._intents_by_subtask[subtask_id].append(number)
        self._demand = Demand(self._request, all_cells(self._request), builder.capabilities)
        self._taken_sets = TakenSets(pool, self._request)
        self._supply = Supply(pool, intents, self._request, self._taken_sets, seed)
        self._paths = Paths(pool)
        self._known = set(known)
        self._unfinished = unfinished
        self._per_cell: Counter[Cell] = Counter()
        self._served_ids: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._example_clash = ""
        self._unserved_reasons: dict[str, str] = {}
        self._is_complete = False

    def __iter__(self) -> Iterator[Task]:
        """The tasks."""
        for selection in self.selections():
            task = self._builder.task_of(selection.graph, selection.intent)
            yield task
            if self._request.twins and task.complexity.depth < task.complexity.nodes:
                yield from self._build_twin(selection, task.task_id)

    def _build_twin(self, selection: Selection, twin_of: str) -> Iterator[Task]:
        for chain in chains_like(selection.members, self._pool, self._paths, self._seed):
            if chain in self._supply.found or cell_of_set(self._pool, chain, self._request) is None:
                continue
            graph = self._builder.graph(chain)
            if self._builder.orders(graph).successful_count and identity(graph) not in self._known:
                self._supply.found.add(chain)
                self._counts["twins"] += 1
                yield self._builder.task_of(graph, selection.intent, twin_of=twin_of)
                return
        self._counts["without_twin"] += 1

    def selections(self) -> Iterator[Selection]:
        """The sets to build tasks from: unfinished ones, one for every intent that can be served, and others
        that fill the demand evenly. Sets with a single root exceed their share only if no others are left."""
        yield from self._resume_unfinished()
        yield from self._serve_intents()
        yield from self._fill_demand()
        if self._supply.restore_deferred():
            yield from self._fill_demand()
        self._is_complete = True

    def _fill_demand(self) -> Iterator[Selection]:
        supply, demand, exhausted, refusals = self._supply, self._demand, set[Cell](), Counter[Cell]()
        while cells := [cell for cell in demand.open_cells if cell not in exhausted or supply.has(cell)]:
            cell = demand.most_wanted(cells)
            if not supply.has(cell):
                empty = {cell for cell in cells if not supply.has(cell)}
                exhausted |= supply.search(empty, demand.is_scarce)
                continue
            members = supply.take(cell)
            graph = self._graph_or_reason(members) if members else None
            if isinstance(graph, TaskGraph):
                yield self._select(members, graph, cell, self._intent_of(graph))
                refusals[cell] = 0
            else:
                refusals[cell] += 1
                if refusals[cell] >= _PATIENCE:
                    exhausted.add(cell)

    def _resume_unfinished(self) -> Iterator[Selection]:
        for previous in self._unfinished:
            members = self._pool.members_with(previous.nodes)
            cell = cell_of_set(self._pool, members, self._request) if members else None
            if cell not in self._demand.open_cells or identity(previous) in self._known:
                continue
            graph = self._graph_or_reason(members)
            if isinstance(graph, TaskGraph) and identity(graph) == identity(previous):
                self._supply.found.add(members)
                yield self._select(members, graph, cell, self._intent_of(graph))

    def _serve_intents(self) -> Iterator[Selection]:
        if not self._demand.open_cells:
            self._unserved_reasons = {intent.intent_id: _NONE_TRIED for intent in self._intents}
            return
        for intent in self._intents:
            if not intent.end_products or intent.intent_id in self._served_ids:
                continue
            goal = goal_set(self._pool, intent, self._request)
            if isinstance(goal, str):
                self._unserved_reasons[intent.intent_id] = goal
                continue
            members, cell = goal
            if cell not in self._demand.open_cells:
                reason = f"the request wants no more tasks of its levels ({'/'.join(cell)})."
                self._unserved_reasons[intent.intent_id] = reason
            elif isinstance(graph := self._graph_or_reason(members), str):
                self._unserved_reasons[intent.intent_id] = graph
            else:
                self._supply.found.add(members)
                yield self._select(members, graph, cell, intent)

    def _select(self, members: int, graph: TaskGraph, cell: Cell, intent: Intent | None) -> Selection:
        if intent:
            self._served_ids.add(intent.intent_id)
        else:
            self._counts["without_intent"] += 1
        for template in self._taken_sets.add(members):
            self._supply.groups.excluded |= self._pool.siblings[template]
        self._demand.add_task(cell)
        self._supply.add_variants(members, self._demand.open_cells)
        self._per_cell[cell] += 1
        return Selection(members, graph, intent)

    def _intent_of(self, graph: TaskGraph) -> Intent | None:
        """The intent with the end products of the graph; otherwise, of the intents that name no end products,
        the one whose subtasks cover most of the graph, if they cover at least half."""
        producers = {edge.producer for edge in graph.edges}
        ends = frozenset(node.instance_id for node in graph.nodes if node.instance_id not in producers)
        if ends in self._intents_by_products:
            return self._intents_by_products[ends]
        covered = Counter(
            number for node in graph.nodes for number in self._intents_by_subtask.get(node.subtask_id, ())
        )
        best = min(covered, key=lambda number: (-covered[number], number), default=-1)
        return self._intents[best] if covered[best] * 2 >= len(graph.nodes) else None

    def _graph_or_reason(self, members: int) -> TaskGraph | str:
        if self._taken_sets.has_near_duplicate(members):
            self._counts["near_duplicates"] += 1
            return "an earlier task is a near-duplicate of it."
        if self._taken_sets.is_over_share(members):
            self._counts["over_share"] += 1
            return (
                "one of its subtasks, or their combination, is already in as many tasks as its share allows."
            )
        graph = self._builder.graph(members)
        if self._known and identity(graph) in self._known:
            return "an earlier run made its task."
        if self._pool.has_sense and combines_forms_of_one_file(graph):
            return (
                "one of its subtasks combines a file with something made from it or from another form of it."
            )
        try:
            orders = self._builder.orders(graph)
        except GraphTooLargeError:
            self._counts["uncountable"] += 1
            return "it has too many orders to count."
        if orders.successful_count:
            return graph
        clash = describe_clash(clash_of(graph))
        self._counts["without_successful_order"] += 1
        self._example_clash = self._example_clash or clash
        return f"no order works: {clash}."

    @cached_property
    def account(self) -> CompositionAccount:
        """The tasks made and those missing.

        Raises:
            RuntimeError: the iteration over the tasks has not ended.
        """
        if not self._is_complete:
            raise RuntimeError(
                "The account is complete only when all tasks have been taken. Iterate to the end first."
            )
        missing = self._demand.missing()
        reachable = self._supply.survey() if missing else set[Cell]()
        reachable_without_limits = set[Cell]()
        if missing and not reachable:
            unlimited = self._request.unbounded()
            reachable_without_limits = Supply(
                self._pool, (), unlimited, TakenSets(self._pool, unlimited), self._seed
            ).survey()
        unserved = tuple(
            NotComposed(intent_id=name, goal=intent.text, reason=self._unserved_reasons.get(name, _NO_SET))
            for intent in self._intents
            if (name := intent.intent_id) not in self._served_ids
        )
        return CompositionAccount(
            wanted=self._request.wanted,
            composed=self._per_cell.total(),
            per_cell={"/".join(cell): count for cell, count in sorted(self._per_cell.items())},
            intents=len(self._served_ids),
            examined=self._supply.examined,
            example_clash=self._example_clash,
            shortfalls=tuple(
                shortfall_of(item, self._pool, self._request, reachable, reachable_without_limits)
                for item in missing
            ),
            not_composed=unserved,
            missing_links=missing_links(self._pool) if missing or unserved else (),
            **self._counts,
        )


def compose(
    pool: Sequence[BoundSubtask],
    intents: Sequence[Intent],
    request: CompositionRequest,
    *,
    fixtures: Fixtures,
    capabilities: Sequence[Capability] = (),
    scenario_of: Callable[[Sequence[str], Sequence[str]], str] | None = None,
    sense: Sense | None = None,
    provenance: Provenance | None = None,
    known: Collection[str] = (),
    unfinished: Sequence[TaskGraph] = (),
    seed: int = 0,
) -> Composer:
    """Compose the tasks of `request` from `pool` as the result is iterated over, then its account.

    Args:
        pool: Verified subtasks with their parameters; the order does not matter.
        intents: Goals.
        request: Quotas and limits.
        fixtures: Resources that exist at reset, by application ("" for those of every task).
        capabilities: Rows of Table 12 to mark tasks with.
        scenario_of: Names the scenario for all application categories and those of the end products, if the
            intent names none.
        sense: Which subtasks nobody would ask for together; without it, none are kept apart.
        provenance: Provenance of the tasks; the seed is added.
        known: Ids of existing tasks, which are not made again.
        unfinished: Graphs of tasks composed earlier but not finished; those that the pool and the request
            still allow come first and count when the others are chosen.
        seed: Seed of all choices.
    """
    compiled = compile_pool(pool, fixtures, sense)
    seeded = (provenance or Provenance(stage="composition")).model_copy(update={"seed": seed})
    builder = TaskBuilder(compiled, capabilities, scenario_of, seed=seed, provenance=seeded)
    return Composer(intents, request, builder, known=known, unfinished=unfinished)
