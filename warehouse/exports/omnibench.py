"""The paper's own formats (App. C), one file per item, with its field names and no others.

`subtasks/<id>.json` (C.1), `trajectories/<id>.json` (C.2), `evaluations/<subtask>.py` (C.3),
`tasks/<id>.json` (C.4), `task_trajectories/<id>.json` (C.5), `images/<hash>.png`. The nodes of a graph are
subtask ids; a subtask that stands twice in one task, with different parameters, has its instance id there
instead. What the paper's fields cannot hold (which parameters a node is bound to, which resource an edge
carries) stands in `bindings.jsonl`, one task per line, and in `templates.jsonl`, one subtask per line; the
import reads both where they are present. `task_dag/` holds the tasks as the authors' own evaluator loads
them: `tasks/`, `subtasks.json` and `evaluations/<node>.txt`.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.paper_format import (
    evaluation_source,
    subtask_fields,
    task_fields,
    task_trajectory_fields,
    trajectory_fields,
)
from taskloom.warehouse.exporting.record_files import safe_name, write_json, write_lines

RESULT: Final = (
    "def EvalResult(success, message='', progress=0.0):\n    return EvaluateResult(success, message)\n\n\n"
)
"""What their evaluator wants a function to return, by the name that ours use."""


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
    cut = 0
    for task, replays in source.replayed():
        write_json(folder / "tasks" / f"{safe_name(task.task_id)}.json", task_fields(task))
        counts["tasks"] += 1
        cut += task.successful_order_count > len(task.successful_orders)
        for replay in replays:
            recording = source.trajectory(replay.trajectory_id)
            if recording is None:
                refused.append(Refused(item_id=replay.replay_id, reason="its recording is not stored"))
                continue
            write_json(
                folder / "task_trajectories" / f"{safe_name(replay.replay_id)}.json",
                task_trajectory_fields(task, replay, recording, folder),
            )
            counts["task_trajectories"] += 1
    refused += _write_task_dags(source, folder, counts)
    write_lines(folder / "bindings.jsonl", (task.model_dump(mode="json") for task in source.tasks()))
    write_lines(
        folder / "templates.jsonl", (item.model_dump(mode="json") for item in source.subtasks.values())
    )
    notes = [f"`successful_topo` lists only the stored orders of {cut} tasks that have more."] if cut else []
    if options.coordinates != "absolute":
        notes.append("`rect` is always in pixels, as in the paper.")
    return ExportOutcome(counts=dict(counts), refused=tuple(refused), notes=tuple(notes))


def _write_task_dags(source: ExportSource, folder: Path, counts: Counter[str]) -> Iterator[Refused]:
    place = folder / "task_dag"
    nodes: dict[str, dict[str, object]] = {}
    for task in source.tasks():
        missing = [node.subtask_id for node in task.graph.nodes if node.subtask_id not in source.functions]
        if missing:
            yield Refused(
                item_id=task.task_id, reason=f"not in task_dag: {missing[0]} has no evaluation function"
            )
            continue
        names = {node.instance_id: safe_name(node.instance_id) for node in task.graph.nodes}
        fields = {"task_id": task.task_id, **task_fields(task, names)}
        write_json(place / "tasks" / f"{safe_name(task.task_id)}.json", fields)
        counts["task_dag"] += 1
        for node in task.graph.nodes:
            name = names[node.instance_id]
            if name not in nodes:
                nodes[name] = {
                    "id": name,
                    "subtask_id": node.subtask_id,
                    "instruction": node.instruction,
                    "application": node.application,
                    "available_parameters": dict(node.parameters),
                }
                target = place / "evaluations" / f"{name}.txt"
                target.parent.mkdir(exist_ok=True)
                target.write_text(RESULT + source.functions[node.subtask_id].source, encoding="utf-8")
    if nodes:
        write_json(place / "subtasks.json", list(nodes.values()))
