"""How good the judge of instructions is: what it notices of spoilt ones, and how often it refuses others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from taskloom.resources.record import Record
from taskloom.taskgraph.measures.acceptance_rates import Rate, rate
from taskloom.taskgraph.records.judge_trial import JudgeTrial
from taskloom.taskgraph.records.task import Validation


class JudgeReport(Record):
    """The figures of a judge in one dataset."""

    hits: Rate
    """Spoilt instructions in which it noticed something."""
    hits_by_kind: dict[str, Rate]
    """The same by what was done to them."""
    false_alarms: Rate
    """First instructions of tasks, passed by the check without a model, that it refused. Some may really be
    wrong, so this is an upper bound."""


def judge_report(trials: Sequence[JudgeTrial], rounds: Iterable[Validation]) -> JudgeReport | None:
    """The figures; None where nothing was spoilt.

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
        hits=_noticed(trials),
        hits_by_kind={kind: _noticed([item for item in trials if item.kind == kind]) for kind in kinds},
        false_alarms=rate(sum(not item.accepted for item in first), len(first)),
    )


def _noticed(trials: Sequence[JudgeTrial]) -> Rate:
    return rate(sum(item.noticed for item in trials), len(trials))
