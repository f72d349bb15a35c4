"""What a task asks beside what it wants done, and what makes it impossible."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from taskloom.resources.record import Record

AnswerMatch = Literal["exact", "includes", "value"]
"""How an answer is compared: as a whole text, by the texts that must stand in it, or as a number."""


class Question(Record):
    """A question with its answer, computed from the data that the task starts with."""

    text: str
    """The question."""
    answers: tuple[str, ...] = Field(min_length=1)
    """Right answers: any of them for `exact`, all of them for `includes`, the first for `value`."""
    match: AnswerMatch = "exact"
    """How an answer is compared."""
    source: str = ""
    """Where the answer stands, such as `Documents/sales.csv`."""

    @property
    def right_answer(self) -> str:
        """A right answer, in the form that every protocol reads."""
        return f"```Answer:{'; '.join(self.answers) if self.match == 'includes' else self.answers[0]}```"


class Lack(Record):
    """What was taken away from a feasible task, which cannot be done without it."""

    feasible: str
    """Id of the feasible task."""
    paths: tuple[str, ...]
    """Files that its environment starts without."""
    proof: str
    """What was seen when its verified performance was tried without them."""
