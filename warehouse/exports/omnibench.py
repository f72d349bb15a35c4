"""The paper's own formats (App. C), one file per item, with its field names and no others.

`subtasks/<id>.json` (C.1), `trajectories/<id>.json` (C.2), `evaluations/<subtask>.py` (C.3), `tasks/<id>.json` (C.4),
`task_trajectories/<id>.json` (C.5), `images/<hash>.png`. The nodes of a graph are subtask ids; a subtask that stands
twice in one task, with different parameters, has its instance id there instead. What the paper's fields cannot hold
(which parameters a node is bound to, which resource an edge carries) stands in `bindings.jsonl`, one task per line,
and in `templates.jsonl`, one subtask per line; the import reads both where they are present.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from warehouse.exporting.exporting import (
    ExportOptions,
    ExportOutcome,
    ExportSource,
    Refused,
    write_json,
    write_lines,
)
from warehouse.exporting.file_names import safe_name
from warehouse.exporting.paper_format import (
    evaluation_source,
    subtask_fields,
    task_fields,
    task_trajectory_fields,
    trajectory_fields,
)


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write all five kinds of files."""
    counts: Counter[str] = Counter()
    refused: list[Refused] = []
    for subtask in source.subtasks.values():
        write_json(folder / "subtasks" / f"{safe_name(subtask.subtask_id)}.json", subtask_fields(subtask))
        counts["subtasks"] += 1
    for trajectory in source.trajectories():
        write_json(
            folder / "trajectories" / f"{safe_name(trajectory.trajectory_id)}.json",
            trajectory_fields(trajectory, folder),
        )
        counts["trajectories"] += 1
    for function in source.functions.values():
        target = folder / "evaluations" / f"{safe_name(function.subtask_id)}.py"
        target.parent.mkdir(exist_ok=True)
        target.write_text(evaluation_source(function.source), encoding="utf-8")
        counts["evaluations"] += 1
    tasks = {task.task_id: task for task in source.tasks()}
    for task in tasks.values():
        write_json(folder / "tasks" / f"{safe_name(task.task_id)}.json", task_fields(task))
        counts["tasks"] += 1
    for replay in source.replays():
        recording = source.trajectory(replay.trajectory_id)
        if recording is None:
            refused.append(Refused(item_id=replay.replay_id, reason="its recording is not stored"))
            continue
        write_json(
            folder / "task_trajectories" / f"{safe_name(replay.replay_id)}.json",
            task_trajectory_fields(tasks[replay.task_id], replay, recording, folder),
        )
        counts["task_trajectories"] += 1
    write_lines(folder / "bindings.jsonl", (task.model_dump(mode="json") for task in tasks.values()))
    write_lines(
        folder / "templates.jsonl", (item.model_dump(mode="json") for item in source.subtasks.values())
    )
    cut = sum(task.successful_order_count > len(task.successful_orders) for task in tasks.values())
    notes = [f"`successful_topo` lists only the stored orders of {cut} tasks that have more."] if cut else []
    if options.coordinates != "absolute":
        notes.append("`rect` is always in pixels, as in the paper.")
    return ExportOutcome(counts=dict(counts), refused=tuple(refused), notes=tuple(notes))
