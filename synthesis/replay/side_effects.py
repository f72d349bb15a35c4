"""Side effects of an attempt at a task: what it changed that the verified performances of its subtasks do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from environments.machines.sandbox import APPLICATIONS_FOLDER
from evaluators_api.state.effects import effects
from evaluators_api.state.essential import Performance, divide
from evaluators_api.state.side_effects import Place, expected_places, lasting, place, side_effects
from synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskgraph.records.effect import Effect
from taskgraph.records.evidence import Evidence
from taskgraph.records.side_effects import SideEffects
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.trajectory import Trajectory


@dataclass(slots=True)
class SideEffectAccount:
    """Knows what subtasks change when they are done as verified."""

    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id."""
    _known: dict[str, Performance] = field(default_factory=dict)
    _housekeeping: dict[str, frozenset[Place]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, done or not, from `start` to `end`."""
        expected: Counter[Place] = expected_places(self._expected(node) for node in nodes)
        applications = {node.application for node in nodes}
        usual = frozenset[Place]().union(*(self._of_application(name) for name in applications))
        return side_effects(effects(start, end, {}), expected, usual)

    def _expected(self, node: BoundSubtask) -> Performance:
        verified = self.verified.get(node.subtask_id)
        trajectory = verified.trajectory(node.instance_id) if verified else None
        return self._performance(trajectory) if trajectory is not None else ((), {})

    def _performance(self, trajectory: Trajectory) -> Performance:
        found = self._known.get(trajectory.trajectory_id)
        if found is None:
            values = trajectory.parameters
            changes = effects(trajectory.initial_evidence, trajectory.final_evidence, values)
            found = (tuple(lasting(changes)), values)
            self._known[trajectory.trajectory_id] = found
        return found

    def _of_application(self, application: str) -> frozenset[Place]:
        """Places that performances in an application change incidentally: its housekeeping. Never a loss of something."""
        known = self._housekeeping.get(application)
        if known is None:
            places: set[Place] = set()
            for item in self.verified.values():
                if item.subtask.application == application:
                    performances = [self._performance(one) for one in item.trajectories]
                    for (_, values), division in zip(performances, divide(performances), strict=True):
                        places |= {place(effect, values) for effect in division.incidental if _is_own(effect)}
            known = frozenset(places)
            self._housekeeping[application] = known
        return known


def _is_own(effect: Effect) -> bool:
    """Whether an application keeps something for itself there; losing something is never housekeeping."""
    return effect.kind != "removed" and effect.container.startswith(f"{APPLICATIONS_FOLDER}/")
