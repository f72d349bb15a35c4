"""Judges the recorded attempts of an experiment again: no environment, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from taskloom.evaluators_api.evidence.ocr import ScreenReader
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.experimenting.finishing import ExperimentReport, written
from taskloom.flows.experimenting.fixing import changed_since, prompt_hashes
from taskloom.flows.experimenting.second_opinions import known_experiment
from taskloom.flows.pool.known_pool import load_verified
from taskloom.flows.settings import Settings
from taskloom.flows.stages.attempt_judging import AttemptJudge, judged_again
from taskloom.flows.stages.attempt_records import judged_record, scores_of
from taskloom.flows.wiring import catalogue, sandbox_settings
from taskloom.omnieval.experiments import ExperimentFile, digest, order_for
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.taskgraph.records.agent_run import AgentRun, AgentStep
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ScreenshotMissingError
from taskloom.warehouse.store import Warehouse

_AT_A_TIME = 20
"""Attempts that are read, judged and written together."""
_LISTED = "(SELECT unnest(?::VARCHAR[]))"
_TOLD = ("end", "success", "coverage_rate", "logical_consistency", "clean", "held", "completed")
"""What counts as the result of an attempt."""


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
    with Warehouse(settings.warehouse_location) as warehouse:
        record = known_experiment(warehouse, name, settings.data)
        experiment = ExperimentFile.model_validate(record.specification)
        runs = list(warehouse.read(AgentRun, "experiment_id = ?", [name], order_by="task_id, agent_run_id"))
        ids = sorted({*record.task_ids, *(run.task_id for run in runs)})
        tasks = {task.task_id: task for task in warehouse.read(Task, f"task_id IN {_LISTED}", [ids])}
        verified = load_verified(warehouse, catalogue(settings))
        order = order_for(experiment, name, experiment.agents[0], list(tasks.values()))
        kept = sandbox_settings(settings)
        reader = ScreenReader(kept.ocr_folder, pictures=partial(_picture, warehouse))
        account = SideEffectAccount(verified)
        changed: list[str] = []
        judged = 0
        with EvaluationSandbox(kept, reader=reader) as sandbox:
            for start in range(0, len(runs), _AT_A_TIME):
                some = {run.trajectory_id: run for run in runs[start : start + _AT_A_TIME]}
                steps = _steps_of(warehouse, [run.agent_run_id for run in some.values()])
                found: list[Record] = []
                for trajectory in warehouse.read(Trajectory, f"trajectory_id IN {_LISTED}", [list(some)]):
                    run = some[trajectory.trajectory_id]
                    task = tasks.get(run.task_id)
                    if task is None or any(node.subtask_id not in verified for node in task.graph.nodes):
                        continue
                    judge = AttemptJudge(task, account, sandbox, order.patience, order.step_limit)
                    judgement = judged_again(judge, trajectory)
                    again = judged_record(run, experiment.protocol, task, trajectory, judgement)
                    hashed = digest([verified[node.subtask_id].function.source for node in task.graph.nodes])
                    judged += 1
                    if any(getattr(again, name) != getattr(run, name) for name in _TOLD):
                        changed.append(run.agent_run_id)
                    found += [again, *scores_of(again, task, hashed)]
                    for step in steps.get(run.agent_run_id, ()):
                        states = judgement.states.get(step.step, {})
                        if states != step.states:
                            found.append(step.model_copy(update={"states": states}))
                warehouse.write(found, replace=True)
        report = written(warehouse, record, changed=changed_since(record, prompt_hashes(experiment)))
        return ScoredAgain(
            attempts=judged, changed=tuple(changed), without_recording=len(runs) - judged, report=report
        )


def _steps_of(warehouse: Warehouse, attempts: Sequence[str]) -> Mapping[str, Sequence[AgentStep]]:
    found: dict[str, list[AgentStep]] = {}
    for step in warehouse.read(AgentStep, f"agent_run_id IN {_LISTED}", [list(attempts)]):
        found.setdefault(step.agent_run_id, []).append(step)
    return found


def _picture(warehouse: Warehouse, sha256: str) -> bytes:
    """A picture, for a check that reads it; empty where it was not kept."""
    try:
        return warehouse.screenshots.read(sha256)
    except ScreenshotMissingError:
        return b""
