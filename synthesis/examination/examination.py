"""Whether an evaluation function tells right from wrong: the kill matrix, idle conditions, unguarded changes.

Method section 4. Plain functions over records: the same examination serves cross-verification, a stored
dataset and a user's own function. In a mutant of a function one of its conditions no longer looks, or says
the opposite. A condition is a call of a check, in terms of the parameters, found by running the function on
right work; one whose answer may as well stay what it is, whatever the evidence, is idle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from taskloom.evaluators_api.checks.declaration import Answer, Check, checks
from taskloom.evaluators_api.interpreter.recorder import LONGEST_RECORDED, Alteration
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.templates import names_parameter, templated
from taskloom.synthesis.examination.altered_work import counterfeits, genuine_variants
from taskloom.synthesis.examination.other_work import (
    other_subtasks,
    recordings_with_other_parameters,
    unfinished_work,
    wrong_parameters,
)
from taskloom.synthesis.examination.subject import Case, subject_of
from taskloom.taskgraph.records.evaluation_function import (
    GENUINE_FAMILIES,
    CaseFamily,
    CheckCall,
    Evaluation,
    FamilyKills,
    FunctionQuality,
    Reads,
)
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

MOST_CONDITIONS = 60
"""Conditions of one function that are examined."""
_MOST_HELD = 6
_TELLING: Mapping[Reads, int] = {"inputs": 0, "screen": 1, "clipboard": 2, "files": 2}
_YES_OR_NO = ("True", "False")


@dataclass(frozen=True, slots=True)
class Condition:
    """A call of a check, in terms of the parameters."""

    check: str
    arguments: tuple[tuple[str, str], ...]
    """Names and texts of its arguments, in terms of the parameters, as templates."""
    index: int
    """Number of the call on right work, from 0."""
    answer: str
    """Its answer there, as text."""

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The check with its arguments: equal for conditions that ask the same at two places."""
        return self.check, self.arguments

    def differs(self, calls: Sequence[CheckCall]) -> bool:
        """Whether some call of its check is answered otherwise than it was on right work."""
        return any(call.check == self.check and call.answer != self.answer for call in calls)

    def describe(self) -> str:
        """The condition as a call.

        >>> Condition("check_file_exists", (("file_path", "{path}"),), 0, "True").describe()
        "check_file_exists('{path}') [call 0]"
        """
        told = (text.replace("{{", "{").replace("}}", "}") for _, text in self.arguments)
        return f"{self.check}({', '.join(map(repr, told))}) [call {self.index}]"


def conditions(evaluation: Evaluation, parameters: Mapping[str, str]) -> tuple[Condition, ...]:
    """The unique conditions that a function asked on right work, in order."""
    found: dict[object, Condition] = {}
    for index, call in enumerate(evaluation.calls):
        condition = Condition(call.check, _generic(call.arguments, parameters), index, call.answer)
        found.setdefault(condition.key, condition)
    return tuple(found.values())[:MOST_CONDITIONS]


