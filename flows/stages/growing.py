"""Growing the pool: explores applications and verifies each subtask as soon as it is proposed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

from taskloom.environments.errors import EnvironmentFailureError
from taskloom.environments.installing.applications import installed_place
from taskloom.flows.nights.choices import choice_for
from taskloom.flows.pool import (
    exploration_memory,
    load_set_aside,
    load_verified,
    proposals_to_try_again,
    tried_before,
    undecided_proposals,
    version_of,
)
from taskloom.flows.running.together import together
from taskloom.flows.stages.results import ExploredApplication, number_repetitions
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.resources.applications import Application
from taskloom.resources.assets import catalog_folder
from taskloom.resources.reading.translation import applications_in, worlds_of
from taskloom.synthesis.cross_verification.cross_verification import CrossVerifier, Verification
from taskloom.synthesis.cross_verification.performances import Performance, Scene, Stage
from taskloom.synthesis.cross_verification.verification_pool import VerificationPool
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask, instances_to_verify
from taskloom.synthesis.exploration.exploration import explore_application
from taskloom.synthesis.exploration.memory import with_records
from taskloom.synthesis.noise.noise import is_measured, keep, measure_noise, read_kept, with_noise
from taskloom.synthesis.trajectories.trajectories import Picture, annotated_picture, plain_picture
from taskloom.taskgraph.records.effect import ApplicationNoise
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.trajectory import Trajectory

EXPLORATION = "exploration"
VERIFICATION = "verification"

_MEASURED_WORLDS = 2
"""Worlds in which every subtask is verified: the first one and the first of the others."""


async def _perform(performance: Performance, place: Workplace, _: KnownSubtasks) -> Trajectory:
    return await performance.do(
        Scene(
            models=place.models,
            environments=place.environments,
            applications=place.applications,
            settings=place.settings.performing,
            picture=_picture(place),
            provenance=place.provenance(),
        )
    )


class PoolGrowth:
    """Grows the pool in one run."""

    def __init__(self, run: Run) -> None:
        """Grow the pool of `run`, starting from what the warehouse holds."""
        self.run = run
        self.verified: dict[str, VerifiedSubtask] = {}
        """Verified subtasks by id, old and new."""
        self._known = load_verified(run.warehouse, run.applications)
        self._set_aside = load_set_aside(run.warehouse)
        accepted = run.warehouse.read(EvaluationFunction, "accepted")
        self._accepted = {item.subtask_id: item for item in accepted}
        """Functions that earlier runs accepted, by subtask; verifying a subtask again revokes this."""
        self._settled: set[str] = set()
        """Subtasks that this run verified or rejected."""
        sets = run.settings.verification.parameter_sets
        self._pool = VerificationPool(run.applications, run.categories, parameter_sets=sets)
        workers = run.workers
        stage = Stage(
            models=run.models,
            environments=run.environments,
            applications=run.applications,
            pool=self._pool,
            settings=run.settings.performing,
            picture=_picture(run),
            provenance=run.provenance(),
            delegate=(lambda wanted: workers.run_job(partial(_perform, wanted))) if workers else None,
            tried=tried_before(run.warehouse, run.settings.verification.again, run.run_id),
        )
        self._verifier = CrossVerifier(
            stage=stage,
            sandbox=run.sandbox,
            categories=run.categories,
            settings=run.settings.verification,
            exploration=run.settings.exploration,
        )

    async def explore(self, application: Application) -> ExploredApplication:
        """Explore one application and announce its proposals."""
        run = self.run
        run.progress.begin(EXPLORATION, 1)
        application = await self._with_noise(application)
        choice = await asyncio.to_thread(choice_for, run, application.name)
        await run.recorder.record(application, choice, replace=True)
        if not choice.explored:
            return await self._keep_known(application)
        again = run.settings.verification.again
        memory = exploration_memory(run.warehouse, application, self._known.values(), run.run_id, again)
        exploring = run.settings.exploration
        if run.settings.is_offline(ModelRole.EXPLORER):  # it follows rules and looks at nothing
            exploring = exploring.model_copy(update={"walk_steps": 0})
        exploration = await explore_application(
            application,
            models=run.models,
            environments=run.environments,
            categories=run.categories,
            settings=exploring,
            memory=memory,
            performed=run.settings.verification.parameter_sets,
            provenance=run.provenance(EXPLORATION),
        )
        for category in exploration.categories:
            run.categories.setdefault(category.name, category.category)
        run.applications.replace(with_records(application, exploration.records))
        await run.recorder.record(
            *exploration.screens,
            *exploration.categories,
            *exploration.records,
            *number_repetitions(exploration.rejections),
        )
        entering = self._entering_subtasks(application, exploration.subtasks)
        new = [subtask for subtask, known in entering if known is None]
        unchanged = [known for _, known in entering if known is not None]
        await self._pool.announce(subtask for subtask, _ in entering)
        for known in unchanged:
            await self._take_over(known)
        await run.recorder.record(*new)
        run.progress.done(EXPLORATION)
        failed = any(item.item_kind == "application" for item in exploration.rejections)
        return ExploredApplication(
            proposals=tuple(new),
            unchanged=tuple(item.subtask.subtask_id for item in unchanged),
            choice=None if failed else choice,
        )

    async def _with_noise(self, application: Application) -> Application:
        """The entry with the changes that the application makes by itself. They are measured in the worlds of
        verification unless known for its version; exploration handles a failure to start."""
        run, settings, name = self.run, self.run.settings.noise, application.name
        installed = installed_place(application, run.settings.data)
        stored = {
            item.noise_id: item for item in run.warehouse.read(ApplicationNoise, "application = ?", [name])
        }
        kept = (*read_kept(catalog_folder()), *read_kept(installed))
        measured = stored | {item.noise_id: item for item in kept if item.application == name}
        worlds = worlds_of(run.applications)[:_MEASURED_WORLDS]
        entries = [applications_in(run.applications, world)[name] for world in worlds]
        others = [item for item in run.applications.values() if item.platform == application.platform]
        other = next((item for item in others if item.name != name), None)
        if settings.recordings and not is_measured(entries, measured.values()):
            try:
                used = {name, other.name} if other else {name}
                async with run.environments.lease(application.platform, used) as environment:
                    noise = await measure_noise(
                        entries, environment, settings, run.provenance("noise"), other
                    )
            except EnvironmentFailureError:
                return application
            measured[noise.noise_id] = noise
            keep(installed, measured.values())
        new = [item for item in measured.values() if item != stored.get(item.noise_id)]
        await run.recorder.record(*new, replace=True)
        run.applications.replace(with_noise(application, measured.values()))
        return run.applications[name]

    async def _keep_known(self, application: Application) -> ExploredApplication:
        """Keep an application as it is: its verified subtasks stay verified, and nothing is proposed."""
        kept = [
            item for _, item in sorted(self._known.items()) if item.subtask.application == application.name
        ]
        await self._pool.announce(item.subtask for item in kept)
        for item in kept:
            await self._take_over(item)
        self.run.progress.done(EXPLORATION)
        return ExploredApplication(unchanged=tuple(item.subtask.subtask_id for item in kept))

    def _entering_subtasks(
        self, application: Application, subtasks: Iterable[Subtask]
    ) -> list[tuple[Subtask, VerifiedSubtask | None]]:
        """Every subtask that enters the pool, proposed again or not, with its verified form, in an order that
        resuming keeps; also undecided proposals of earlier runs, but no curated subtask that the catalogue
        has since changed or dropped."""
        run_id = self.run.run_id
        entering = {
            named.subtask_id: (named, known)
            for named, known in (version_of(item, self._known, self._instances, run_id) for item in subtasks)
        }
        for name, item in sorted(self._known.items()):
            if item.subtask.application == application.name and item.subtask.origin != "curated":
                entering.setdefault(name, (item.subtask, item))
        again = self.run.settings.verification.again
        for proposal in (
            *undecided_proposals(self.run.warehouse, application.name, self._known),
            *proposals_to_try_again(self.run.warehouse, application.name, again, run_id),
        ):
            entering.setdefault(proposal.subtask_id, (proposal, None))
        return list(entering.values())

    def _instances(self, subtask: Subtask) -> list[BoundSubtask]:
        run = self.run
        sets = run.settings.verification.parameter_sets
        return instances_to_verify(subtask, run.applications, run.categories, sets)

    async def all_explored(self) -> None:
        """Tell subtasks that wait for products of others that no more will be proposed."""
        self.run.progress.end(EXPLORATION)
        await self._pool.complete()

    async def verify(self, explored: ExploredApplication) -> tuple[str, ...]:
        """Verify an application's proposals concurrently, recording each result as it arrives; returns the
        ids of its verified subtasks, including unchanged ones."""
        proposals = [item for item in explored.proposals if item.subtask_id not in self._settled]
        if proposals:
            self.run.progress.begin(VERIFICATION, len(proposals))
        await together(self._verify(subtask) for subtask in proposals)
        if explored.choice is not None:
            complete = explored.choice.model_copy(update={"complete": True})
            await self.run.recorder.record(complete, replace=True)
        verified = [item.subtask_id for item in explored.proposals if item.subtask_id in self.verified]
        return (*explored.unchanged, *verified)

    async def _take_over(self, known: VerifiedSubtask) -> None:
        """Count a subtask that an earlier run verified as verified in this one."""
        name = known.subtask.subtask_id
        self.verified[name] = known
        self._settled.add(name)
        await self._pool.settle(name, known)
        for trajectory in sorted(
            (*self._set_aside.get(name, ()), *known.trajectories), key=lambda item: item.attempt
        ):
            await self._pool.record(trajectory)

    async def _verify(self, subtask: Subtask) -> None:
        verification = await self._verifier.verify(subtask)
        self.run.examination_seconds = self._verifier.examination_seconds
        await self._record(verification)
        self._settled.add(subtask.subtask_id)
        if verification.verified is not None:
            self.verified[subtask.subtask_id] = verification.verified
            self.run.progress.done(VERIFICATION)
        else:
            self.run.progress.rejected(VERIFICATION)

    async def _record(self, verification: Verification) -> None:
        recorder, verified = self.run.recorder, verification.verified
        await recorder.record(
            *verification.trajectories, *verification.rounds, *verification.effects, replace=True
        )
        if verification.rejection:
            await recorder.record(verification.rejection)
        accepted = verified.function.function_id if verified else None
        functions = {item.function_id: item for item in verification.functions}
        earlier = self._accepted.get(verification.subtask.subtask_id)
        if earlier:
            functions.setdefault(earlier.function_id, earlier.model_copy(update={"accepted": False}))
        if verified and accepted:
            functions[accepted] = verified.function.model_copy(update={"accepted": True})
        await recorder.record(
            *functions.values(), verified.subtask if verified else verification.subtask, replace=True
        )


def _picture(run: Workplace) -> Picture:
    """What the actor is shown: the screen with numbered boxes, or the plain one if rules play the actor."""
    return plain_picture if run.settings.is_offline(ModelRole.ACTOR) else annotated_picture
