"""Records in the fields of Appendix C."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.exporting.exported_actions import paper_action
from taskloom.warehouse.exporting.record_files import write_picture

_RESULT_DEFINED = re.compile(
    r"^\s*(EvalResult\s*=|class\s+EvalResult\b|from\s.*\bEvalResult\b)", re.MULTILINE
)
EVALUATION_HEADER: Final = (
    "from collections import namedtuple\n\n"
    'EvalResult = namedtuple("EvalResult", ["success", "message", "progress"])\n\n\n'
)
"""What the paper's example begins with, and a function that uses `EvalResult` without defining it needs."""


def evaluation_source(source: str) -> str:
    """C.3: the function's source, with `EvalResult` defined, so that the file can be imported."""
    return source if _RESULT_DEFINED.search(source) else EVALUATION_HEADER + source


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


def trajectory_fields(trajectory: Trajectory, folder: Path) -> dict[str, object]:
    """C.2; the pictures go to `images/`."""
    return {
        "trajectory_id": trajectory.trajectory_id,
        "instruction": trajectory.instruction,
        "observations": [write_picture(folder, step.observation_screenshot) for step in trajectory.steps],
        "actions": [paper_action(step) for step in trajectory.steps],
        "subtask_id": trajectory.subtask_id,
    }


def task_fields(task: Task, names: Mapping[str, str] | None = None) -> dict[str, object]:
    """A task's metadata (C.4); `names` of the nodes by instance id, where they are not the paper's."""
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


def task_trajectory_fields(
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
        "observations": [write_picture(folder, step.observation_screenshot) for step in recording.steps],
        "actions": [paper_action(step) for step in recording.steps],
    }


def node_names(task: Task) -> dict[str, str]:
    """Names of the nodes in the export by instance id."""
    uses = Counter(node.subtask_id for node in task.graph.nodes)
    return {
        node.instance_id: node.subtask_id if uses[node.subtask_id] == 1 else node.instance_id
        for node in task.graph.nodes
    }
