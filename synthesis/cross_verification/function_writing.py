"""Evaluation functions of one subtask: written, judged on all evidence, and revised until acceptable.

With two writers, neither sees the other's function, both functions must be acceptable, and they must agree on
everything recorded, including unfinished states.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from pydantic import Field

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.model_clients.errors import CallFailedError
from taskloom.resources.categories import ResourceCategory
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.agreement import routes
from taskloom.synthesis.cross_verification.performances import Performances, Stage
from taskloom.synthesis.errors import SynthesisError
from taskloom.synthesis.evaluation_functions.evaluation_functions import Criticism, write_evaluation_function
from taskloom.synthesis.evaluation_functions.task_shapes import without_ends
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import is_on_screen
from taskloom.synthesis.examination.verdict import Thresholds, feedback
from taskloom.taskgraph.records.evaluation_function import (
    Evaluation,
    EvaluationFunction,
    FunctionQuality,
    VerificationRound,
)
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.trajectory import Trajectory

STAGE = "cross_verification"
_MOST_DISAGREEMENTS = 4


class VerificationSettings(Record):
    """Settings of cross-verification."""

    rounds: int = Field(default=3, ge=1)
    """Rounds of performing and function writing (N in the paper)."""
    functions_per_round: int = Field(default=3, ge=1)
    """Functions tried on the evidence of one round before the subtask is performed again."""
    parameter_sets: int = Field(default=2, ge=1)
    """Parameter sets that are performed and verified; the verified subtask does not include the others."""
    performances_per_instance: int = Field(default=5, ge=1)
    """Maximum performances per parameter set, over all rounds."""
    other_subtasks: int = Field(default=6, ge=0)
    """Performances of other subtasks that the function is tested on; some may turn out to be correct."""
    writers: int = Field(default=1, ge=1, le=2)
    """Functions written independently of each other, which must agree on everything recorded; 2 doubles the
    writer's calls."""
    again: tuple[str, ...] = ()
    """Ids of rejected proposals to try once more, unchanged; `*` stands for any text (`tracker.*`). Their
    attempt numbers continue, so that models are asked anew."""
    thresholds: Thresholds = Thresholds()
    """What the examination must show."""


class SubtaskFailedError(SynthesisError):
    """A subtask that cannot be verified; becomes a rejection."""

    def __init__(self, reason: str, message: str) -> None:
        """A failure with its short code and full explanation."""
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(slots=True)
class Writer:
    """What one writer knows of its functions for a subtask."""

    criticism: Criticism | None = None
    tried: set[tuple[str, ...]] = field(default_factory=set)
    """Sources judged so far, each with the performances it was judged on: repeating one is pointless."""


@dataclass(slots=True)
class Work:
    """The state of one subtask in cross-verification."""

    subtask: Subtask
    performances: Performances
    rounds: list[VerificationRound] = field(default_factory=list)
    functions: list[EvaluationFunction] = field(default_factory=list)
    writers: dict[int, Writer] = field(default_factory=dict)
    refused_by_all: bool = False
    """Whether every function of the last round refused the performances, which are then doubted too."""


