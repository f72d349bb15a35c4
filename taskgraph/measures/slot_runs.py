"""The fewest runs of one application in an order of a task whose subtasks overwrite slots."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.errors import GraphTooLargeError
from taskloom.taskgraph.measures.symmetry import Spoilers, Symmetry

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
