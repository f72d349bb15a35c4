"""Accuracy of accepted evaluation functions on labelled outcomes: true positive and true negative rates with
confidence intervals. Outcomes of one function are not independent, so the intervals tend to be too narrow."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import fmean

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.criticism import (
    CRITIC_QUESTIONS,
    HIGHEST_SCORE,
    Criticism,
    CriticQuestion,
    JudgeTrial,
)
from taskloom.taskgraph.records.evaluation_function import JudgedOutcome
from taskloom.taskgraph.records.task import Validation

_Z = 1.959963984540054
"""Standard normal quantile for a confidence of 95 %."""


class Rate(Record):
    """A share with its confidence interval."""

    count: int = Field(ge=0)
    """Numerator."""
    of: int = Field(ge=0)
    """Denominator."""
    low: float = Field(ge=0, le=1)
    """Lower end of the 95 % interval (Wilson 1927)."""
    high: float = Field(ge=0, le=1)
    """Upper end of the 95 % interval."""

    @property
    def share(self) -> float | None:
        """The share; None if the denominator is 0."""
        return self.count / self.of if self.of else None

    def __str__(self) -> str:
        """The share and its interval as text.

        >>> print(rate(49, 50))
        98.0 % (89.5 to 99.6 %, 49 of 50)
        >>> print(rate(0, 0))
        none
        """
        if self.share is None:
            return "none"
        ends = f"{100 * self.low:.1f} to {100 * self.high:.1f} %"
        return f"{100 * self.share:.1f} % ({ends}, {self.count} of {self.of})"


class AcceptanceRates(Record):
    """Both rates of one group of outcomes."""

    group: str
    """`all`, an application or a kind of outcome."""
    true_positive: Rate
    """Right outcomes that were accepted."""
    true_negative: Rate
    """Wrong outcomes that were rejected."""


class AcceptanceReport(Record):
    """Rates of a dataset's accepted functions on labelled outcomes."""

    functions: int
    """Number of functions."""
    subtasks: int
    """Number of their subtasks."""
    overall: AcceptanceRates
    """Rates over all outcomes."""
    by_application: tuple[AcceptanceRates, ...]
    """Rates by application."""
    by_kind: tuple[AcceptanceRates, ...]
    """Rates by kind of outcome; each kind is either right or wrong, so only one of its rates is defined."""


def as_markdown(report: AcceptanceReport) -> str:
    """The rates as a Markdown table, for dataset cards and printed reports.

    >>> as_markdown(acceptance_report([])).splitlines()[0]
    '| | right work accepted | wrong work rejected |'
    """
    lines = ["| | right work accepted | wrong work rejected |", "|--|--|--|"]
    groups = (report.overall, *report.by_application, *report.by_kind)
    lines += [f"| {item.group} | {item.true_positive} | {item.true_negative} |" for item in groups]
    return "\n".join(lines)


def wilson_interval(count: int, of: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share; from 0 to 1 if the denominator is 0.

    >>> [round(end, 3) for end in wilson_interval(0, 100)]
    [0.0, 0.037]

    Raises:
        ValueError: `count` is not between 0 and `of`.
    """
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of} is not a share; the count must be between 0 and {of}.")
    if not of:
        return 0.0, 1.0
    share, square = count / of, _Z * _Z
    centre = share + square / (2 * of)
    reach = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    low = 0.0 if count == 0 else max(0.0, (centre - reach) / scale)
    high = 1.0 if count == of else min(1.0, (centre + reach) / scale)
    return low, high


def rate(count: int, of: int) -> Rate:
    """The share `count` of `of`, with its 95 % Wilson interval.

    Raises:
        ValueError: `count` is not between 0 and `of`.

    >>> rate(1, 4).count, rate(1, 4).low < 0.25 < rate(1, 4).high
    (1, True)
    """
    low, high = wilson_interval(count, of)
    return Rate(count=count, of=of, low=low, high=high)


def acceptance_report(outcomes: Iterable[JudgedOutcome]) -> AcceptanceReport:
    """The rates of `outcomes`: overall, by application and by kind; groups in alphabetical order.

    >>> acceptance_report([]).functions
    0
    """
    judged = list(outcomes)
    return AcceptanceReport(
        functions=len({item.function_id for item in judged}),
        subtasks=len({item.subtask_id for item in judged}),
        overall=_rates("all", judged),
        by_application=_rates_by(judged, lambda item: item.application),
        by_kind=_rates_by(judged, lambda item: item.kind),
    )


def _rates_by(
    outcomes: Sequence[JudgedOutcome], group: Callable[[JudgedOutcome], str]
) -> tuple[AcceptanceRates, ...]:
    names = sorted({group(item) for item in outcomes})
    return tuple(_rates(name, [item for item in outcomes if group(item) == name]) for name in names)


def _rates(name: str, outcomes: Sequence[JudgedOutcome]) -> AcceptanceRates:
    right = [item for item in outcomes if item.right]
    wrong = [item for item in outcomes if not item.right]
    return AcceptanceRates(
        group=name,
        true_positive=rate(sum(item.accepted for item in right), len(right)),
        true_negative=rate(sum(not item.accepted for item in wrong), len(wrong)),
    )


class JudgeReport(Record):
    """The figures of a judge in one dataset."""

    hits: Rate
    """Spoilt instructions in which it noticed something."""
    hits_by_kind: dict[str, Rate]
    """Hits by kind of spoiling."""
    false_alarms: Rate
    """First instructions of tasks that passed the check without a model but were refused. Some may really
    be wrong, so this is an upper bound."""


def judge_report(trials: Sequence[JudgeTrial], rounds: Iterable[Validation]) -> JudgeReport | None:
    """The figures; None without trials.

    >>> judge_report([], []) is None
    True
    """
    if not trials:
        return None
    first = [
        item for item in rounds if item.round == 1 and not item.literal_problems and not item.goal_problems
    ]
    kinds = sorted({item.kind for item in trials})
    return JudgeReport(
        hits=_hit_rate(trials),
        hits_by_kind={kind: _hit_rate([item for item in trials if item.kind == kind]) for kind in kinds},
        false_alarms=rate(sum(not item.accepted for item in first), len(first)),
    )


def _hit_rate(trials: Sequence[JudgeTrial]) -> Rate:
    return rate(sum(item.noticed for item in trials), len(trials))


GOOD_SCORE = 4
"""Tasks with this score or more have at most minor flaws."""


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
    """Critics that also wrote instructions of the dataset."""

    def lines(self) -> list[tuple[str, str]]:
        """The figures in words, each with its name."""
        means = ", ".join(f"{question} {self.means[question]:.2f}" for question in CRITIC_QUESTIONS)
        scores = f"{means} ({self.tasks} tasks, by {', '.join(self.critics)})"
        lines = [(f"critic's mean scores, of {HIGHEST_SCORE}", scores)]
        lines.append((f"tasks with at least {GOOD_SCORE} for everything", str(self.good)))
        if self.partial:
            warning = f"{', '.join(self.partial)} both wrote instructions and scored tasks"
            lines.append(("warning", f"{warning}; name another model for the role critic"))
        return lines


def critic_report(criticisms: Sequence[Criticism], writers: Collection[str] = ()) -> CriticReport | None:
    """The figures; None without scores.

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
        means={question: fmean(values) for question, values in scores.items()},
        good=rate(sum(not item.below(GOOD_SCORE) for item in criticisms), len(criticisms)),
        critics=critics,
        partial=tuple(name for name in critics if name in writers),
    )
