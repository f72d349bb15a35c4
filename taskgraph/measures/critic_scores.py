"""What a critic thinks of a dataset's tasks on the whole."""

from collections.abc import Collection, Sequence
from statistics import fmean

from taskloom.resources.record import Record
from taskloom.taskgraph.measures.acceptance_rates import Rate, rate
from taskloom.taskgraph.records.criticism import CRITIC_QUESTIONS, HIGHEST_SCORE, Criticism, CriticQuestion

GOOD_SCORE = 4
"""From this score on, a task has at most a small blemish."""


class CriticReport(Record):
    """The scores of one dataset or run."""

    tasks: int
    """Tasks that were scored."""
    means: dict[CriticQuestion, float]
    """Mean score by question."""
    good: Rate
    """Tasks with at least 4 for every question."""
    critics: tuple[str, ...]
    """Models that scored."""
    partial: tuple[str, ...] = ()
    """Those of them that also wrote instructions of the dataset."""

    def lines(self) -> list[tuple[str, str]]:
        """The figures in words, each with its name."""
        means = ", ".join(f"{question} {self.means[question]:.2f}" for question in CRITIC_QUESTIONS)
        scored = f"{means} ({self.tasks} tasks, by {', '.join(self.critics)})"
        found = [(f"critic's mean scores, of {HIGHEST_SCORE}", scored)]
        found.append((f"tasks with at least {GOOD_SCORE} for everything", str(self.good)))
        if self.partial:
            both = f"{', '.join(self.partial)} both wrote instructions and scored tasks"
            found.append(("warning", f"{both}; name another model for the role critic"))
        return found


def critic_report(criticisms: Sequence[Criticism], writers: Collection[str] = ()) -> CriticReport | None:
    """The figures; None if nothing was scored.

    Args:
        criticisms: scored tasks.
        writers: models that wrote instructions.

    >>> critic_report([]) is None
    True
    """
    if not criticisms:
        return None
    critics = tuple(sorted({item.critic for item in criticisms}))
    scores = {name: [item.score(name).score for item in criticisms] for name in CRITIC_QUESTIONS}
    return CriticReport(
        tasks=len({item.task_id for item in criticisms}),
        means={question: fmean(given) for question, given in scores.items()},
        good=rate(sum(not item.below(GOOD_SCORE) for item in criticisms), len(criticisms)),
        critics=critics,
        partial=tuple(name for name in critics if name in writers),
    )
