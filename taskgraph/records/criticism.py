"""What a critic that had no part in making a task thinks of it (docs/quality.md)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, StringConstraints

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

CriticQuestion = Literal["naturalness", "sense", "feasibility"]
"""What a critic is asked about a task."""
CRITIC_QUESTIONS: tuple[CriticQuestion, ...] = get_args(CriticQuestion)
"""All three."""
HIGHEST_SCORE = 5
"""The best score; 1 is the worst."""


class Score(Record):
    """A score with its reason."""

    score: int = Field(ge=1, le=HIGHEST_SCORE)
    """From 1, the worst, to 5."""
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    """Why not more, or why the highest."""


class Criticism(Record):
    """The scores of one task."""

    criticism_id: str
    """Opaque id: the task and the critic."""
    task_id: str
    """The task."""
    instruction: str
    """Its instruction at that time."""
    naturalness: Score
    """Whether a person would say it so."""
    sense: Score
    """Whether somebody would want this done."""
    feasibility: Score
    """Whether it can be done from these words."""
    critic: str
    """Provider and model of the critic, as the settings name them."""
    provenance: Provenance = Provenance()
    """Where it comes from."""

    def score(self, question: CriticQuestion) -> Score:
        """The answer to one question."""
        return {"naturalness": self.naturalness, "sense": self.sense, "feasibility": self.feasibility}[
            question
        ]

    def below(self, threshold: int) -> dict[CriticQuestion, Score]:
        """The answers with a score under `threshold`."""
        found = {question: self.score(question) for question in CRITIC_QUESTIONS}
        return {question: answer for question, answer in found.items() if answer.score < threshold}
