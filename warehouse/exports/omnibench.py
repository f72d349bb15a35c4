"""The paper's own formats (App. C), one file per item, with the paper's field names and no others.

`subtasks/<id>.json` (C.1), `trajectories/<id>.json` (C.2), `evaluations/<subtask>.py` (C.3),
`tasks/<id>.json` (C.4), `task_trajectories/<id>.json` (C.5), `images/<hash>.png`. The nodes of a graph are
subtask ids; a subtask that occurs twice in one task, with different parameters, has its instance id there
instead. What the paper's fields cannot hold (which parameters a node is bound to, which resource an edge
carries) is in `bindings.jsonl`, one task per line, and in `templates.jsonl`, one subtask per line; the
import reads both if they are present. `task_dag/` holds the tasks as the authors' own evaluator loads
them: `tasks/`, `subtasks.json` and `evaluations/<node>.txt`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.exporting.exporting import ExportOptions, ExportOutcome, ExportSource, Refused
from taskloom.warehouse.exporting.files import safe_name, write_json, write_lines, write_picture
from taskloom.warehouse.exporting.recordings import paper_action

_RESULT: Final = (
    "def EvalResult(success, message='', progress=0.0):\n    return EvaluateResult(success, message)\n\n\n"
)
"""Defines what their evaluator wants a function to return, under the name that ours use."""
_RESULT_DEFINED: Final = re.compile(
    r"^\s*(EvalResult\s*=|class\s+EvalResult\b|from\s.*\bEvalResult\b)", re.MULTILINE
)
EVALUATION_HEADER: Final = (
    "from collections import namedtuple\n\n"
    'EvalResult = namedtuple("EvalResult", ["success", "message", "progress"])\n\n\n'
)
"""Beginning of the paper's example, needed by a function that uses `EvalResult` without defining it."""


def write(source: ExportSource, folder: Path, options: ExportOptions) -> ExportOutcome:
    """Write all five kinds of files."""
    counts: Counter[str] = Counter()
    refused: list[Refused] = []

    def write_item(kind: str, name: str, fields: Mapping[str, object]) -> None:
        write_json(folder / kind / f"{safe_name(name)}.json", fields)
        counts[kind] += 1

    for subtask in source.subtasks.values():
        write_item("subtasks", subtask.subtask_id, subtask_fields(subtask))
    for trajectory in source.trajectories():
        write_item("trajectories", trajectory.trajectory_id, _trajectory_fields(trajectory, folder))
    for function in source.functions.values():
        target = folder / "evaluations" / f"{safe_name(function.subtask_id)}.py"
        target.parent.mkdir(exist_ok=True)
        header = "" if _RESULT_DEFINED.search(function.source) else EVALUATION_HEADER
        target.write_text(header + function.source, encoding="utf-8")
        counts["evaluations"] += 1
    incomplete = 0
    for task, replays in source.tasks_with(Replay, "task_id"):
        write_item("tasks", task.task_id, task_fields(task))
        incomplete += task.successful_order_count > len(task.successful_orders)
        for replay in replays:
            if not replay.success:
                continue
            recording = source.trajectory(replay.trajectory_id)
            if recording is None:
                refused.append(Refused(item_id=replay.replay_id, reason="its recording is not stored"))
                continue
            fields = _task_trajectory_fields(task, replay, recording, folder)
            write_item("task_trajectories", replay.replay_id, fields)
    refused += _write_task_dags(source, folder, counts)
    write_lines(folder / "bindings.jsonl", (task.model_dump(mode="json") for task in source.tasks()))
    write_lines(
        folder / "templates.jsonl", (item.model_dump(mode="json") for item in source.subtasks.values())
    )
    notes = []
    if incomplete:
        notes.append(f"`successful_topo` lists only the stored orders of {incomplete} tasks that have more.")
    if options.coordinates != "absolute":
        notes.append("`rect` is always in pixels, as in the paper.")
    return ExportOutcome(counts=dict(counts), refused=tuple(refused), notes=tuple(notes))


def _write_task_dags(source: ExportSource, folder: Path, counts: Counter[str]) -> Iterator[Refused]:
    place = folder / "task_dag"
    nodes: dict[str, dict[str, object]] = {}
    for task in source.tasks():
        missing = [node.subtask_id for node in task.graph.nodes if node.subtask_id not in source.functions]
        if missing:
            reason = f"not in task_dag: {missing[0]} has no evaluation function"
            yield Refused(item_id=task.task_id, reason=reason)
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
                target.write_text(_RESULT + source.functions[node.subtask_id].source, encoding="utf-8")
    if nodes:
        write_json(place / "subtasks.json", list(nodes.values()))


def subtask_fields(subtask: Subtask) -> dict[str, object]:
    """A subtask's metadata (C.1); resources are given by category alone."""
    return {
        "id": subtask.subtask_id,
        "instruction_template": subtask.instruction_template,
        "application": subtask.application,
        "available_parameters": list(subtask.available_parameters),
        "OS": subtask.operating_system,
        "input_resources": [item.category for item in subtask.inputs],
        "output_resources": [item.category for item in subtask.outputs],
    }


def _trajectory_fields(trajectory: Trajectory, folder: Path) -> dict[str, object]:
    """C.2; the pictures go to `images/`."""
    return {
        "trajectory_id": trajectory.trajectory_id,
        "instruction": trajectory.instruction,
        **_step_fields(trajectory, folder),
        "subtask_id": trajectory.subtask_id,
    }


def _task_trajectory_fields(
    task: Task, replay: Replay, recording: Trajectory, folder: Path
) -> dict[str, object]:
    """A whole task's trajectory (C.5); the pictures go to `images/`."""
    names = node_names(task)
    return {
        "trajectory_id": replay.replay_id,
        "task_id": task.task_id,
        "topological_order": [names[node] for node in replay.order],
        "instruction": task.instruction,
        "intent": task.intent,
        **_step_fields(recording, folder),
    }


def _step_fields(recording: Trajectory, folder: Path) -> dict[str, object]:
    return {
        "observations": [write_picture(folder, step.observation_screenshot) for step in recording.steps],
        "actions": [paper_action(step) for step in recording.steps],
    }


def task_fields(task: Task, names: Mapping[str, str] | None = None) -> dict[str, object]:
    """A task's metadata (C.4); `names` of the nodes by instance id, if they are not the paper's."""
    names = names or node_names(task)
    edges: dict[str, list[str]] = {name: [] for name in names.values()}
    for producer, consumer in task.graph.pairs:
        edges[names[producer]].append(names[consumer])
    return {
        "task_instruction": task.instruction,
        "dag": {"nodes": list(names.values()), "edges": edges},
        "task_intent": task.intent,
        "successful_topo": [[names[node] for node in order] for order in task.successful_orders],
    }


def node_names(task: Task) -> dict[str, str]:
    """Names of the nodes in the export by instance id."""
    uses = Counter(node.subtask_id for node in task.graph.nodes)
    return {
        node.instance_id: node.subtask_id if uses[node.subtask_id] == 1 else node.instance_id
        for node in task.graph.nodes
    }
