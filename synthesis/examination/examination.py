"""Does an evaluation function tell right from wrong? The kill matrix, its thresholds and the words for the writer.

Method section 4. The paper tests three trajectories of other tasks; here a function is held against everything that
recorded evidence can stand for (see `counterfactuals`), and its own mutants are held against the same evidence. Plain
functions over records: the same examination serves cross-verification, a stored dataset and a user's own function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, get_args

from pydantic import Field

from resources.record import Record
from synthesis.examination.counterfactuals import build_negatives
from synthesis.examination.mutation import mutants, route_dependence
from synthesis.examination.negative_evidence import Negative
from synthesis.examination.unfinished_work import unfinished_steps
from taskgraph.records.evaluation_function import Evaluation, FamilyKills, FunctionQuality, NegativeFamily
from taskgraph.records.evidence import Evidence
from taskgraph.records.trajectory import Trajectory

__all__ = [
    "Negative",
    "NegativeThresholds",
    "Sandbox",
    "build_negatives",
    "examine",
    "feedback",
    "unacceptable",
    "unfinished_steps",
]

_SHOWN_SURVIVORS = 4
_REMEDIES: Mapping[NegativeFamily, str] = {
    "no_op": "Check something that is only there once the subtask is done.",
    "truncation": "Check what the remaining steps change.",
    "near_miss": "Check the state that only the right control leads to.",
    "wrong_parameter": "Check the values of the parameters, not fixed texts, and check every parameter.",
    "not_saved": "Check the stored result: the file, the clipboard, or what the application shows once it has stored it.",
    "other_subtask": "Check something that belongs to this subtask alone.",
    "second_positive": "Do not demand a certain route; check the state that every way of doing it leads to.",
}


class NegativeThresholds(Record):
    """What an evaluation function must achieve to be accepted."""

    survivors_allowed: int = Field(default=0, ge=0)
    """Negatives per family that it may wrongly accept."""
    least_other_subtasks: int = Field(default=3, ge=0)
    """Other subtasks it must have been held against; the paper uses three."""
    least_mutation_score: float = Field(default=0.5, ge=0, le=1)
    """Share of its mutants that the evidence must tell from it."""
    most_route_dependence: float = Field(default=0.75, ge=0, le=1)
    """Largest share of its checks that may read the inputs made rather than the state reached."""
    second_positive_required: bool = False
    """Whether a second, independent performance of the same instance must be there, and pass."""


class Sandbox(Protocol):
    """What runs evaluation functions; `evaluators_api.interpreter.sandbox.EvaluationSandbox` is one."""

    def evaluate(self, source: str, parameters: Mapping[str, str], evidence: Evidence) -> Evaluation:
        """Judge `evidence`; never raises from inside the function."""
        ...


@dataclass(frozen=True, slots=True)
class _Judgement:
    negative: Negative
    evaluation: Evaluation

    @property
    def right(self) -> bool:
        if self.negative.family == "second_positive":
            return self.evaluation.passed
        return self.evaluation.outcome == "result" and not self.evaluation.passed


def examine(
    source: str, positive: Trajectory, negatives: Sequence[Negative], sandbox: Sandbox, *, mutate: bool = True
) -> FunctionQuality:
    """Hold the function in `source` against `positive` and `negatives`, and its mutants against the same evidence.

    A negative counts as killed only when the function answered with failure; one on which it crashed or was refused
    survives, with the reason. A function that fails where nothing was done may be excused where its question was already
    answered before the first step of the other recording. Mutation is left out when the function does not pass the positive.
    """
    first = sandbox.evaluate(source, positive.parameters, positive.final_evidence)
    judged = [
        _Judgement(item, sandbox.evaluate(source, item.parameters, item.evidence)) for item in negatives
    ]
    discerning = not sandbox.evaluate(source, positive.parameters, positive.initial_evidence).passed
    excused = {
        id(item.negative)
        for item in judged
        if discerning and not item.right and _excused(source, item, sandbox)
    }
    families = tuple(
        _kills(family, [item for item in judged if item.negative.family == family], excused)
        for family in get_args(NegativeFamily)
        if any(item.negative.family == family for item in judged)
    )
    quality = FunctionQuality(
        passes_positive=first.passed,
        positive_message="" if first.passed else _told(first),
        families=families,
        route_dependence=round(route_dependence(source), 4),
    )
    if not mutate or not first.passed:
        return quality
    return _with_mutation(quality, source, positive, judged, sandbox)


def unacceptable(quality: FunctionQuality, thresholds: NegativeThresholds) -> tuple[str, ...]:
    """Why a function of this quality is not accepted, one sentence each; empty when it is."""
    reasons = []
    if not quality.passes_positive:
        reasons.append(
            f"It does not pass the recording in which the subtask was done: {quality.positive_message}"
        )
    for kills in quality.families:
        wrong = kills.total - kills.killed
        if wrong > thresholds.survivors_allowed:
            verb = "rejects" if kills.family == "second_positive" else "accepts"
            reasons.append(
                f"It wrongly {verb} {wrong} of {kills.total} pieces of evidence of the family {kills.family}."
            )
    tried = sum(kills.total + kills.excused for kills in quality.families if kills.family == "other_subtask")
    if tried < thresholds.least_other_subtasks:
        reasons.append(
            f"It was held against {tried} other subtasks; at least {thresholds.least_other_subtasks} are asked for."
        )
    if thresholds.second_positive_required and not any(
        kills.family == "second_positive" for kills in quality.families
    ):
        reasons.append("There is no second, independent performance of the same instance to hold it against.")
    if quality.route_dependence > thresholds.most_route_dependence:
        reasons.append(
            f"{quality.route_dependence:.0%} of its checks judge the route (clicks and keys) rather than the state"
            f" reached; at most {thresholds.most_route_dependence:.0%} may."
        )
    score = quality.mutation_score
    if score is not None and score < thresholds.least_mutation_score:
        reasons.append(
            f"The evidence tells only {score:.0%} of its mutants from it; at least"
            f" {thresholds.least_mutation_score:.0%} are asked for."
        )
    return tuple(reasons)


def feedback(quality: FunctionQuality, thresholds: NegativeThresholds | None = None) -> str:
    """What the Code LLM is told of an unacceptable function: which wrong work it accepts, and what to check instead.

    Empty when the function is acceptable.
    """
    limits = thresholds or NegativeThresholds()
    reasons = unacceptable(quality, limits)
    if not reasons:
        return ""
    lines = ["The evaluation function is not good enough:"]
    lines += [f"- {reason}" for reason in reasons]
    for kills in quality.families:
        if kills.total - kills.killed <= limits.survivors_allowed:
            continue
        opposite = "failure" if kills.family == "second_positive" else "success"
        lines.append(f"It said {opposite} although:")
        lines += [f"  - {survivor}" for survivor in kills.survivors[:_SHOWN_SURVIVORS]]
        if len(kills.survivors) > _SHOWN_SURVIVORS:
            lines.append(f"  - and {len(kills.survivors) - _SHOWN_SURVIVORS} more of this kind")
        lines.append(f"  {_REMEDIES[kills.family]}")
    if quality.route_dependence > limits.most_route_dependence:
        lines.append("Replace checks of clicks and typed keys by checks of files, controls or the clipboard.")
    if quality.untested_checks:
        checks = ", ".join(quality.untested_checks[:_SHOWN_SURVIVORS])
        lines.append(f"These checks make no difference on any recorded evidence: {checks}.")
    return "\n".join(lines)


def _excused(source: str, judgement: _Judgement, sandbox: Sandbox) -> bool:
    """Whether the function's question was already answered before the first step, as when a file that is to be
    deleted never was in this recording.
    """
    negative = judgement.negative
    if negative.baseline is None or not judgement.evaluation.passed:
        return False
    return sandbox.evaluate(source, negative.parameters, negative.baseline).passed


def _kills(family: NegativeFamily, judged: Sequence[_Judgement], excused: set[int]) -> FamilyKills:
    counted = [item for item in judged if id(item.negative) not in excused]
    return FamilyKills(
        family=family,
        total=len(counted),
        killed=sum(item.right for item in counted),
        survivors=tuple(_survivor(item) for item in counted if not item.right),
        excused=len(judged) - len(counted),
    )


def _survivor(judgement: _Judgement) -> str:
    evaluation = judgement.evaluation
    if evaluation.outcome != "result":
        return f"{judgement.negative.description} (it did not answer: {_told(evaluation)})"
    if judgement.negative.family == "second_positive":
        return f"{judgement.negative.description} (it said: {_told(evaluation)})"
    held = [
        f"{call.check}({', '.join(repr(value) for value in call.arguments.values())})"
        for call in evaluation.calls
        if call.answer == "True"
    ]
    return f"{judgement.negative.description} (still true: {', '.join(dict.fromkeys(held)) or 'no check'})"


def _told(evaluation: Evaluation) -> str:
    if evaluation.result is not None:
        return evaluation.result.message or "failure without a message"
    return f"{evaluation.outcome.replace('_', ' ')}: {evaluation.message}"


def _with_mutation(
    quality: FunctionQuality,
    source: str,
    positive: Trajectory,
    judged: Sequence[_Judgement],
    sandbox: Sandbox,
) -> FunctionQuality:
    """Count the mutants that some evidence tells from the original; a mutant is asked until the first difference."""
    made = mutants(source)
    killed = 0
    untested: dict[int, str] = {}
    for mutant in made:
        if not sandbox.evaluate(mutant.source, positive.parameters, positive.final_evidence).passed or any(
            sandbox.evaluate(mutant.source, item.negative.parameters, item.negative.evidence).passed
            != item.evaluation.passed
            for item in judged
        ):
            killed += 1
        else:
            untested[mutant.site] = mutant.check
    return quality.model_copy(
        update={
            "mutants": len(made),
            "mutants_killed": killed,
            "untested_checks": tuple(dict.fromkeys(untested.values())),
        }
    )
