"""taskloom: datasets of verified, graph-structured tasks for computer-use agents, made from applications.

What is named here is the public Python interface, with what its values offer (docs/python.md). Everything
else in this package may change without notice. Nothing is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskloom.environments.agent import Agent, Decision
    from taskloom.flows.settings import Settings, load_settings
    from taskloom.interface.dataset import Dataset, open_dataset
    from taskloom.interface.runs import build, evaluate
    from taskloom.interface.task_environment import TaskEnvironment
    from taskloom.omnieval.scoring import score_of
    from taskloom.resources.errors import TaskloomError
    from taskloom.taskgraph.reading.task_graphs import read_task_graph
    from taskloom.taskgraph.records.graph import TaskGraph
    from taskloom.taskgraph.records.interaction import (
        ClickInput,
        DragInput,
        HoldInput,
        KeyboardInput,
        MoveInput,
        Observation,
        WaitInput,
        WheelMouseInput,
    )
    from taskloom.taskgraph.records.task import Task
    from taskloom.taskgraph.records.trajectory import Trajectory
    from taskloom.warehouse.sets.selection import Selection

__all__ = [
    "Agent",
    "ClickInput",
    "Dataset",
    "Decision",
    "DragInput",
    "HoldInput",
    "KeyboardInput",
    "MoveInput",
    "Observation",
    "Selection",
    "Settings",
    "Task",
    "TaskEnvironment",
    "TaskGraph",
    "TaskloomError",
    "Trajectory",
    "WaitInput",
    "WheelMouseInput",
    "build",
    "evaluate",
    "load_settings",
    "open_dataset",
    "read_task_graph",
    "score_of",
]

_MODULES = {
    "taskloom.environments.agent": ("Agent", "Decision"),
    "taskloom.flows.settings": ("Settings", "load_settings"),
    "taskloom.interface.dataset": ("Dataset", "open_dataset"),
    "taskloom.interface.runs": ("build", "evaluate"),
    "taskloom.interface.task_environment": ("TaskEnvironment",),
    "taskloom.omnieval.scoring": ("score_of",),
    "taskloom.resources.errors": ("TaskloomError",),
    "taskloom.taskgraph.reading.task_graphs": ("read_task_graph",),
    "taskloom.taskgraph.records.graph": ("TaskGraph",),
    "taskloom.taskgraph.records.interaction": (
        "ClickInput",
        "DragInput",
        "HoldInput",
        "KeyboardInput",
        "MoveInput",
        "Observation",
        "WaitInput",
        "WheelMouseInput",
    ),
    "taskloom.taskgraph.records.task": ("Task",),
    "taskloom.taskgraph.records.trajectory": ("Trajectory",),
    "taskloom.warehouse.sets.selection": ("Selection",),
}
"""Where each name is defined."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"taskloom has no public name {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
