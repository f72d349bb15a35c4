"""Cross-verification: trajectories and evaluation functions verify each other (3.2, B.2, method section 3).

A function is judged on evidence already recorded; only if that does not help is the subtask performed again.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskloom.resources.reading.translation import parameters_in
from taskloom.synthesis.cross_verification.clean_work import allowances_of, performance_effects, side_effects
from taskloom.synthesis.cross_verification.function_writing import (
    STAGE,
    FunctionWriting,
    SubtaskFailedError,
    Work,
)
from taskloom.synthesis.cross_verification.performances import Performances
from taskloom.synthesis.cross_verification.resource_evidence import contradictions
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask, instances_to_verify
from taskloom.synthesis.exploration.exploration import ExplorationSettings, propose_again
from taskloom.synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskloom.taskgraph.records.effect import PerformanceEffects
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, VerificationRound
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.taskgraph.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome for one subtask, with everything recorded on the way."""

    subtask: Subtask
    """The subtask, with its final declarations."""
    verified: VerifiedSubtask | None
    rejection: Rejection | None
    rounds: tuple[VerificationRound, ...]
    """Every judgement of a function on a trajectory."""
    trajectories: tuple[Trajectory, ...]
    functions: tuple[EvaluationFunction, ...]
    effects: tuple[PerformanceEffects, ...] = ()