@dataclass(slots=True)
class FunctionWriting:
    """Has functions written and judges them."""

    stage: Stage
    sandbox: EvaluationSandbox
    categories: Mapping[str, ResourceCategory]
    settings: VerificationSettings
    examination_seconds: float = field(default=0.0, init=False)
    """Time spent on examining functions so far, summed over those examined in parallel."""

    async def write_function(
        self, work: Work, number: int, trajectories: list[Trajectory]
    ) -> EvaluationFunction | None:
        """A function that judges all evidence correctly; None if a round's attempts did not yield one.

        Raises:
            SubtaskFailedError: a writer gives no usable reply.
            ModelClientError: calls cannot go on at all.
        """
        work.refused_by_all = True
        if self.settings.writers == 1:
            return await self._write(work, number, trajectories, work.writers.setdefault(0, Writer()))
        for _ in range(self.settings.functions_per_round):
            writers = [work.writers.setdefault(index, Writer()) for index in range(self.settings.writers)]
            functions: list[EvaluationFunction] = []
            for writer in writers:
                function = await self._write(work, number, trajectories, writer)
                if function is None:
                    return None
                functions.append(function)
            found = await asyncio.to_thread(
                disagreements, functions, [*trajectories, *work.performances.usable], self.sandbox
            )
            if not any(found):
                return functions[0]
            for writer, function, messages in zip(writers, functions, found, strict=True):
                writer.criticism = Criticism(function.source, _without_ends(messages, trajectories))
                self._record(work, number, function, trajectories, None, reason="\n".join(messages))
        return None

    async def _write(
        self, work: Work, number: int, trajectories: list[Trajectory], writer: Writer
    ) -> EvaluationFunction | None:
        stage = self.stage
        for _ in range(self.settings.functions_per_round):
            instance = work.subtask.bind(trajectories[0].parameters, self.categories)
            try:
                function = await write_evaluation_function(
                    work.subtask,
                    stage.applications[work.subtask.application],
                    trajectories,
                    models=stage.models,
                    result_on_screen=is_on_screen(instance),
                    criticism=writer.criticism,
                    attempt=len(work.functions) + stage.tried.functions.get(work.subtask.subtask_id, 0),
                    provenance=stage.provenance,
                )
            except CallFailedError as error:
                raise SubtaskFailedError("no_usable_reply", str(error)) from error
            judged = (function.source, *(item.trajectory_id for item in trajectories))
            if judged in writer.tried:
                return None
            writer.tried.add(judged)
            work.functions.append(function)
            accepted = await self._judge(work, number, function, trajectories, writer)
            if accepted is not None:
                return accepted
        return None

    async def _judge(
        self,
        work: Work,
        number: int,
        function: EvaluationFunction,
        trajectories: list[Trajectory],
        writer: Writer,
    ) -> EvaluationFunction | None:
        """The function with its quality if it judges all evidence correctly; otherwise sets the writer's
        criticism."""
        inputs = ((item.parameters, item.final_evidence, item.initial_evidence) for item in trajectories)
        evaluations = await asyncio.gather(
            *(asyncio.to_thread(self.sandbox.evaluate, function.source, *values) for values in inputs)
        )
        failed = [evaluation.said for evaluation in evaluations if not evaluation.passed]
        if failed:
            reason = f"does not accept a right performance: {'; '.join(dict.fromkeys(failed))}"
            writer.criticism = Criticism(function.source, _without_ends([reason], trajectories))
            self._record(work, number, function, trajectories, evaluations, reason=reason)
            return None
        work.refused_by_all = False
        others = await self.stage.pool.others(work.subtask, self.settings.other_subtasks)
        started = perf_counter()
        quality = await asyncio.to_thread(self._examine, function, work.subtask, trajectories, others)
        self.examination_seconds += perf_counter() - started
        reason = feedback(quality, self._thresholds(quality, len(others)))
        self._record(work, number, function, trajectories, evaluations, reason=reason, quality=quality)
        if not reason:
            return function.model_copy(update={"quality": quality})
        writer.criticism = Criticism(function.source, _without_ends([reason], trajectories), quality)
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
            other_parameter_sets=subtask.available_parameters,
            other_trajectories=[*trajectories[1:], *others],
        )
        return examine(function.source, positive, cases, self.sandbox, routes=len(routes(trajectories)))

    def _thresholds(self, quality: FunctionQuality, others: int) -> Thresholds:
        """The thresholds; a pool with too few other subtasks is held only to those it has."""
        thresholds = self.settings.thresholds
        if others >= self.settings.other_subtasks:
            return thresholds
        tested = sum(item.total + item.excused for item in quality.families if item.family == "other_subtask")
        least = min(thresholds.least_other_subtasks, tested)
        return thresholds.model_copy(update={"least_other_subtasks": least})

    def _record(
        self,
        work: Work,
        number: int,
        function: EvaluationFunction,
        trajectories: Sequence[Trajectory],
        evaluations: Sequence[Evaluation] | None,
        *,
        reason: str,
        quality: FunctionQuality | None = None,
    ) -> None:
        last = len(work.functions) % self.settings.functions_per_round == 0
        evaluation_of_each: Sequence[Evaluation | None] = evaluations or [None] * len(trajectories)
        for trajectory, evaluation in zip(trajectories, evaluation_of_each, strict=True):
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


def _without_ends(messages: Sequence[str], trajectories: Sequence[Trajectory]) -> tuple[str, ...]:
    """Messages in the terms of the task, for a writer that does not see how performances ended."""
    return tuple(without_ends(message, trajectories) for message in messages)


def disagreements(
    functions: Sequence[EvaluationFunction], performances: Sequence[Trajectory], sandbox: EvaluationSandbox
) -> list[tuple[str, ...]]:
    """For each function, the recorded states that another one judges differently, in words; empty if all
    agree.

    Every state of every performance is judged, not only its end: this shows whether work counts as done too
    early or too late.
    """
    messages: list[list[str]] = [[] for _ in functions]
    for label, trajectory, evidence in _labelled_states(performances):
        evaluations = [
            sandbox.evaluate(item.source, trajectory.parameters, evidence, start=trajectory.initial_evidence)
            for item in functions
        ]
        if len({item.passed for item in evaluations}) == 1:
            continue
        for number, own in enumerate(evaluations):
            other = next(item for item in evaluations if item.passed != own.passed)
            messages[number].append(
                f"{label}, your function says {_describe_verdict(own)}; another one, written independently"
                f" for the same instruction, says {_describe_verdict(other)}. One of them is wrong: decide by"
                " the instruction."
            )
    return [tuple(items[:_MOST_DISAGREEMENTS]) for items in messages]


def _labelled_states(performances: Sequence[Trajectory]) -> Iterator[tuple[str, Trajectory, Evidence]]:
    for trajectory in {item.trajectory_id: item for item in performances}.values():
        yield f"Before the first step of {trajectory.instruction!r}", trajectory, trajectory.initial_evidence
        for step in trajectory.steps:
            when = "At the end" if step is trajectory.steps[-1] else f"After step {step.step}"
            yield f"{when} of {trajectory.instruction!r}", trajectory, step.evidence


def _describe_verdict(evaluation: Evaluation) -> str:
    if evaluation.result is None:
        return f"nothing ({evaluation.outcome.replace('_', ' ')}: {evaluation.message})"
    verdict = "success" if evaluation.result.success else "failure"
    return f"{verdict} ({evaluation.result.message})" if evaluation.result.message else verdict
