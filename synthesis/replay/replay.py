"""Replay: a composed task is performed from its subtasks' trajectories (method section 8, C.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

from pydantic import Field

from taskloom.environments.environment import Environment
from taskloom.environments.episode import Recording
from taskloom.environments.errors import EnvironmentFailureError
from taskloom.environments.lookup import platform_of
from taskloom.environments.starting_place import go_to_starting_place, needs_open_page
from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.resources.applications import Application
from taskloom.resources.reading.translation import applications_in
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.clean_work import Completion, SideEffectAccount
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.errors import StageInputInvalidError
from taskloom.synthesis.ports import Environments
from taskloom.synthesis.replay.components import repeats_application, shown_keys
from taskloom.synthesis.trajectories.reperformance import perform_again
from taskloom.synthesis.trajectories.setup_trajectories import first_needs, fixtures_laid, made_files, since
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Rejection, Replay, ReplayedSubtask, Task
from taskloom.taskgraph.records.trajectory import Termination, Trajectory, TrajectoryStep

STAGE = "replay"


class ReplaySettings(Record):
    """Settings of replay."""

    orders: int = Field(default=2, ge=1)
    """Successful orders performed, if a task has that many."""
    components: bool = True
    """Whether every distinct component is performed before the instructions of its tasks are judged: in one
    order, or in `orders` orders if two of its subtasks share an application."""
    pairs: bool = False
    """Whether verification also performs pairs of subtasks that may disturb each other, in both orders."""
    actions: int = Field(default=0, ge=0)
    """Recorded actions of a run after which no further replay of components starts; each application opened
    counts as eight more. 0 means no limit. Actions are counted, not time, so a slow machine makes much the
    same dataset. Components that occur in the most tasks come first. Tasks whose components have not been
    performed by then are kept and marked as not covered."""
    rounds: int = Field(default=3, ge=1)
    """Maximum rounds of composing tasks and performing their components; later rounds replace tasks that
    replays rejected."""
    covered_only: bool = False
    """Whether tasks that are not covered when the actions are used up are put off: they have no instruction
    yet, no export takes them, and a later run continues with them."""
    slip_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the replays with one harmless mistake (a slip) that is noticed and undone. Its steps are
    marked; an order that fails with a slip is performed again without it."""


_MOST_STARTS = 2
"""Maximum starts of an order if the environment fails in a way that another try may avoid."""


@dataclass(frozen=True, slots=True)
class ReplayedTask:
    """One task performed in several orders; rejected only if none of them worked."""

    task: Task
    replays: tuple[Replay, ...]
    """One per order."""
    trajectories: tuple[Trajectory, ...]
    rejection: Rejection | None
    """The reason, if every order failed."""


@dataclass(slots=True)
class _Performance:
    initial: Evidence = field(default_factory=lambda: Evidence(step=0))
    steps: list[TrajectoryStep] = field(default_factory=list)
    nodes: list[ReplayedSubtask] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    final: Evidence | None = None
    termination: Termination = "finished"
    failing: str = ""
    message: str = ""
    failure: EnvironmentFailureError | None = None

    @property
    def invalid(self) -> bool:
        """Whether it says nothing about the task: the start lacked something, or the environment failed."""
        return self.termination in ("invalid_start", "environment_error")


