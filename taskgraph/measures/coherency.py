"""The coherency score, which counts adjacent subtasks of one application, and its maximum over the orders of
a task (section 4.1): n minus the fewest runs of one application. Doing a ready subtask of the current
application earlier never costs anything, so runs are closed greedily, and the search is over run-closed
down-sets."""

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise

from taskloom.taskgraph.bitmasks import bits, mask_of, require_size, topological_order
from taskloom.taskgraph.errors import GraphInvalidError, GraphTooLargeError
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.measures.orders import Spoilers, Symmetry
from taskloom.taskgraph.records.graph import TaskGraph


def coherency_score(applications: Sequence[str]) -> int:
    """Adjacent pairs of one application in a sequence of subtasks, given as their applications.

    >>> coherency_score(["Excel", "Excel", "Word", "Excel"])
    1
    """
    return sum(first == second for first, second in pairwise(applications))


def continuity(graph: TaskGraph, order: Sequence[str]) -> int:
    """How easy it is to follow an order of `graph`, given as instance ids. Adds 1 for each subtask in the
    application of the previous one, and 2 more if both read from one producer. Subtracts 1 for each subtask
    between a producer and its consumer, or 4 if the resource is in the clipboard or another slot, which
    people must keep in mind.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> applications = {"a": "Mail", "b": "Mail", "c": "Notes"}
    >>> shape = {"nodes": list("abc"), "edges": [["b", "c"]], "applications": applications}
    >>> graph = read_task_graph(shape, {}, str)
    >>> continuity(graph, "abc"), continuity(graph, "bac")
    (1, 0)
    """
    position = {name: number for number, name in enumerate(order)}
    application = {node.instance_id: node.application for node in graph.nodes}
    slots = dict.fromkeys(graph.pairs, False)
    slots |= {(edge.producer, edge.consumer): True for edge in graph.edges if edge.resource.slot}
    between = sum(
        (position[pair[1]] - position[pair[0]] - 1) * (1 + 3 * slot) for pair, slot in slots.items()
    )
    producers = {name: {producer for producer, consumer in graph.pairs if consumer == name} for name in order}
    shared = sum(
        application[one] == application[other] and not producers[one].isdisjoint(producers[other])
        for one, other in pairwise(order)
    )
    return coherency_score([application[name] for name in order]) + 2 * shared - between


