"""Answers calls of checks from generated code; every call and its answer are recorded outside the sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from taskloom.evaluators_api.checks.declaration import Answer, Check, Scene, checks
from taskloom.evaluators_api.errors import CheckMisusedError, CheckOverdueError, CheckUnavailableError
from taskloom.evaluators_api.evidence.sandbox_paths import PATH_FUNCTIONS, apply_path_function
from taskloom.taskgraph.records.evaluation_function import CheckCall, Evaluation

LONGEST_RECORDED = 500
"""Maximum characters kept of an argument or answer."""
MOST_PARTS = 50_000
"""Maximum characters and parts of a call's arguments that leave the sandbox."""
LONGEST_REMEMBERED = 1_000
"""Maximum characters of a remembered call and its answer; longer ones are cheap to ask again."""
MOST_REMEMBERED = 2_000
"""Maximum remembered answers about one state."""
_LONGEST_RUN = 10_000
"""Maximum characters of the calls and answers of a remembered run."""
_MOST_RUNS = 500
"""Maximum remembered runs of one function with the same parameters."""
_OPTICAL = frozenset({"check_text_exists", "check_text_exists_via_ocr"})
"""Checks that read pictures, with a reader that differs between sandboxes."""
HOST_PREFIX = "__host_"
"""Prefix of the name under which the wrapper of a check calls the host; generated code cannot use it."""
_MEASURE = f"""
def __remaining(value, allowed):
    if type(value) is str:
        return allowed - len(value) - 1
    if type(value) is dict:
        value = [*value.keys(), *value.values()] if len(value) <= allowed else [str()] * (allowed + 1)
    if type(value) in (list, tuple):
        for item in value:
            allowed = __remaining(item, allowed - 1)
            if allowed < 0:
                return allowed
    return allowed - 1
def __call_host(function, name, positional, named):
    if __remaining([positional, named], {MOST_PARTS}) < 0:
        return __refuse_arguments(name)
    return function(*positional, **named)
"""
_WRAPPER = """
def {name}(*positional, **named):
    return __call_host({host_name}, {name!r}, positional, named)
"""


def wrappers(names: Iterable[str]) -> str:
    """Code that wraps the checks `names`: arguments are measured inside the sandbox, because a long one costs
    more to transfer than to make."""
    return _MEASURE + "".join(_WRAPPER.format(name=name, host_name=f"{HOST_PREFIX}{name}") for name in names)


Alteration = Callable[[int, Check, dict[str, str], Answer], Answer]
"""Maps the number of a call (from 0), check, arguments as text and answer to the answer given instead."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the function made it."""

    check: Check
    positional: tuple[object, ...]
    named: Mapping[str, object]


@dataclass(slots=True)
class RunNode:
    """What a function does after some answers: it makes another call, or ends."""

    call: Call | None = None
    evaluation: Evaluation | None = None
    """The result, without the calls that led to it."""
    children: dict[tuple[type, Answer], RunNode] = field(default_factory=dict)
    """What follows each answer to the call."""


@dataclass(slots=True)
class RememberedRuns:
    """Runs that need not be repeated: a function sees nothing but its parameters and the answers of its
    checks, so runs with one source and parameters form a tree of calls, answers and results. As long as the
    answers about new evidence follow a known path, the interpreter is not needed. Thread-safe."""

    root: RunNode = field(default_factory=RunNode)
    count: int = 0

    def add(self, calls: Sequence[tuple[Call, Answer]], evaluation: Evaluation) -> None:
        """Remember a run: its calls with the answers that the function was given, and its result."""
        if self.count < _MOST_RUNS:
            self.count += 1
            node = self.root
            for call, answer in calls:
                node.call = node.call or call
                node = node.children.setdefault((type(answer), answer), RunNode())
            node.evaluation = evaluation


