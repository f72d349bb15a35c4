"""A person's verdict on a task, by the four questions of the rubric in docs/quality.md."""

from __future__ import annotations

from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from taskloom.resources.record import Record

Question = Literal["natural", "graph", "executable", "sense"]
"""Natural: a person could have written it. Graph: one would draw the same graph from the words alone.
Executable: it can be done from a fresh start. Sense: somebody could want it."""
QUESTIONS: tuple[Question, ...] = get_args(Question)
"""The questions, in the order of the rubric."""
Verdict = Literal["accepted", "rejected", "withdrawn"]
"""Four times yes; at least one no; or as if this person had never judged the task."""


class Review(Record):
    """One verdict of one person on one task. Reviews are only ever added: a person's latest one of a task
    counts."""

    review_id: str
    """Opaque id."""
    task_id: str
    """The task."""
    reviewer: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")
    """Name of the person."""
    verdict: Verdict
    """What the person said."""
    failed: tuple[Question, ...] = ()
    """Questions answered with no."""
    note: str = Field(default="", max_length=4000)
    """Reason, in the person's words."""
    instruction: str
    """The instruction that the person read: a review counts only for a task that still has it."""
    reviewed_at: str
    """When, ISO 8601 in UTC with microseconds."""

    @model_validator(mode="after")
    def _verdict_and_reasons_agree(self) -> Self:
        if self.verdict == "accepted" and self.failed:
            raise ValueError(
                f"an accepted task has four times yes, but {', '.join(self.failed)} is answered with no"
            )
        if self.verdict == "rejected" and not (self.failed or self.note.strip()):
            raise ValueError("a rejection names the question that is answered with no, or gives a reason")
        return self
