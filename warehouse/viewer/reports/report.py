"""The report: one self-contained HTML file, nothing loaded from outside."""

from __future__ import annotations

import base64
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw
from pydantic import JsonValue

from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.drawing.svg import draw_svg
from taskloom.taskgraph.measures.acceptance_rates import AcceptanceReport
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import ScreenshotMissingError, WarehouseUnavailableError
from taskloom.warehouse.exporting.action_words import in_words
from taskloom.warehouse.records import DatasetVersion, RunRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import UNKNOWN, TaskQuality, error_rates, task_quality
from taskloom.warehouse.viewer.charts import (
    Chart,
    application_chart,
    complexity_charts,
    function_figures,
    funnel_charts,
    scenario_chart,
)
from taskloom.warehouse.viewer.package_files import asset, page_templates
from taskloom.warehouse.viewer.pages.agent_attempts import agent_figures
from taskloom.warehouse.viewer.pages.task_words import numbers_of, title_of


def write_report(store: Warehouse, out: Path, *, sample: int = 8, seed: int = 0) -> Path:
    """Write the report of `store` to `out`, complete or not at all.

    All text of the dataset is escaped; only the graph drawings, which taskloom makes itself, and the style
    sheet are markup.

    Raises:
        WarehouseUnavailableError: the file cannot be written.
    """
    page = (
        page_templates()
        .get_template("report.html.jinja")
        .render(
            report=read_report(store, sample=sample, seed=seed),
            style=asset("style.css"),
            rates_unknown=UNKNOWN,
        )
    )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, page)
    except OSError as error:
        raise WarehouseUnavailableError(f"The report {out} cannot be written: {error.strerror}") from None
    return out


_PICTURE_WIDTH = 560


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a replay."""

    number: int
    subtask: int
    """Number of the subtask it belongs to, from 1."""
    action: str
    thought: str
    picture: str
    """The screen before it with the control marked, as a data address; empty where no picture is stored."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task in full."""

    task: Task
    title: str
    drawing: str
    """Its graph as SVG."""
    replays: tuple[Replay, ...]
    steps: tuple[StepView, ...]
    """Steps of the first successful replay."""


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything on the page."""

    version: str
    """Dataset version shown; empty for the present state, which no version names."""
    created: str
    funnel: Chart
    """Items that reached each step."""
    rejections: Chart
    """Rejected items by kind and reason."""
    complexity: tuple[Chart, ...]
    """Levels and values per dimension."""
    scenarios: Chart
    """Tasks per scenario."""
    applications: Chart
    """Tasks per application."""
    quality: dict[str, str]
    """Figures on evaluation functions."""
    instructions: TaskQuality
    """The judge of instructions, and how varied they are."""
    rates: AcceptanceReport | None
    """How often they judge labelled outcomes rightly; None where no outcome is labelled."""
    agents: tuple[dict[str, JsonValue], ...]
    """Figures per agent and run."""
    runs: tuple[RunRecord, ...]
    tasks: tuple[TaskView, ...]


def read_report(warehouse: Warehouse, *, sample: int = 8, seed: int = 0) -> ReportData:
    """The data of the report; `sample` tasks are drawn with `seed`, replayed ones first."""
    versions = list(warehouse.read(DatasetVersion, order_by="snapshot_id"))
    shown = next((item for item in versions if item.name == warehouse.version), None)
    funnel, rejections = funnel_charts(warehouse)
    return ReportData(
        version=warehouse.version or "",
        created=shown.created_at if shown else "",
        funnel=funnel,
        rejections=rejections,
        complexity=complexity_charts(warehouse),
        scenarios=scenario_chart(warehouse),
        applications=application_chart(warehouse),
        quality=function_figures(warehouse),
        rates=error_rates(warehouse),
        instructions=task_quality(warehouse),
        agents=tuple(agent_figures(warehouse)),
        runs=tuple(warehouse.read(RunRecord, order_by="started_at, run_id")),
        tasks=tuple(_view(warehouse, task) for task in _sample(warehouse, sample, seed)),
    )


def _sample(warehouse: Warehouse, size: int, seed: int) -> list[Task]:
    replayed = {str(row[0]) for row in warehouse.query("SELECT DISTINCT task_id FROM replays").rows()}
    names = [
        str(row[0])
        for row in warehouse.query(
            "SELECT task_id FROM tasks WHERE status IN ('validated', 'imported')"
        ).rows()
    ]
    names.sort(key=lambda name: (name not in replayed, hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()))
    tasks = {
        task.task_id: task
        for task in warehouse.read(Task, "task_id IN (SELECT unnest(?::VARCHAR[]))", [names[:size]])
    }
    return [tasks[name] for name in names[:size]]


def _view(warehouse: Warehouse, task: Task) -> TaskView:
    replays = tuple(warehouse.read(Replay, "task_id = ?", [task.task_id]))
    shown = next((replay for replay in replays if replay.success), None)
    steps: tuple[StepView, ...] = ()
    if shown is not None:
        for recording in warehouse.read(Trajectory, "trajectory_id = ?", [shown.trajectory_id]):
            steps = tuple(_step(warehouse, step, shown) for step in recording.steps)
    return TaskView(task, title_of(task), draw_svg(task.graph, numbers_of(task)), replays, steps)


def _step(warehouse: Warehouse, step: TrajectoryStep, replay: Replay) -> StepView:
    subtask = next(
        (
            number
            for number, node in enumerate(replay.subtasks, 1)
            if node.first_step <= step.step <= node.last_step
        ),
        0,
    )
    return StepView(step.step, subtask, in_words(step), step.thought, _picture(warehouse, step))


def _picture(warehouse: Warehouse, step: TrajectoryStep) -> str:
    """The screen as a small WebP with the control that was acted on marked."""
    try:
        png = warehouse.screenshots.read(step.observation_screenshot.sha256)
    except ScreenshotMissingError:
        return ""
    with Image.open(io.BytesIO(png)) as opened:
        picture = opened.convert("RGB")
    if step.target_rectangle:
        ImageDraw.Draw(picture).rectangle(step.target_rectangle, outline="#e11d48", width=4)
    height = round(picture.height * _PICTURE_WIDTH / picture.width)
    out = io.BytesIO()
    picture.resize((_PICTURE_WIDTH, height), Image.Resampling.LANCZOS).save(out, "WEBP", quality=70)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
