"""What an agent is asked to do in one episode: a bound subtask, or a whole task."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task


class Assignment(Record):
    """What an agent is asked to do in one episode."""

    instance_id: str
    """Id of the bound subtask, or of the attempt at a task."""
    subtask_id: str
    """The subtask, or the task."""
    instruction: str
    """What the agent is told."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Parameters of the subtask; a task has none of its own."""

    world: str = ""
    """World whose data it starts with; empty for the first."""

    @classmethod
    def of_subtask(cls, instance: BoundSubtask) -> Self:
        """To perform one bound subtask."""
        return cls(
            instance_id=instance.instance_id,
            subtask_id=instance.subtask_id,
            instruction=instance.instruction,
            parameters=instance.parameters,
            world=instance.world,
        )

    @classmethod
    def of_task(cls, task: Task, attempt_id: str, instruction: str) -> Self:
        """To perform a whole task, told by `instruction`."""
        return cls(instance_id=attempt_id, subtask_id=task.task_id, instruction=instruction, world=task.world)
