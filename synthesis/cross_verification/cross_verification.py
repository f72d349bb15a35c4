"""Cross-verification: trajectories and evaluation functions prove each other, round by round (3.2, B.2, method section 3).

Trajectories come first and must agree among themselves and with the declared resources; then a function is written and
judged on the evidence already recorded, which costs no environment. Only when that does not help is the subtask
performed again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from evaluators_api.interpreter.sandbox import EvaluationSandbox
from model_clients.errors import CallFailedError
from resources.categories import ResourceCategory
from synthesis.cross_verification.agreement import routes
from synthesis.cross_verification.performance_effects import performance_effects
from synthesis.cross_verification.performances import Performances, Stage
from synthesis.cross_verification.resource_evidence import contradictions
from synthesis.cross_verification.verification_settings import VerificationSettings
from synthesis.cross_verification.verified_instances import instances_to_verify
from synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from synthesis.evaluation_functions.evaluation_functions import Criticism, write_evaluation_function
from synthesis.examination.case_building import build_cases
from synthesis.examination.examination import examine
from synthesis.examination.subject import is_on_screen
from synthesis.examination.verdict import Thresholds, feedback
from synthesis.exploration.exploration import ExplorationSettings, propose_again
from synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskgraph.records.effect import PerformanceEffects
from taskgraph.records.evaluation_function import (
    Evaluation,
    EvaluationFunction,
    FunctionQuality,
    VerificationRound,
)
from taskgraph.records.subtask import BoundSubtask, Subtask
from taskgraph.records.task import Rejection
from taskgraph.records.trajectory import Trajectory

STAGE = "cross_verification"


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of one subtask, with everything recorded along the way."""

    subtask: Subtask
    """The subtask, with the declarations it ended with."""
    verified: VerifiedSubtask | None
    """The verified subtask, if it is."""
    rejection: Rejection | None
    """The reason, if it is not."""
    rounds: tuple[VerificationRound, ...]
    """Every judgement of a function on a trajectory."""
    trajectories: tuple[Trajectory, ...]
    """Every performance."""
    functions: tuple[EvaluationFunction, ...]
    """Every function written."""
    effects: tuple[PerformanceEffects, ...] = ()
    """What every finished performance changed."""


