"""Judges recorded attempts of an experiment again: by current functions, by a critic, and by people."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from taskloom.evaluators_api.evidence.ocr import ScreenReader
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.flows.errors import CommandError
from taskloom.flows.experimenting.finishing import ExperimentReport, write_report
from taskloom.flows.experimenting.fixing import changed_since, prompt_hashes, stored_experiment
from taskloom.flows.hosting import begin
from taskloom.flows.pool import load_verified
from taskloom.flows.running.clock import timestamp
from taskloom.flows.running.together import together
from taskloom.flows.settings import Settings
from taskloom.flows.stages.attempt_judging import AttemptJudge, judge_recording, scores_of, with_judgement
from taskloom.flows.wiring import Run, catalogue, sandbox_settings
from taskloom.model_clients.errors import CallFailedError, ReplyInvalidError
from taskloom.omnieval.experiments import ExperimentFile, digest, order_for
from taskloom.omnieval.reports.tables import CRITIC, HUMAN
from taskloom.prompts.actor_actions import in_history
from taskloom.prompts.inputs import AttemptCriticInput
from taskloom.resources.record import Record
from taskloom.synthesis.cross_verification.clean_work import SideEffectAccount
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, AgentStep, Experiment
from taskloom.taskgraph.records.interaction import Screenshot
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.errors import ScreenshotMissingError
from taskloom.warehouse.store import Warehouse

_JUDGED_AT_A_TIME = 20
"""Attempts that are read, judged and written at a time."""
_ASKED_AT_A_TIME = 16
"""Attempts that the critic is asked about at a time."""
_STAGE = "criticism"
_COLUMNS = {"completion": HUMAN["coverage_rate"], "alignment": HUMAN["logical_consistency"]}
"""Columns of people's scores, in percent, and the metrics that they become."""
_LIST = "(SELECT unnest(?::VARCHAR[]))"
_RESULT_FIELDS = ("end", "success", "coverage_rate", "logical_consistency", "clean", "held", "completed")
"""Fields that make up the result of an attempt."""


class RescoredExperiment(Record):
    """The result of judging an experiment again."""

    attempts: int
    """Attempts judged."""
    changed: tuple[str, ...]
    """Ids of the attempts whose result has changed."""
    without_recording: int
    """Attempts that were left unchanged, because their recording, task or functions are missing."""
    report: ExperimentReport
    """The new figures."""


def score_again(settings: Settings, name: str) -> RescoredExperiment:
    """Judge every recorded attempt of the experiment `name` with the current functions and metrics.

    Raises:
        CommandError: there is no such experiment.
    """
    with Warehouse(settings.warehouse_location) as warehouse:
        record = load_experiment(warehouse, name, settings.data)
        experiment = ExperimentFile.model_validate(record.specification)
        runs = list(warehouse.read(AgentRun, "experiment_id = ?", [name], order_by="task_id, agent_run_id"))
        ids = sorted({*record.task_ids, *(run.task_id for run in runs)})
        tasks = {task.task_id: task for task in warehouse.read(Task, f"task_id IN {_LIST}", [ids])}
        verified = load_verified(warehouse, catalogue(settings))
        order = order_for(experiment, name, experiment.agents[0], list(tasks.values()))
        options = sandbox_settings(settings)
        reader = ScreenReader(options.ocr_folder, pictures=partial(_read_picture, warehouse))
        account = SideEffectAccount(verified)
        changed: list[str] = []
        judged = 0
        with EvaluationSandbox(options, reader=reader) as sandbox:
            for start in range(0, len(runs), _JUDGED_AT_A_TIME):
                batch = {run.trajectory_id: run for run in runs[start : start + _JUDGED_AT_A_TIME]}
                steps = _read_steps(warehouse, [run.agent_run_id for run in batch.values()])
                records: list[Record] = []
                for trajectory in warehouse.read(Trajectory, f"trajectory_id IN {_LIST}", [list(batch)]):
                    run = batch[trajectory.trajectory_id]
                    task = tasks.get(run.task_id)
                    if task is None or any(node.subtask_id not in verified for node in task.graph.nodes):
                        continue
                    judge = AttemptJudge(task, account, sandbox, order.patience, order.step_limit)
                    judgement = judge_recording(judge, trajectory)
                    rejudged = with_judgement(run, experiment.protocol, task, trajectory, judgement)
                    sources = [verified[node.subtask_id].function.source for node in task.graph.nodes]
                    judged += 1
                    if any(getattr(rejudged, name) != getattr(run, name) for name in _RESULT_FIELDS):
                        changed.append(run.agent_run_id)
                    records += [rejudged, *scores_of(rejudged, task, digest(sources))]
                    for step in steps.get(run.agent_run_id, ()):
                        states = judgement.states.get(step.step, {})
                        if states != step.states:
                            records.append(step.model_copy(update={"states": states}))
                warehouse.write(records, replace=True)
        report = write_report(warehouse, record, changed=changed_since(record, prompt_hashes(experiment)))
        return RescoredExperiment(
            attempts=judged, changed=tuple(changed), without_recording=len(runs) - judged, report=report
        )


def _read_steps(warehouse: Warehouse, attempts: Sequence[str]) -> Mapping[str, Sequence[AgentStep]]:
    steps: dict[str, list[AgentStep]] = {}
    for step in warehouse.read(AgentStep, f"agent_run_id IN {_LIST}", [list(attempts)]):
        steps.setdefault(step.agent_run_id, []).append(step)
    return steps


