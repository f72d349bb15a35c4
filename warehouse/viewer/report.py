"""The report: one self-contained HTML file, nothing loaded from outside."""

import base64
import io
from pathlib import Path

from PIL import Image, ImageDraw

from taskloom.resources.whole_files import write_whole
from taskloom.taskgraph.drawing import draw_svg
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import ScreenshotMissingError, WarehouseUnavailableError
from taskloom.warehouse.records import DatasetVersion, RunRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import task_quality
from taskloom.warehouse.viewer.charts import complexity_charts, dataset_figures
from taskloom.warehouse.viewer.pages.recording_pages import read_strip
from taskloom.warehouse.viewer.pages.task_pages import numbers_of, title_of
from taskloom.warehouse.viewer.website import asset, page_templates


def write_report(store: Warehouse, out: Path, *, sample: int = 8, seed: int = 0) -> Path:
    """Write the report of `store` to `out`, complete or not at all; `sample` tasks are drawn, replayed ones
    first.

    All text of the dataset is escaped; only the graph drawings and the style sheet are markup.
    """
    versions = store.read(DatasetVersion, "name = ?", [store.version or ""])
    page = (
        page_templates()
        .get_template("report.html.jinja")
        .render(
            **dataset_figures(store),
            style=asset("style.css"),
            version=store.version,
            created=next((item.created_at for item in versions), ""),
            instructions=task_quality(store),
            complexity=complexity_charts(store),
            runs=list(store.read(RunRecord, order_by="started_at, run_id")),
            tasks=[_view(store, task) for task in _sample(store, sample, seed)],
        )
    )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, page)
    except OSError as error:
        raise WarehouseUnavailableError(f"The report {out} cannot be written: {error.strerror}") from None
    return out


_PICTURE_WIDTH = 560


def _sample(warehouse: Warehouse, size: int, seed: int) -> list[Task]:
    names = warehouse.query(
        "SELECT task_id FROM tasks WHERE status IN ('validated', 'imported') ORDER BY task_id NOT IN (SELECT"
        " task_id FROM replays), sha256($seed || ':' || task_id), task_id LIMIT $size",
        {"seed": str(seed), "size": size},
    ).texts()
    tasks = warehouse.read(Task, "task_id IN (SELECT unnest(?::VARCHAR[]))", [names])
    return sorted(tasks, key=lambda task: names.index(task.task_id))


def _view(warehouse: Warehouse, task: Task) -> dict[str, object]:
    """One task in full, with the steps of the first successful replay."""
    replays = tuple(warehouse.read(Replay, "task_id = ?", [task.task_id]))
    successful = next((replay for replay in replays if replay.success), None)
    recording = warehouse.find(Trajectory, "trajectory_id", successful.trajectory_id) if successful else None
    return {
        "task": task,
        "title": title_of(task),
        "drawing": draw_svg(task.graph, numbers_of(task)),
        "replays": replays,
        "steps": read_strip(warehouse, recording, successful.subtasks) if recording and successful else (),
        "pictures": {step.step: _picture(warehouse, step) for step in recording.steps} if recording else {},
    }


def _picture(warehouse: Warehouse, step: TrajectoryStep) -> str:
    try:
        png = warehouse.screenshots.read(step.observation_screenshot.sha256)
    except ScreenshotMissingError:
        return ""
    with Image.open(io.BytesIO(png)) as image:
        picture = image.convert("RGB")
    if step.target_rectangle:
        ImageDraw.Draw(picture).rectangle(step.target_rectangle, outline="#e11d48", width=4)
    height = round(picture.height * _PICTURE_WIDTH / picture.width)
    out = io.BytesIO()
    picture.resize((_PICTURE_WIDTH, height), Image.Resampling.LANCZOS).save(out, "WEBP", quality=70)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