@dataclass(slots=True)
class Replayer:
    """Replays tasks, as many at a time as its environments allow."""

    environments: Environments
    sandbox: EvaluationSandbox
    """Where evaluation functions run."""
    applications: Mapping[str, Application]
    verified: Mapping[str, VerifiedSubtask]
    settings: ReplaySettings
    provenance: Provenance
    _account: SideEffectAccount = field(init=False)
    _shown_by_task: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._account = SideEffectAccount(self.verified)

    def shows(self, task: Task) -> frozenset[str]:
        """The components, and their closed connected parts, that replays cover if all orders work."""
        if task.task_id not in self._shown_by_task:
            count = self.settings.orders if repeats_application(task) else 1
            self._shown_by_task[task.task_id] = self._keys_shown(task, spread_orders(task, count))
        return self._shown_by_task[task.task_id]

    def _keys_shown(self, task: Task, orders: Sequence[Sequence[str]]) -> frozenset[str]:
        functions = {
            node.subtask_id: self.verified[node.subtask_id].function.function_id
            for node in task.graph.nodes
            if node.subtask_id in self.verified
        }
        return shown_keys(task.graph, functions, orders)

    async def replay(self, task: Task, orders: int = 0) -> ReplayedTask:
        """Perform `task` in up to `orders` of its successful orders; rejected only if none of them works.

        0 takes as many orders as the settings say.

        Raises:
            StageInputInvalidError: a node of the task has no verified trajectory.
        """
        chosen = spread_orders(task, orders or self.settings.orders)
        results = [await self._replay(task, number, order) for number, order in enumerate(chosen)]
        if len(results) > 1 and all(replay.success for replay, _ in results):
            last, recording = results[-1]
            shown = tuple(sorted(self._keys_shown(task, chosen)))
            results[-1] = last.model_copy(update={"components": shown}), recording
        rejection = None
        if not any(replay.success for replay, _ in results):
            replay = next((item for item, _ in results if not item.invalid), results[0][0])
            rejection = Rejection(
                item_kind="task",
                item_id=task.task_id,
                stage=STAGE,
                reason="replay_invalid" if all(item.invalid for item, _ in results) else "not_executable",
                message=": ".join(part for part in (replay.failing_instance, replay.message) if part),
                details={"orders": str(len(results))},
                provenance=self.provenance.model_copy(update={"stage": STAGE}),
            )
        return ReplayedTask(
            task,
            tuple(replay for replay, _ in results),
            tuple(recording for _, recording in results),
            rejection,
        )

    async def _replay(self, task: Task, number: int, order: Sequence[str]) -> tuple[Replay, Trajectory]:
        nodes = {node.instance_id: node for node in task.graph.nodes}
        ordered = [nodes[name] for name in order]
        started = perf_counter()
        performance = _Performance()
        platform = platform_of(self.applications[node.application] for node in ordered)
        opened = {node.application for node in ordered}
        simulated = False
        replay_id = f"{task.task_id}({number})"
        slips = self._slips(replay_id)
        for _ in range(_MOST_STARTS + (slips is not None)):
            performance = _Performance()
            async with self.environments.lease(platform, opened) as environment:
                simulated = environment.simulated
                await self._perform(environment, ordered, performance, slips)
            if slips is not None and (performance.failing or performance.invalid):
                slips = None
                continue
            may_help = performance.termination == "invalid_start" or (
                performance.failure is not None and performance.failure.transient
            )
            if not may_help:
                break
        invalid = performance.invalid
        side_effects, lost, account = None, None, self._account
        if not invalid and (final := performance.final) is not None:
            side_effects = await asyncio.to_thread(account.of, ordered, performance.initial, final)
            lost = await asyncio.to_thread(account.lost, performance.completions, final, self.sandbox)
        provenance = self.provenance.model_copy(update={"stage": STAGE})
        replay = Replay(
            replay_id=replay_id,
            task_id=task.task_id,
            order=tuple(order),
            components=tuple(sorted(self._keys_shown(task, (order,)))),
            success=not performance.failing and not invalid,
            invalid=invalid,
            side_effects=side_effects,
            clean=None if side_effects is None else not side_effects.total,
            held=None if lost is None else not lost,
            lost=lost or (),
            failing_instance=performance.failing,
            message=performance.message,
            subtasks=tuple(performance.nodes),
            trajectory_id=replay_id,
            seconds=round(perf_counter() - started, 3),
            provenance=provenance,
        )
        recording = Trajectory(
            trajectory_id=replay_id,
            subtask_id=task.task_id,
            instance_id=replay_id,
            parameters={},
            world=task.world,
            instruction=task.instruction,
            platform=platform,
            simulated=simulated,
            initial_evidence=performance.initial,
            steps=tuple(performance.steps),
            termination=performance.termination,
            message=performance.message,
            attempt=number,
            provenance=provenance,
        )
        return replay, recording

    def _slips(self, replay_id: str) -> Random | None:
        """Where the player slips in this replay, the same in every run; None if it does not."""
        random = Random(f"{self.provenance.seed} {replay_id}")
        return random if random.random() < self.settings.slip_share else None

    async def _perform(
        self,
        environment: Environment,
        ordered: Sequence[BoundSubtask],
        performance: _Performance,
        slips: Random | None = None,
    ) -> None:
        """Perform the nodes one after another until one fails, recording the outcome in `performance`."""
        names = dict.fromkeys(node.application for node in ordered)
        node = ordered[0]
        applications = applications_in(self.applications, node.world)
        try:
            observation = await environment.reset(
                [applications[name] for name in names], without=made_files(ordered)
            )
            performance.initial = evidence = await environment.evidence()
            opened = [self.applications[name] for name in names]
            missing = missing_at_start(
                first_needs(ordered), evidence, fixtures_laid(opened, made_files(ordered))
            )
            if missing:
                performance.termination, performance.message = "invalid_start", "; ".join(missing)
                return
            used: set[str] = set()
            for node in ordered:
                recording = await go_to_starting_place(
                    environment,
                    node.application,
                    self.applications[node.application].title,
                    observation,
                    first_page=node.application in used and not needs_open_page(node),
                    history=performance.steps,
                )
                used.add(node.application)
                performance.steps += recording.steps
                before = recording.steps[-1].evidence if recording.steps else evidence
                if recording.termination == "finished":
                    recording = await perform_again(
                        environment,
                        self._trajectory(node),
                        recording.observation,
                        history=performance.steps,
                        slips=None if any(step.slip for step in performance.steps) else slips,
                    )
                    performance.steps += recording.steps
                observation = recording.observation
                performance.final = evidence = await environment.evidence()
                if not await self._record_outcome(node, recording, before, evidence, performance):
                    return
        except EnvironmentFailureError as error:
            performance.termination, performance.failure = "environment_error", error
            performance.failing = node.instance_id
            performance.message = f"{type(error).__name__}: {error}"

    async def _record_outcome(
        self,
        node: BoundSubtask,
        recording: Recording,
        before: Evidence,
        after: Evidence,
        performance: _Performance,
    ) -> bool:
        """Judge `node` on the evidence since it began, record the outcome, and return whether it passed."""
        if recording.termination == "finished":
            evidence = since(after, before.step, len(before.inputs))
            evaluation = await asyncio.to_thread(
                self.sandbox.evaluate,
                self.verified[node.subtask_id].function.source,
                node.parameters,
                evidence,
                before,
            )
            success, message = evaluation.passed, evaluation.said
            if success:
                performance.completions.append(Completion(node, before, evidence))
        else:
            success, message = False, f"{recording.termination}: {recording.message}"
            performance.termination, performance.failure = recording.termination, recording.failure
        last = len(performance.steps)
        performance.nodes.append(
            ReplayedSubtask(
                instance_id=node.instance_id,
                success=success,
                message=message,
                first_step=last - len(recording.steps) + 1,
                last_step=last,
            )
        )
        if not success:
            performance.failing, performance.message = node.instance_id, message
        return success

    def _trajectory(self, node: BoundSubtask) -> Trajectory:
        verified = self.verified.get(node.subtask_id)
        trajectory = verified.performance(node) if verified else None
        if trajectory is None:
            raise StageInputInvalidError(
                f"the node {node.instance_id!r} has no verified trajectory; replay needs the pool the task"
                " was made from."
            )
        return trajectory


def spread_orders(task: Task, count: int) -> list[tuple[str, ...]]:
    """Up to `count` successful orders: the first one and those furthest from it in the list."""
    orders = list(task.successful_orders) or [tuple(node.instance_id for node in task.graph.nodes)]
    if count == 1 or len(orders) == 1:
        return orders[:1]
    step = (len(orders) - 1) / (min(count, len(orders)) - 1)
    return [orders[round(index * step)] for index in range(min(count, len(orders)))]