class _StageFailedError(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(slots=True)
class _Work:
    subtask: Subtask
    performances: Performances
    rounds: list[VerificationRound] = field(default_factory=list)
    functions: list[EvaluationFunction] = field(default_factory=list)
    criticism: Criticism | None = None
    tried: set[tuple[str, ...]] = field(default_factory=set)
    """Sources judged already, with the performances they were judged on: a writer that repeats itself knows nothing better."""
    refused_by_all: bool = False
    """Whether every function of the last round refused the performances, which are then doubted as well."""


@dataclass(slots=True)
class CrossVerifier:
    """Verifies subtasks, as many at a time as there are environments."""

    stage: Stage
    """What performing needs."""
    sandbox: EvaluationSandbox
    """Where evaluation functions run."""
    categories: Mapping[str, ResourceCategory]
    """Resource categories by name."""
    settings: VerificationSettings
    """Settings of this stage."""
    exploration: ExplorationSettings
    """Settings for proposing again what evidence contradicts."""
    examination_seconds: float = 0.0
    """Time spent on examining functions so far, summed over those examined side by side."""

    async def verify(self, subtask: Subtask) -> Verification:
        """Verify `subtask`, which must have been announced to the pool, and settle it there.

        Raises:
            BatchPendingError: a call, of this subtask or of one that it needs, waits for an answer from elsewhere.
            ModelClientError: calls cannot go on at all (budget, key, provider).
        """
        work = _Work(subtask, Performances(self.stage))
        verified, rejection = None, None
        try:
            verified = await self._verify(work)
        except _StageFailedError as failure:
            rejection = Rejection(
                item_kind="subtask",
                item_id=subtask.subtask_id,
                stage=STAGE,
                reason=failure.reason,
                message=failure.message,
                details={
                    "instruction_template": work.subtask.instruction_template,
                    "parameter_sets": json.dumps(work.subtask.available_parameters, ensure_ascii=False),
                    "performances": str(len(work.performances.recorded)),
                    "functions": str(len(work.functions)),
                },
                provenance=self.stage.provenance.model_copy(update={"stage": STAGE}),
            )
        except BaseException:
            await self.stage.pool.postpone(subtask.subtask_id)
            raise
        await self.stage.pool.settle(subtask.subtask_id, verified)
        effects = await asyncio.to_thread(
            performance_effects,
            work.performances.recorded,
            verified.trajectories if verified else (),
            self.stage.provenance.model_copy(update={"stage": STAGE}),
        )
        return Verification(
            subtask=work.subtask,
            verified=verified,
            rejection=rejection,
            rounds=tuple(work.rounds),
            trajectories=tuple(work.performances.recorded),
            functions=tuple(work.functions),
            effects=effects,
        )

    async def _verify(self, work: _Work) -> VerifiedSubtask:
        revisions, number = 0, 1
        while number <= self.settings.rounds:
            instances = self._instances(work.subtask)
            setups = await self._setups(instances)
            trajectories = await work.performances.agreed(
                instances, setups, self.settings.performances_per_instance
            )
            if not trajectories:
                reasons = work.performances.hopeless
                revisions += 1
                if reasons and await self._propose_again(work, reasons, revisions):
                    continue
                reason = "invalid_start" if work.performances.none_began else "not_reproducible"
                raise _StageFailedError(reason, work.performances.explain())
            problems = _contradictions(instances, trajectories)
            if problems:
                revisions += 1
                await self._declare_again(work, trajectories, problems, revisions)
                continue
            function = await self._function(work, number, trajectories)
            if function is not None:
                return VerifiedSubtask(
                    subtask=work.subtask.model_copy(
                        update={"available_parameters": tuple(item.parameters for item in instances)}
                    ),
                    function=function,
                    trajectories=tuple(trajectories),
                )
            if work.refused_by_all:
                work.performances.discard(trajectories)
            number += 1
        last = work.rounds[-1].reason if work.rounds else "its declarations were contradicted in every round"
        raise _StageFailedError("not_verified", f"no evaluation function was accepted: {last}")

    def _instances(self, subtask: Subtask) -> list[BoundSubtask]:
        return instances_to_verify(
            subtask, self.stage.applications, self.categories, self.settings.parameter_sets
        )

    async def _setups(self, instances: Sequence[BoundSubtask]) -> dict[str, SetupTrajectory]:
        setups = {}
        for variant, instance in enumerate(instances):
            setup = await self.stage.pool.setup_trajectory(instance, variant)
            if setup is None:
                needed = ", ".join(f"{item.category} {item.value}".strip() for item in instance.inputs)
                raise _StageFailedError(
                    "inputs_unavailable", f"nothing verified provides what it reads: {needed}"
                )
            setups[instance.instance_id] = setup
        return setups

    async def _propose_again(self, work: _Work, reasons: Sequence[str], revision: int) -> bool:
        """Tell the explorer why the actor gave up; returns whether it changed its proposal."""
        if revision > self.exploration.revisions:
            return False
        subtask = work.subtask
        again = await propose_again(
            subtask,
            self.stage.applications[subtask.application],
            [f"it could not be performed: {reason}" for reason in reasons],
            models=self.stage.models,
            categories=self.categories,
            settings=self.exploration,
            attempt=self.exploration.declaration_rounds + revision,
        )
        if again is None or _meaning(again) == _meaning(subtask):
            return False
        work.subtask = again
        work.performances.discard(work.performances.recorded)
        return True

    async def _declare_again(
        self, work: _Work, trajectories: list[Trajectory], problems: list[str], revision: int
    ) -> None:
        """Ask for new declarations; if they stay the same, doubt the performances instead.

        Raises:
            _StageFailedError: as often as the settings allow it did not help.
        """
        if revision > self.exploration.revisions:
            raise _StageFailedError("wrong_resource", "; ".join(problems))
        stage, subtask = self.stage, work.subtask
        again = await propose_again(
            subtask,
            stage.applications[subtask.application],
            problems,
            models=stage.models,
            categories=self.categories,
            settings=self.exploration,
            attempt=self.exploration.declaration_rounds + revision,
        )
        if again is not None and (again.inputs, again.outputs) != (subtask.inputs, subtask.outputs):
            work.subtask = subtask.model_copy(update={"inputs": again.inputs, "outputs": again.outputs})
            if again.inputs == subtask.inputs:
                return
        work.performances.discard(trajectories, "; ".join(problems))

    async def _function(
        self, work: _Work, number: int, trajectories: list[Trajectory]
    ) -> EvaluationFunction | None:
        """A function that judges all evidence rightly, or None after all tries of the round."""
        stage = self.stage
        work.refused_by_all = True
        for _ in range(self.settings.functions_per_round):
            try:
                function = await write_evaluation_function(
                    work.subtask,
                    stage.applications[work.subtask.application],
                    trajectories,
                    models=stage.models,
                    result_on_screen=is_on_screen(
                        work.subtask.bind(trajectories[0].parameters, self.categories)
                    ),
                    criticism=work.criticism,
                    attempt=len(work.functions),
                    provenance=stage.provenance,
                )
            except CallFailedError as error:
                raise _StageFailedError("no_usable_reply", str(error)) from error
            tried = (function.source, *(item.trajectory_id for item in trajectories))
            if tried in work.tried:
                return None
            work.tried.add(tried)
            work.functions.append(function)
            accepted = await self._judge(work, number, function, trajectories)
            if accepted is not None:
                return accepted
        return None

    async def _judge(
        self, work: _Work, number: int, function: EvaluationFunction, trajectories: list[Trajectory]
    ) -> EvaluationFunction | None:
        """The function with its quality if it is right about all evidence; otherwise what is wrong becomes criticism."""
        evaluations = await asyncio.gather(
            *(
                asyncio.to_thread(
                    self.sandbox.evaluate,
                    function.source,
                    item.parameters,
                    item.final_evidence,
                    item.initial_evidence,
                )
                for item in trajectories
            )
        )
        failed = [_message(evaluation) for evaluation in evaluations if not evaluation.passed]
        if failed:
            reason = f"does not accept a right performance: {'; '.join(dict.fromkeys(failed))}"
            work.criticism = Criticism(function.source, messages=(reason,))
            self._note(work, number, function, trajectories, evaluations, reason=reason)
            return None
        work.refused_by_all = False
        others = await self.stage.pool.others(work.subtask, self.settings.other_subtasks)
        started = perf_counter()
        quality = await asyncio.to_thread(self._examine, function, work.subtask, trajectories, others)
        self.examination_seconds += perf_counter() - started
        reason = feedback(quality, self._thresholds(quality, len(others)))
        self._note(work, number, function, trajectories, evaluations, reason=reason, quality=quality)
        if not reason:
            return function.model_copy(update={"quality": quality})
        work.criticism = Criticism(
            function.source,
            messages=(reason,),
            surviving_families=tuple(item.family for item in quality.families if item.killed < item.total),
            untested_checks=quality.untested_checks,
            refusing_checks=quality.refusing_checks,
        )
        return None

    def _examine(
        self,
        function: EvaluationFunction,
        subtask: Subtask,
        trajectories: Sequence[Trajectory],
        others: Sequence[Trajectory],
    ) -> FunctionQuality:
        positive = trajectories[0]
        cases = build_cases(
            positive,
            instance=subtask.bind(positive.parameters, self.categories),
            other_parameter_sets=[
                item for item in subtask.available_parameters if item != positive.parameters
            ],
            other_trajectories=[*trajectories[1:], *others],
        )
        return examine(function.source, positive, cases, self.sandbox, routes=len(routes(trajectories)))

    def _thresholds(self, quality: FunctionQuality, others: int) -> Thresholds:
        """The thresholds; lowered to the number of other subtasks if the pool is too small."""
        thresholds = self.settings.thresholds
        if others >= self.settings.other_subtasks:
            return thresholds
        held = sum(item.total + item.excused for item in quality.families if item.family == "other_subtask")
        least = min(thresholds.least_other_subtasks, held)
        return thresholds.model_copy(update={"least_other_subtasks": least})

    def _note(
        self,
        work: _Work,
        number: int,
        function: EvaluationFunction,
        trajectories: Sequence[Trajectory],
        evaluations: Sequence[Evaluation],
        *,
        reason: str,
        quality: FunctionQuality | None = None,
    ) -> None:
        last = len(work.functions) % self.settings.functions_per_round == 0
        for trajectory, evaluation in zip(trajectories, evaluations, strict=True):
            work.rounds.append(
                VerificationRound(
                    verification_id=f"{work.subtask.subtask_id}:{len(work.rounds) + 1}",
                    subtask_id=work.subtask.subtask_id,
                    round=number,
                    instance_id=trajectory.instance_id,
                    trajectory_id=trajectory.trajectory_id,
                    function_id=function.function_id,
                    evaluation=evaluation,
                    quality=quality,
                    accepted=not reason,
                    revised="none" if not reason else "both" if last else "evaluation_function",
                    reason=reason,
                    provenance=self.stage.provenance.model_copy(update={"stage": STAGE}),
                )
            )


def _contradictions(instances: Sequence[BoundSubtask], trajectories: Sequence[Trajectory]) -> list[str]:
    """What every performance shows against the declarations; with a single performance, what that one shows."""
    found = [
        problem
        for instance, trajectory in zip(instances, trajectories, strict=True)
        for problem in contradictions(instance, trajectory)
    ]
    return list(dict.fromkeys(found))


def _meaning(subtask: Subtask) -> tuple[object, ...]:
    return subtask.instruction_template, subtask.available_parameters, subtask.inputs, subtask.outputs


def _message(evaluation: Evaluation) -> str:
    return evaluation.result.message if evaluation.result else f"{evaluation.outcome}: {evaluation.message}"