def easier_order(graph: TaskGraph, orders: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """A successful order of `graph` at least as easy to follow as any of its successful `orders`: the easiest
    of them, improved by moving single subtasks as long as that helps.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> applications = {"a": "Notes", "b": "Mail", "c": "Notes"}
    >>> graph = read_task_graph({"nodes": ["a", "b", "c"], "applications": applications}, {}, str)
    >>> easier_order(graph, [(0, 1, 2)])
    (1, 0, 2)
    """
    names = [node.instance_id for node in graph.nodes]
    table = successful_table(graph.predecessors, threats_of(graph))

    def score(numbers: Sequence[int]) -> int:
        return continuity(graph, [names[number] for number in numbers])

    best = max(orders, key=score)
    while True:
        moved = [
            (*rest[:position], node, *rest[position:])
            for node in best
            for rest in [tuple(other for other in best if other != node)]
            for position in range(len(best))
        ]
        better = max(filter(table.holds, moved), key=score)
        if score(better) <= score(best):
            return best
        best = better


def maximum_coherency(
    predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers = ()
) -> int | None:
    """The largest coherency score of any order, exact; None if there is no order.

    With `spoilers`, only the orders that they allow count (`OrderTable`).

    >>> maximum_coherency((0, 0b1, 0, 0b100), ["a", "b", "a", "b"])
    2

    Raises:
        GraphTooLargeError: more than 30 nodes, or too many states.
    """
    require_size(predecessors)
    try:
        runs = _FewestRuns(predecessors, applications, spoilers).fewest()
    except GraphInvalidError:
        return None
    return None if runs is None else len(predecessors) - runs


def maximum_coherency_of(graph: TaskGraph) -> int | None:
    """The largest coherency score of any successful order of `graph`; None if it has none.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> applications = {"a": "Notes", "b": "Mail", "c": "Notes"}
    >>> maximum_coherency_of(read_task_graph({"nodes": ["a", "b", "c"], "applications": applications}, {}, str))
    1

    Raises:
        GraphTooLargeError: more than 30 subtasks, or too many states.
    """  # noqa: E501
    before, spoilers = successful_table(graph.predecessors, threats_of(graph)).constraints
    return maximum_coherency(before, [node.application for node in graph.nodes], spoilers)


MAXIMUM_STATES = 200_000
"""Maximum number of states before the search gives up."""
_SYMMETRY_FROM = 100


class _FewestRuns:
    """Best-first search (A*) for the fewest runs of one application. A state is the set of subtasks done and
    the application of the last one if its run may continue.

    Only subtasks whose output may be overwritten are choices, because doing one early keeps others from
    coming before it is read. All others are done as soon as they are ready in a run of their application,
    which gains one pair and breaks at most one; an application that can be finished at once is finished when
    the run ends. Once there are many states, those that only exchange interchangeable subtasks count as one
    (`Symmetry`).

    The bound on the runs still needed: on every path, each block of subtasks of one application takes its own
    run, so an application needs as many more runs as its remaining subtask with the most blocks ahead has. A
    run takes at most one block from every path of its application, so the bound is consistent and the first
    full state is the answer.
    """

    def __init__(self, predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers) -> None:
        order = topological_order(predecessors)
        number = {node: position for position, node in enumerate(order)}
        self._before = [mask_of([number[other] for other in bits(predecessors[node])]) for node in order]
        spoilers = spoilers or ((),) * len(order)
        self._spoilers = [[(number[first], number[last]) for first, last in spoilers[node]] for node in order]
        self._choosable = mask_of([producer for pairs in self._spoilers for producer, _ in pairs])
        self._applications = [applications[node] for node in order]
        members: dict[str, int] = {}
        for position, application in enumerate(self._applications):
            members[application] = members.get(application, 0) | 1 << position
        self._members = list(members.values())
        self._all = (1 << len(order)) - 1
        self._ahead = [self._blocks_ahead(nodes) for nodes in self._members]
        self._symmetry: Symmetry | None = None
        self._waiting: list[tuple[int, int, int, int, int]] = []
        self._fewest_runs: dict[tuple[int, int], int] = {}

    def fewest(self) -> int | None:
        self._push(0, -1, 0)
        while self._waiting:
            _, _, done, last, runs = heappop(self._waiting)
            if done == self._all:
                return runs
            if self._fewest_runs[done, last] < runs:
                continue
            if self._symmetry is None and len(self._fewest_runs) > _SYMMETRY_FROM:
                self._symmetry = Symmetry(self._before, self._spoilers, self._applications)
            if len(self._fewest_runs) > MAXIMUM_STATES:
                raise GraphTooLargeError(
                    f"The maximum coherency score needs more than {MAXIMUM_STATES} states for this graph."
                )
            for node in self._choices(done, last) if last >= 0 else ():
                self._push(self._close(done | 1 << node, last), last, runs)
            for reached, application in self._next_runs(done, last):
                self._push(reached, application, runs + 1)
        return None

    def _push(self, done: int, last: int, runs: int) -> None:
        if self._symmetry:
            done = self._symmetry.canonical(done)
        while True:
            continues = last >= 0 and bool(self._choices(done, last))
            if continues or (finished := self._finished(done)) is None:
                break
            (done, last), runs = finished, runs + 1
        last = last if continues else -1
        if self._fewest_runs.get((done, last), len(self._before) + 1) > runs:
            self._fewest_runs[done, last] = runs
            remaining = self._all & ~done
            bound = runs + self._bound(remaining) - continues  # the current run may take a block
            heappush(self._waiting, (bound, remaining.bit_count(), done, last, runs))

    def _finished(self, done: int) -> tuple[int, int] | None:
        """The set done after a run that finishes an application, and which: always best, since fewer nodes
        never need more runs."""
        for application, members in enumerate(self._members):
            if members & ~done:
                reached = self._close(done, application)
                if not members & ~reached:
                    return reached, application
        return None

    def _next_runs(self, done: int, last: int) -> list[tuple[int, int]]:
        """Beginnings of the next run, as sets done and applications; one if it finishes an application."""
        if last >= 0 and (finished := self._finished(done)) is not None:
            return [finished]
        beginnings = []
        for application, members in enumerate(self._members):
            if application == last or not members & ~done:
                continue
            reached = self._close(done, application)
            if reached != done:
                beginnings.append((reached, application))
                continue
            beginnings += [
                (self._close(done | 1 << node, application), application)
                for node in self._choices(done, application)
            ]
        return beginnings

    def _choices(self, done: int, application: int) -> list[int]:
        remaining = self._members[application] & self._choosable & ~done
        return [node for node in bits(remaining) if self._ready(node, done)] if remaining else []

    def _bound(self, remaining: int) -> int:
        needed = 0
        for levels in self._ahead:
            for ahead, level in levels:
                if level & remaining:
                    needed += ahead
                    break
        return needed

    def _blocks_ahead(self, members: int) -> list[tuple[int, int]]:
        """The members by the maximum number of blocks of members on a path from them, in descending order."""
        if members & members - 1 == 0:
            return [(1, members)]
        blocks = [0] * len(self._before)
        levels: dict[int, int] = {}
        for node in range(len(blocks) - 1, -1, -1):
            is_member = members >> node & 1
            ahead = blocks[node] = blocks[node] or is_member
            if is_member:
                levels[ahead] = levels.get(ahead, 0) | 1 << node
            mask = self._before[node]
            while mask:
                low = mask & -mask
                mask ^= low
                reached = ahead if is_member or not low & members else ahead + 1
                if reached > blocks[low.bit_length() - 1]:
                    blocks[low.bit_length() - 1] = reached
        return sorted(levels.items(), reverse=True)

    def _close(self, done: int, application: int) -> int:
        remaining = self._members[application] & ~self._choosable & ~done
        before, spoilers = self._before, self._spoilers
        repeat = True
        while repeat:
            repeat, mask = False, remaining & ~done
            while mask:
                low = mask & -mask
                node = low.bit_length() - 1
                mask ^= low
                if not before[node] & ~done and (not spoilers[node] or self._ready(node, done)):
                    done |= low
                    repeat = self._choosable > 0
        return done

    def _ready(self, node: int, done: int) -> bool:
        if self._before[node] & ~done:
            return False
        for producer, consumer in self._spoilers[node]:
            if done >> producer & 1 and not done >> consumer & 1:
                return False
        return True
