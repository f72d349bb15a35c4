"""The summary of a run: the funnel, the times, and what to try next."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable, Iterator

from pydantic import Field

from taskloom.environments.machines.bubblewrap import WITHOUT, Isolation, is_confined
from taskloom.flows.nights.run_reports import RunReport, run_report
from taskloom.flows.running.core_seconds import describe_spent, total_of
from taskloom.flows.wiring import Run
from taskloom.model_clients.ledger.ledger import Ledger
from taskloom.resources.errors import ExitCode
from taskloom.resources.record import Record
from taskloom.synthesis.replay.order_facts import clashes
from taskloom.taskgraph.measures.acceptance_rates import AcceptanceReport
from taskloom.taskgraph.records.model_calls import ModelRole
from taskloom.taskgraph.records.task import OrderFact, Rejection
from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.task_quality import TaskQuality, error_rates, task_quality

_MOST_CLASHES = 10
"""Maximum number of orders that the summary names."""


class PairMeasurements(Record):
    """Results of performing pairs of subtasks in both orders."""

    observations: int
    """Orders of two subtasks that this run performed."""
    clashes: tuple[str, ...] = ()
    """Orders that never worked, in this run or an earlier one."""

    def lines(self) -> list[str]:
        """The results as lines of text, with the first few orders."""
        measured = (
            f"{self.observations} observations by this run"
            if self.observations
            else (
                "nothing left to measure: no two verified subtasks of one application touch the same place,"
                " or all are known"
            )
        )
        lines = [
            measured,
            f"{len(self.clashes)} orders never worked, so tasks avoid them",
            *self.clashes[:_MOST_CLASHES],
        ]
        if len(self.clashes) > _MOST_CLASHES:
            lines.append("…")
        return [*lines, "all of them: taskloom sql orders"]


async def pair_measurements(run: Run, observations: int) -> PairMeasurements:
    """What is known about orders of two subtasks, after `run` made this number of observations."""
    never = await asyncio.to_thread(lambda: sorted(clashes(run.warehouse.read(OrderFact))))
    return PairMeasurements(
        observations=observations, clashes=tuple(f"{second} after {first}" for first, second in never)
    )


class FunnelRow(Record):
    """One row of the funnel."""

    step: str
    """What was counted."""
    reason: str = ""
    """Reason of a rejection."""
    items: int
    """Number of items."""


class RunSummary(Record):
    """The summary of a run."""

    run_id: str
    """The run."""
    flow: str
    """Its flow."""
    data: str
    """Its data folder."""
    warehouse: str
    """Location of its records."""
    version: str = ""
    """Dataset version that it published."""
    funnel: tuple[FunnelRow, ...]
    """The funnel of the warehouse as it is now."""
    verified_applications: int = 0
    """Applications with verified subtasks."""
    stage_seconds: dict[str, float]
    """Wall time of stages."""
    core_seconds: dict[str, float] = Field(default_factory=dict)
    """Processor time of all stages, by what it was spent on."""
    newly_verified: int = 0
    """Subtasks that this run verified."""
    examination_seconds: float = 0.0
    """Time spent examining evaluation functions, summed over concurrent examinations; part of the
    verification."""
    missing_applications: dict[str, str]
    """Applications left out, with the reason: not installed, or rejected by this run."""
    unconfined: str = ""
    """Why bubblewrap did not isolate applications and evaluation functions; empty if it did."""
    model_calls: int
    """Calls made by this run."""
    ledger_replies: int
    """Replies read from the ledger."""
    cost_usd: float
    """Price of the calls."""
    cached_share: float = 0.0
    """Share of their input tokens that the provider's cache held, 0 to 1."""
    error_rates: AcceptanceReport | None = None
    """How often the accepted functions judge labelled outcomes correctly; None if no outcome is labelled."""
    tasks: TaskQuality | None = None
    """What the judge of instructions notices, and how varied the tasks are."""
    not_published: str = ""
    """Why no dataset version was published, if the judge is not good enough, the critic's scores are too low,
    or a gate failed."""
    pairs: PairMeasurements | None = None
    """Results of measuring pairs of subtasks; None if not requested."""
    own_judge: str = ""
    """The model that both writes and judges instructions; empty if two different models do, or rules."""
    report: RunReport | None = None
    """What the run did and decided; None if it made no records."""
    not_composed: tuple[str, ...] = ()
    """What composition was short of, and why."""

    @property
    def exit_code(self) -> int:
        """0 if something passed or a night found nothing new; 6 if a gate prevented publication; else 1."""
        if self.not_published:
            return ExitCode.GATE_FAILED
        if self.report is not None and self.report.nothing_new:
            return 0
        reached = {row.step: row.items for row in self.funnel if not row.reason}
        wanted = {
            "explore_applications": "subtasks proposed",
            "verify_subtasks": "subtasks verified",
        }.get(self.flow, "tasks validated")
        return 0 if reached.get(wanted, 0) else ExitCode.NEGATIVE_ANSWER

    def describe(self) -> str:
        """The summary as text."""
        lines = ["", "Funnel"]
        width = max([len(_title(row)) for row in self.funnel] + [10])
        lines += [f"  {_title(row):<{width}}  {row.items:>6}" for row in self.funnel]
        lines.append(f"  verified subtasks come from {self.verified_applications} applications")
        lines += ["", "Times"]
        lines += [f"  {name:<{width}}  {value:>6.1f} s" for name, value in self.stage_seconds.items()]
        if self.examination_seconds:
            lines.append(
                f"  {'examinations':<{width}}  {self.examination_seconds:>6.1f} s, part of verification,"
                " summed over concurrent ones"
            )
        lines.append(
            f"  {self.model_calls} model calls made, {self.ledger_replies} replies from the ledger,"
            f" ${self.cost_usd:.2f}, {self.cached_share:.0%} of the input cached by the provider"
        )
        if self.core_seconds:
            spent = describe_spent(self.core_seconds, self.newly_verified)
            lines.append(f"  {spent}: taskloom sql core_seconds")
        if self.pairs is not None:
            lines += ["", "Orders of two subtasks of one application"]
            lines += [f"  {line}" for line in self.pairs.lines()]
        lines += ["", "Error rates of the evaluation functions", *self._error_rates()]
        if self.tasks is not None and self.tasks.variety is not None:
            lines += ["", "Instructions and their judge"]
            lines += [f"  {name:<{width}}  {value}" for name, value in self.tasks.lines()]
            if self.own_judge:
                lines.append(f"  warning: {self.own_judge} both writes the instructions and judges them")
            lines += [
                "",
                (
                    "Levels and capabilities with few or no tasks, and what is missing (by default, only"
                    " tasks that people would ask for are made)"
                ),
            ]
            lines += [f"  {gap.name:<{width}}  {gap}" for gap in self.tasks.gaps] or [
                "  none: all are filled"
            ]
        if self.report is not None and self.report.night:
            lines += ["", "Night", *(f"  {line}" for line in self.report.lines())]
        if self.not_composed:
            lines += ["", "Tasks that the pool cannot supply", *(f"  {text}" for text in self.not_composed)]
        if self.not_published:
            lines += ["", f"Not published: {self.not_published}"]
        if self.missing_applications:
            lines += ["", "Applications left out"]
            lines += [f"  {name}: {reason}" for name, reason in self.missing_applications.items()]
        if self.unconfined:
            lines += ["", f"Not confined: {self.unconfined}."]
            lines.append(
                "  Servers of applications were asked to stay off the network, and could have ignored it."
            )
        lines += ["", f"Dataset: {self.warehouse}" + (f", version {self.version}" if self.version else "")]
        lines.append("Try next")
        if self.data != "taskloom-data":
            lines.append(f"  export TASKLOOM_DATA={shlex.quote(self.data)}")
        lines += [f"  {command}" for command in self._next_commands()]
        return "\n".join(lines)

    def _error_rates(self) -> list[str]:
        if self.error_rates is None:
            return [
                "  not known: no labelled outcome was judged with them (taskloom import labelled_outcomes)"
            ]
        rates = self.error_rates.overall
        return [
            f"  right work accepted  {rates.true_positive}",
            f"  wrong work rejected  {rates.true_negative}",
            "  by application: taskloom sql error_rates --param by=application",
        ]

    def _next_commands(self) -> list[str]:
        if self.exit_code == ExitCode.GATE_FAILED:
            return [
                f"taskloom runs {self.run_id}   # the gates, with the figures of both versions",
                "taskloom publish --force   # publish anyway",
            ]
        if self.exit_code:
            reasons = "taskloom sql rejections   # nothing passed: the reasons, each with an example"
            return [reasons, *self._plan_hint()]
        if self.flow in ("explore_applications", "verify_subtasks"):
            return ["taskloom sql funnel", "taskloom plan", "taskloom compose"]
        return [
            *self._plan_hint(),
            "taskloom sql levels",
            "taskloom export hugging_face --out exported",
            "taskloom report --out report.html",
        ]

    def _plan_hint(self) -> list[str]:
        return ["taskloom plan   # what to explore for more tasks"] if self.not_composed else []


