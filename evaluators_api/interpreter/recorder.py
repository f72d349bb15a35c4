"""The doors between generated code and the checks: every call is recorded on our side, with its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from evaluators_api.checks.declaration import Answer, Check, Scene
from evaluators_api.checks.registry import checks
from evaluators_api.errors import CheckMisusedError, CheckOverdueError, CheckUnavailableError
from evaluators_api.interpreter.path_functions import PATH_FUNCTIONS
from taskgraph.records.evaluation_function import CheckCall

LONGEST_RECORDED = 500
"""Characters of an argument or answer that are kept."""

Alteration = Callable[[int, Check, dict[str, str], Answer], Answer]
"""Given the number of a call (from 0), its check, its arguments as text and its answer: the answer that is given instead."""


class CallRecorder:
    """Answers the calls of one evaluation and remembers them.

    A call that cannot be answered ends the evaluation as refused, even when the code catches the exception: a function
    that goes on without the answer would be silently wrong.
    """

    def __init__(self, scene: Scene, *, seconds: float = 20.0, alter: Alteration | None = None) -> None:
        """Answer from `scene`, for at most `seconds` altogether: the sandbox's clock stands still meanwhile.

        Answers go through `alter` where it is given, so that a function can be examined with a check that errs.
        """
        self._scene = scene
        self._alter = alter
        self._seconds = seconds
        self._spent = 0.0
        self.timed_out = False
        """Whether the answers took too long."""
        self._calls: list[tuple[Check, dict[str, str], Answer]] = []
        self.refusal = ""
        """Why a call could not be answered; empty when all were."""

    @property
    def asked(self) -> bool:
        """Whether any check was called."""
        return bool(self._calls)

    def doors(self) -> dict[str, Callable[..., object]]:
        """Functions by the name under which generated code calls them."""
        return {
            **{name: partial(self._ask, item) for name, item in checks().items()},
            **{name: partial(self._apply, name) for name in PATH_FUNCTIONS},
        }

    def calls(self) -> tuple[CheckCall, ...]:
        """The calls so far, in order, cut to a readable length."""
        return tuple(
            CheckCall(
                check=item.name,
                arguments={name: value[:LONGEST_RECORDED] for name, value in arguments.items()},
                answer=str(answer)[:LONGEST_RECORDED],
            )
            for item, arguments, answer in self._calls
        )

    def _ask(self, item: Check, *positional: object, **named: object) -> Answer:
        if self._spent > self._seconds:
            raise self._overdue()
        started = time.monotonic()
        scene = replace(self._scene, deadline=started + self._seconds - self._spent)
        try:
            arguments, answer = item.ask(scene, positional, named)
        except CheckOverdueError:
            raise self._overdue() from None
        except (CheckMisusedError, CheckUnavailableError) as error:
            raise self._refuse(str(error)) from None
        except Exception as error:
            raise self._refuse(f"{item.name} failed: {type(error).__name__}.") from None
        finally:
            self._spent += time.monotonic() - started
        if self._alter is not None:
            answer = self._alter(len(self._calls), item, arguments, answer)
        self._calls.append((item, arguments, answer))
        return answer

    def _apply(self, name: str, *positional: object, **named: object) -> object:
        try:
            return PATH_FUNCTIONS[name](*positional, **named)
        except CheckMisusedError as error:
            raise self._refuse(str(error)) from None

    def _overdue(self) -> TypeError:
        self.timed_out = True
        return self._refuse(f"its checks took more than {self._seconds:g} seconds")

    def _refuse(self, message: str) -> TypeError:
        self.refusal = self.refusal or message
        return TypeError(message)
