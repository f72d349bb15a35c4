"""Opinions on tasks: of critics, of people (docs/quality.md), and of the judge in its trials."""

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.provenance import Provenance

CriticQuestion = Literal["naturalness", "sense", "feasibility"]
"""What a critic is asked about a task."""
CRITIC_QUESTIONS: tuple[CriticQuestion, ...] = get_args(CriticQuestion)
"""All questions."""
HIGHEST_SCORE = 5
"""The best score; 1 is the worst."""


class Score(Record):
    """A score with its reason."""

    score: int = Field(ge=1, le=HIGHEST_SCORE)
    """From 1, the worst, to 5."""
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    """Why the score is not higher, or why it is the highest."""


class Criticism(Record):
    """The scores of one task."""

    criticism_id: str
    """Opaque id: the task and the critic."""
    task_id: str
    """The task."""
    instruction: str
    """Its instruction at that time."""
    naturalness: Score
    """Whether a person would phrase it like this."""
    sense: Score
    """Whether anybody would want this done."""
    feasibility: Score
    """Whether it can be done from the instruction alone."""
    critic: str
    """Provider and model of the critic, as the settings name them."""
    provenance: Provenance = Provenance()
    """Where it comes from."""

    def score(self, question: CriticQuestion) -> Score:
        """The answer to one question."""
        answer: Score = getattr(self, question)
        return answer

    def below(self, threshold: int) -> dict[CriticQuestion, Score]:
        """The answers with a score under `threshold`."""
        answers = {question: self.score(question) for question in CRITIC_QUESTIONS}
        return {question: answer for question, answer in answers.items() if answer.score < threshold}


SpoilKind = Literal["left_out", "exchanged", "value_changed", "foreign_deed", "dependency_hidden"]
"""A subtask left out, two values exchanged, a value changed, another subtask added, a dependency hidden."""


class JudgeTrial(Record):
    """A deliberately spoilt instruction that the judge was given like any other."""

    trial_id: str
    """Opaque id: task id and kind."""
    task_id: str
    """The task whose accepted instruction was spoilt."""
    kind: SpoilKind
    """How it was spoilt."""
    instruction: str
    """The spoilt instruction."""
    noticed: bool
    """Whether the judge found anything wrong."""
    findings: tuple[str, ...] = ()
    """Its findings, in words."""
    provenance: Provenance = Provenance()
    """Where it comes from."""


Question = Literal["natural", "graph", "executable", "sense"]
"""Natural: a person could have written it. Graph: the instruction alone implies the same graph.
Executable: it can be done from a fresh start. Sense: somebody could want it."""
QUESTIONS: tuple[Question, ...] = get_args(Question)
"""The questions, in the order of the rubric."""
Verdict = Literal["accepted", "rejected", "withdrawn"]
"""`accepted`: yes to all four questions; `rejected`: at least one no; `withdrawn`: as if never judged."""


class Review(Record):
    """One person's verdict on one task. Reviews are only ever added; a person's latest one counts."""

    review_id: str
    """Opaque id."""
    task_id: str
    """The task."""
    reviewer: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")
    """Name of the person."""
    verdict: Verdict
    """The person's verdict."""
    failed: tuple[Question, ...] = ()
    """Questions answered with no."""
    note: str = Field(default="", max_length=4000)
    """Reason, in the person's words."""
    instruction: str
    """The instruction that the person read: a review counts only for a task that still has it."""
    reviewed_at: str
    """Time of the review, ISO 8601 in UTC with microseconds."""

    @model_validator(mode="after")
    def _check_reasons(self) -> Self:
        if self.verdict == "accepted" and self.failed:
            raise ValueError(
                f"an accepted task has every question answered with yes, but not {', '.join(self.failed)}"
            )
        if self.verdict == "rejected" and not (self.failed or self.note.strip()):
            raise ValueError("a rejection must name a question that is answered with no, or give a reason")
        return self
