"""Verified subtasks: what composition, replay and evaluation build on."""

from __future__ import annotations

from collections.abc import Mapping

from resources.categories import ResourceCategory
from resources.record import Record
from taskgraph.records.evaluation_function import EvaluationFunction
from taskgraph.records.subtask import BoundSubtask, Subtask
from taskgraph.records.trajectory import Trajectory


class VerifiedSubtask(Record):
    """A subtask with the evaluation function that judges it and a trajectory for each verified instance."""

    subtask: Subtask
    """The subtask; its available parameters are exactly those that were verified."""
    function: EvaluationFunction
    """Its evaluation function."""
    trajectories: tuple[Trajectory, ...]
    """One accepted trajectory per parameter set."""

    def instances(self, categories: Mapping[str, ResourceCategory]) -> tuple[BoundSubtask, ...]:
        """The subtask bound to each of its verified parameter sets."""
        return tuple(self.subtask.bind(item.parameters, categories) for item in self.trajectories)

    def trajectory(self, instance_id: str) -> Trajectory | None:
        """The accepted trajectory of an instance, or None."""
        return next((item for item in self.trajectories if item.instance_id == instance_id), None)
