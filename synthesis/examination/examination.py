"""Whether an evaluation function tells right from wrong: the kill matrix, idle conditions, unguarded changes.

Method section 4. Plain functions over records: the same examination serves cross-verification, a stored
dataset and a user's own function. A condition is a call of a check, in terms of the parameters, found by
running the function on right work. In a mutant of it, one of these conditions always gives its answer there,
or the opposite. A condition that may always give its answer, whatever the evidence, is idle.
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
"""Maximum conditions of one function to examine."""
_MOST_CHECKS = 6
_RANKS: Mapping[Reads, int] = {"inputs": 0, "screen": 1, "clipboard": 2, "files": 2}
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
        """The check with its arguments: equal for conditions that ask the same in two places."""
        return self.check, self.arguments

    def differs(self, calls: Sequence[CheckCall]) -> bool:
        """Whether a call of its check answered differently than on right work."""
        return any(call.check == self.check and call.answer != self.answer for call in calls)

    def describe(self) -> str:
        """The condition as a call.

        >>> Condition("check_file_exists", (("file_path", "{path}"),), 0, "True").describe()
        "check_file_exists('{path}') [call 0]"
        """
        texts = (text.replace("{{", "{").replace("}}", "}") for _, text in self.arguments)
        return f"{self.check}({', '.join(map(repr, texts))}) [call {self.index}]"


def conditions(evaluation: Evaluation, parameters: Mapping[str, str]) -> tuple[Condition, ...]:
    """The unique conditions that a function asked on right work, in order."""
    found: dict[object, Condition] = {}
    for index, call in enumerate(evaluation.calls):
        condition = Condition(call.check, _as_templates(call.arguments, parameters), index, call.answer)
        found.setdefault(condition.key, condition)
    return tuple(found.values())[:MOST_CONDITIONS]


def route_dependence(found: Sequence[Condition]) -> float:
    """Share of the conditions that read the input log rather than the state; 0 if there are none."""
    routes = [checks()[item.check].reads_route for item in found]
    return sum(routes) / len(routes) if routes else 0.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with changed answers to some of its conditions."""

    changed: Sequence[Condition]
    conditions: Sequence[Condition]
    """All conditions of the function."""
    flipped: bool = False
    """Whether they give the opposite of their answer on right work, rather than always that answer."""

    def alteration(self, parameters: Mapping[str, str]) -> Alteration:
        """How a sandbox alters the answers of a call with `parameters`.

        Calls are recognised by check and arguments; a call whose arguments no condition had on right work
        (they come from the state) is recognised by its number.
        """
        by_key = {item.key: item for item in self.changed}
        by_index = {item.index: item for item in self.changed}
        known = {item.key for item in self.conditions}

        def alter(index: int, check: Check, arguments: dict[str, str], answer: Answer) -> Answer:
            key = (check.name, _as_templates(arguments, parameters))
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


def _as_templates(arguments: Mapping[str, str], parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, templated(text[:LONGEST_RECORDED], parameters)) for name, text in arguments.items())


@dataclass(frozen=True, slots=True)
class _Judgement:
    case: Case
    evaluation: Evaluation
    excused: bool = False

    @property
    def is_correct(self) -> bool:
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
        positive: A recording of right work.
        instance: The bound subtask; its outputs show whether the screen is part of the result.
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
    """Judge `positive` and `cases` with the function in `source` and with its mutants.

    Wrong work counts as rejected only if the function answered failure; if the function crashed or was
    refused, the case survives, with the reason. Accepting a case may be excused if the function also accepts
    its start, but not the start of `positive`. Mutants are left out if the function does not pass `positive`,
    and all cases if it is refused there.
    """
    start, end = positive.initial_evidence, positive.final_evidence
    positive_case = Case("second_positive", positive.instruction, positive.parameters, end, start)
    examiner = _Examiner(source, positive_case, sandbox)
    first = examiner.evaluate(positive_case)
    if first.outcome == "refused":
        return FunctionQuality(positive_message=_describe_evaluation(first), routes=routes)
    discerning = not examiner.passes_at_start(positive_case)
    judgements = [examiner.judge(case, discerning) for case in cases]
    by_family = {
        name: [item for item in judgements if item.case.family == name] for name in get_args(CaseFamily)
    }
    unguarded = [item for item in by_family["undone_change"] if not item.is_correct and not item.excused]
    called = conditions(first, positive.parameters)
    examined = called if first.passed else ()
    survived = sum(not examiner.notices(Mutant([one], called, flipped=True), judgements) for one in examined)
    idle = _idle_conditions(examiner, examined, judgements)
    return FunctionQuality(
        passes_positive=first.passed,
        positive_message="" if first.passed else _describe_evaluation(first),
        families=tuple(_family_kills(name, found) for name, found in by_family.items() if found),
        route_dependence=round(route_dependence(called), 4),
        unguarded_changes=tuple(dict.fromkeys(item.case.description for item in unguarded)),
        mutants=2 * len(examined),
        mutants_killed=2 * len(examined) - survived - len(idle),
        untested_checks=tuple(item.describe() for item in examined if item in idle),
        refusing_checks=_refusing_conditions(examined, judgements),
        routes=routes,
    )


