"""The coherency score and its maximum over the orders of a task (section 4.1).

For each pair of adjacent subtasks of a sequence the score rises by one if both belong to the same
application. The maximum is n minus the fewest runs of one application. Bringing a ready subtask of the
current application forward never loses (it gains one pair and parts at most one), so a run is closed
greedily, and the search is over run-closed down-sets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from taskloom.taskgraph.bitmasks import bits, mask_of, require_size, topological_order
from taskloom.taskgraph.errors import GraphInvalidError, GraphTooLargeError
from taskloom.taskgraph.measures.interference import successful_table, threats_of
from taskloom.taskgraph.measures.symmetry import Spoilers, Symmetry
from taskloom.taskgraph.records.graph import TaskGraph


def coherency_score(applications: Sequence[str]) -> int:
    """Adjacent pairs of one application in a sequence of subtasks, given as their applications.

    >>> coherency_score(["Excel", "Excel", "Word", "Excel"])
    1
    """
    return sum(first == second for first, second in pairwise(applications))


def continuity(
    order: Sequence[str], applications: Mapping[str, str], pairs: Collection[tuple[str, str]]
) -> int:
    """How easy an order is to follow: one for each subtask that reads the result of the one just before, two
    for each in the same application.

    >>> continuity("abc", {"a": "Mail", "b": "Mail", "c": "Notes"}, [("b", "c")])
    3
    """
    steps = list(pairwise(order))
    return sum(pair in pairs for pair in steps) + 2 * coherency_score([applications[name] for name in order])


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
    applications = {node.instance_id: node.application for node in graph.nodes}
    pairs = {*graph.pairs}
    table = successful_table(graph.predecessors, threats_of(graph))

    def score(numbers: Sequence[int]) -> int:
        return continuity([names[number] for number in numbers], applications, pairs)

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
    applications = [node.application for node in graph.nodes]
    threats = threats_of(graph)
    if not threats:
        return maximum_coherency(graph.predecessors, applications)
    before, spoilers = successful_table(graph.predecessors, threats).constraints
    return maximum_coherency(before, applications, spoilers)


class _FewestRuns:
    """Best-first search (A*) for the fewest runs of one application.

    The bound on the runs still needed: on every path each block of subtasks of one application takes a run of
    its own, so an application needs as many more as its remaining subtask with the most blocks ahead. A run
    takes at most one block from every path of its application, so the bound is consistent and the first full
    state is the answer.

    Where subtasks overwrite what others may still need, `FewestSlotRuns` searches.
    """

    def __init__(self, predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers) -> None:
        """Number the nodes topologically, so that one pass in their order closes a run.

        Raises:
            GraphInvalidError: the edges form a cycle.
        """
        order = topological_order(predecessors)
        place = {node: position for position, node in enumerate(order)}
        self._before = [mask_of([place[other] for other in bits(predecessors[node])]) for node in order]
        given = spoilers or ((),) * len(order)
        self._spoilers = [[(place[first], place[last]) for first, last in given[node]] for node in order]
        members: dict[str, int] = {}
        for position, node in enumerate(order):
            members[applications[node]] = members.get(applications[node], 0) | 1 << position
        self._members = list(members.values())
        self._all = (1 << len(order)) - 1
        self._ahead = [self._blocks_ahead(mine) for mine in self._members]

    def fewest(self) -> int | None:
        """Fewest runs of any order, or None without one.

        Raises:
            GraphTooLargeError: the search needs too many states.
        """
        if any(self._spoilers):
            return FewestSlotRuns(self._before, self._members, self._spoilers, self._ahead).fewest()
        waiting: list[tuple[int, int, int, int]] = []
        best: dict[int, int] = {}
        self._push(waiting, best, 0, 0)
        while waiting:
            _, _, done, runs = heappop(waiting)
            if done == self._all:
                return runs
            if best[done] < runs:
                continue
            if len(best) > MAXIMUM_STATES:
                raise GraphTooLargeError(
                    f"The maximum coherency score needs more than {MAXIMUM_STATES} states for this graph."
                )
            for reached in self._after_one_run(done):
                self._push(waiting, best, reached, runs + 1)
        return None

    def _push(
        self, waiting: list[tuple[int, int, int, int]], best: dict[int, int], done: int, runs: int
    ) -> None:
        """Note that `done` is reached with `runs`, unless it was with as few."""
        closed, more = self._finish(done)
        runs += more
        if best.get(closed, len(self._before) + 1) > runs:
            best[closed] = runs
            left = self._all & ~closed
            heappush(waiting, (runs + self._bound(left), left.bit_count(), closed, runs))

    def _bound(self, left: int) -> int:
        """Runs that the nodes `left` need at least."""
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

    def _after_one_run(self, done: int) -> set[int]:
        """Every down-set that one run of one application may end with."""
        ends = set()
        for members in self._members:
            if not members & ~done:
                continue
            ends.add(self._close(done, members))
        return ends - {done}

    def _finish(self, done: int) -> tuple[int, int]:
        """Finish every application that can be finished at once: fewer nodes left never need more runs."""
        runs = 0
        again = True
        while again and done != self._all:
            again = False
            for members in self._members:
                if members & ~done:
                    reached = self._close(done, members)
                    if not members & ~reached:
                        done, runs, again = reached, runs + 1, True
        return done, runs

    def _close(self, done: int, members: int) -> int:
        """Take every member that is or gets ready."""
        mask = members & ~done
        while mask:
            low = mask & -mask
            mask ^= low
            if not self._before[low.bit_length() - 1] & ~done:
                done |= low
        return done


MAXIMUM_STATES = 200_000
"""States kept before a search gives up."""

_SYMMETRY_FROM = 100

BlocksAhead = Sequence[Sequence[tuple[int, int]]]
"""For every application its members by the most blocks of members on a path from them on, from the highest
number."""


class FewestSlotRuns:
    """Best-first search (A*) over the sets of subtasks done and the application of the last one.

    Only subtasks whose output may be overwritten are choices: whoever takes one early forbids others to come
    before it is read. All others are taken as soon as they are ready in a run of their application, for that
    gains one pair and parts at most one; an application that can be finished at once is finished when the run
    ends. Situations that only exchange interchangeable subtasks are one, once there are many (`Symmetry`).
    """

    def __init__(
        self, before: Sequence[int], members: Sequence[int], spoilers: Spoilers, ahead: BlocksAhead
    ) -> None:
        """Search a graph that is numbered topologically.

        Args:
            before: Predecessors of every node.
            members: The nodes of every application.
            spoilers: Pairs between which a node must not stand.
            ahead: Blocks ahead per application.
        """
        self._before, self._members, self._spoilers, self._ahead = before, members, spoilers, ahead
        self._all = (1 << len(before)) - 1
        self._chosen = 0
        for pairs in spoilers:
            for producer, _ in pairs:
                self._chosen |= 1 << producer
        self._applications = [
            next(n for n, mine in enumerate(members) if mine >> node & 1) for node in range(len(before))
        ]
        self._symmetry: Symmetry | None = None

    def fewest(self) -> int | None:
        """Fewest runs of any order, or None without one.

        Raises:
            GraphTooLargeError: too many states.
        """
        waiting: list[tuple[int, int, int, int, int]] = []
        best: dict[tuple[int, int], int] = {}
        self._push(waiting, best, 0, -1, 0)
        while waiting:
            _, _, done, last, runs = heappop(waiting)
            if done == self._all:
                return runs
            if best[done, last] < runs:
                continue
            if self._symmetry is None and len(best) > _SYMMETRY_FROM:
                self._symmetry = Symmetry(self._before, self._spoilers, self._applications)
            if len(best) > MAXIMUM_STATES:
                raise GraphTooLargeError(
                    f"The maximum coherency score needs more than {MAXIMUM_STATES} states for this graph."
                )
            if last >= 0:
                for node in bits(self._members[last] & self._chosen & ~done):
                    if self._ready(node, done):
                        self._push(waiting, best, self._close(done | 1 << node, last), last, runs)
            for reached, application in self._next_runs(done, last):
                self._push(waiting, best, reached, application, runs + 1)
        return None

    def _next_runs(self, done: int, last: int) -> list[tuple[int, int]]:
        """Beginnings of the next run, as sets done and applications; a run that ends an application rules out
        others."""
        begun = []
        for application, members in enumerate(self._members):
            if application == last or not members & ~done:
                continue
            reached = self._close(done, application)
            if not members & ~reached:
                return [(reached, application)]
            if reached != done:
                begun.append((reached, application))
                continue
            begun += [
                (self._close(done | 1 << node, application), application)
                for node in bits(members & self._chosen & ~done)
                if self._ready(node, done)
            ]
        return begun

    def _push(
        self,
        waiting: list[tuple[int, int, int, int, int]],
        best: dict[tuple[int, int], int],
        done: int,
        last: int,
        runs: int,
    ) -> None:
        """Note a situation, unless it was reached with as few runs."""
        if self._symmetry:
            done = self._symmetry.canonical(done)
        if best.get((done, last), len(self._before) + 1) > runs:
            best[done, last] = runs
            left = self._all & ~done
            heappush(waiting, (runs + self._bound(done, left, last), left.bit_count(), done, last, runs))

    def _bound(self, done: int, left: int, last: int) -> int:
        """Runs that the nodes `left` need at least; the run under way may take a block of its application."""
        needed = 0
        for levels in self._ahead:
            for ahead, level in levels:
                if level & left:
                    needed += ahead
                    break
        goes_on = last >= 0 and any(
            self._ready(node, done) for node in bits(self._members[last] & self._chosen & left)
        )
        return needed - goes_on

    def _close(self, done: int, application: int) -> int:
        """Take every member that is or gets ready and that is not a choice."""
        members = self._members[application] & ~self._chosen
        again = True
        while again:
            again = False
            for node in bits(members & ~done):
                if self._ready(node, done):
                    done |= 1 << node
                    again = True
        return done

    def _ready(self, node: int, done: int) -> bool:
        if self._before[node] & ~done:
            return False
        for producer, consumer in self._spoilers[node]:
            if done >> producer & 1 and not done >> consumer & 1:
                return False
        return True
