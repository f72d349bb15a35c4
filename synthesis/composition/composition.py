"""Composition of task graphs with controlled complexity, without any model call (section 3.1, App. B.3).

The same pool, request and seed give the same tasks in the same order, no two with one canonical key.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from taskloom.resources.capability_presets import Capability
from taskloom.resources.dimensions import Cell
from taskloom.synthesis.composition.building import TaskBuilder, describe_clash, identity, puts_together_twice
from taskloom.synthesis.composition.demand import Demand
from taskloom.synthesis.composition.enumeration import all_cells, cell_of_set
from taskloom.synthesis.composition.goals import goal_set
from taskloom.synthesis.composition.groups import Paths, chains_like
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures, compile_pool
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.reasons import missing_links, shortfall_of
from taskloom.synthesis.composition.request import CompositionAccount, CompositionRequest, NotComposed
from taskloom.synthesis.composition.supply import Supply
from taskloom.synthesis.composition.taken import Taken
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.interference import clash_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Task

_NO_SET = "no set of its subtasks was left that is new, links up within the limits and has a working order."
_NONE_TRIED = "no set was tried: the request wants no task of levels that its limits allow."
_PATIENCE = 300
"""Sets of a cell refused, one after the other, after which no more are searched for."""


class Selection(NamedTuple):
    """A closed set that was chosen, its graph, which has a successful order, and the intent it serves."""

    members: int
    graph: TaskGraph
    intent: Intent | None


class Composer:
    """The tasks of one request, made one by one while this is iterated, so that a million can be written away
    as they come; and the account, complete when the iteration has ended."""

    def __init__(
        self,
        intents: Sequence[Intent],
        request: CompositionRequest,
        builder: TaskBuilder,
        *,
        known: Collection[str] = (),
        begun: Sequence[TaskGraph] = (),
    ) -> None:
        """Prepare; nothing is enumerated yet."""
        pool, seed = builder.pool, builder.seed
        self._pool, self._seed = pool, seed
        self._request, self._builder = request.narrowed(), builder
        self._intents = list(intents)
        self._by_products = {
            frozenset(item.instance_id for item in intent.end_products): intent
            for intent in intents
            if intent.end_products
        }
        self._groups: defaultdict[str, list[int]] = defaultdict(list)
        for number, intent in enumerate(intents):
            for subtask_id in () if intent.end_products else set(intent.subtask_ids):
                self._groups[subtask_id].append(number)
        self._demand = Demand(self._request, all_cells(self._request), builder.capabilities)
        self._taken = Taken(pool, self._request)
        self._supply = Supply(pool, intents, self._request, self._taken, seed)
        self._paths = Paths(pool)
        self._known = set(known)
        self._begun = begun
        self._per_cell: Counter[Cell] = Counter()
        self._served: set[str] = set()
        self._counted: Counter[str] = Counter()
        self._example_clash = ""
        self._not_served: dict[str, str] = {}
        self._ended = False

    def __iter__(self) -> Iterator[Task]:
        """The tasks."""
        for selection in self.selections():
            built = self._builder.task_of(selection.graph, selection.intent)
            yield built
            if self._request.twins and built.complexity.depth < built.complexity.nodes:
                yield from self._twin(selection, built.task_id)

    def _twin(self, selection: Selection, twin_of: str) -> Iterator[Task]:
        for chain in chains_like(selection.members, self._pool, self._paths, self._seed):
            if chain in self._supply.found or cell_of_set(self._pool, chain, self._request) is None:
                continue
            graph = self._builder.graph(chain)
            if self._builder.orders(graph).successful_count and identity(graph) not in self._known:
                self._supply.found.add(chain)
                self._counted["twins"] += 1
                yield self._builder.task_of(graph, selection.intent, twin_of=twin_of)
                return
        self._counted["without_twin"] += 1

    def selections(self) -> Iterator[Selection]:
        """The sets of which tasks are built: those begun before, one for every intent that can be served, and
        the others chosen to fill the demand evenly; more than a share that begin with one subtask only where
        there are no others."""
        yield from self._begun_before()
        yield from self._for_intents()
        yield from self._chosen()
        if self._supply.put_back():
            yield from self._chosen()
        self._ended = True

    def _chosen(self) -> Iterator[Selection]:
        supply, demand, dry, refused = self._supply, self._demand, set[Cell](), Counter[Cell]()
        while cells := [cell for cell in demand.open_cells if cell not in dry or supply.has(cell)]:
            cell = demand.most_wanted(cells)
            if not supply.has(cell):
                empty = {cell for cell in cells if not supply.has(cell)}
                dry |= supply.work_for(empty, demand.is_scarce)
                continue
            members = supply.take(cell)
            graph = self._accepted(members) if members else None
            if isinstance(graph, TaskGraph):
                yield self._take(members, graph, cell, self._intent_of(graph))
                refused[cell] = 0
            else:
                refused[cell] += 1
                if refused[cell] >= _PATIENCE:
                    dry.add(cell)

    def _begun_before(self) -> Iterator[Selection]:
        for begun in self._begun:
            members = self._pool.members_with(begun.nodes)
            cell = cell_of_set(self._pool, members, self._request) if members else None
            if cell not in self._demand.open_cells or identity(begun) in self._known:
                continue
            graph = self._accepted(members)
            if isinstance(graph, TaskGraph) and identity(graph) == identity(begun):
                self._supply.found.add(members)
                yield self._take(members, graph, cell, self._intent_of(graph))

    def _for_intents(self) -> Iterator[Selection]:
        if not self._demand.open_cells:
            self._not_served = {intent.intent_id: _NONE_TRIED for intent in self._intents}
            return
        for intent in self._intents:
            if not intent.end_products or intent.intent_id in self._served:
                continue
            found = goal_set(self._pool, intent, self._request)
            if isinstance(found, str):
                self._not_served[intent.intent_id] = found
                continue
            members, cell = found
            if cell not in self._demand.open_cells:
                told = f"of its levels ({'/'.join(cell)}) no more tasks were asked for."
                self._not_served[intent.intent_id] = told
            elif isinstance(graph := self._accepted(members), str):
                self._not_served[intent.intent_id] = graph
            else:
                self._supply.found.add(members)
                yield self._take(members, graph, cell, intent)

    def _take(self, members: int, graph: TaskGraph, cell: Cell, intent: Intent | None) -> Selection:
        if intent:
            self._served.add(intent.intent_id)
        else:
            self._counted["without_intent"] += 1
        for template in self._taken.add(members):
            self._supply.groups.excluded |= self._pool.siblings[template]
        self._demand.take(cell)
        self._supply.add_like(members, self._demand.open_cells)
        self._per_cell[cell] += 1
        return Selection(members, graph, intent)

    def _intent_of(self, graph: TaskGraph) -> Intent | None:
        """The intent whose end products are those of the graph; else, of those that name none, the one whose
        group has most of its subtasks, if that is at least half of them."""
        producers = {edge.producer for edge in graph.edges}
        ends = frozenset(node.instance_id for node in graph.nodes if node.instance_id not in producers)
        if ends in self._by_products:
            return self._by_products[ends]
        covered = Counter(number for node in graph.nodes for number in self._groups.get(node.subtask_id, ()))
        best = min(covered, key=lambda number: (-covered[number], number), default=-1)
        return self._intents[best] if covered[best] * 2 >= len(graph.nodes) else None

    def _accepted(self, members: int) -> TaskGraph | str:
        if self._taken.has_near(members):
            self._counted["near_duplicates"] += 1
            return "a task made before it is a near-duplicate."
        if self._taken.is_over_share(members):
            self._counted["over_share"] += 1
            return "its subtasks are in as many tasks as their share allows."
        graph = self._builder.graph(members)
        if self._known and identity(graph) in self._known:
            return "an earlier run made its task."
        if self._pool.sensible and puts_together_twice(graph):
            return "one of its subtasks puts together what was made from the same file."
        try:
            orders = self._builder.orders(graph)
        except GraphTooLargeError:
            self._counted["uncountable"] += 1
            return "its orders are too many to count."
        if orders.successful_count:
            return graph
        clash = describe_clash(clash_of(graph))
        self._counted["without_successful_order"] += 1
        self._example_clash = self._example_clash or clash
        return f"no order works: {clash}."

    @cached_property
    def account(self) -> CompositionAccount:
        """What came of the request.

        Raises:
            RuntimeError: the tasks have not all been taken yet.
        """
        if not self._ended:
            raise RuntimeError("The account is complete only when all tasks have been taken.")
        missing = self._demand.missing()
        reached = self._supply.survey() if missing else set[Cell]()
        beyond = set[Cell]()
        if missing and not reached:
            free = self._request.unbounded()
            beyond = Supply(self._pool, (), free, Taken(self._pool, free), self._seed).survey()
        unserved = tuple(
            NotComposed(intent_id=name, goal=intent.text, reason=self._not_served.get(name, _NO_SET))
            for intent in self._intents
            if (name := intent.intent_id) not in self._served
        )
        return CompositionAccount(
            wanted=self._request.wanted,
            composed=self._per_cell.total(),
            per_cell={"/".join(cell): count for cell, count in sorted(self._per_cell.items())},
            intents=len(self._served),
            examined=self._supply.examined,
            example_clash=self._example_clash,
            shortfalls=tuple(
                shortfall_of(item, self._pool, self._request, reached, beyond) for item in missing
            ),
            not_composed=unserved,
            missing_links=missing_links(self._pool) if missing or unserved else (),
            **self._counted,
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
    begun: Sequence[TaskGraph] = (),
    seed: int = 0,
) -> Composer:
    """The tasks composed from `pool` as `request` asks, made while they are taken, and then the account.

    Args:
        pool: Verified subtasks with their parameters; the order does not matter.
        intents: Goals.
        request: Quotas and limits.
        fixtures: Resources that exist at reset, by application ("" for those of every task).
        capabilities: Rows of Table 12 to mark tasks with.
        scenario_of: Names the scenario of all application categories and of those in which end products come
            about, where the intent names none.
        sense: What tells subtasks apart that nobody would ask for together; without it none are.
        provenance: Provenance of the tasks; the seed is put in.
        known: Ids of tasks that exist already and are not to be made again.
        begun: Graphs of tasks that were composed before and wait; those that the pool and the request still
            allow come first, and the others are chosen to go with them.
        seed: Seed of all choices.
    """
    compiled = compile_pool(pool, fixtures, sense)
    marked = (provenance or Provenance(stage="composition")).model_copy(update={"seed": seed})
    builder = TaskBuilder(compiled, capabilities, scenario_of, seed=seed, provenance=marked)
    return Composer(intents, request, builder, known=known, begun=begun)
