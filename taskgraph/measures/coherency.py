"""The coherency score, adjacent subtasks of one application, and its maximum over the orders of a task
(section 4.1): n minus the fewest runs of one application. Bringing a ready subtask of the current application
forward never loses, so a run is closed greedily, and the search is over run-closed down-sets."""

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
    """How easy it is to follow an order of `graph`, given as instance ids: one for each subtask in the
    application of the one just before, two more where both take one thing, less one for each subtask between
    the maker of a thing and its reader, and less four where the thing is in the clipboard or another slot,
    which people keep in mind meanwhile.

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> applications = {"a": "Mail", "b": "Mail", "c": "Notes"}
    >>> shape = {"nodes": list("abc"), "edges": [["b", "c"]], "applications": applications}
    >>> graph = read_task_graph(shape, {}, str)
    >>> continuity(graph, "abc"), continuity(graph, "bac")
    (1, 0)
    """
    place = {name: number for number, name in enumerate(order)}
    application = {node.instance_id: node.application for node in graph.nodes}
    slots = dict.fromkeys(graph.pairs, False)
    slots |= {(edge.producer, edge.consumer): True for edge in graph.edges if edge.resource.slot}
    between = sum((place[pair[1]] - place[pair[0]] - 1) * (1 + 3 * slot) for pair, slot in slots.items())
    makers = {name: {maker for maker, reader in graph.pairs if reader == name} for name in order}
    alike = sum(
        application[one] == application[other] and not makers[one].isdisjoint(makers[other])
        for one, other in pairwise(order)
    )
    return coherency_score([application[name] for name in order]) + 2 * alike - between


