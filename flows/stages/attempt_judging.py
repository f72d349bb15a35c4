"""Judges an attempt on its evidence, live or again from its recording, and makes its records: its row, its
decisions and its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from taskloom.environments.agents.guarding import Decided
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.running.clock import timestamp
from taskloom.omnieval.answers import is_right, says_impossible
from taskloom.omnieval.experiments import INVALID, AgentOrder, PlannedAttempt, end_of
from taskloom.omnieval.lookup import PROTOCOLS, Attempt, measured
from taskloom.omnieval.scoring import GraphEvaluation, GraphEvaluator
from taskloom.synthesis.cross_verification.clean_work import Completion, SideEffectAccount
from taskloom.synthesis.trajectories.setup_trajectories import since
from taskloom.taskgraph.records.agent_run import (
    AgentRun,
    AgentScore,
    AgentStep,
    CompletedSubtask,
    UnfinishedSubtask,
)
from taskloom.taskgraph.records.evaluation_function import Evaluation
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_MAX_MESSAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of an attempt."""

    outcome: GraphEvaluation
    completed: tuple[CompletedSubtask, ...]
    unfinished: tuple[UnfinishedSubtask, ...]
    """Subtasks that could have been done but were not."""
    ungradable: tuple[str, ...]
    states: dict[int, dict[str, str]]
    """State of every subtask after each step."""


@dataclass(slots=True)
class AttemptJudge:
    """Feeds the evidence of an episode to the evaluator."""

    task: Task
    account: SideEffectAccount
    """Finds changes beyond the verified subtasks that it holds."""
    sandbox: EvaluationSandbox
    patience: int
    step_limit: int
    on_completed: Callable[[str], object] = lambda name: None
    """Called with the id of each subtask once it is completed."""
    evaluator: GraphEvaluator = field(init=False)
    _evidence: Evidence = field(default_factory=lambda: Evidence(step=0))
    _input_counts: list[int] = field(default_factory=lambda: [0])
    """Number of inputs made by the end of each step."""
    _last: int = 0
    _evidences: list[Evidence] = field(default_factory=list)
    """State after each step."""
    _completed: list[CompletedSubtask] = field(default_factory=list)
    _completions: dict[str, Completion] = field(default_factory=dict)
    """For each completed subtask, the accepted evidence and the start."""
    _unfinished: dict[str, UnfinishedSubtask] = field(default_factory=dict)
    """Last messages of the functions of subtasks that can be done."""
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
        self._unfinished.clear()  # some of them cannot be done yet

    def observe(self, step: TrajectoryStep) -> None:
        """Judge the open subtasks after `step`."""
        self._evidence, self._last = step.evidence, step.step
        self._input_counts.append(len(step.evidence.inputs))
        self._evidences.append(step.evidence)
        if self.evaluator.outcome == "running":
            for name in self.evaluator.after_action():
                self._completed.append(CompletedSubtask(instance_id=name, step=step.step))
                self.on_completed(name)
        self._states[step.step] = {
            node.instance_id: str(self.evaluator.state_of(node.instance_id)) for node in self.task.graph.nodes
        }

    def end(self, trajectory: Trajectory) -> Judgement:
        """The judgement, after a last evaluation of the final state."""
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
            side_effects = self.account.of(
                self.task.graph.nodes, trajectory.initial_evidence, trajectory.final_evidence
            )
            completions = [self._completions[item.instance_id] for item in self._completed]
            lost = self.account.lost(completions, trajectory.final_evidence, self.sandbox)
            outcome = outcome.model_copy(update={"side_effects": side_effects, "lost": lost})
        return Judgement(
            outcome=outcome,
            completed=tuple(self._completed),
            unfinished=tuple(self._unfinished.values()),
            ungradable=tuple(sorted(self._ungradable)),
            states=self._states,
        )

    def _judge(self, node: BoundSubtask, since_step: int) -> Evaluation:
        """The judgement of the node's function on the work since that step."""
        if not self._evidences:
            return Evaluation(outcome="bad_result", message="the attempt had no valid start")
        if node.instance_id in self._ungradable:
            return Evaluation(outcome="bad_result", message="accepted before anything was done")
        evidence = since(self._evidence, since_step, self._input_counts[since_step])
        source, start = self.account.verified[node.subtask_id].function.source, self._evidences[since_step]
        evaluation = self.sandbox.evaluate(source, node.parameters, evidence, start)
        if evaluation.passed:
            self._completions[node.instance_id] = Completion(node, start, evidence)
            self._unfinished.pop(node.instance_id, None)
        else:
            refusing = dict.fromkeys(call.check for call in evaluation.calls if call.answer == str(False))
            self._unfinished[node.instance_id] = UnfinishedSubtask(
                instance_id=node.instance_id, checks=tuple(refusing), said=evaluation.said[:_MAX_MESSAGE]
            )
        return evaluation


def judge_recording(judge: AttemptJudge, trajectory: Trajectory) -> Judgement:
    """Judge a recorded attempt."""
    if trajectory.termination != "invalid_start" and (
        trajectory.steps or trajectory.termination not in INVALID
    ):
        judge.begin(trajectory.initial_evidence)
    for step in trajectory.steps:
        judge.observe(step)
    return judge.end(trajectory)