@dataclass(slots=True)
class CrossVerifier(FunctionWriting):
    """Verifies subtasks, as many at a time as there are environments."""

    exploration: ExplorationSettings
    """Settings for proposing again what evidence contradicts."""

    async def verify(self, subtask: Subtask) -> Verification:
        """Verify `subtask`, which must have been announced to the pool, and settle it there.

        Raises:
            ModelClientError: calls cannot go on at all (budget, key, provider).
        """
        work = Work(subtask, Performances(self.stage))
        verified, rejection = None, None
        provenance = self.stage.provenance.model_copy(update={"stage": STAGE})
        try:
            verified = await self._verify(work)
        except SubtaskFailedError as failure:
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
                provenance=provenance,
            )
        await self.stage.pool.settle(subtask.subtask_id, verified)
        agreed = verified.trajectories if verified else ()
        effects = await asyncio.to_thread(performance_effects, work.performances.recorded, agreed, provenance)
        return Verification(
            subtask=work.subtask,
            verified=verified,
            rejection=rejection,
            rounds=tuple(work.rounds),
            trajectories=tuple(work.performances.recorded),
            functions=tuple(work.functions),
            effects=effects,
        )

    async def _verify(self, work: Work) -> VerifiedSubtask:
        revisions, number, unclean = 0, 1, ""
        while number <= self.settings.rounds:
            instances, setups = await self._prepare(work.subtask)
            trajectories = await work.performances.agreed(
                instances, setups, self.settings.performances_per_instance
            )
            if not trajectories:
                reasons = work.performances.reasons_to_stop
                revisions += 1
                if reasons and await self._propose_again(work, reasons, revisions):
                    continue
                if unclean:
                    raise SubtaskFailedError("side_effects", unclean)
                reason = "invalid_start" if work.performances.none_started else "not_reproducible"
                raise SubtaskFailedError(reason, work.performances.explain())
            unclean = self._discard_unclean(work, trajectories)
            if unclean:
                continue
            problems = _contradictions(instances, trajectories)
            if problems:
                revisions += 1
                await self._declare_again(work, trajectories, problems, revisions)
                continue
            function = await self.write_function(work, number, trajectories)
            if function is not None:
                allowed = await asyncio.to_thread(allowances_of, trajectories)
                return VerifiedSubtask(
                    subtask=work.subtask.model_copy(
                        update={"available_parameters": tuple(item.parameters for item in instances)}
                    ),
                    function=function.model_copy(update={"allowed": allowed}),
                    trajectories=tuple(trajectories),
                )
            if work.refused_by_all:
                work.performances.discard(trajectories)
            number += 1
        last = work.rounds[-1].reason if work.rounds else "its declarations were contradicted in every round"
        raise SubtaskFailedError("not_verified", f"no evaluation function was accepted: {last}")

    def _discard_unclean(self, work: Work, trajectories: Sequence[Trajectory]) -> str:
        """Discard performances that changed too much, tell the actor, and return the changes in words.

        Accepted work must be clean, because functions do not look for other changes.
        """
        found = side_effects(trajectories, work.performances.agreeing_with(trajectories))
        reasons = {name: f"changed more than the subtask is about: {what}" for name, what in found.items()}
        for item in trajectories:
            if item.trajectory_id in reasons:
                work.performances.discard([item], reasons[item.trajectory_id])
        return "; ".join(f"{name} {what}" for name, what in reasons.items())

    async def _prepare(self, subtask: Subtask) -> tuple[list[BoundSubtask], dict[str, SetupTrajectory]]:
        """The instances to perform, and what each needs first. If nothing verified provides what one reads, a
        further parameter set takes its place, in the same world."""
        wanted = self.settings.parameter_sets
        instances = instances_to_verify(subtask, self.stage.applications, self.categories, wanted)
        further: list[Mapping[str, str]] = list(subtask.available_parameters[wanted:])
        chosen: list[BoundSubtask] = []
        setups: dict[str, SetupTrajectory] = {}
        for variant, first in enumerate(instances):
            for instance in self._candidates(subtask, first, further):
                setup = await self.stage.pool.setup_trajectory(instance, variant)
                if setup is not None and instance.instance_id not in setups:
                    chosen.append(instance)
                    setups[instance.instance_id] = setup
                    break
            else:
                needed = ", ".join(f"{item.category} {item.value}".strip() for item in first.inputs)
                raise SubtaskFailedError(
                    "inputs_unavailable", f"nothing verified provides what it reads: {needed}"
                )
        return chosen, setups

    def _candidates(
        self, subtask: Subtask, first: BoundSubtask, further: list[Mapping[str, str]]
    ) -> Iterator[BoundSubtask]:
        yield first
        while further:
            values = parameters_in(self.stage.applications, further.pop(0), first.world)
            yield subtask.bind(values, self.categories, first.world)

    async def _propose_again(self, work: Work, reasons: Sequence[str], revision: int) -> bool:
        """Tell the explorer what went wrong; returns whether it changed its proposal."""
        if revision > self.exploration.revisions:
            return False
        problems = [f"it could not be verified: {reason}" for reason in reasons]
        proposal = await self._ask_explorer(work.subtask, problems, revision, work.performances.recorded)
        if proposal is None or _meaning(proposal) == _meaning(work.subtask):
            return False
        work.subtask = proposal
        work.performances.discard(work.performances.recorded)
        return True

    async def _ask_explorer(
        self, subtask: Subtask, problems: Sequence[str], revision: int, recorded: Sequence[Trajectory]
    ) -> Subtask | None:
        return await propose_again(
            subtask,
            self.stage.applications[subtask.application],
            problems,
            models=self.stage.models,
            categories=self.categories,
            attempt=self.exploration.declaration_rounds + revision,
            performance=next(reversed(recorded), None),
        )

    async def _declare_again(
        self, work: Work, trajectories: list[Trajectory], problems: list[str], revision: int
    ) -> None:
        """Ask for new declarations; if they stay the same, doubt the performances instead.

        Raises:
            SubtaskFailedError: all attempts that the settings allow failed.
        """
        if revision > self.exploration.revisions:
            raise SubtaskFailedError("wrong_resource", "; ".join(problems))
        subtask = work.subtask
        proposal = await self._ask_explorer(subtask, problems, revision, trajectories)
        if proposal is not None and (proposal.inputs, proposal.outputs) != (subtask.inputs, subtask.outputs):
            work.subtask = subtask.model_copy(update={"inputs": proposal.inputs, "outputs": proposal.outputs})
            if proposal.inputs == subtask.inputs:
                return
        work.performances.discard(trajectories, "; ".join(problems))


def _contradictions(instances: Sequence[BoundSubtask], trajectories: Sequence[Trajectory]) -> list[str]:
    by_id = {item.instance_id: item for item in instances}
    return list(
        dict.fromkeys(text for item in trajectories for text in contradictions(by_id[item.instance_id], item))
    )


def _meaning(subtask: Subtask) -> tuple[object, ...]:
    return subtask.instruction_template, subtask.available_parameters, subtask.inputs, subtask.outputs
