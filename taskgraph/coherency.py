"""The coherency score and its maximum over the orders of a task (section 4.1).

For each pair of adjacent subtasks of a sequence the score rises by one if both belong to the same application. The
maximum is n minus the fewest runs of one application. Bringing a ready subtask of the current application forward never
loses (it gains one pair and parts at most one), so a run is closed greedily, and the search is over run-closed down-sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from taskgraph.bitmasks import bits, require_size
from taskgraph.errors import GraphTooLarge
from taskgraph.graph import TaskGraph
from taskgraph.interference import successful_table, threats_of
from taskgraph.orders import Spoilers

_MAXIMUM_STATES = 200_000


def coherency_score(applications: Sequence[str]) -> int:
    """Adjacent pairs of one application in a sequence of subtasks, given as their applications.

    >>> coherency_score(["Excel", "Excel", "Word", "Excel"])
    1
    """
    return sum(first == second for first, second in pairwise(applications))


def maximum_coherency(
    predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers = ()
) -> int | None:
    """The largest coherency score of any order, exact; None when there is no order.

    With `spoilers` only the orders they leave count (`OrderTable`).

    >>> maximum_coherency((0, 0b1, 0, 0b100), ["a", "b", "a", "b"])
    2

    Raises:
        GraphTooLarge: more than 30 nodes, or too many states.
    """
    require_size(predecessors)
    search = _FewestRuns(predecessors, applications, spoilers)
    runs = search.fewest()
    return None if runs is None else len(predecessors) - runs


def maximum_coherency_of(graph: TaskGraph) -> int | None:
    """The largest coherency score of any successful order of `graph`; None when it has none.

    Raises:
        GraphTooLarge: more than 30 subtasks, or too many states.
    """
    applications = [node.application for node in graph.nodes]
    threats = threats_of(graph)
    if not threats:
        return maximum_coherency(graph.predecessors, applications)
    before, spoilers = successful_table(graph.predecessors, threats).constraints
    return maximum_coherency(before, applications, spoilers)


class _FewestRuns:
    """Uniform-cost search for the fewest runs of one application.

    Subtasks that overwrite a slot while others may still need it, and those whose output can be spoiled, are never
    brought forward unasked: taking one early can forbid another. Each of them is a choice of the search.
    """

    def __init__(self, predecessors: Sequence[int], applications: Sequence[str], spoilers: Spoilers) -> None:
        self._before = predecessors
        self._spoilers = spoilers or ((),) * len(predecessors)
        names = {name: number for number, name in enumerate(dict.fromkeys(applications))}
        self._members = [0] * len(names)
        for node, name in enumerate(applications):
            self._members[names[name]] |= 1 << node
        self._all = (1 << len(predecessors)) - 1
        self._chosen = 0
        for node, pairs in enumerate(self._spoilers):
            for producer, _ in pairs:
                self._chosen |= 1 << node | 1 << producer

    def fewest(self) -> int | None:
        """Fewest runs of any order, or None without one."""
        start, runs = self._finish(0)
        buckets: dict[int, set[int]] = {runs: {start}}
        best: dict[int, int] = {}
        while buckets:
            runs = min(buckets)
            for done in sorted(buckets.pop(runs)):
                if best.get(done, len(self._before) + 1) <= runs:
                    continue
                best[done] = runs
                if done == self._all:
                    return runs
                if len(best) > _MAXIMUM_STATES:
                    raise GraphTooLarge(
                        f"The maximum coherency score needs more than {_MAXIMUM_STATES} states for this graph."
                    )
                for reached in self._after_one_run(done):
                    closed, more = self._finish(reached)
                    if best.get(closed, len(self._before) + 1) > runs + 1 + more:
                        buckets.setdefault(runs + 1 + more, set()).add(closed)
        return None

    def _after_one_run(self, done: int) -> set[int]:
        """Every down-set that one run of one application may end with."""
        ends = set()
        for members in self._members:
            if not members & ~done:
                continue
            seen, stack = set(), [self._close(done, members)]
            while stack:
                reached = stack.pop()
                if reached in seen:
                    continue
                seen.add(reached)
                for node in bits(members & self._chosen & ~reached):
                    if self._ready(node, reached):
                        stack.append(self._close(reached | 1 << node, members))
            ends |= seen - {done}
        return ends

    def _finish(self, done: int) -> tuple[int, int]:
        """Finish every application that can be finished at once: fewer nodes left never need more runs."""
        runs = 0
        if self._chosen:
            return done, runs
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
        """Take every member that is or gets ready and that is not a choice."""
        left, taken = members & ~done & ~self._chosen, True
        while taken:
            taken = False
            mask = left
            while mask:
                low = mask & -mask
                mask ^= low
                if not self._before[low.bit_length() - 1] & ~done:
                    done |= low
                    left ^= low
                    taken = True
        return done

    def _ready(self, node: int, done: int) -> bool:
        if self._before[node] & ~done:
            return False
        return all(
            not done >> producer & 1 or done >> consumer & 1 for producer, consumer in self._spoilers[node]
        )