class CallRecorder:
    """Answers the calls of one evaluation and records them.

    A call that cannot be answered ends the evaluation, even if the code catches the exception: a function
    that goes on without the answer would be silently wrong.
    """

    def __init__(self, scene: Scene, *, seconds: float = 20.0, alter: Alteration | None = None) -> None:
        """Answer from `scene`, within `seconds` in total: the sandbox's own clock stands still meanwhile.
        `alter` changes answers, to try a function with a check that errs."""
        self._scene = scene
        self._alter = alter
        self._seconds = seconds
        self._spent = 0.0
        self.outcome: Literal["refused", "unavailable", "timed_out"] = "refused"
        """Outcome of the evaluation if a call could not be answered."""
        self._calls: list[CheckCall] = []
        self._run: list[tuple[Call, Answer]] = []
        self._size = 0
        self._replayed: list[tuple[tuple[Call, Answer], CheckCall]] = []
        self.refusal = ""
        """Why a call could not be answered; empty when all were."""

    @property
    def run(self) -> list[tuple[Call, Answer]] | None:
        """The calls with the answers that were given; None if they are too long to be remembered."""
        return self._run if self._size <= _LONGEST_RUN else None

    def follow(self, node: RunNode | None) -> Evaluation | None:
        """The result of the function, if a remembered run has the answers of this scene; otherwise None,
        and the answers found so far are reused when it runs."""
        while node is not None and node.call is not None:
            try:
                answer = self._call(node.call.check, *node.call.positional, **node.call.named)
            except TypeError:
                return None
            node = node.children.get((type(answer), answer))
        if node is not None and node.evaluation is not None:
            return node.evaluation.model_copy(update={"calls": self.calls()})
        self._replayed = list(zip(self.run or (), self._calls, strict=False))
        self._calls, self._run, self._size = [], [], 0
        return None

    def functions(self) -> dict[str, Callable[..., object]]:
        """Functions by the name under which generated code calls them."""
        return {
            **{name: partial(self._call, item) for name, item in checks().items()},
            "__refuse_arguments": self._refuse_arguments,
            **{name: partial(self._apply_path_function, name) for name in PATH_FUNCTIONS},
        }

    def calls(self) -> tuple[CheckCall, ...]:
        """The calls so far, in order, cut to a readable length."""
        return tuple(self._calls)

    def _record(self, call: Call, answer: Answer, record: CheckCall) -> None:
        self._calls.append(record)
        self._size += len(repr(call.positional)) + len(repr(call.named)) + len(str(answer))
        if self._size <= _LONGEST_RUN:
            self._run.append((call, answer))

    def _call(self, item: Check, *positional: object, **named: object) -> Answer:
        if self.refusal:
            raise TypeError(self.refusal)
        call = Call(item, positional, named)
        if self._replayed:
            (known, answer), record = self._replayed.pop(0)
            if known == call:
                self._record(call, answer, record)
                return answer
            self._replayed = []
        if self._spent > self._seconds:
            raise self._time_out()
        started = time.monotonic()
        scene = replace(self._scene, deadline=started + self._seconds - self._spent)
        try:
            arguments, answer = self._answer(item, scene, positional, named)
        except CheckOverdueError:
            raise self._time_out() from None
        except (CheckUnavailableError, CheckMisusedError) as error:
            self.outcome = "unavailable" if isinstance(error, CheckUnavailableError) else self.outcome
            raise self._refuse(str(error)) from None
        except Exception as error:
            raise self._refuse(f"{item.name} failed: {type(error).__name__}.") from None
        finally:
            self._spent += time.monotonic() - started
        if self._alter is not None:
            answer = self._alter(len(self._calls), item, arguments, answer)
        shown = {name: value[:LONGEST_RECORDED] for name, value in arguments.items()}
        record = CheckCall.model_construct(
            check=item.name, arguments=shown, answer=str(answer)[:LONGEST_RECORDED]
        )
        self._record(call, answer, record)
        return answer

    def _answer(
        self, item: Check, scene: Scene, positional: tuple[object, ...], named: dict[str, object]
    ) -> tuple[dict[str, str], Answer]:
        reads_picture = self._scene.view.evidence.screenshot is not None and item.name in _OPTICAL
        if item.reads == "inputs" or reads_picture:
            return item.ask(scene, positional, named)
        key = (id(self._scene.start_view), item.name, repr(positional), repr(named))
        answers = self._scene.view.answers
        known = answers.get(key)
        if known is not None and known[0] is self._scene.start_view:
            return known[1], known[2]
        arguments, answer = item.ask(scene, positional, named)
        size = len(key[2]) + len(key[3]) + len(str(answer))
        if size <= LONGEST_REMEMBERED and len(answers) < MOST_REMEMBERED:
            answers[key] = (self._scene.start_view, arguments, answer)
        return arguments, answer

    def _apply_path_function(self, name: str, *positional: object, **named: object) -> object:
        try:
            return apply_path_function(name, *positional, **named)
        except CheckMisusedError as error:
            raise self._refuse(str(error)) from None

    def _refuse_arguments(self, name: str) -> object:
        raise self._refuse(f"{name} takes at most {MOST_PARTS} characters")

    def _time_out(self) -> TypeError:
        self.outcome = "timed_out"
        return self._refuse(f"its checks took more than {self._seconds:g} seconds")

    def _refuse(self, message: str) -> TypeError:
        self.refusal = self.refusal or message
        return TypeError(message)
