"""Agents at work on tasks: every attempt is recorded, judged subtask by subtask and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

from taskloom.environments.agent import Agent, Decision
from taskloom.environments.episode import run_episode
from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.evaluators_api.interpreter.recorder import guards_answered
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.running.together import together
from taskloom.flows.stages.agents import AgentMaker, agent_maker
from taskloom.flows.wiring import KnownSubtasks, Run, Workplace
from taskloom.omnieval.graph_evaluator import GraphEvaluation, GraphEvaluator
from taskloom.omnieval.reports.report_rows import ReportRow, report
from taskloom.resources.reading.translation import applications_in
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.replay.side_effects import Completion, SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import fixtures_laid, made_files, since
from taskloom.synthesis.trajectories.task_starts import first_needs
from taskloom.taskgraph.records.agent_run import AgentRun, CompletedSubtask
from taskloom.taskgraph.records.assignment import Assignment
from taskloom.taskgraph.records.evaluation_function import Evaluation
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Observation
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

EVALUATION = "evaluation"

InstructionLevel = Literal["high", "low"]
"""`high`: the task's instruction; `low`: the instructions of its subtasks, one after the other."""


class AgentOrder(Record):
    """How agents attempt tasks."""

    level: InstructionLevel
    """Which instruction they are given."""
    step_limit: int
    """Most steps of one task."""
    patience: int
    """Steps without a completed subtask after which a task fails (the paper's N)."""


class AgentResults(Record):
    """How an agent did."""

    completed: int
    """Tasks completed."""
    ungradable: int
    """Attempts in which some subtask was accepted before the agent began."""
    invalid: int
    """Attempts that are not scored: the start lacked something, or the environment failed."""
    rows: tuple[ReportRow, ...]
    """Results over all attempts, per capability and per level of each dimension."""


async def evaluate_tasks(
    run: Run, agent: str, order: AgentOrder, tasks: Sequence[Task], verified: Mapping[str, VerifiedSubtask]
) -> AgentResults:
    """Have `agent` attempt each of `tasks`, whose subtasks are all in `verified`; every attempt is recorded.

    Raises:
        CommandError: there is no such agent.
    """
    make = agent_maker(agent, run, verified, order.step_limit)
    here = _AgentEvaluation(run, agent, make, verified, order, SideEffectAccount(verified))

    async def attempted(task: Task) -> tuple[Task, AgentAttempt]:
        done = await (
            run.elsewhere.do(AttemptErrand(agent, order, task)) if run.elsewhere else here.attempt(task)
        )
        await run.recorder.record(done.trajectory, done.record, replace=True)
        run.progress.done(EVALUATION)
        return task, done

    attempts = await together(attempted(task) for task in tasks)
    await run.recorder.flush()
    graded = [(task, done.outcome) for task, done in attempts if done.record.outcome != "invalid"]
    return AgentResults(
        completed=sum(outcome.success for _, outcome in graded),
        ungradable=sum(bool(done.record.ungradable) for _, done in attempts),
        invalid=len(attempts) - len(graded),
        rows=report(graded),
    )


@dataclass(frozen=True, slots=True)
class AgentAttempt:
    """How an agent did in one task."""

    trajectory: Trajectory
    """Its recording."""
    record: AgentRun
    """The attempt as it is kept."""
    outcome: GraphEvaluation
    """What the evaluator makes of it."""


@dataclass(frozen=True, slots=True)
class AttemptErrand:
    """One task to be attempted by an agent, in any process that has the agent's module."""

    agent: str
    """The agent."""
    order: AgentOrder
    """How it attempts tasks."""
    task: Task
    """The task."""

    async def do(self, place: Workplace, subtasks: KnownSubtasks) -> AgentAttempt:
        """Let a new agent attempt the task."""
        verified = await subtasks([node.subtask_id for node in self.task.graph.nodes])
        make = agent_maker(self.agent, place, verified, self.order.step_limit)
        account = SideEffectAccount(verified)
        return await _AgentEvaluation(place, self.agent, make, verified, self.order, account).attempt(
            self.task
        )


async def attempt_task(
    place: Workplace,
    task: Task,
    make: AgentMaker,
    verified: Mapping[str, VerifiedSubtask],
    order: AgentOrder,
    *,
    on_completed: Callable[[str], object] | None = None,
) -> AgentAttempt:
    """One attempt at `task` by an agent that `make` makes; nothing is stored.

    `on_completed` is called with the id of each subtask once it is completed.
    """
    account = SideEffectAccount(verified)
    evaluation = _AgentEvaluation(place, "python", make, verified, order, account, on_completed)
    return await evaluation.attempt(task)