def _title(row: FunnelRow) -> str:
    return f"{row.step}: {row.reason}" if row.reason else row.step


async def summarise(run: Run, subtask_ids: Iterable[str], version: str = "") -> RunSummary:
    """Write the model calls of `run` to the warehouse and summarise it; `subtask_ids` are verified ones."""
    await run.recorder.record(*model_call_rows(run.ledger, run.run_id), replace=True)
    await run.recorder.flush()
    subtask_ids = tuple(subtask_ids)
    explored = {name.partition(".")[0] for name in subtask_ids}
    rows = await asyncio.to_thread(
        lambda: run.warehouse.query("SELECT step, reason, items FROM funnel").as_dicts()
    )
    rejections: dict[str, list[Rejection]] = {"application": [], "composition": [], "dataset_version": []}
    of_run = "run_id = ? AND item_kind IN ('application', 'composition', 'dataset_version')"
    for item in run.warehouse.read(Rejection, of_run, [run.run_id], order_by="item_id, reason"):
        rejections[item.item_kind].append(item)
    rejected = {
        item.item_id: f"{item.reason}: {item.message}"
        for item in rejections["application"]
        if item.item_id not in explored
    }
    newly_verified = (
        "SELECT count(DISTINCT subtask_id) FROM evaluation_functions WHERE accepted AND run_id = ?"
    )
    counters = run.calls.counters.total
    return RunSummary(
        run_id=run.run_id,
        flow=run.record.flow,
        data=str(run.settings.data),
        warehouse=run.settings.warehouse_location,
        version=version,
        funnel=tuple(FunnelRow.model_validate(row) for row in rows),
        verified_applications=len(explored),
        stage_seconds={name: round(value, 1) for name, value in run.stage_seconds.items()},
        core_seconds=total_of(run.core_seconds.values()),
        newly_verified=run.warehouse.query(newly_verified, [run.run_id]).scalar(),
        examination_seconds=round(run.examination_seconds, 1),
        missing_applications={**run.missing, **rejected},
        unconfined=why_unconfined(run.settings.isolation),
        model_calls=counters.calls_made,
        ledger_replies=counters.from_ledger,
        cost_usd=counters.cost_usd,
        cached_share=counters.cached_share,
        error_rates=await asyncio.to_thread(error_rates, run.warehouse),
        tasks=await asyncio.to_thread(task_quality, run.warehouse),
        not_published=" ".join(item.message for item in rejections["dataset_version"]),
        not_composed=tuple(
            f"{item.details['missing']} of {item.item_id}: {item.message}"
            for item in rejections["composition"]
            if item.details.get("missing")
        ),
        own_judge=run.settings.same_model(ModelRole.SUMMARIZER, ModelRole.DEPENDENCY_JUDGE),
        report=await asyncio.to_thread(
            run_report, run.warehouse, run.record.model_copy(update={"status": "completed"})
        ),
    )


def why_unconfined(isolation: Isolation) -> str:
    """Why bubblewrap does not isolate programs with this setting; empty if it does."""
    if is_confined(isolation):
        return ""
    return "the settings say isolation: never" if isolation == "never" else WITHOUT


def model_call_rows(ledger: Ledger, run_id: str) -> Iterator[ModelCallRecord]:
    """One row per call that the run paid for or gave up."""
    for call in ledger.calls(run_id):
        yield ModelCallRecord(**call.model_dump(), call_id=f"{call.key}:{run_id}")
