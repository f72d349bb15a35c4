"""Lets agents attempt tasks: every attempt is recorded, judged subtask by subtask and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.agents.guarding import GuardedAgent, Patience
from taskloom.environments.episode import Assignment, Quiet, run_episode
from taskloom.environments.errors import EnvironmentBrokenError
from taskloom.environments.lookup import platform_of
from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.flows.running.together import together
from taskloom.flows.stages.agents import extra_work, guarded_agent, is_own_code, is_person, recorded_parts
from taskloom.flows.stages.attempt_judging import AttemptJudge, attempt_record, scores_of, step_records
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.omnieval.brief import AgentBrief, AgentTask
from taskloom.omnieval.experiments import (
    INVALID,
    AgentEntry,
    AgentOrder,
    ExperimentFile,
    Limits,
    PlannedAttempt,
)
from taskloom.omnieval.lookup import PROTOCOLS
from taskloom.prompts.agent_inputs import ApplicationInView
from taskloom.resources.applications import Application
from taskloom.resources.reading.translation import applications_in
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.trajectories.setup_trajectories import first_needs, fixtures_laid, made_files
from taskloom.taskgraph.records.agent_run import FOLDER as PEOPLE
from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

EVALUATION = "evaluation"
_UNLIMITED = 1e9
_USAGE = (
    "SELECT count(*), total(input_tokens), total(output_tokens), total(cost_usd) FROM calls WHERE item_id = ?"
)


@dataclass(frozen=True, slots=True)
class AgentAttempt:
    """One attempt of an agent at a task."""

    trajectory: Trajectory
    record: AgentRun
    steps: tuple[AgentStep, ...]


async def evaluate_tasks(
    run: Run,
    order: AgentOrder,
    planned: Sequence[tuple[PlannedAttempt, Task]],
    verified: Mapping[str, VerifiedSubtask],
    hashes: Mapping[str, str],
) -> None:
    """Let an agent make the `planned` attempts; each is stored as soon as it ends.

    Raises:
        CommandError: there is no such agent.
        RunStoppedError: no model call can succeed, for example because the budget is used up.
    """
    runner = AttemptRunner(run, order, SideEffectAccount(verified))
    one_at_a_time = asyncio.Semaphore(1) if is_person(order.entry.agent) else nullcontext()

    async def make_attempt(attempt: PlannedAttempt, task: Task) -> None:
        async with one_at_a_time:
            if run.workers is None:
                made = await runner.attempt(attempt, task)
            else:
                extra = None if is_own_code(order.entry.agent) else extra_work(task, run, verified)
                extra_ids = () if extra is None else (extra.trajectory.subtask_id,)
                made = await run.workers.run_job(partial(_attempt_job, order, attempt, task, extra_ids))
        record = _with_calls(run, made.record)
        scores = scores_of(record, task, hashes.get(task.task_id, ""))
        await run.recorder.record(made.trajectory, record, *made.steps, *scores, replace=True)
        run.progress.done(EVALUATION)

    await together(make_attempt(*item) for item in planned)
    await run.recorder.flush()


async def _attempt_job(
    order: AgentOrder,
    planned: PlannedAttempt,
    task: Task,
    extra: Sequence[str],
    place: Workplace,
    subtasks: KnownSubtasks,
) -> AgentAttempt:
    """One attempt by a new agent, in any process that has its module; it may perform the subtasks `extra`,
    which the task does not request."""
    verified = await subtasks([*(node.subtask_id for node in task.graph.nodes), *extra])
    return await AttemptRunner(place, order, SideEffectAccount(verified)).attempt(planned, task)


async def attempt_task(
    place: Workplace,
    task: Task,
    agent: Agent,
    verified: Mapping[str, VerifiedSubtask],
    *,
    step_limit: int,
    patience: int,
    on_completed: Callable[[str], object],
) -> AgentAttempt:
    """One attempt at `task` by an agent without time limits; nothing is stored."""
    limits = Limits(decision_seconds=_UNLIMITED, attempt_seconds=_UNLIMITED, refused_actions=step_limit + 1)
    entry = AgentEntry(agent="python")
    experiment = ExperimentFile(
        agents=(entry,), limits=limits, quiet_seconds=0, quiet_limit_seconds=0, invalid_tries=1, ahead=0
    )
    order = AgentOrder(
        experiment_id="", experiment=experiment, entry=entry, step_limit=step_limit, patience=patience
    )
    planned = PlannedAttempt(
        attempt_id=f"{place.run_id}:{task.task_id}",
        task_id=task.task_id,
        variant="high",
        instruction=task.instruction,
        repeat=0,
        seed=place.settings.seed,
        number=0,
    )
    runner = AttemptRunner(place, order, SideEffectAccount(verified), agent, on_completed)
    return await runner.attempt(planned, task)


@dataclass(slots=True)
class AttemptRunner:
    """Makes the attempts of one agent in one process."""

    place: Workplace
    order: AgentOrder
    account: SideEffectAccount
    """Finds changes beyond a task, and holds the verified subtasks."""
    agent: Agent | None = None
    """An existing agent, used instead of the one that the order names."""
    on_completed: Callable[[str], object] = lambda name: None
    """Called with the id of each subtask once it is completed."""

    async def attempt(self, planned: PlannedAttempt, task: Task) -> AgentAttempt:
        """Let a new agent attempt `task`; an invalid attempt is repeated in a fresh environment."""
        invalid: list[str] = []
        order, existing, agent_task = self.order, self.agent, self._agent_task(planned, task)
        self.place.environments.make_ahead(order.experiment.ahead)
        while True:
            judge = AttemptJudge(
                task, self.account, self.place.sandbox, order.patience, order.step_limit, self.on_completed
            )
            if existing is None:
                agent = self._new_agent(agent_task, planned, task)
            else:
                agent = GuardedAgent(lambda: existing, self._patience)
            trajectory = await self._perform(agent_task.instruction, planned, task, judge, agent)
            if trajectory.termination in INVALID:
                invalid.append(trajectory.message)
                if len(invalid) < order.experiment.invalid_tries:
                    continue
            judgement = await asyncio.to_thread(judge.end, trajectory)
            record = attempt_record(order, planned, task, trajectory, judgement, agent.decided)
            counted = tuple(invalid[:-1] if record.end == "invalid" else invalid)
            record = record.model_copy(update={"invalid_before": counted})
            return AgentAttempt(
                trajectory, record, step_records(record, trajectory, judgement, agent.decided)
            )

    @property
    def _patience(self) -> Patience:
        limits = self.order.experiment.limits
        person = is_person(self.order.entry.agent)
        return Patience(
            decision_seconds=limits.attempt_seconds if person else limits.decision_seconds,
            attempt_seconds=limits.attempt_seconds,
            unusable_replies=limits.unusable_replies,
            refused_actions=limits.refused_actions,
        )

    def _agent_task(self, planned: PlannedAttempt, task: Task) -> AgentTask:
        agent_task = AgentTask(
            task_id=task.task_id,
            instruction=planned.instruction,
            applications=tuple(
                ApplicationInView(name=item.name, title=item.title, manual=item.manual)
                for item in self._applications_of(task)
            ),
            step_limit=self.order.step_limit,
            question=task.question.text if task.question else "",
            can_ask=bool(planned.reply),
        )
        return agent_task.model_copy(
            update={"instruction": PROTOCOLS.load(self.order.experiment.protocol).instruction(agent_task)}
        )

    def _applications_of(self, task: Task) -> list[Application]:
        applications = applications_in(self.place.applications, task.world)
        return [applications[name] for name in dict.fromkeys(node.application for node in task.graph.nodes)]

    def _new_agent(self, agent_task: AgentTask, planned: PlannedAttempt, task: Task) -> GuardedAgent:
        """A new agent as ordered; the user's own agents get no recorded work."""
        place, entry, verified = self.place, self.order.entry, self.account.verified
        own = is_own_code(entry.agent)
        brief = AgentBrief(
            task=agent_task,
            seed=planned.seed,
            number=planned.number,
            settings=entry.settings,
            prompt=entry.prompt,
            models=place.player(entry.title),
            stage=EVALUATION,
            attempt_id=planned.attempt_id,
        )
        if not own:
            brief = replace(
                brief,
                people=place.settings.data / PEOPLE,
                recorded=recorded_parts(task, place, verified),
                answer=task.question.right_answer if task.question else "",
                impossible=(task.lack.proof or "not tried yet") if task.lack else "",
                beside=lambda: extra_work(task, place, verified),
                orders=task.successful_orders,
            )
        return guarded_agent(entry, task, brief, place, self._patience)

    async def _perform(
        self, instruction: str, planned: PlannedAttempt, task: Task, judge: AttemptJudge, agent: GuardedAgent
    ) -> Trajectory:
        place, order, applications = self.place, self.order, self._applications_of(task)
        lacking = frozenset(task.lack.paths if task.lack else ())
        absent = made_files(task.graph.nodes) | lacking
        needs = [item for item in first_needs(task.graph.nodes) if item.value not in lacking]
        trajectory: Trajectory | None = None
        try:
            names = [item.name for item in applications]
            async with place.environments.lease(platform_of(applications), names) as environment:
                trajectory = await run_episode(
                    environment,
                    _StoppingAgent(agent, judge, asks=task.question is not None or task.lack is not None),
                    assignment=Assignment.of_task(task, planned.attempt_id, instruction),
                    applications=applications,
                    step_limit=order.step_limit,
                    without=absent,
                    trajectory_id=planned.attempt_id,
                    provenance=place.provenance(EVALUATION),
                    check_start=lambda evidence: missing_at_start(
                        needs, evidence, fixtures_laid(applications, absent)
                    ),
                    on_start=lambda evidence: asyncio.to_thread(judge.begin, evidence),
                    on_step=lambda step: asyncio.to_thread(judge.observe, step),
                    turn=place.environments.turn(),
                    companion=(planned if planned.reply or planned.news else None),
                    quiet=Quiet(order.experiment.quiet_seconds, order.experiment.quiet_limit_seconds),
                )
                if trajectory.termination in INVALID:
                    raise EnvironmentBrokenError(trajectory.message)  # so that the environment is discarded
        except EnvironmentBrokenError:
            if trajectory is None:
                raise
        finally:
            await agent.close()
        return trajectory


def _with_calls(run: Run, record: AgentRun) -> AgentRun:
    """The attempt with the usage of its model calls, from the ledger."""
    row = run.ledger.select(_USAGE, (record.agent_run_id,))[0]
    calls, input_tokens, output_tokens, usd = (float(str(value or 0)) for value in row)
    provenance = record.provenance.model_copy(update={"cost_usd": round(record.provenance.cost_usd + usd, 6)})
    return record.model_copy(
        update={
            "calls": record.calls + int(calls),
            "input_tokens": record.input_tokens + int(input_tokens),
            "output_tokens": record.output_tokens + int(output_tokens),
            "provenance": provenance,
        }
    )


@dataclass(slots=True)
class _StoppingAgent:
    """An agent that is no longer asked once the evaluator has seen the end, unless it must also answer."""

    agent: Agent
    judge: AttemptJudge
    asks: bool = False

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        outcome = self.judge.evaluator.outcome
        if outcome in ("stalled", "step_limit") or (outcome == "completed" and not self.asks):
            return Decision(status="finish")
        return await self.agent.decide(instruction, observation, history)
