"""Agents at work on tasks: every attempt is recorded, judged subtask by subtask and scored."""

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
from taskloom.flows.stages.agents import guarded_agent, is_own_code, is_person, recorded_parts, work_beside
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
_FOREVER = 1e9
_SPENT = (
    "SELECT count(*), total(input_tokens), total(output_tokens), total(cost_usd) FROM calls WHERE item_id = ?"
)


@dataclass(frozen=True, slots=True)
class AgentAttempt:
    """How an agent did in one task."""

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
    """Have an agent make the attempts that are `planned` and not stored; each is kept as soon as it ends.

    Raises:
        CommandError: there is no such agent.
        RunStoppedError: model calls cannot go on at all, as when the budget is used up.
    """
    here = AttemptPlace(run, order, SideEffectAccount(verified))
    alone = asyncio.Semaphore(1) if is_person(order.entry.agent) else nullcontext()

    async def attempted(attempt: PlannedAttempt, task: Task) -> None:
        async with alone:
            if run.workers is None:
                done = await here.attempt(attempt, task)
            else:
                beside = None if is_own_code(order.entry.agent) else work_beside(task, run, verified)
                also = () if beside is None else (beside.trajectory.subtask_id,)
                done = await run.workers.run_job(partial(_attempted, order, attempt, task, also))
        record = _with_calls(run, done.record)
        scores = scores_of(record, task, hashes.get(task.task_id, ""))
        await run.recorder.record(done.trajectory, record, *done.steps, *scores, replace=True)
        run.progress.done(EVALUATION)

    await together(attempted(*item) for item in planned)
    await run.recorder.flush()