def attempt_record(
    order: AgentOrder,
    planned: PlannedAttempt,
    task: Task,
    trajectory: Trajectory,
    judgement: Judgement,
    decided: Sequence[Decided],
) -> AgentRun:
    """The row of a new attempt."""
    spent = [item.decision.spent for item in decided if item.decision.spent is not None]
    record = AgentRun(
        agent_run_id=planned.attempt_id,
        experiment_id=order.experiment_id,
        agent=order.entry.title,
        task_id=task.task_id,
        variant=planned.variant,
        repeat=planned.repeat,
        instruction=trajectory.instruction,
        trajectory_id=trajectory.trajectory_id,
        seconds=round(sum(item.seconds + item.environment_seconds for item in decided), 3),
        decision_seconds=round(sum(item.seconds for item in decided), 3),
        environment_seconds=round(sum(item.environment_seconds for item in decided), 3),
        calls=sum(item.calls for item in spent),
        input_tokens=sum(item.input_tokens for item in spent),
        output_tokens=sum(item.output_tokens for item in spent),
        unusable_replies=sum(item.unusable for item in decided),
        provenance=trajectory.provenance.model_copy(
            update={
                "seed": planned.seed,
                "provider": order.provider or next((item.provider for item in spent if item.provider), ""),
                "model": order.model or next((item.model for item in spent if item.model), ""),
                "cost_usd": sum(item.cost_usd for item in spent),
            }
        ),
    )
    return with_judgement(record, order.experiment.protocol, task, trajectory, judgement)


def with_judgement(
    record: AgentRun, protocol_name: str, task: Task, trajectory: Trajectory, judgement: Judgement
) -> AgentRun:
    """The row with the judgement of the attempt."""
    outcome = judgement.outcome
    answer = PROTOCOLS.load(protocol_name).answer(trajectory.answer) if trajectory.answer else ""
    answered = None if task.question is None else is_right(task.question, answer)
    success = outcome.success and answered is not False
    if task.lack is not None:
        refused = trajectory.termination == "gave_up" or says_impossible(answer)
        success, answered = refused and outcome.clean is not False, refused
    end = end_of(trajectory.termination, outcome.outcome, success=success, completed=len(judgement.completed))
    invalid = end == "invalid"
    side_effects = None if invalid else outcome.side_effects
    unusable = {step.step for step in trajectory.steps if step.problem and step.action.operation == "wait"}
    return record.model_copy(
        update={
            "completed": judgement.completed,
            "unfinished": () if invalid else judgement.unfinished,
            "ungradable": judgement.ungradable,
            "coverage_rate": outcome.coverage_rate,
            "logical_consistency": outcome.logical_consistency,
            "further_metrics": outcome.further_metrics,
            "success": success and not invalid,
            "side_effects": side_effects,
            "clean": None if invalid else outcome.clean,
            "held": None if invalid else outcome.held,
            "lost": () if invalid else outcome.lost or (),
            "answer": answer,
            "answered": answered,
            "steps": len(trajectory.steps),
            "outcome": "invalid" if invalid else outcome.outcome,
            "end": end,
            "termination": trajectory.termination,
            "message": trajectory.message,
            "refused_actions": sum(
                bool(step.problem) and step.step not in unusable for step in trajectory.steps
            ),
        }
    )


def step_records(
    record: AgentRun, trajectory: Trajectory, judgement: Judgement, decided: Sequence[Decided]
) -> tuple[AgentStep, ...]:
    """One row per decision: those that became steps, and the last, which ended the attempt."""
    made = {step.step: step for step in trajectory.steps}
    by_step = {item.step: item for item in decided}
    completed: dict[int, list[str]] = {}
    for item in judgement.completed:
        completed.setdefault(item.step, []).append(item.instance_id)
    rows = []
    for number in sorted({*made, *by_step}):
        step, entry = made.get(number), by_step.get(number)
        rows.append(
            AgentStep(
                agent_run_id=record.agent_run_id,
                step=number,
                reply=entry.decision.reply if entry else "",
                point=_pointer_position(step.action, step.target_rectangle) if step else None,
                problem=step.problem if step else "",
                unusable=entry.unusable if entry else False,
                states=dict(judgement.states.get(number, {})),
                completed=tuple(completed.get(number, ())),
                decision_seconds=round(entry.seconds, 4) if entry else 0.0,
                environment_seconds=round(entry.environment_seconds, 4) if entry else 0.0,
                provenance=record.provenance,
            )
        )
    return tuple(rows)


def scores_of(record: AgentRun, task: Task, functions_hash: str) -> tuple[AgentScore, ...]:
    """The scores of an attempt by every metric; none for an invalid one, and for an impossible task only
    whether it was refused."""
    if record.end == "invalid":
        return ()
    attempt = Attempt(task.graph, tuple(item.instance_id for item in record.completed), record.steps)
    values: dict[str, float | None] = {} if task.lack is not None else dict(measured(attempt))
    for name in ("success", "held", "clean", "answered"):
        value = getattr(record, name)
        values[name] = None if value is None else float(value)
    now = timestamp()
    return tuple(
        AgentScore(
            agent_run_id=record.agent_run_id,
            metric=name,
            experiment_id=record.experiment_id,
            value=value,
            functions_hash=functions_hash,
            scored_at=now,
            provenance=record.provenance,
        )
        for name, value in sorted(values.items())
    )


def _pointer_position(action: object, rectangle: tuple[int, int, int, int] | None) -> tuple[int, int] | None:
    """Where a step pointed: at the point of its action, or at the middle of its control."""
    point = getattr(action, "point", None)
    if point is not None:
        return (round(point[0]), round(point[1]))
    if rectangle is None:
        return None
    return ((rectangle[0] + rectangle[2]) // 2, (rectangle[1] + rectangle[3]) // 2)
