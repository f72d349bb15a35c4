"""Examines whether an evaluation function tells right from wrong: the kill matrix, idle conditions, unguarded
changes.

Method section 4. The paper tests three trajectories of other tasks; here a function is held against
everything that recorded evidence can stand for (see `case_building`), and its own mutants are held against
the same cases. Plain functions over records: the same examination serves cross-verification, a stored dataset
and a user's own function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from taskloom.evaluators_api.checks.registry import checks
from taskloom.evaluators_api.interpreter.recorder import Alteration
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.templates import names_parameter
from taskloom.synthesis.examination.cases import Case
from taskloom.synthesis.examination.mutation import (
    Condition,
    Mutant,
    conditions,
    differs,
    mutant,
    route_dependence,
)
from taskloom.taskgraph.records.check_facts import Reads
from taskloom.taskgraph.records.evaluation_function import (
    GENUINE_FAMILIES,
    CaseFamily,
    Evaluation,
    FamilyKills,
    FunctionQuality,
)
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import Trajectory

_MOST_HELD = 6
_TELLING: Mapping[Reads, int] = {"inputs": 0, "screen": 1, "clipboard": 2, "files": 2}
_YES_OR_NO = ("True", "False")


@dataclass(frozen=True, slots=True)
class _Judgement:
    case: Case
    evaluation: Evaluation
    excused: bool = False

    @property
    def rightly(self) -> bool:
        """Whether the case was judged as it should be; wrong work counts as rejected only by an answer."""
        if self.case.right:
            return self.evaluation.passed
        return not self.evaluation.passed and self.evaluation.outcome == "result"


def examine(
    source: str,
    positive: Trajectory,
    cases: Sequence[Case],
    sandbox: EvaluationSandbox,
    *,
    routes: int = 1,
) -> FunctionQuality:
    """Hold the function in `source` against `positive` and `cases`, and its mutants against the same.

    Wrong work counts as rejected only when the function answered with failure; where it crashed or was
    refused it survives, with the reason. A function that fails where nothing was done may be excused where
    what it is asked about was so before the first step of another recording. Mutants are left out when the
    function does not pass the positive, and all cases when it is refused there: it is not a function that
    could be held against anything.
    """
    examiner = _Examiner(source, positive, sandbox)
    first = examiner.positive()
    if first.outcome == "refused":
        return FunctionQuality(positive_message=told(first), routes=routes)
    discerning = not examiner.passes_at_start(positive.parameters, positive.initial_evidence)
    judged = [examiner.judge(case, discerning) for case in cases]
    families = tuple(
        _kills(family, [item for item in judged if item.case.family == family])
        for family in get_args(CaseFamily)
        if any(item.case.family == family for item in judged)
    )
    asked = conditions(first, positive.parameters)
    quality = FunctionQuality(
        passes_positive=first.passed,
        positive_message="" if first.passed else told(first),
        families=families,
        route_dependence=round(route_dependence(asked), 4),
        unguarded_changes=tuple(
            dict.fromkeys(
                item.case.description
                for item in judged
                if item.case.family == "undone_change" and not item.rightly and not item.excused
            )
        ),
        routes=routes,
    )
    if not first.passed:
        return quality
    flipped = sum(not examiner.notices(mutant([item], asked, flipped=True), judged) for item in asked)
    idle = _idle(examiner, asked, judged)
    return quality.model_copy(
        update={
            "mutants": 2 * len(asked),
            "mutants_killed": 2 * len(asked) - flipped - len(idle),
            "untested_checks": tuple(item.describe() for item in asked if item in idle),
            "refusing_checks": _refusing(asked, judged),
        }
    )


def _idle(examiner: _Examiner, asked: Sequence[Condition], judged: Sequence[_Judgement]) -> list[Condition]:
    """Conditions about nothing that the work is about, which can all be left out together without a case
    being judged otherwise.

    Those read clicks and typing, or texts of the screen that no parameter names. What reads files or the
    clipboard, or asks the screen for what a parameter says, is about the work: another condition may say the
    same, and both are right.
    """
    idle: list[Condition] = []
    for one in sorted(asked, key=lambda item: (_TELLING[checks()[item.check].reads], -item.index)):
        named = any(names_parameter(text) for _, text in one.arguments)
        if _TELLING[checks()[one.check].reads] > 1 or (checks()[one.check].reads == "screen" and named):
            continue
        if not examiner.notices(mutant([*idle, one], asked), judged):
            idle.append(one)
    return idle


def _refusing(asked: Sequence[Condition], judged: Sequence[_Judgement]) -> tuple[str, ...]:
    """Conditions that answer otherwise for right work that is refused."""
    usual = {item.key: item for item in asked}
    by_index = {item.index: item for item in asked}
    found: dict[str, None] = {}
    for item in judged:
        if item.case.right and not item.rightly:
            for other in conditions(item.evaluation, item.case.parameters):
                known = usual.get(other.key) or by_index.get(other.index)
                if known is None or known.check != other.check:
                    continue  # what was read of the state for it may differ, so the place in the function counts as well  # noqa: E501
                if known.answer != other.answer and known.answer in _YES_OR_NO:
                    found[known.describe()] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Examiner:
    source: str
    subject: Trajectory
    sandbox: EvaluationSandbox

    def positive(self, alter: Alteration | None = None) -> Evaluation:
        """What the function says of the recording in which the subtask was done."""
        return self.sandbox.evaluate(
            self.source,
            self.subject.parameters,
            self.subject.final_evidence,
            start=self.subject.initial_evidence,
            alter=alter,
        )

    def passes_at_start(self, parameters: Mapping[str, str], start: Evidence) -> bool:
        """Whether the function passes where nothing was done."""
        return self.sandbox.evaluate(self.source, parameters, start, start=start).passed

    def judge(self, case: Case, discerning: bool) -> _Judgement:
        """What the function says of `case`."""
        judgement = _Judgement(case, self._evaluate(case))
        if judgement.rightly or not (case.excusable and discerning and judgement.evaluation.passed):
            return judgement
        return _Judgement(case, judgement.evaluation, self.passes_at_start(case.parameters, case.start))

    def notices(self, altered: Mutant, judged: Sequence[_Judgement]) -> bool:
        """Whether some case is judged otherwise by the mutant.

        Only cases in which a check of its changed conditions answered otherwise than on right work can tell;
        those with the fewest such answers are asked first.
        """
        if altered.flipped and not self.positive(altered.alteration(self.subject.parameters)).passed:
            return True
        telling = sorted(
            (item for item in judged if any(_concerns(one, item.evaluation) for one in altered.changed)),
            key=lambda item: sum(call.answer == "False" for call in item.evaluation.calls),
        )
        return any(
            self._evaluate(item.case, altered.alteration(item.case.parameters)).passed
            != item.evaluation.passed
            for item in telling
        )

    def _evaluate(self, case: Case, alter: Alteration | None = None) -> Evaluation:
        return self.sandbox.evaluate(
            self.source, case.parameters, case.evidence, start=case.start, alter=alter
        )


def _concerns(condition: Condition, evaluation: Evaluation) -> bool:
    return any(differs(condition, call) for call in evaluation.calls)


def _kills(family: CaseFamily, judged: Sequence[_Judgement]) -> FamilyKills:
    counted = [item for item in judged if not item.excused]
    return FamilyKills(
        family=family,
        total=len(counted),
        killed=sum(item.rightly for item in counted),
        survivors=tuple(_survivor(item) for item in counted if not item.rightly),
        excused=len(judged) - len(counted),
    )


def _survivor(judgement: _Judgement) -> str:
    """What was done, and what the function said."""
    case, evaluation = judgement.case, judgement.evaluation
    if evaluation.outcome != "result":
        return f"{case.description} (it gave no answer: {told(evaluation)})"
    if case.family in GENUINE_FAMILIES:
        return f"{case.description} (it said: {told(evaluation)})"
    held = [
        f"{call.check}({', '.join(repr(value[:60]) for value in call.arguments.values())})"
        for call in evaluation.calls
        if call.answer == "True"
    ]
    names = list(dict.fromkeys(held))
    more = f" and {len(names) - _MOST_HELD} more" if len(names) > _MOST_HELD else ""
    return (
        f"{case.description} (it said success; still true:"
        f" {', '.join(names[:_MOST_HELD]) or 'no check'}{more})"
    )


def told(evaluation: Evaluation) -> str:
    """What a function answered, or why it did not."""
    if evaluation.result is not None:
        return evaluation.result.message or "failure without a message"
    return f"{evaluation.outcome.replace('_', ' ')}: {evaluation.message}"
