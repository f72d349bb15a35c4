"""What is kept of an attempt: its row, its decisions and its scores."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.environments.agents.guarding import Decided
from taskloom.flows.running.clock import now
from taskloom.flows.stages.attempt_judging import Judgement
from taskloom.omnieval.answers import is_right, says_impossible
from taskloom.omnieval.experiments import AgentOrder, PlannedAttempt, end_of
from taskloom.omnieval.lookup import PROTOCOLS, Attempt, measured
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, AgentStep
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory


def attempt_record(
    order: AgentOrder,
    planned: PlannedAttempt,
    task: Task,
    trajectory: Trajectory,
    judgement: Judgement,
    decided: Sequence[Decided],
) -> AgentRun:
    """The row of an attempt that has just been made."""
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
    return judged_record(record, order.experiment.protocol, task, trajectory, judgement)


def judged_record(
    record: AgentRun, protocol_name: str, task: Task, trajectory: Trajectory, judgement: Judgement
) -> AgentRun:
    """The row with what is made of the attempt, now or again."""
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
        step, taken = made.get(number), by_step.get(number)
        rows.append(
            AgentStep(
                agent_run_id=record.agent_run_id,
                step=number,
                reply=taken.decision.reply if taken else "",
                point=_point(step.action, step.target_rectangle) if step else None,
                problem=step.problem if step else "",
                unusable=taken.unusable if taken else False,
                states=dict(judgement.states.get(number, {})),
                completed=tuple(completed.get(number, ())),
                decision_seconds=round(taken.seconds, 4) if taken else 0.0,
                environment_seconds=round(taken.environment_seconds, 4) if taken else 0.0,
                provenance=record.provenance,
            )
        )
    return tuple(rows)


def scores_of(record: AgentRun, task: Task, functions_hash: str) -> tuple[AgentScore, ...]:
    """What every metric says of an attempt; nothing of an invalid one, and of an impossible task only whether
    it was refused."""
    if record.end == "invalid":
        return ()
    attempt = Attempt(task.graph, tuple(item.instance_id for item in record.completed), record.steps)
    values: dict[str, float | None] = {} if task.lack is not None else dict(measured(attempt))
    for name in ("success", "held", "clean", "answered"):
        said = getattr(record, name)
        values[name] = None if said is None else float(said)
    when = now().isoformat(timespec="seconds")
    return tuple(
        AgentScore(
            agent_run_id=record.agent_run_id,
            metric=name,
            experiment_id=record.experiment_id,
            value=value,
            functions_hash=functions_hash,
            scored_at=when,
            provenance=record.provenance,
        )
        for name, value in sorted(values.items())
    )


def _point(action: object, rectangle: tuple[int, int, int, int] | None) -> tuple[int, int] | None:
    """Where a step pointed: the point of its action, or the middle of its control."""
    point = getattr(action, "point", None)
    if point is not None:
        return (round(point[0]), round(point[1]))
    if rectangle is None:
        return None
    return ((rectangle[0] + rectangle[2]) // 2, (rectangle[1] + rectangle[3]) // 2)