async def _attempted(
    order: AgentOrder,
    planned: PlannedAttempt,
    task: Task,
    beside: Sequence[str],
    place: Workplace,
    subtasks: KnownSubtasks,
) -> AgentAttempt:
    """One attempt by a new agent, in any process that has its module; it may do the subtask `beside` although
    the task does not ask for it."""
    verified = await subtasks([*(node.subtask_id for node in task.graph.nodes), *beside])
    return await AttemptPlace(place, order, SideEffectAccount(verified)).attempt(planned, task)


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
    """One attempt at `task` by an agent that takes its time; nothing is stored."""
    unhurried = Limits(decision_seconds=_FOREVER, attempt_seconds=_FOREVER, refused_actions=step_limit + 1)
    entry = AgentEntry(agent="python")
    experiment = ExperimentFile(
        agents=(entry,), limits=unhurried, quiet_seconds=0, quiet_limit_seconds=0, invalid_tries=1, ahead=0
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
    there = AttemptPlace(place, order, SideEffectAccount(verified), agent, on_completed)
    return await there.attempt(planned, task)


@dataclass(slots=True)
class AttemptPlace:
    """The attempts of one agent in one process."""

    place: Workplace
    order: AgentOrder
    account: SideEffectAccount
    """Tells what was changed beyond a task, and knows the verified subtasks."""
    given: Agent | None = None
    """An agent that is there already, instead of the one that the order names."""
    on_completed: Callable[[str], object] = lambda name: None
    """Called with the id of each subtask once it is completed."""

    async def attempt(self, planned: PlannedAttempt, task: Task) -> AgentAttempt:
        """A new agent at work on `task`; begun again in a fresh environment where it was invalid."""
        invalid: list[str] = []
        order, given, told = self.order, self.given, self._told(planned, task)
        self.place.environments.make_ahead(order.experiment.ahead)
        while True:
            judge = AttemptJudge(
                task, self.account, self.place.sandbox, order.patience, order.step_limit, self.on_completed
            )
            if given is None:
                agent = self._ordered(told, planned, task)
            else:
                agent = GuardedAgent(lambda: given, self._patience)
            trajectory = await self._perform(told, planned, task, judge, agent)
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

    def _told(self, planned: PlannedAttempt, task: Task) -> AgentTask:
        told = AgentTask(
            task_id=task.task_id,
            instruction=planned.instruction,
            applications=tuple(
                ApplicationInView(name=item.name, title=item.title, manual=item.manual)
                for item in self._opened(task)
            ),
            step_limit=self.order.step_limit,
            question=task.question.text if task.question else "",
            can_ask=bool(planned.reply),
        )
        return told.model_copy(
            update={"instruction": PROTOCOLS.load(self.order.experiment.protocol).instruction(told)}
        )

    def _opened(self, task: Task) -> list[Application]:
        there = applications_in(self.place.applications, task.world)
        return [there[name] for name in dict.fromkeys(node.application for node in task.graph.nodes)]

    def _ordered(self, told: AgentTask, planned: PlannedAttempt, task: Task) -> GuardedAgent:
        """A new agent as it is ordered; one of the user's own is given nothing of what is recorded."""
        place, entry, verified = self.place, self.order.entry, self.account.verified
        own = is_own_code(entry.agent)
        brief = AgentBrief(
            task=told,
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
                beside=lambda: work_beside(task, place, verified),
                orders=task.successful_orders,
            )
        return guarded_agent(entry, task, brief, place, self._patience)

    async def _perform(
        self, told: AgentTask, planned: PlannedAttempt, task: Task, judge: AttemptJudge, agent: GuardedAgent
    ) -> Trajectory:
        place, order, opened = self.place, self.order, self._opened(task)
        gone = frozenset(task.lack.paths if task.lack else ())
        made = made_files(task.graph.nodes) | gone
        needs = [item for item in first_needs(task.graph.nodes) if item.value not in gone]
        trajectory: Trajectory | None = None
        try:
            names = [item.name for item in opened]
            async with place.environments.lease(platform_of(opened), names) as environment:
                trajectory = await run_episode(
                    environment,
                    _Stopped(agent, judge, asks=task.question is not None or task.lack is not None),
                    assignment=Assignment.of_task(task, planned.attempt_id, told.instruction),
                    applications=opened,
                    step_limit=order.step_limit,
                    without=made,
                    trajectory_id=planned.attempt_id,
                    provenance=place.provenance(EVALUATION),
                    check_start=lambda evidence: missing_at_start(
                        needs, evidence, fixtures_laid(opened, made)
                    ),
                    on_start=lambda evidence: asyncio.to_thread(judge.begin, evidence),
                    on_step=lambda step: asyncio.to_thread(judge.see, step),
                    turn=place.environments.turn(),
                    companion=(planned if planned.reply or planned.news else None),
                    quiet=Quiet(order.experiment.quiet_seconds, order.experiment.quiet_limit_seconds),
                )
                if trajectory.termination in INVALID:
                    raise EnvironmentBrokenError(trajectory.message)  # so that nobody gets this one again
        except EnvironmentBrokenError:
            if trajectory is None:
                raise
        finally:
            await agent.close()
        return trajectory


def _with_calls(run: Run, record: AgentRun) -> AgentRun:
    """The attempt with what its model calls took, by the ledger."""
    row = run.ledger.select(_SPENT, (record.agent_run_id,))[0]
    calls, given, said, usd = (float(str(value or 0)) for value in row)
    provenance = record.provenance.model_copy(update={"cost_usd": round(record.provenance.cost_usd + usd, 6)})
    return record.model_copy(
        update={
            "calls": record.calls + int(calls),
            "input_tokens": record.input_tokens + int(given),
            "output_tokens": record.output_tokens + int(said),
            "provenance": provenance,
        }
    )


@dataclass(slots=True)
class _Stopped:
    """An agent that is asked no more once the evaluator has seen the end, unless it is to answer as well."""

    agent: Agent
    judge: AttemptJudge
    asks: bool = False

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        over = self.judge.evaluator.outcome
        if over in ("stalled", "step_limit") or (over == "completed" and not self.asks):
            return Decision(status="finish")
        return await self.agent.decide(instruction, observation, history)
