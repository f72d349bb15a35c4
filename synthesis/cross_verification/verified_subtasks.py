"""Verified subtasks, which composition, replay and evaluation build on."""

from collections.abc import Mapping

from taskloom.resources.categories import ResourceCategory
from taskloom.resources.record import Record
from taskloom.synthesis.trajectories.generalisation import performed_with
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.trajectory import Trajectory


class VerifiedSubtask(Record):
    """A subtask with the evaluation function that judges it and a trajectory for each verified instance."""

    subtask: Subtask
    """The subtask; its available parameters are exactly those that were verified."""
    function: EvaluationFunction
    """Its evaluation function."""
    trajectories: tuple[Trajectory, ...]
    """The accepted trajectories: one per parameter set first, then those of other routes."""

    def instances(self, categories: Mapping[str, ResourceCategory]) -> tuple[BoundSubtask, ...]:
        """The subtask bound to each of its verified parameter sets."""
        bound = (self.subtask.bind(item.parameters, categories, item.world) for item in self.trajectories)
        return tuple({item.instance_id: item for item in bound}.values())

    def trajectory(self, instance_id: str) -> Trajectory | None:
        """The accepted trajectory of an instance, or None."""
        return next((item for item in self.trajectories if item.instance_id == instance_id), None)

    def performance(self, instance: BoundSubtask) -> Trajectory | None:
        """How `instance` is performed: its accepted trajectory, or one of another instance with its values
        put in.

        None where the accepted trajectories differ by more than their values, so that nothing follows from
        them.
        """
        recorded = self.trajectory(instance.instance_id)
        return recorded if recorded is not None else performed_with(self.trajectories, instance)

    def tells_how(self, instance: BoundSubtask) -> bool:
        """Whether the accepted trajectories show how it is done with other values, such as those of
        `instance`, which one of them may have."""
        return performed_with(self.trajectories, instance) is not None

    @property
    def worlds(self) -> tuple[str, ...]:
        """Worlds it was verified in."""
        return tuple(dict.fromkeys(item.world for item in self.trajectories))
