"""Grounding data as LLaVA and Qwen-VL read them: a picture, the words for a place on it, and its point and
box.

`<set>.json` with one record for each click on a known control, and `images/`. The answer is the point in the
coordinates asked for; `point` and `bbox` repeat it as numbers, with the box of the control.
"""

from pathlib import Path

from taskloom.taskgraph.records.interaction import ClickInput
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.warehouse.exporting.dialogues import COORDINATES, recordings, without_marks
from taskloom.warehouse.exporting.exported_actions import image_size, in_words, points_of, scaled
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource
from taskloom.warehouse.exporting.record_files import RecordFiles, write_picture

RECORDINGS = True


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write one file per set that has records."""
    with RecordFiles(folder, lines=False) as records:
        for trajectory, _, split, _ in recordings(source, options):
            for step in trajectory.steps:
                if isinstance(step.action, ClickInput) and step.target is not None and step.target_rectangle:
                    records.add(
                        split, _record(f"{trajectory.trajectory_id}#{step.step}", step, folder, options)
                    )
    return ExportOutcome(counts=dict(sorted(records.counts.items())) or {"train": 0})


def _record(name: str, step: TrajectoryStep, folder: Path, options: ExportOptions) -> dict[str, object]:
    size = image_size(step.observation_screenshot.png)
    point = scaled(points_of(step)[0], size, options.coordinates)
    left, top, right, bottom = step.target_rectangle or (0, 0, 0, 0)
    corners = (
        scaled((left, top), size, options.coordinates),
        scaled((right - 1, bottom - 1), size, options.coordinates),
    )
    asked = (
        f"Where do you click to {without_marks(in_words(step))}? Answer with the point [x, y] in"
        f" {COORDINATES[options.coordinates]}."
    )
    return {
        "id": name,
        "image": write_picture(folder, step.observation_screenshot),
        "conversations": [
            {"from": "human", "value": f"<image>\n{asked}"},
            {"from": "gpt", "value": f"[{', '.join(f'{part:g}' for part in point)}]"},
        ],
        "point": point,
        "bbox": [*corners[0], *corners[1]],
    }