@dataclass(slots=True)
class _AgentEvaluation:
    """The evaluation of one agent in one process."""

    run: Workplace
    agent: str
    make: AgentMaker
    verified: Mapping[str, VerifiedSubtask]
    order: AgentOrder
    account: SideEffectAccount
    on_completed: Callable[[str], object] | None = None

    async def attempt(self, task: Task) -> AgentAttempt:
        """Let a new agent attempt `task`."""
        run = self.run
        watch = _Watch.of(task, self.verified, run.sandbox, self.order.patience, self.order.step_limit)
        watch.on_completed = self.on_completed
        started = perf_counter()
        trajectory = await self._perform(task, watch)
        outcome = await asyncio.to_thread(watch.evaluator.finish)
        invalid = trajectory.termination in ("invalid_start", "environment_error")
        if not invalid:
            beyond = await asyncio.to_thread(
                self.account.of, task.graph.nodes, trajectory.initial_evidence, trajectory.final_evidence
            )
            lost = await asyncio.to_thread(
                self.account.lost, watch.completions, trajectory.final_evidence, run.sandbox
            )
            outcome = outcome.model_copy(update={"side_effects": beyond, "lost": lost})
        record = AgentRun(
            agent_run_id=trajectory.trajectory_id,
            agent=self.agent,
            task_id=task.task_id,
            instruction=trajectory.instruction,
            completed=tuple(watch.completed),
            ungradable=tuple(sorted(watch.ungradable)),
            coverage_rate=outcome.coverage_rate,
            logical_consistency=outcome.logical_consistency,
            further_metrics=outcome.further_metrics,
            success=outcome.success and not invalid,
            side_effects=outcome.side_effects,
            clean=outcome.clean,
            held=outcome.held,
            lost=outcome.lost or (),
            steps=outcome.steps,
            outcome="invalid" if invalid else outcome.outcome,
            termination=trajectory.termination,
            message=trajectory.message,
            seconds=round(perf_counter() - started, 3),
            trajectory_id=trajectory.trajectory_id,
            provenance=trajectory.provenance,
        )
        return AgentAttempt(trajectory, record, outcome)

    async def _perform(self, task: Task, watch: _Watch) -> Trajectory:
        """A new agent at work on `task` in a fresh environment, while `watch` looks on."""
        run, applications = self.run, applications_in(self.run.applications, task.world)
        agent_run_id = f"{run.run_id}:{task.task_id}"
        instruction = (
            task.instruction if self.order.level == "high" else "\n".join(task.low_level_instructions)
        )
        names = list(dict.fromkeys(node.application for node in task.graph.nodes))
        agent = _Stopped(self.make(task), watch)
        opened = [applications[name] for name in names]
        made = made_files(task.graph.nodes)
        async with run.environments.lease(applications[names[0]].platform, len(names)) as environment:
            return await run_episode(
                environment,
                agent,
                assignment=Assignment.of_task(task, agent_run_id, instruction),
                applications=opened,
                step_limit=self.order.step_limit,
                without=made,
                trajectory_id=agent_run_id,
                provenance=run.provenance(EVALUATION),
                check_start=lambda evidence: missing_at_start(
                    first_needs(task.graph.nodes), evidence, fixtures_laid(opened, made)
                ),
                on_start=watch.begin,
                on_step=watch.see,
            )


@dataclass(slots=True)
class _Watch:
    """Feeds the evidence of an episode to the evaluator."""

    task: Task
    verified: Mapping[str, VerifiedSubtask]
    sandbox: EvaluationSandbox
    evaluator: GraphEvaluator
    evidence: Evidence = field(default_factory=lambda: Evidence(step=0))
    inputs: list[int] = field(default_factory=lambda: [0])
    states: list[Evidence] = field(default_factory=list)
    completed: list[CompletedSubtask] = field(default_factory=list)
    accepted: dict[str, Completion] = field(default_factory=dict)
    ungradable: set[str] = field(default_factory=set)
    on_completed: Callable[[str], object] | None = None

    @classmethod
    def of(
        cls,
        task: Task,
        verified: Mapping[str, VerifiedSubtask],
        sandbox: EvaluationSandbox,
        patience: int,
        step_limit: int,
    ) -> _Watch:
        watch: _Watch

        def judge(node: BoundSubtask, since_step: int) -> Evaluation:
            return watch.judge(node, since_step)

        evaluator = GraphEvaluator(task.graph, judge, patience=patience, step_limit=step_limit)
        watch = cls(task, verified, sandbox, evaluator)
        return watch

    async def begin(self, evidence: Evidence) -> None:
        """Find the subtasks whose functions accept the untouched state; they cannot be graded."""
        self.evidence = evidence
        self.states = [evidence]
        for node in self.task.graph.nodes:
            if (await asyncio.to_thread(self.judge, node, 0)).passed:
                self.ungradable.add(node.instance_id)

    async def see(self, step: TrajectoryStep) -> None:
        """Judge what is open after `step`."""
        self.evidence = step.evidence
        self.inputs.append(len(step.evidence.inputs))
        self.states.append(step.evidence)
        if self.evaluator.outcome == "running":
            new = await asyncio.to_thread(self.evaluator.after_action)
            self.completed += [CompletedSubtask(instance_id=name, step=step.step) for name in new]
            if self.on_completed is not None:
                for name in new:
                    self.on_completed(name)

    def judge(self, node: BoundSubtask, since_step: int) -> Evaluation:
        """The judgement of the node's function on what was done since that step."""
        if not self.states:
            return Evaluation(outcome="bad_result", message="the attempt had no valid start")
        if node.instance_id in self.ungradable:
            return Evaluation(outcome="bad_result", message="accepted before anything was done")
        evidence = since(self.evidence, since_step, self.inputs[since_step])
        source, start = self.verified[node.subtask_id].function.source, self.states[since_step]
        evaluation = self.sandbox.evaluate(source, node.parameters, evidence, start, alter=guards_answered)
        if evaluation.passed:
            self.accepted[node.instance_id] = Completion(node, start, evidence)
        return evaluation

    @property
    def completions(self) -> list[Completion]:
        """The completed subtasks in order."""
        return [self.accepted[item.instance_id] for item in self.completed]


@dataclass(slots=True)
class _Stopped:
    """An agent that is asked no more once the evaluator has seen the end."""

    agent: Agent
    watch: _Watch

    async def decide(
        self, instruction: str, observation: Observation, history: Sequence[TrajectoryStep]
    ) -> Decision:
        if self.watch.evaluator.outcome != "running":
            return Decision(status="finish")
        return await self.agent.decide(instruction, observation, history)
