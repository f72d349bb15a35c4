"""Side effects of an attempt at a task: what it changed that the verified performances of its subtasks do
not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Performance, divide
from taskloom.evaluators_api.state.side_effects import Place, expected_places, lasting, place, side_effects
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.synthesis.trajectories.generalisation import recorded_id
from taskloom.taskgraph.records.effect import Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.side_effects import SideEffects
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory


@dataclass(slots=True)
class SideEffectAccount:
    """Knows what subtasks change when they are done as verified."""

    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id."""
    _known: dict[str, Performance] = field(default_factory=dict)
    _incidental: dict[str, tuple[Performance, ...]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, done or not, from `start` to `end`."""
        expected: Counter[Place] = expected_places(self._expected(node) for node in nodes)
        usual = {
            place(effect, values)
            for name in {node.application for node in nodes}
            for found, values in self._housekeeping(name)
            for effect in found
        }
        for node in nodes:
            for found, _ in self._housekeeping(node.application, node.subtask_id):
                usual |= {place(effect, node.parameters) for effect in found}
        return side_effects(effects(start, end, {}), expected, usual)

    def _expected(self, node: BoundSubtask) -> Performance:
        """What `node` changes: as it was verified, or as the instance does that its performance is made from.

        In most worlds nothing was recorded: the places follow from the values of `node`, as its actions do.
        """
        verified = self.verified.get(node.subtask_id)
        performed = verified.performance(node) if verified else None
        if verified is None or performed is None:
            return (), {}
        origin = recorded_id(performed)
        recorded = next(item for item in verified.trajectories if item.trajectory_id == origin)
        return self._performance(recorded)[0], node.parameters

    def _performance(self, trajectory: Trajectory) -> Performance:
        found = self._known.get(trajectory.trajectory_id)
        if found is None:
            values = trajectory.parameters
            changes = effects(trajectory.initial_evidence, trajectory.final_evidence, values)
            found = (tuple(lasting(changes)), values)
            self._known[trajectory.trajectory_id] = found
        return found

    def _housekeeping(self, application: str, subtask_id: str = "") -> list[Performance]:
        """What performances in an application, or of one subtask, change incidentally. Never a loss of
        something."""
        return [
            performance
            for item in self.verified.values()
            if item.subtask.application == application and subtask_id in ("", item.subtask.subtask_id)
            for performance in self._incidental_of(item)
        ]

    def _incidental_of(self, item: VerifiedSubtask) -> tuple[Performance, ...]:
        known = self._incidental.get(item.subtask.subtask_id)
        if known is None:
            performances = [self._performance(one) for one in item.trajectories]
            known = tuple(
                (tuple(effect for effect in division.incidental if _is_own(effect)), values)
                for (_, values), division in zip(performances, divide(performances), strict=True)
            )
            self._incidental[item.subtask.subtask_id] = known
        return known


def _is_own(effect: Effect) -> bool:
    """Whether an application keeps something for itself there; losing something is never housekeeping."""
    return effect.kind != "removed" and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