def route_dependence(asked: Sequence[Condition]) -> float:
    """Share of the conditions that read the inputs made rather than the state reached; 0 without any."""
    routes = [checks()[item.check].reads_route for item in asked]
    return sum(routes) / len(routes) if routes else 0.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with changed answers to some of its conditions."""

    changed: Sequence[Condition]
    asked: Sequence[Condition]
    """All conditions of the function."""
    flipped: bool = False
    """Whether they say the opposite of what they say on right work, rather than always that."""

    def alteration(self, parameters: Mapping[str, str]) -> Alteration:
        """What a sandbox does to the answers of a call with `parameters`.

        Calls are recognised by what they ask; one that asks what no condition asks on right work (its
        arguments come from the state) is recognised by its number.
        """
        by_key = {item.key: item for item in self.changed}
        by_index = {item.index: item for item in self.changed}
        known = {item.key for item in self.asked}

        def alter(index: int, check: Check, arguments: dict[str, str], answer: Answer) -> Answer:
            key = (check.name, _generic(arguments, parameters))
            found = by_key.get(key)
            if found is None and key not in known:
                found = by_index.get(index)
            if found is None or found.check != check.name:
                return answer
            if check.returns != "str":
                return (found.answer == "True") != self.flipped
            opposite = "" if found.answer else "other"
            return opposite if self.flipped else found.answer

        return alter


def _generic(arguments: Mapping[str, str], parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, templated(text[:LONGEST_RECORDED], parameters)) for name, text in arguments.items())


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


def build_cases(
    positive: Trajectory,
    *,
    instance: BoundSubtask | None = None,
    other_parameter_sets: Sequence[Mapping[str, str]] = (),
    other_trajectories: Sequence[Trajectory] = (),
) -> tuple[Case, ...]:
    """Every case for the function that judges `positive`'s subtask, by family.

    Args:
        positive: A recording in which the subtask was done.
        instance: The bound subtask; its outputs say whether the screen is part of the result.
        other_parameter_sets: The subtask's parameter sets; that of `positive` is left out.
        other_trajectories: Recordings of any subtask. Those of the same subtask tell essential effects from
            incidental ones, must pass with their own values and fail with those of `positive`; the rest are
            other subtasks.
    """
    finished = [item for item in other_trajectories if item.termination == "finished" and item.steps]
    subject = subject_of(positive, finished, instance)
    return (
        *unfinished_work(subject),
        *wrong_parameters(subject, other_parameter_sets),
        *recordings_with_other_parameters(subject),
        *other_subtasks(subject, finished),
        *counterfeits(subject),
        *genuine_variants(subject),
    )


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
    start, end = positive.initial_evidence, positive.final_evidence
    own = Case("second_positive", positive.instruction, positive.parameters, end, start)
    examiner = _Examiner(source, own, sandbox)
    first = examiner.says(own)
    if first.outcome == "refused":
        return FunctionQuality(positive_message=_told(first), routes=routes)
    discerning = not examiner.passes_at_start(own)
    judged = [examiner.judge(case, discerning) for case in cases]
    by_family = {name: [item for item in judged if item.case.family == name] for name in get_args(CaseFamily)}
    undone = [item for item in by_family["undone_change"] if not item.rightly and not item.excused]
    asked = conditions(first, positive.parameters)
    altered = asked if first.passed else ()
    flipped = sum(not examiner.notices(Mutant([item], asked, flipped=True), judged) for item in altered)
    idle = _idle(examiner, altered, judged)
    return FunctionQuality(
        passes_positive=first.passed,
        positive_message="" if first.passed else _told(first),
        families=tuple(_kills(name, found) for name, found in by_family.items() if found),
        route_dependence=round(route_dependence(asked), 4),
        unguarded_changes=tuple(dict.fromkeys(item.case.description for item in undone)),
        mutants=2 * len(altered),
        mutants_killed=2 * len(altered) - flipped - len(idle),
        untested_checks=tuple(item.describe() for item in altered if item in idle),
        refusing_checks=_refusing(altered, judged),
        routes=routes,
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
        reads = checks()[one.check].reads
        named = any(names_parameter(text) for _, text in one.arguments)
        counts = reads == "inputs" or (reads == "screen" and not named)
        if counts and not examiner.notices(Mutant([*idle, one], asked), judged):
            idle.append(one)
    return idle


def _refusing(asked: Sequence[Condition], judged: Sequence[_Judgement]) -> tuple[str, ...]:
    """Conditions that answer otherwise for right work that is refused."""
    usual = {item.key: item for item in asked}
    by_index = {item.index: item for item in asked}
    found: dict[str, None] = {}
    for item in (item for item in judged if item.case.right and not item.rightly):
        for other in conditions(item.evaluation, item.case.parameters):
            # What was read of the state for it may differ, so the place in the function counts as well.
            known = usual.get(other.key) or by_index.get(other.index)
            if known and known.check == other.check and known.answer != other.answer:
                found |= {known.describe(): None} if known.answer in _YES_OR_NO else {}
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Examiner:
    source: str
    positive: Case
    sandbox: EvaluationSandbox

    def passes_at_start(self, case: Case) -> bool:
        return self.says(replace(case, evidence=case.start)).passed

    def judge(self, case: Case, discerning: bool) -> _Judgement:
        judgement = _Judgement(case, self.says(case))
        if judgement.rightly or not (case.excusable and discerning and judgement.evaluation.passed):
            return judgement
        return _Judgement(case, judgement.evaluation, self.passes_at_start(case))

    def notices(self, altered: Mutant, judged: Sequence[_Judgement]) -> bool:
        """Whether some case is judged otherwise by the mutant.

        Only cases in which a check of its changed conditions answered otherwise than on right work can tell;
        those with the fewest such answers are asked first.
        """
        if altered.flipped and not self.says(self.positive, altered).passed:
            return True
        telling = sorted(
            (item for item in judged if any(one.differs(item.evaluation.calls) for one in altered.changed)),
            key=lambda item: sum(call.answer == "False" for call in item.evaluation.calls),
        )
        return any(self.says(item.case, altered).passed != item.evaluation.passed for item in telling)

    def says(self, case: Case, altered: Mutant | None = None) -> Evaluation:
        alter = None if altered is None else altered.alteration(case.parameters)
        return self.sandbox.evaluate(
            self.source, case.parameters, case.evidence, start=case.start, alter=alter
        )


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
    case, evaluation = judgement.case, judgement.evaluation
    if evaluation.outcome != "result":
        return f"{case.description} (it gave no answer: {_told(evaluation)})"
    if case.family in GENUINE_FAMILIES:
        return f"{case.description} (it said: {_told(evaluation)})"
    held = [
        f"{call.check}({', '.join(repr(value[:60]) for value in call.arguments.values())})"
        for call in evaluation.calls
        if call.answer == "True"
    ]
    names = list(dict.fromkeys(held))
    more = f" and {len(names) - _MOST_HELD} more" if len(names) > _MOST_HELD else ""
    shown = ", ".join(names[:_MOST_HELD]) or "no check"
    return f"{case.description} (it said success; still true: {shown}{more})"


def _told(evaluation: Evaluation) -> str:
    if evaluation.result is not None:
        return evaluation.said or "failure without a message"
    return f"{evaluation.outcome.replace('_', ' ')}: {evaluation.message}"
