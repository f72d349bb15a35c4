"""Judges an attempt on its evidence: while it is made, or again from its recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.omnieval.experiments import INVALID
from taskloom.omnieval.scoring import GraphEvaluation, GraphEvaluator
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
    completed: tuple[CompletedSubtask, ...]
    unfinished: tuple[UnfinishedSubtask, ...]
    """What could be done and was not."""
    ungradable: tuple[str, ...]
    states: dict[int, dict[str, str]]
    """State of every subtask after each step."""


@dataclass(slots=True)
class AttemptJudge:
    """Feeds the evidence of an episode to the evaluator."""

    task: Task
    account: SideEffectAccount
    """Tells what was changed beyond the verified subtasks that it knows."""
    sandbox: EvaluationSandbox
    patience: int
    step_limit: int
    on_completed: Callable[[str], object] = lambda name: None
    """Called with the id of each subtask once it is completed."""
    evaluator: GraphEvaluator = field(init=False)
    _evidence: Evidence = field(default_factory=lambda: Evidence(step=0))
    _inputs: list[int] = field(default_factory=lambda: [0])
    """Inputs made by the end of each step."""
    _last: int = 0
    _evidences: list[Evidence] = field(default_factory=list)
    """State after each step."""
    _completed: list[CompletedSubtask] = field(default_factory=list)
    _accepted: dict[str, Completion] = field(default_factory=dict)
    """What was accepted of each subtask, and from which start."""
    _open: dict[str, UnfinishedSubtask] = field(default_factory=dict)
    """What the functions of subtasks that can be done said last."""
    _ungradable: set[str] = field(default_factory=set)
    """Subtasks that were accepted before anything was done."""
    _states: dict[int, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evaluator = GraphEvaluator(
            self.task.graph, self._judge, patience=self.patience, step_limit=self.step_limit
        )

    def begin(self, evidence: Evidence) -> None:
        """Find the subtasks whose functions accept the untouched state; they cannot be graded."""
        self._evidence = evidence
        self._evidences = [evidence]
        for node in self.task.graph.nodes:
            if self._judge(node, 0).passed:
                self._ungradable.add(node.instance_id)
        self._open.clear()  # some of them cannot be done yet

    def see(self, step: TrajectoryStep) -> None:
        """Judge what is open after `step`."""
        self._evidence, self._last = step.evidence, step.step
        self._inputs.append(len(step.evidence.inputs))
        self._evidences.append(step.evidence)
        if self.evaluator.outcome == "running":
            for name in self.evaluator.after_action():
                self._completed.append(CompletedSubtask(instance_id=name, step=step.step))
                self.on_completed(name)
        self._states[step.step] = {
            node.instance_id: str(self.evaluator.state_of(node.instance_id)) for node in self.task.graph.nodes
        }

    def end(self, trajectory: Trajectory) -> Judgement:
        """The judgement, after a last look at the state that the attempt ended in."""
        if trajectory.closing_evidence is not None:
            self._evidence = trajectory.closing_evidence
        outcome = self.evaluator.finish()
        known = {item.instance_id for item in self._completed}
        self._completed += [
            CompletedSubtask(instance_id=name, step=self._last)
            for name in outcome.completed
            if name not in known
        ]
        if trajectory.termination not in INVALID:
            beyond = self.account.of(
                self.task.graph.nodes, trajectory.initial_evidence, trajectory.final_evidence
            )
            completions = [self._accepted[item.instance_id] for item in self._completed]
            lost = self.account.lost(completions, trajectory.final_evidence, self.sandbox)
            outcome = outcome.model_copy(update={"side_effects": beyond, "lost": lost})
        return Judgement(
            outcome=outcome,
            completed=tuple(self._completed),
            unfinished=tuple(self._open.values()),
            ungradable=tuple(sorted(self._ungradable)),
            states=self._states,
        )

    def _judge(self, node: BoundSubtask, since_step: int) -> Evaluation:
        """The judgement of the node's function on what was done since that step."""
        if not self._evidences:
            return Evaluation(outcome="bad_result", message="the attempt had no valid start")
        if node.instance_id in self._ungradable:
            return Evaluation(outcome="bad_result", message="accepted before anything was done")
        evidence = since(self._evidence, since_step, self._inputs[since_step])
        source, start = self.account.verified[node.subtask_id].function.source, self._evidences[since_step]
        evaluation = self.sandbox.evaluate(source, node.parameters, evidence, start)
        if evaluation.passed:
            self._accepted[node.instance_id] = Completion(node, start, evidence)
            self._open.pop(node.instance_id, None)
        else:
            refusing = dict.fromkeys(call.check for call in evaluation.calls if call.answer == str(False))
            self._open[node.instance_id] = UnfinishedSubtask(
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
