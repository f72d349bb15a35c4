"""The doors between generated code and the checks: every call and its answer are recorded on our side."""

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
"""Characters of an argument or answer that are kept."""
MOST_PARTS = 50_000
"""Characters and parts of the arguments of a call that leave the sandbox."""
LONGEST_REMEMBERED = 1_000
"""Characters of a call with its answer up to which it is remembered; longer ones are cheap to ask again."""
MOST_REMEMBERED = 2_000
"""Answers about one state that are remembered."""
_LONGEST_RUN = 10_000
"""Characters of the calls and answers of a run that is kept."""
_MOST_RUNS = 500
"""Runs of one function with the same parameters that are kept."""
_OPTICAL = frozenset({"check_text_exists", "check_text_exists_via_ocr"})
"""Checks that also ask a reader of pictures, which is not the same for every sandbox."""
BEHIND = "__ask_"
"""What stands before the name of a check where the entrance calls it; generated code cannot."""
_MEASURE = f"""
def __left_of(value, left):
    if type(value) is str:
        return left - len(value) - 1
    if type(value) is dict:
        value = [*value.keys(), *value.values()] if len(value) <= left else [str()] * (left + 1)
    if type(value) in (list, tuple):
        for item in value:
            left = __left_of(item, left - 1)
            if left < 0:
                return left
    return left - 1
def __asked(ask, name, positional, named):
    if __left_of([positional, named], {MOST_PARTS}) < 0:
        return __refuse_arguments(name)
    return ask(*positional, **named)
"""
_DOOR = """
def {name}(*positional, **named):
    return __asked({behind}, {name!r}, positional, named)
"""


def entrance(names: Iterable[str]) -> str:
    """What stands before code that calls the checks `names`: arguments are measured inside of the sandbox,
    because a long one costs more to bring out than to make."""
    return _MEASURE + "".join(_DOOR.format(name=name, behind=f"{BEHIND}{name}") for name in names)


Alteration = Callable[[int, Check, dict[str, str], Answer], Answer]
"""Given the number of a call (from 0), check, arguments as text and answer: the answer given instead."""


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


@dataclass(slots=True)
class RememberedRuns:
    """Runs that need not be repeated: a function sees nothing but its parameters and the answers of its
    checks, so runs with one source and parameters are a tree of calls, answers and results. As long as the
    answers to new evidence lead along known ways, the interpreter is not needed. Threads may share it."""

    beginning: Fork = field(default_factory=Fork)
    kept: int = 0

    def keep(self, calls: Sequence[tuple[Asked, Answer]], ended: Evaluation) -> None:
        """Remember a run: its calls with the answers that the function was given, and its result."""
        if self.kept < _MOST_RUNS:
            self.kept += 1
            fork = self.beginning
            for asked, answer in calls:
                fork.asked = fork.asked or asked
                fork = fork.after.setdefault((type(answer), answer), Fork())
            fork.ended = ended


