"""The end of an experiment: figures, files and record, made from stored attempts alone."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

from taskloom.flows.running.clock import timestamp
from taskloom.omnieval.reports.figures import correlations, figures, report_page
from taskloom.omnieval.reports.standings import ScoredAttempt, comparisons, standings
from taskloom.omnieval.reports.tables import ReportTable, tables
from taskloom.resources.record import Record
from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.records.agent_run import AgentRun, AgentScore, Experiment, ExperimentStatus, Standing
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse

_OF_EXPERIMENT = "experiment_id = ?"
_IN_LIST = "IN (SELECT unnest(?::VARCHAR[]))"
_PARQUET_TABLES = {
    "agent_runs": f"{_OF_EXPERIMENT} ORDER BY agent_run_id",
    "agent_scores": f"{_OF_EXPERIMENT} ORDER BY agent_run_id, metric",
    "agent_steps": (
        "agent_run_id IN (SELECT agent_run_id FROM agent_runs WHERE experiment_id = ?) ORDER BY agent_run_id,"
        " step"
    ),
}
"""Tables that are copied into the folder, with the selected rows."""


class ExperimentReport(Record):
    """The results of an experiment."""

    experiment_id: str
    """The experiment."""
    run_id: str = ""
    """The run that made its last attempts."""
    folder: str
    """Folder of its files."""
    attempts: int
    """Stored attempts, of those that it requests."""
    wanted: int
    """Attempts that it requests."""
    invalid: int
    """Attempts that do not count: the start was not what the task needs, or the environment failed."""
    left_out: tuple[str, ...] = ()
    """Selected tasks with subtasks that are not verified for the installed applications."""
    changed: tuple[str, ...] = ()
    """What has changed since the attempts were made, such as `prompts of mine`."""
    errors: tuple[str, ...] = ()
    """Per agent, the number of attempts with an error and of invalid ones, each with the most frequent
    message."""
    holds: bool
    """Whether few enough attempts are invalid for the figures to hold."""
    status: ExperimentStatus
    """Its status."""
    standings: tuple[Standing, ...]
    """Its figures."""
    leaderboard: tuple[tuple[str, ...], ...]
    """The table of agents, headings first."""
    ends: tuple[tuple[str, ...], ...]
    """How attempts ended, headings first."""

    def figure(self, metric: str, agent: str = "", group: str = "all") -> float | None:
        """One figure; by default of the first agent, over all attempts."""
        name = agent or (self.standings[0].agent if self.standings else "")
        matching = (
            item for item in self.standings if (item.agent, item.metric, item.group) == (name, metric, group)
        )
        return next((item.value for item in matching), None)

    @property
    def remarks(self) -> list[str]:
        """Remarks on the figures."""
        lines = []
        if self.attempts < self.wanted:
            lines.append(
                f"{self.attempts} of {self.wanted} attempts are finished; the same command continues."
            )
        if self.left_out:
            lines.append(
                f"{len(self.left_out)} selected tasks were left out: not all of their subtasks are verified"
                " with the applications installed here."
            )
        if self.changed:
            lines.append(
                f"The {' and '.join(self.changed)} have changed since the attempts were made; the figures"
                " are those of the earlier ones."
            )
        if self.invalid:
            lines.append(
                f"{self.invalid} attempts are invalid and do not count: the start was not what the task"
                " needs, or the environment failed."
            )
        lines.extend(self.errors)
        if not self.holds:
            lines.append(
                "More attempts are invalid than the experiment allows (invalid_share):"
                " its figures do not hold."
            )
        return lines


def write_report(
    warehouse: Warehouse, record: Experiment, left_out: Sequence[str] = (), changed: Sequence[str] = ()
) -> ExperimentReport:
    """Write the record and the folder of an experiment from its stored attempts, saying what `changed`."""
    runs = list(warehouse.read(AgentRun, _OF_EXPERIMENT, [record.experiment_id]))
    names = [*record.task_ids, *(run.task_id for run in runs)]
    tasks = {task.task_id: task for task in warehouse.read(Task, f"task_id {_IN_LIST}", [names])}
    scores: dict[str, dict[str, float | None]] = {}
    for score in warehouse.read(AgentScore, _OF_EXPERIMENT, [record.experiment_id]):
        scores.setdefault(score.agent_run_id, {})[score.metric] = score.value
    order = {name: position for position, name in enumerate(record.agents)}
    runs.sort(key=lambda run: (order.get(run.agent, len(order)), run.repeat, run.task_id, run.variant))
    valid = [
        ScoredAttempt(run, tasks[run.task_id], scores.get(run.agent_run_id, {}))
        for run in runs
        if run.end != "invalid" and run.task_id in tasks
    ]
    invalid = [run for run in runs if run.end == "invalid"]
    share = float(str(record.specification.get("invalid_share", 0.05)))
    holds = len(invalid) <= share * len(runs)
    agent_standings, agent_comparisons = standings(valid), comparisons(valid)
    report_tables = tables(valid, invalid, agent_standings, agent_comparisons)
    final = record.model_copy(
        update={
            "standings": agent_standings,
            "comparisons": agent_comparisons,
            "holds": holds if record.status == "completed" else None,
            "finished_at": timestamp() if record.status == "completed" else "",
        }
    )
    by_name = {table.name: (table.columns, *table.rows) for table in report_tables}
    report = ExperimentReport(
        experiment_id=record.experiment_id,
        folder=record.folder,
        attempts=len(runs),
        wanted=record.attempts,
        invalid=len(invalid),
        left_out=tuple(left_out),
        changed=tuple(changed),
        errors=tuple(_describe_errors(runs)),
        holds=holds,
        status=record.status,
        standings=agent_standings,
        leaderboard=by_name.get("leaderboard", ()),
        ends=by_name.get("ends", ()),
    )
    charts = {**figures(agent_standings), **correlations(valid)}
    derived = {name for name, task in tasks.items() if task.question or task.lack}
    _write_folder(warehouse, final, derived, runs, report_tables, charts, report)
    warehouse.write([final], replace=True)
    return report


def _describe_errors(runs: Sequence[AgentRun]) -> Iterator[str]:
    for end, words in (("agent_error", "an agent error"), ("invalid", "invalid")):
        for agent in dict.fromkeys(run.agent for run in runs):
            messages = Counter(run.message for run in runs if (run.agent, run.end) == (agent, end))
            for message, count in messages.most_common(1):
                times = f", most often ({count} times)" if len(messages) > 1 else ""
                yield f"{agent}, {words} in {messages.total()} attempts{times}: {' '.join(message.split())}"


def _write_folder(
    warehouse: Warehouse,
    record: Experiment,
    derived: Collection[str],
    runs: Sequence[AgentRun],
    report_tables: Sequence[ReportTable],
    charts: Mapping[str, str],
    report: ExperimentReport,
) -> None:
    """Write all that a reader needs to repeat and check the experiment; `derived` tasks are derived again."""
    folder = Path(record.folder)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    write_whole(
        folder / "experiment.json", record.model_dump_json(indent=2, exclude={"standings", "comparisons"})
    )
    fixed = [name for name in record.task_ids if name not in derived]
    old = record.specification.get("tasks")
    kept = ("version", "questions", "impossible")
    tasks = {name: value for name, value in old.items() if name in kept} if isinstance(old, dict) else {}
    repeat = {**record.specification, "tasks": {**tasks, "ids": fixed}}
    write_whole(folder / "experiment.yaml", json.dumps(repeat, indent=2, ensure_ascii=False))  # JSON is YAML
    versions = {item.metadata["Name"]: item.version for item in distributions()}
    machine = {"python": platform.python_version(), "system": platform.platform(), "packages": versions}
    write_whole(folder / "versions.json", json.dumps(machine, indent=2, sort_keys=True))
    run_ids = [run.provenance.run_id for run in runs]
    run_records = warehouse.read(RunRecord, f"run_id {_IN_LIST}", [run_ids])
    settings = {item.run_id: item.settings for item in run_records}
    write_whole(folder / "settings.json", json.dumps(settings, indent=2, sort_keys=True))
    instructions = {(run.task_id, run.variant): run.instruction for run in runs}
    lines = [
        json.dumps({"task": task, "variant": variant, "told": text}, ensure_ascii=False)
        for (task, variant), text in sorted(instructions.items())
    ]
    write_whole(folder / "prompts.jsonl", "\n".join(lines) + "\n")
    figures_json = [item.model_dump() for item in record.standings]
    write_whole(folder / "figures.json", json.dumps(figures_json, indent=1))
    for table in report_tables:
        write_whole(folder / "tables" / f"{table.name}.csv", table.as_csv())
        write_whole(folder / "tables" / f"{table.name}.tex", table.as_latex())
    for name, where in _PARQUET_TABLES.items():
        rows = warehouse.query(f"SELECT * FROM {name} WHERE {where}", [record.experiment_id])  # noqa: S608
        rows.write_parquet(folder / f"{name}.parquet")
    write_whole(folder / "report.html", report_page(record, report_tables, charts, report.remarks))
