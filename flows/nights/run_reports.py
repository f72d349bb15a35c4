"""What a run did and decided, read from the warehouse, so that any run can be reported later."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from pydantic import Field

from taskloom.flows.running.clock import now
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.records import DatasetVersion, ExplorationChoice, GateResult, Recheck, RunRecord
from taskloom.warehouse.store import Warehouse

_BUILDS = ("build_dataset", "compose_tasks", "explore_applications", "verify_subtasks")
_MAX_SHOWN = 20
"""Maximum number of list items in a text for people."""


class RunReport(Record):
    """One run."""

    run_id: str
    """The run."""
    flow: str
    """Its flow."""
    night: bool
    """Whether it was a night."""
    status: str
    """Its status."""
    message: str = ""
    """Why it did not complete."""
    started_at: str
    """Start, ISO 8601 in UTC."""
    finished_at: str = ""
    """End; empty while it runs."""
    seconds: float = 0.0
    """Wall time from start to end."""
    choices: tuple[ExplorationChoice, ...] = ()
    """Which applications it explored, and why."""
    verified: tuple[str, ...] = ()
    """Subtasks that it verified."""
    rechecks: tuple[Recheck, ...] = ()
    """Verified subtasks that it performed again."""
    retired_subtasks: dict[str, str] = Field(default_factory=dict)
    """Subtasks that it retired, with the reason."""
    retired_tasks: int = 0
    """Tasks that it retired."""
    composed: int = 0
    """Tasks that it composed."""
    validated: int = 0
    """How many of them are valid."""
    shortages: tuple[str, ...] = ()
    """What composition was short of."""
    gates: tuple[GateResult, ...] = ()
    """The gates of its publication."""
    not_published: tuple[str, ...] = ()
    """Why it published nothing, if a gate, the judge or the critic prevented it."""
    version: str = ""
    """Dataset version that it published."""
    model_calls: int = 0
    """Calls of models."""
    cost_usd: float = 0.0
    """Their price, in US dollars."""

    @property
    def explored(self) -> tuple[str, ...]:
        """Applications that it explored."""
        return tuple(item.application for item in self.choices if item.explored)

    @property
    def nothing_new(self) -> bool:
        """Whether it completed without changing anything that a dataset version holds."""
        changed = self.verified or self.composed or self.retired_subtasks or self.retired_tasks
        return (
            self.night and self.status == "completed" and not (changed or self.version or self.not_published)
        )

    @property
    def outcome(self) -> str:
        """Its outcome, in a few words."""
        if self.status not in ("running", "completed"):
            return f"{self.status.replace('_', ' ')}: {self.message}" if self.message else self.status
        if self.version:
            return f"published {self.version}"
        if self.not_published:
            failed = [item.gate for item in self.gates if not item.held]
            return f"not published: {', '.join(failed) or 'judge or critic'}"
        if self.nothing_new:
            return "nothing new"
        return "nothing published" if self.status == "completed" else self.status

    def lines(self) -> list[str]:
        """The report as lines for people."""
        unexplored = len(self.choices) - len(self.explored)
        counts = Counter(item.outcome for item in self.rechecks)
        lines = [f"outcome: {self.outcome}"]
        lines += [
            f"{'explored' if item.explored else 'not explored'} {item.application}: {item.reason}"
            for item in self.choices[:_MAX_SHOWN]
        ]
        if self.choices:
            lines.append(f"explored {len(self.explored)} applications, left {unexplored} unchanged")
        lines.append(f"verified {len(self.verified)} subtasks")
        if self.rechecks:
            lines.append(
                f"performed {len(self.rechecks)} verified subtasks again: {counts['holds']} hold,"
                f" {counts['retired']} retired, {counts['undecided']} undecided"
            )
        lines += [
            f"retired {name}: {reason}" for name, reason in list(self.retired_subtasks.items())[:_MAX_SHOWN]
        ]
        if self.retired_tasks:
            lines.append(f"retired {self.retired_tasks} tasks that need a retired subtask")
        lines.append(f"composed {self.composed} tasks, {self.validated} of them valid")
        lines += [f"short of: {item}" for item in self.shortages[:_MAX_SHOWN]]
        lines += [
            f"gate {item.gate} {'holds' if item.held else 'DOES NOT HOLD'}: {item.explanation}"
            for item in self.gates
        ]
        lines += [f"not published: {item}" for item in self.not_published]
        lines.append(f"{self.model_calls} model calls, ${self.cost_usd:.2f}, {self.seconds:.0f} s")
        return lines


def run_reports(warehouse: Warehouse, run_id: str = "") -> list[RunReport]:
    """Reports of one run, or of all runs that make records, oldest first."""
    where, values = ("run_id = ?", [run_id]) if run_id else ("", [])
    runs = list(warehouse.read(RunRecord, where, values, order_by="started_at, run_id"))
    return [run_report(warehouse, item) for item in runs if run_id or item.flow in _BUILDS]


def run_report(warehouse: Warehouse, record: RunRecord) -> RunReport:
    """The report of one run up to now."""
    run = [record.run_id]
    of_run = "run_id = ?", run

    def texts(sql: str) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in warehouse.query(f"{sql} ORDER BY ALL", run).rows())

    def number(sql: str) -> float:
        return float(str(warehouse.query(sql, run).scalar() or 0))

    end = datetime.fromisoformat(record.finished_at) if record.finished_at else now()
    nights = record.settings.get("nights")
    rejected = "FROM rejections WHERE run_id = ? AND "
    return RunReport(
        run_id=record.run_id,
        flow=record.flow,
        night=isinstance(nights, dict) and nights.get("enabled") is True,
        status=record.status,
        message=record.message,
        started_at=record.started_at,
        finished_at=record.finished_at,
        seconds=max(0.0, (end - datetime.fromisoformat(record.started_at)).total_seconds()),
        choices=tuple(warehouse.read(ExplorationChoice, *of_run)),
        verified=texts("SELECT DISTINCT subtask_id FROM verifications WHERE accepted AND run_id = ?"),
        rechecks=tuple(warehouse.read(Recheck, *of_run)),
        retired_subtasks={
            item.item_id: item.message
            for item in warehouse.read(
                Rejection, f"run_id = ? AND reason = '{NO_LONGER_REPLAYS}'", run, order_by="item_id"
            )
        },
        retired_tasks=int(number(f"SELECT count(DISTINCT item_id) {rejected} reason = '{SUBTASK_RETIRED}'")),
        composed=int(
            number(
                "SELECT count(DISTINCT task_id) FROM (SELECT task_id FROM tasks WHERE run_id = $1 AND status"
                " <> 'imported' UNION SELECT item_id FROM rejections WHERE run_id = $1 AND item_kind = 'task'"
                " AND stage NOT IN ('import', 'recheck'))"
            )
        ),
        validated=int(number("SELECT count(*) FROM tasks WHERE run_id = ? AND status = 'validated'")),
        shortages=texts(
            f"SELECT DISTINCT message {rejected} item_kind = 'composition' AND stage = 'composition'"
        ),
        gates=tuple(warehouse.read(GateResult, *of_run)),
        not_published=texts(f"SELECT DISTINCT message {rejected} item_kind = 'dataset_version'"),
        version=", ".join(item.name for item in warehouse.read(DatasetVersion, *of_run)),
        model_calls=int(number("SELECT count(*) FROM model_calls WHERE run_id = ?")),
        cost_usd=number("SELECT coalesce(sum(cost_usd), 0) FROM model_calls WHERE run_id = ?"),
    )


NO_LONGER_REPLAYS = "no_longer_replays"
"""Reason for retiring a subtask."""
SUBTASK_RETIRED = "subtask_retired"
"""Reason for retiring a task."""
