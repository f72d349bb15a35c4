"""Runs of functions that need not be repeated: a function sees nothing but its parameters and the answers of
its checks, so runs with one source and parameters are a tree of calls, answers and results. As long as the
answers to new evidence lead along known ways, the interpreter is not needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from taskloom.evaluators_api.checks.declaration import Answer, Check
from taskloom.taskgraph.records.evaluation_function import Evaluation

_MOST_TREES = 256
_MOST_RUNS = 500
"""Runs of one tree that are kept."""
LONGEST_RUN = 10_000
"""Characters of the calls and answers of a run that is kept."""
Key = tuple[str, tuple[tuple[str, str], ...]]
"""Source and parameters."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the function made it."""

    check: Check
    positional: tuple[object, ...]
    named: Mapping[str, object]


@dataclass(slots=True)
class Fork:
    """What a function does after some answers: another call, or its end."""

    asked: Asked | None = None
    ended: Evaluation | None = None
    """The result, without the calls that led to it."""
    after: dict[tuple[type, Answer], Fork] = field(default_factory=dict)
    """What follows each answer to the call."""


class RememberedRuns:
    """The trees of the functions that were run last; threads may share it."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Key, Fork] = OrderedDict()
        self._runs: dict[Key, int] = {}
        self._lock = Lock()

    def beginning(self, source: str, parameters: Mapping[str, str]) -> Fork | None:
        """The tree of a function with these parameters, if it was run before."""
        with self._lock:
            key = _key(source, parameters)
            found = self._trees.get(key)
            if found is not None:
                self._trees.move_to_end(key)
            return found

    def keep(
        self,
        source: str,
        parameters: Mapping[str, str],
        calls: Sequence[tuple[Asked, Answer]],
        ended: Evaluation,
    ) -> None:
        """Remember a run: its calls with the answers that the function was given, and its result."""
        with self._lock:
            key = _key(source, parameters)
            if self._runs.get(key, 0) >= _MOST_RUNS:
                return
            fork = self._trees.setdefault(key, Fork())
            self._runs[key] = self._runs.get(key, 0) + 1
            for asked, answer in calls:
                fork.asked = fork.asked or asked
                fork = fork.after.setdefault((type(answer), answer), Fork())
            fork.ended = ended.model_copy(update={"calls": ()})
            while len(self._trees) > _MOST_TREES:
                gone, _ = self._trees.popitem(last=False)
                self._runs.pop(gone, None)


def size_of(asked: Asked, answer: Answer) -> int:
    """Characters of a call and its answer."""
    return len(repr(asked.positional)) + len(repr(asked.named)) + len(str(answer))


def _key(source: str, parameters: Mapping[str, str]) -> Key:
    return source, tuple(sorted(parameters.items()))
