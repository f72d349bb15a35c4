"""Hosts a run: its objects, which the flow opens and the steps look up by the run's id (steps take and return
only plain records, so that Prefect can show and retry them); and what Prefect shows: results, progress, and
the event of a failed gate, which automations act on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import monotonic

import prefect
from prefect.artifacts import acreate_markdown_artifact, create_markdown_artifact, create_table_artifact
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.context import FlowRunContext
from prefect.events import emit_event

from taskloom.flows.errors import CommandError
from taskloom.flows.fan_out.dask_workers import fanned_out
from taskloom.flows.running.core_seconds import since
from taskloom.flows.running.interruptions import cancellable
from taskloom.flows.running.progress import StageProgress
from taskloom.flows.settings import Settings
from taskloom.flows.stages.growing import PoolGrowth
from taskloom.flows.stages.making import TaskMaking
from taskloom.flows.summary import RunSummary
from taskloom.flows.wiring import Run, open_run
from taskloom.model_clients.ledger.budget import CallCounters
from taskloom.resources.errors import ExitCode
from taskloom.resources.record import Record

_LOG = logging.getLogger(__name__)
_UPDATE_SECONDS = 30.0
"""How often the displayed progress is updated."""


@dataclass(frozen=True)
class Work:
    """What the steps of one run share, created on first use."""

    run: Run

    @cached_property
    def growth(self) -> PoolGrowth:
        """Explores and verifies."""
        return PoolGrowth(self.run)

    @cached_property
    def making(self) -> TaskMaking:
        """Composes, validates and replays."""
        return TaskMaking(self.run, self.growth.verified)


_open_runs: dict[str, Work] = {}
"""The runs open in this process, by id."""


@asynccontextmanager
async def begin(settings: Settings, flow: str, *, quiet: bool = False) -> AsyncIterator[Work]:
    """Open a run of `flow` for its steps, and keep it open until the block ends.

    Raises:
        CommandError: no requested application is installed, or one is unknown.
    """
    async with cancellable(), open_run(settings, flow, quiet=quiet) as run:
        work = Work(run)
        _open_runs[run.run_id] = work
        try:
            _LOG.info("run %s of %s begins", run.run_id, flow)
            async with showing_progress(run), fanned_out(run, lambda names: work.making.subtasks(names)):
                yield work
            _LOG.info("run %s completed", run.run_id)
        finally:
            del _open_runs[run.run_id]


def work_of(run_id: str) -> Work:
    """The shared objects of the steps of a run.

    Raises:
        CommandError: no flow has this run open in this process.
    """
    if run_id not in _open_runs:
        raise CommandError(
            f"no run {run_id!r} is open in this process; steps run in the process of their flow, and"
            " fan_out.runner=dask spreads their items over processes"
        )
    return _open_runs[run_id]


@contextmanager
def timed(run: Run, stage: str) -> Iterator[None]:
    """Add the wall and processor time of the block to those of `stage` in the run, and log its end."""
    started, spent = monotonic(), run.spent.so_far()
    try:
        yield
    finally:
        seconds = monotonic() - started
        run.stage_seconds[stage] = run.stage_seconds.get(stage, 0.0) + seconds
        costs = since(spent, run.spent.so_far())
        known = run.core_seconds.setdefault(stage, {})
        for purpose, value in costs.items():
            known[purpose] = round(known.get(purpose, 0.0) + value, 1)
        _LOG.info("%s ended after %.1f s, core-seconds %s", stage, seconds, costs)


async def publish_artifacts(summary: RunSummary) -> None:
    """Put the summary of a run into Prefect's UI; a failed gate becomes an event."""
    text = f"```\n{summary.describe().strip()}\n```"
    await _create_artifact(create_markdown_artifact(key="summary", markdown=text))
    if summary.exit_code == ExitCode.GATE_FAILED:
        emit_gate_failure(summary)


def emit_gate_failure(summary: RunSummary) -> None:
    """Send the event `taskloom.gate-failed`, with the reason why no version was published."""
    resource = {"prefect.resource.id": f"taskloom.run.{summary.run_id}", "taskloom.flow": summary.flow}
    emit_event("taskloom.gate-failed", resource, payload={"message": summary.not_published})


async def publish_table(description: str, rows: Sequence[Record]) -> None:
    """Put the table of an evaluation into Prefect's UI."""
    table = [row.model_dump(mode="json") for row in rows]
    await _create_artifact(create_table_artifact(key="evaluation", table=table, description=description))


async def _create_artifact(creation: object) -> None:
    """Create an artifact; if the server does not accept it, the run logs this and continues."""
    try:
        await creation  # type: ignore[misc]
    except Exception as error:
        prefect.get_run_logger().warning("an artifact could not be stored: %s", error)


@asynccontextmanager
async def showing_progress(run: Run) -> AsyncIterator[None]:
    """While the block runs, keep the artifact `progress` up to date, if the server accepts it."""
    if FlowRunContext.get() is None:
        yield
        return
    artifact: object = None

    async def show() -> None:
        nonlocal artifact
        text = describe_progress(run.progress.stages, run.recorder.rejections, run.calls.counters)
        try:
            if artifact is None:
                artifact = await acreate_markdown_artifact(key="progress", markdown=text)
                return
            async with prefect.get_client() as client:
                await client.update_artifact(artifact, ArtifactUpdate(data=text))  # type: ignore[arg-type]
        except Exception as error:
            _LOG.warning("the progress could not be shown: %s", error)

    async def keep_showing() -> None:
        while True:
            await asyncio.sleep(_UPDATE_SECONDS)
            await show()

    updates = asyncio.create_task(keep_showing())
    try:
        yield
    finally:
        updates.cancel()
    await show()


def describe_progress(
    stages: Mapping[str, StageProgress], rejections: Mapping[tuple[str, str], int], calls: CallCounters
) -> str:
    """Stages with their rates, rejections by reason, and model calls, as Markdown."""
    total = calls.total
    lines = ["| stage | progress |", "|--|--|"]
    lines += [f"| {name} | {stage.describe()} |" for name, stage in list(stages.items())]
    if rejections:
        lines += ["", "| rejected in | reason | items |", "|--|--|--:|"]
        lines += [
            f"| {stage} | {reason} | {count} |" for (stage, reason), count in sorted(rejections.items())
        ]
    lines += ["", "| model calls | |", "|--|--:|", f"| made | {total.calls_made} |"]
    lines += [f"| from the ledger | {total.from_ledger} |", f"| failed tries | {total.retries} |"]
    lines += [f"| waiting | {calls.waiting} |", f"| in flight | {calls.in_flight} |"]
    lines += [f"| spent | ${total.cost_usd:.2f} |"]
    lines += [f"| {name} pauses | {reason} |" for name, reason in list(calls.pauses.items())]
    return "\n".join(lines)