class CallRecorder:
    """Answers the calls of one evaluation and remembers them.

    A call that cannot be answered ends the evaluation, even when the code catches the exception: a function
    that goes on without the answer would be silently wrong.
    """

    def __init__(self, scene: Scene, *, seconds: float = 20.0, alter: Alteration | None = None) -> None:
        """Answer from `scene`, within `seconds` in total: the sandbox's own clock stands still meanwhile.
        `alter` changes each answer, so that a function can be examined with a check that errs."""
        self._scene = scene
        self._alter = alter
        self._seconds = seconds
        self._spent = 0.0
        self.ended: Literal["refused", "unavailable", "timed_out"] = "refused"
        """How an evaluation ends of which a call could not be answered."""
        self._calls: list[CheckCall] = []
        self._run: list[tuple[Asked, Answer]] = []
        self._size = 0
        self._ahead: list[tuple[tuple[Asked, Answer], CheckCall]] = []
        self.refusal = ""
        """Why a call could not be answered; empty when all were."""

    @property
    def run(self) -> list[tuple[Asked, Answer]] | None:
        """The calls with the answers that were given; None where they are too long to be remembered."""
        return self._run if self._size <= _LONGEST_RUN else None

    def follow(self, fork: Fork | None) -> Evaluation | None:
        """The result of the function, if what it does with the answers of this scene is known; else what was
        found on the way is given again when the function is run."""
        while fork is not None and fork.asked is not None:
            try:
                answer = self._ask(fork.asked.check, *fork.asked.positional, **fork.asked.named)
            except TypeError:
                return None
            fork = fork.after.get((type(answer), answer))
        if fork is not None and fork.ended is not None:
            return fork.ended.model_copy(update={"calls": self.calls()})
        self._ahead = list(zip(self.run or (), self._calls, strict=False))
        self._calls, self._run, self._size = [], [], 0
        return None

    def doors(self) -> dict[str, Callable[..., object]]:
        """Functions by the name under which generated code calls them."""
        return {
            **{name: partial(self._ask, item) for name, item in checks().items()},
            "__refuse_arguments": self._refuse_arguments,
            **{name: partial(self._apply, name) for name in PATH_FUNCTIONS},
        }

    def calls(self) -> tuple[CheckCall, ...]:
        """The calls so far, in order, cut to a readable length."""
        return tuple(self._calls)

    def _keep(self, asked: Asked, answer: Answer, told: CheckCall) -> None:
        self._calls.append(told)
        self._size += len(repr(asked.positional)) + len(repr(asked.named)) + len(str(answer))
        if self._size <= _LONGEST_RUN:
            self._run.append((asked, answer))

    def _ask(self, item: Check, *positional: object, **named: object) -> Answer:
        if self.refusal:
            raise TypeError(self.refusal)
        asked = Asked(item, positional, named)
        if self._ahead:
            (known, answer), told = self._ahead.pop(0)
            if known == asked:
                self._keep(asked, answer, told)
                return answer
            self._ahead = []
        if self._spent > self._seconds:
            raise self._overdue()
        started = time.monotonic()
        scene = replace(self._scene, deadline=started + self._seconds - self._spent)
        try:
            arguments, answer = self._answer(item, scene, positional, named)
        except CheckOverdueError:
            raise self._overdue() from None
        except (CheckUnavailableError, CheckMisusedError) as error:
            self.ended = "unavailable" if isinstance(error, CheckUnavailableError) else self.ended
            raise self._refuse(str(error)) from None
        except Exception as error:
            raise self._refuse(f"{item.name} failed: {type(error).__name__}.") from None
        finally:
            self._spent += time.monotonic() - started
        if self._alter is not None:
            answer = self._alter(len(self._calls), item, arguments, answer)
        shown = {name: value[:LONGEST_RECORDED] for name, value in arguments.items()}
        told = CheckCall.model_construct(
            check=item.name, arguments=shown, answer=str(answer)[:LONGEST_RECORDED]
        )
        self._keep(asked, answer, told)
        return answer

    def _answer(
        self, item: Check, scene: Scene, positional: tuple[object, ...], named: dict[str, object]
    ) -> tuple[dict[str, str], Answer]:
        read_anew = self._scene.view.evidence.screenshot is not None and item.name in _OPTICAL
        if item.reads == "inputs" or read_anew:
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

    def _apply(self, name: str, *positional: object, **named: object) -> object:
        try:
            return apply_path_function(name, *positional, **named)
        except CheckMisusedError as error:
            raise self._refuse(str(error)) from None

    def _refuse_arguments(self, name: str) -> object:
        raise self._refuse(f"{name} takes at most {MOST_PARTS} characters")

    def _overdue(self) -> TypeError:
        self.ended = "timed_out"
        return self._refuse(f"its checks took more than {self._seconds:g} seconds")

    def _refuse(self, message: str) -> TypeError:
        self.refusal = self.refusal or message
        return TypeError(message)
