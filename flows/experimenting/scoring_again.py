"""Judges the recorded attempts of an experiment again: no environment, no model."""

from __future__ import annotations

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.experimenting.finishing import ExperimentReport, written
from taskloom.flows.experimenting.second_opinions import stored_experiment
from taskloom.flows.pool.known_pool import load_verified
from taskloom.flows.settings import Settings
from taskloom.flows.stages.attempt_judging import AttemptJudge, judged_again
from taskloom.flows.stages.attempt_records import judged_record, scores_of
from taskloom.flows.wiring import catalogue, sandbox_settings
from taskloom.omnieval.experiments.plan import digest, order_for
from taskloom.omnieval.experiments.specification import ExperimentFile
from taskloom.resources.record import Record
from taskloom.synthesis.replay.side_effects import SideEffectAccount
from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.store import Warehouse


class ScoredAgain(Record):
    """What judging again brought."""

    attempts: int
    """Attempts judged."""
    changed: tuple[str, ...]
    """Ids of the attempts whose end, coverage or success is another one now."""
    without_recording: int
    """Attempts that were left as they are: their recording, task or functions are not here."""
    report: ExperimentReport
    """The figures now."""


def score_again(settings: Settings, name: str) -> ScoredAgain:
    """Judge every recorded attempt of the experiment `name` with today's functions and metrics.

    Raises:
        CommandError: there is no such experiment.
    """
    with (
        Warehouse(settings.warehouse_location) as warehouse,
        EvaluationSandbox(sandbox_settings(settings)) as sandbox,
    ):
        record = stored_experiment(warehouse, name)
        experiment = ExperimentFile.model_validate(record.specification)
        runs = list(warehouse.read(AgentRun, "experiment_id = ?", [name]))
        ids = sorted({*record.task_ids, *(run.task_id for run in runs)})
        tasks = {
            task.task_id: task
            for task in warehouse.read(Task, "task_id IN (SELECT unnest(?::VARCHAR[]))", [ids])
        }
        verified = load_verified(warehouse, catalogue(settings))
        account = SideEffectAccount(verified)
        order = order_for(experiment, name, experiment.agents[0], list(tasks.values()))
        changed: list[str] = []
        left = 0
        for run in runs:
            task = tasks.get(run.task_id)
            trajectory = next(
                iter(warehouse.read(Trajectory, "trajectory_id = ?", [run.trajectory_id], pictures=True)),
                None,
            )
            judged = task is not None and all(node.subtask_id in verified for node in task.graph.nodes)
            if task is None or trajectory is None or not judged:
                left += 1
                continue
            judge = AttemptJudge.of(
                task, verified, sandbox, account, patience=order.patience, step_limit=order.step_limit
            )
            judgement = judged_again(judge, trajectory)
            again = judged_record(run, experiment.protocol, task, trajectory, judgement)
            functions = digest([verified[node.subtask_id].function.source for node in task.graph.nodes])
            steps = [
                step.model_copy(update={"states": dict(judgement.states.get(step.step, {}))})
                for step in warehouse.read(AgentStep, "agent_run_id = ?", [run.agent_run_id])
            ]
            if _told(again) != _told(run):
                changed.append(run.agent_run_id)
            warehouse.write([again, *steps, *scores_of(again, task, functions)], replace=True)
        report = written(warehouse, record)
        return ScoredAgain(
            attempts=len(runs) - left, changed=tuple(changed), without_recording=left, report=report
        )


def _told(run: AgentRun) -> tuple[object, ...]:
    return (
        run.end,
        run.success,
        run.coverage_rate,
        run.logical_consistency,
        run.clean,
        run.held,
        run.completed,
    )
