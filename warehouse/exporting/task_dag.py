"""The files that the authors' published evaluator loads: `TaskDAG(json_path, subtask_eval_func_dir,
subtask_list)`.

It takes one JSON file per task, one list of all subtasks, and `<node>.txt` with the evaluation function of
every node; it calls the function with the `available_parameters` of the node, so a node stands for a subtask
with its values here, not for a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.exporting.paper_format import task_fields
from taskloom.warehouse.exporting.record_files import safe_name

RESULT: Final = (
    "def EvalResult(success, message='', progress=0.0):\n    return EvaluateResult(success, message)\n\n\n"
)
"""What their evaluator wants a function to return, by the name that ours use."""


def missing_function(task: Task, functions: Mapping[str, EvaluationFunction]) -> str:
    """A subtask of a task without evaluation function; empty where all have one."""
    return next((node.subtask_id for node in task.graph.nodes if node.subtask_id not in functions), "")


def node_name(node: BoundSubtask) -> str:
    """The name of a node, which is also the name of its file."""
    return safe_name(node.instance_id)


def dag_fields(task: Task) -> dict[str, object]:
    """The task file."""
    names = {node.instance_id: node_name(node) for node in task.graph.nodes}
    return {"task_id": task.task_id, **task_fields(task, names)}


def node_fields(node: BoundSubtask) -> dict[str, object]:
    """The entry of a node in the list of subtasks."""
    return {
        "id": node_name(node),
        "subtask_id": node.subtask_id,
        "instruction": node.instruction,
        "application": node.application,
        "available_parameters": dict(node.parameters),
    }
