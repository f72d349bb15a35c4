"""Growing the pool: applications are explored, and each subtask is verified as soon as it is proposed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from flows.stages.known_pool import is_unchanged, load_verified
from flows.wiring import Run
from model_clients.errors import BatchPendingError
from resources.applications import Application
from synthesis.cross_verification.cross_verification import CrossVerifier, Verification
from synthesis.cross_verification.performances import Stage
from synthesis.cross_verification.verification_pool import VerificationPool
from synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from synthesis.exploration.exploration import explore_application
from synthesis.trajectories.trajectories import Picture, annotated_picture, plain_picture
from taskgraph.records.evaluation_function import EvaluationFunction
from taskgraph.records.model_roles import ModelRole
from taskgraph.records.provenance import Provenance
from taskgraph.records.subtask import Subtask

EXPLORATION = "exploration"
VERIFICATION = "verification"


@dataclass(slots=True)
class PoolGrowth:
    """The growth of the pool in one run."""

    run: Run
    """The run."""
    pool: VerificationPool
    """Where subtasks meet."""
    verifier: CrossVerifier
    """Verifies them."""
    known: dict[str, VerifiedSubtask]
    """Verified by earlier runs."""
    verified: dict[str, VerifiedSubtask] = field(default_factory=dict)
    """Verified subtasks by id, old and new."""
    accepted: dict[str, EvaluationFunction] = field(default_factory=dict)
    """Functions that earlier runs accepted, by subtask; verifying a subtask anew takes that back."""
    proposals: dict[str, list[Subtask]] = field(default_factory=dict)
    """Proposals still to be verified, by application."""
    waiting: int = 0
    """Applications and subtasks whose calls wait for answers from elsewhere; a later run goes on with them."""

    @classmethod
    def of(cls, run: Run) -> PoolGrowth:
        """The growth of `run`'s pool, on top of what the warehouse holds."""
        pool = VerificationPool(run.applications, run.categories)
        stage = Stage(
            models=run.models,
            environments=run.environments,
            applications=run.applications,
            pool=pool,
            settings=run.settings.trajectories,
            picture=_picture(run),
            provenance=Provenance(run_id=run.run_id, seed=run.settings.seed),
        )
        verifier = CrossVerifier(
            stage=stage,
            sandbox=run.sandbox,
            categories=run.categories,
            settings=run.settings.verification,
            exploration=run.settings.exploration,
        )
        return cls(
            run,
            pool,
            verifier,
            known=load_verified(run.warehouse, run.applications),
            accepted={item.subtask_id: item for item in run.warehouse.read(EvaluationFunction, "accepted")},
        )

    async def explore(self, application: Application) -> int:
        """Explore one application and announce its proposals; how many are still to be verified."""
        run = self.run
        run.progress.begin(EXPLORATION, 1)
        await run.recorder.record(application, replace=True)
        try:
            exploration = await explore_application(
                application,
                models=run.models,
                environments=run.environments,
                categories=run.categories,
                settings=run.settings.exploration,
                provenance=Provenance(run_id=run.run_id, stage=EXPLORATION, seed=run.settings.seed),
            )
        except BatchPendingError:
            self.waiting += 1
            await self.pool.postpone(application.name)
            return 0
        await run.recorder.record(*exploration.rejections)
        await self.pool.announce(exploration.subtasks)
        new = []
        for subtask in exploration.subtasks:
            known = self.known.get(subtask.subtask_id)
            if known and is_unchanged(subtask, known, run.settings.verification.parameter_sets):
                self.verified[subtask.subtask_id] = known
                await self.pool.settle(subtask.subtask_id, known)
                for trajectory in known.trajectories:
                    await self.pool.record(trajectory)
            else:
                new.append(subtask)
        await run.recorder.record(*new)
        self.proposals[application.name] = new
        run.progress.done(EXPLORATION)
        return len(new)

    async def verify(self, application: str) -> int:
        """Verify an application's proposals side by side, recording each as it is settled; all its verified ones."""
        proposals = self.proposals.pop(application, [])
        if proposals:
            self.run.progress.begin(VERIFICATION, len(proposals))
        async with asyncio.TaskGroup() as group:
            for subtask in proposals:
                group.create_task(self._verify(subtask))
        return sum(item.subtask.application == application for item in self.verified.values())

    async def _verify(self, subtask: Subtask) -> None:
        try:
            verification = await self.verifier.verify(subtask)
        except BatchPendingError:
            self.waiting += 1
            return
        await self._record(verification)
        if verification.verified is not None:
            self.verified[subtask.subtask_id] = verification.verified
            self.run.progress.done(VERIFICATION)
        else:
            self.run.progress.rejected(VERIFICATION)

    async def _record(self, verification: Verification) -> None:
        recorder, verified = self.run.recorder, verification.verified
        await recorder.record(*verification.trajectories, *verification.rounds, replace=True)
        if verification.rejection:
            await recorder.record(verification.rejection)
        accepted = verified.function.function_id if verified else None
        functions = {item.function_id: item for item in verification.functions}
        earlier = self.accepted.get(verification.subtask.subtask_id)
        if earlier:
            functions.setdefault(earlier.function_id, earlier.model_copy(update={"accepted": False}))
        if verified and accepted:
            functions[accepted] = verified.function.model_copy(update={"accepted": True})
        await recorder.record(
            *functions.values(), verified.subtask if verified else verification.subtask, replace=True
        )


def _picture(run: Run) -> Picture:
    """What the actor is shown: the screen with numbered boxes, or the plain one where nobody looks (offline provider)."""
    if run.settings.is_offline(ModelRole.ACTOR):
        return plain_picture
    return annotated_picture
