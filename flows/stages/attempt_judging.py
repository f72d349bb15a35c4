"""Judges an attempt on its evidence: while it is made, or again from its recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.omnieval.experiments.plan import INVALID
from taskloom.omnieval.graph_evaluator import GraphEvaluation, GraphEvaluator
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.replay.side_effects import Completion, SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import since
from taskloom.taskgraph.records.agent_run import CompletedSubtask, UnfinishedSubtask
from taskloom.taskgraph.records.evaluation_function import Evaluation
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_LONGEST_SAID = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is made of an attempt."""

    outcome: GraphEvaluation
    """What the evaluator saw."""
    completed: tuple[CompletedSubtask, ...]
    """What was completed, and after which step."""
    unfinished: tuple[UnfinishedSubtask, ...]
    """What could be done and was not."""
    ungradable: tuple[str, ...]
    """Subtasks that were accepted before anything was done."""
    states: Mapping[int, Mapping[str, str]]
    """State of every subtask after each step."""


@dataclass(slots=True)
class AttemptJudge:
    """Feeds the evidence of an episode to the evaluator."""

    task: Task
    """The task."""
    verified: Mapping[str, VerifiedSubtask]
    """Its subtasks, verified."""
    sandbox: EvaluationSandbox
    """Runs their functions."""
    account: SideEffectAccount
    """Tells what was changed beyond them."""
    evaluator: GraphEvaluator
    """Follows the attempt."""
    evidence: Evidence = field(default_factory=lambda: Evidence(step=0))
    """The state now."""
    inputs: list[int] = field(default_factory=lambda: [0])
    """Inputs made by the end of each step."""
    numbers: list[int] = field(default_factory=lambda: [0])
    """Number of each step."""
    evidences: list[Evidence] = field(default_factory=list)
    """State after each step."""
    completed: list[CompletedSubtask] = field(default_factory=list)
    """Subtasks completed so far."""
    accepted: dict[str, Completion] = field(default_factory=dict)
    """What was accepted of each subtask, and from which start."""
    open: dict[str, UnfinishedSubtask] = field(default_factory=dict)
    """What the functions of subtasks that can be done said last."""
    ungradable: set[str] = field(default_factory=set)
    """Subtasks that were accepted before anything was done."""
    states: dict[int, dict[str, str]] = field(default_factory=dict)
    """State of every subtask after each step."""
    on_completed: Callable[[str], object] | None = None
    """Called with the id of each subtask once it is completed."""

    @classmethod
    def of(
        cls,
        task: Task,
        verified: Mapping[str, VerifiedSubtask],
        sandbox: EvaluationSandbox,
        account: SideEffectAccount,
        *,
        patience: int,
        step_limit: int,
        on_completed: Callable[[str], object] | None = None,
    ) -> AttemptJudge:
        """A judge before the first step."""
        watch: AttemptJudge

        def judge(node: BoundSubtask, since_step: int) -> Evaluation:
            return watch._judge(node, since_step)

        evaluator = GraphEvaluator(task.graph, judge, patience=patience, step_limit=step_limit)
        watch = cls(task, verified, sandbox, account, evaluator, on_completed=on_completed)
        return watch

    @property
    def ended(self) -> bool:
        """Whether the agent need not be asked any more."""
        return self.evaluator.outcome != "running"

    def begin(self, evidence: Evidence) -> None:
        """Find the subtasks whose functions accept the untouched state; they cannot be graded."""
        self.evidence = evidence
        self.evidences = [evidence]
        for node in self.task.graph.nodes:
            if self._judge(node, 0).passed:
                self.ungradable.add(node.instance_id)
        self.open.clear()  # some of them cannot be done yet

    def see(self, step: TrajectoryStep) -> None:
        """Judge what is open after `step`."""
        self.evidence = step.evidence
        self.inputs.append(len(step.evidence.inputs))
        self.numbers.append(step.step)
        self.evidences.append(step.evidence)
        if not self.ended:
            new = self.evaluator.after_action()
            self.completed += [CompletedSubtask(instance_id=name, step=step.step) for name in new]
            if self.on_completed is not None:
                for name in new:
                    self.on_completed(name)
        self.states[step.step] = {
            node.instance_id: str(self.evaluator.state_of(node.instance_id)) for node in self.task.graph.nodes
        }

    def end(self, trajectory: Trajectory) -> Judgement:
        """The judgement, after a last look at the state that the attempt ended in."""
        last = self.numbers[-1]
        if trajectory.closing_evidence is not None:
            self.evidence = trajectory.closing_evidence
        outcome = self.evaluator.finish()
        known = {item.instance_id for item in self.completed}
        self.completed += [
            CompletedSubtask(instance_id=name, step=last) for name in outcome.completed if name not in known
        ]
        if trajectory.termination not in INVALID:
            beyond = self.account.of(
                self.task.graph.nodes, trajectory.initial_evidence, trajectory.final_evidence
            )
            completions = [self.accepted[item.instance_id] for item in self.completed]
            lost = self.account.lost(completions, trajectory.final_evidence, self.sandbox)
            outcome = outcome.model_copy(update={"side_effects": beyond, "lost": lost})
        return Judgement(
            outcome=outcome,
            completed=tuple(self.completed),
            unfinished=tuple(self.open.values()),
            ungradable=tuple(sorted(self.ungradable)),
            states=self.states,
        )

    async def beginning(self, evidence: Evidence) -> None:
        """`begin`, without holding up others."""
        await asyncio.to_thread(self.begin, evidence)

    async def seeing(self, step: TrajectoryStep) -> None:
        """`see`, without holding up others."""
        await asyncio.to_thread(self.see, step)

    def _judge(self, node: BoundSubtask, since_step: int) -> Evaluation:
        """The judgement of the node's function on what was done since that step."""
        if not self.evidences:
            return Evaluation(outcome="bad_result", message="the attempt had no valid start")
        if node.instance_id in self.ungradable:
            return Evaluation(outcome="bad_result", message="accepted before anything was done")
        evidence = since(self.evidence, since_step, self.inputs[since_step])
        source, start = self.verified[node.subtask_id].function.source, self.evidences[since_step]
        evaluation = self.sandbox.evaluate(source, node.parameters, evidence, start)
        if evaluation.passed:
            self.accepted[node.instance_id] = Completion(node, start, evidence)
            self.open.pop(node.instance_id, None)
        else:
            refusing = dict.fromkeys(call.check for call in evaluation.calls if call.answer == str(False))
            self.open[node.instance_id] = UnfinishedSubtask(
                instance_id=node.instance_id, checks=tuple(refusing), said=evaluation.said[:_LONGEST_SAID]
            )
        return evaluation


def judged_again(judge: AttemptJudge, trajectory: Trajectory) -> Judgement:
    """The judgement of a recorded attempt."""
    if trajectory.termination != "invalid_start" and (
        trajectory.steps or trajectory.termination not in INVALID
    ):
        judge.begin(trajectory.initial_evidence)
    for step in trajectory.steps:
        judge.see(step)
    return judge.end(trajectory)