def _read_picture(warehouse: Warehouse, sha256: str) -> bytes:
    """A picture for a check that reads it; empty if it was not kept."""
    try:
        return warehouse.screenshots.read(sha256)
    except ScreenshotMissingError:
        return b""


def load_experiment(warehouse: Warehouse, name: str, data: Path) -> Experiment:
    """The experiment `name`, with its folder in the data folder `data`.

    Raises:
        CommandError: there is none; the known ones are named.
    """
    record = stored_experiment(warehouse, name, data)
    if record is None:
        known = [str(row[0]) for row in warehouse.query("SELECT name FROM experiments ORDER BY name").rows()]
        raise CommandError(f"there is no experiment {name!r}; known: {', '.join(known) or 'none'}")
    return record


async def ask_critic(settings: Settings, name: str) -> ExperimentReport:
    """Ask the critic, once per recorded attempt, whether it did what its instruction says.

    Raises:
        CommandError: there is no such experiment, or no model plays the critic.
    """
    if settings.is_offline(ModelRole.CRITIC):
        raise CommandError("no rule plays the critic; name a model under models.roles.critic")
    async with begin(settings, "ask_critic", quiet=True) as work:
        run = work.run
        record = load_experiment(run.warehouse, name, settings.data)
        judged = {
            item.agent_run_id
            for item in run.warehouse.read(
                AgentScore, "experiment_id = ? AND metric = ? AND value IS NOT NULL", [name, CRITIC]
            )
        }
        runs = [
            item
            for item in run.warehouse.read(AgentRun, "experiment_id = ?", [name], order_by="agent_run_id")
            if item.end != "invalid" and item.agent_run_id not in judged
        ]
        for start in range(0, len(runs), _ASKED_AT_A_TIME):
            batch = runs[start : start + _ASKED_AT_A_TIME]
            scores = await together(_ask_about(run, item) for item in batch)
            await run.recorder.record(*(item for item in scores if item is not None), replace=True)
            await run.recorder.flush()
        return write_report(run.warehouse, record)


async def _ask_about(run: Run, attempt: AgentRun) -> AgentScore | None:
    """The critic's verdict; None if the recording is missing or the critic gave no answer."""
    trajectories = run.warehouse.read(Trajectory, "trajectory_id = ?", [attempt.trajectory_id])
    trajectory = next(iter(trajectories), None)
    if trajectory is None:
        return None
    words = attempt.answer or trajectory.message
    screenshot = trajectory.final_evidence.screenshot
    question = AttemptCriticInput(
        instruction=attempt.instruction,
        steps=tuple(in_history(step) for step in trajectory.steps),
        ending=attempt.termination.replace("_", " ")
        + (f"; the agent's last words: {words}" if words else ""),
        screenshot=Screenshot.of(run.warehouse.screenshots.read(screenshot.sha256) if screenshot else b""),
    )
    try:
        reply = await run.models.ask(question, stage=_STAGE, item_id=f"{attempt.agent_run_id}:{CRITIC}")
    except (CallFailedError, ReplyInvalidError):
        return None
    model = run.settings.models.role(ModelRole.CRITIC).model
    provenance = run.provenance(_STAGE).model_copy(update={"provider": model.provider, "model": model.model})
    return _score(attempt, CRITIC, float(reply.done)).model_copy(update={"provenance": provenance})


def import_human_scores(settings: Settings, name: str, file: Path) -> ExperimentReport:
    """Import people's scores from a CSV file with `attempt`, `completion` and `alignment` in percent, one row
    per attempt and annotator; the mean over the annotators counts.

    Raises:
        CommandError: there is no such experiment, or a row has no attempt of it or no percentage.
    """
    with Warehouse(settings.warehouse_location) as warehouse:
        record = load_experiment(warehouse, name, settings.data)
        runs = {item.agent_run_id: item for item in warehouse.read(AgentRun, "experiment_id = ?", [name])}
        shares: dict[tuple[str, str], list[float]] = {}
        for line, row in _read_rows(file):
            attempt = (row.get("attempt") or "").strip()
            if attempt not in runs:
                raise CommandError(f"{file}, line {line}: there is no attempt {attempt!r} in {name}")
            for column, metric in _COLUMNS.items():
                text = (row.get(column) or "").strip().removesuffix("%")
                if text:
                    share = _parse_percentage(text, f"{file}, line {line}: {column}")
                    shares.setdefault((attempt, metric), []).append(share)
        warehouse.write(
            [_score(runs[attempt], metric, fmean(values)) for (attempt, metric), values in shares.items()],
            replace=True,
        )
        return write_report(warehouse, record)


def _score(attempt: AgentRun, metric: str, value: float) -> AgentScore:
    return AgentScore(
        agent_run_id=attempt.agent_run_id,
        metric=metric,
        experiment_id=attempt.experiment_id,
        value=value,
        scored_at=timestamp(),
    )


def _read_rows(file: Path) -> Iterator[tuple[int, Mapping[str, str | None]]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {file}: {error}") from None
    reader = csv.DictReader(text.splitlines())
    columns: Sequence[str] = reader.fieldnames or ()
    if "attempt" not in columns or not set(columns) & _COLUMNS.keys():
        raise CommandError(
            f"{file} has the columns {', '.join(columns) or 'none'}; it needs attempt, and completion or"
            " alignment in percent"
        )
    for row in reader:
        yield reader.line_num, row


def _parse_percentage(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise CommandError(f"{place} is {text!r}; it must be a percentage, 0 to 100")
    return value / 100