def easier_order(graph: TaskGraph, orders: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """A successful order of `graph` at least as easy to follow as any of its successful `orders`: in the
    easiest of them, single subtasks are moved as long as that helps.

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
            (*rest[:place], node, *rest[place:])
            for node in best
            for rest in [tuple(other for other in best if other != node)]
            for place in range(len(best))
        ]
        better = max(filter(table.holds, moved), key=score)
        if score(better) <= score(best):
            return best
        best = better


def maximum_coherency(
    predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers = ()
) -> int | None:
    """The largest coherency score of any order, exact; None when there is no order.

    With `spoilers` only the orders they leave count (`OrderTable`).

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
    """The largest coherency score of any successful order of `graph`; None when it has none.

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
"""States kept before the search gives up."""
_SYMMETRY_FROM = 100


class _FewestRuns:
    """Best-first search (A*) for the fewest runs of one application, over the sets of subtasks done and the
    application of the last one, where its run may go on.

    Only subtasks whose output may be overwritten are choices: whoever takes one early forbids others to come
    before it is read. All others are taken as soon as they are ready in a run of their application, for that
    gains one pair and parts at most one; an application that can be finished at once is finished when the run
    ends. Situations that only exchange interchangeable subtasks are one, once there are many (`Symmetry`).

    The bound on the runs still needed: on every path each block of subtasks of one application takes a run of
    its own, so an application needs as many more as its remaining subtask with the most blocks ahead. A run
    takes at most one block from every path of its application, so the bound is consistent and the first full
    state is the answer.
    """

    def __init__(self, predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers) -> None:
        order = topological_order(predecessors)
        place = {node: position for position, node in enumerate(order)}
        self._before = [mask_of([place[other] for other in bits(predecessors[node])]) for node in order]
        given = spoilers or ((),) * len(order)
        self._spoilers = [[(place[first], place[last]) for first, last in given[node]] for node in order]
        self._chosen = mask_of([producer for pairs in self._spoilers for producer, _ in pairs])
        self._applications = [applications[node] for node in order]
        members: dict[str, int] = {}
        for position, application in enumerate(self._applications):
            members[application] = members.get(application, 0) | 1 << position
        self._members = list(members.values())
        self._all = (1 << len(order)) - 1
        self._ahead = [self._blocks_ahead(mine) for mine in self._members]
        self._symmetry: Symmetry | None = None
        self._waiting: list[tuple[int, int, int, int, int]] = []
        self._best: dict[tuple[int, int], int] = {}

    def fewest(self) -> int | None:
        self._push(0, -1, 0)
        while self._waiting:
            _, _, done, last, runs = heappop(self._waiting)
            if done == self._all:
                return runs
            if self._best[done, last] < runs:
                continue
            if self._symmetry is None and len(self._best) > _SYMMETRY_FROM:
                self._symmetry = Symmetry(self._before, self._spoilers, self._applications)
            if len(self._best) > MAXIMUM_STATES:
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
            goes_on = last >= 0 and bool(self._choices(done, last))
            if goes_on or (ends := self._finished(done)) is None:
                break
            (done, last), runs = ends, runs + 1
        last = last if goes_on else -1
        if self._best.get((done, last), len(self._before) + 1) > runs:
            self._best[done, last] = runs
            left = self._all & ~done
            bound = runs + self._bound(left) - goes_on  # the run under way may take a block
            heappush(self._waiting, (bound, left.bit_count(), done, last, runs))

    def _finished(self, done: int) -> tuple[int, int] | None:
        """The set done after a run that ends an application, and which: fewer nodes never need more runs."""
        for application, members in enumerate(self._members):
            if members & ~done:
                reached = self._close(done, application)
                if not members & ~reached:
                    return reached, application
        return None

    def _next_runs(self, done: int, last: int) -> list[tuple[int, int]]:
        """Beginnings of the next run, as sets done and applications; an ended application comes alone."""
        if last >= 0 and (ends := self._finished(done)) is not None:
            return [ends]
        begun = []
        for application, members in enumerate(self._members):
            if application == last or not members & ~done:
                continue
            reached = self._close(done, application)
            if reached != done:
                begun.append((reached, application))
                continue
            begun += [
                (self._close(done | 1 << node, application), application)
                for node in self._choices(done, application)
            ]
        return begun

    def _choices(self, done: int, application: int) -> list[int]:
        left = self._members[application] & self._chosen & ~done
        return [node for node in bits(left) if self._ready(node, done)] if left else []

    def _bound(self, left: int) -> int:
        needed = 0
        for levels in self._ahead:
            for ahead, level in levels:
                if level & left:
                    needed += ahead
                    break
        return needed

    def _blocks_ahead(self, members: int) -> list[tuple[int, int]]:
        """The members by the most blocks of members on a path from them on, from the highest number."""
        if members & members - 1 == 0:
            return [(1, members)]
        blocks = [0] * len(self._before)
        levels: dict[int, int] = {}
        for node in range(len(blocks) - 1, -1, -1):
            inside = members >> node & 1
            ahead = blocks[node] = blocks[node] or inside
            if inside:
                levels[ahead] = levels.get(ahead, 0) | 1 << node
            mask = self._before[node]
            while mask:
                low = mask & -mask
                mask ^= low
                reached = ahead if inside or not low & members else ahead + 1
                if reached > blocks[low.bit_length() - 1]:
                    blocks[low.bit_length() - 1] = reached
        return sorted(levels.items(), reverse=True)

    def _close(self, done: int, application: int) -> int:
        left = self._members[application] & ~self._chosen & ~done
        before, spoilers = self._before, self._spoilers
        again = True
        while again:
            again, mask = False, left & ~done
            while mask:
                low = mask & -mask
                node = low.bit_length() - 1
                mask ^= low
                if not before[node] & ~done and (not spoilers[node] or self._ready(node, done)):
                    done |= low
                    again = self._chosen > 0
        return done

    def _ready(self, node: int, done: int) -> bool:
        if self._before[node] & ~done:
            return False
        for producer, consumer in self._spoilers[node]:
            if done >> producer & 1 and not done >> consumer & 1:
                return False
        return True