def _idle_conditions(
    examiner: _Examiner, found: Sequence[Condition], judgements: Sequence[_Judgement]
) -> list[Condition]:
    """Conditions unrelated to the work, which can all be removed together without changing any verdict.

    Only those that read clicks and typing, or texts on the screen that no parameter names, can be idle.
    Conditions that read files or the clipboard, or look on the screen for a parameter, are about the work:
    another condition may say the same, and both are right.
    """
    idle: list[Condition] = []
    for condition in sorted(found, key=lambda item: (_RANKS[checks()[item.check].reads], -item.index)):
        reads = checks()[condition.check].reads
        named = any(names_parameter(text) for _, text in condition.arguments)
        can_be_idle = reads == "inputs" or (reads == "screen" and not named)
        if can_be_idle and not examiner.notices(Mutant([*idle, condition], found), judgements):
            idle.append(condition)
    return idle


def _refusing_conditions(expected: Sequence[Condition], judgements: Sequence[_Judgement]) -> tuple[str, ...]:
    """Conditions that answer differently for right work that is refused."""
    usual = {item.key: item for item in expected}
    by_index = {item.index: item for item in expected}
    found: dict[str, None] = {}
    for item in (item for item in judgements if item.case.right and not item.is_correct):
        for other in conditions(item.evaluation, item.case.parameters):
            # Arguments read from the state may differ, so the position in the function counts as well.
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
        return self.evaluate(replace(case, evidence=case.start)).passed

    def judge(self, case: Case, discerning: bool) -> _Judgement:
        judgement = _Judgement(case, self.evaluate(case))
        if judgement.is_correct or not (case.excusable and discerning and judgement.evaluation.passed):
            return judgement
        return _Judgement(case, judgement.evaluation, self.passes_at_start(case))

    def notices(self, mutant: Mutant, judgements: Sequence[_Judgement]) -> bool:
        """Whether the mutant judges some case differently.

        Only cases where a check of its changed conditions answered differently than on right work can show
        that; those with the fewest failed checks are tried first.
        """
        if mutant.flipped and not self.evaluate(self.positive, mutant).passed:
            return True
        relevant = sorted(
            (
                item
                for item in judgements
                if any(one.differs(item.evaluation.calls) for one in mutant.changed)
            ),
            key=lambda item: sum(call.answer == "False" for call in item.evaluation.calls),
        )
        return any(self.evaluate(item.case, mutant).passed != item.evaluation.passed for item in relevant)

    def evaluate(self, case: Case, mutant: Mutant | None = None) -> Evaluation:
        alter = None if mutant is None else mutant.alteration(case.parameters)
        return self.sandbox.evaluate(
            self.source, case.parameters, case.evidence, start=case.start, alter=alter
        )


def _family_kills(family: CaseFamily, judgements: Sequence[_Judgement]) -> FamilyKills:
    counted = [item for item in judgements if not item.excused]
    return FamilyKills(
        family=family,
        total=len(counted),
        killed=sum(item.is_correct for item in counted),
        survivors=tuple(_survivor(item) for item in counted if not item.is_correct),
        excused=len(judgements) - len(counted),
    )


def _survivor(judgement: _Judgement) -> str:
    case, evaluation = judgement.case, judgement.evaluation
    if evaluation.outcome != "result":
        return f"{case.description} (it gave no answer: {_describe_evaluation(evaluation)})"
    if case.family in GENUINE_FAMILIES:
        return f"{case.description} (it said: {_describe_evaluation(evaluation)})"
    true_checks = [
        f"{call.check}({', '.join(repr(value[:60]) for value in call.arguments.values())})"
        for call in evaluation.calls
        if call.answer == "True"
    ]
    passed = list(dict.fromkeys(true_checks))
    more = f" and {len(passed) - _MOST_CHECKS} more" if len(passed) > _MOST_CHECKS else ""
    shown = ", ".join(passed[:_MOST_CHECKS]) or "no check"
    return f"{case.description} (it said success; still true: {shown}{more})"


def _describe_evaluation(evaluation: Evaluation) -> str:
    if evaluation.result is not None:
        return evaluation.said or "failure without a message"
    return f"{evaluation.outcome.replace('_', ' ')}: {evaluation.message}"
