"""The effects of a subtask's performances, in the form stored beside its trajectories."""

from collections.abc import Sequence

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Division, divided
from taskloom.synthesis.cross_verification.agreement import agreeing
from taskloom.taskgraph.records.effect import Effect, PerformanceEffects
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.trajectory import Trajectory

MOST_KEPT = 300
"""Effects kept of each kind; the first ones, and those come from the outside in."""
_NO_PROVENANCE = Provenance()


def performance_effects(
    trajectories: Sequence[Trajectory],
    agreed: Sequence[Trajectory] = (),
    provenance: Provenance = _NO_PROVENANCE,
) -> tuple[PerformanceEffects, ...]:
    """What each finished performance in `trajectories`, all of one subtask, changed; those `agreed` decide
    what is essential, or the largest group that agrees, where none are given."""
    finished = [item for item in trajectories if item.termination == "finished" and item.steps]
    chosen = {item.trajectory_id for item in agreed or agreeing(finished, quorum=2)}
    together = [item for item in finished if item.trajectory_id in chosen]
    alone = [item for item in finished if item.trajectory_id not in chosen]
    records = {
        item.trajectory_id: _record(item, division, len(together), provenance)
        for item, division in zip(together, divided(together), strict=True)
    }
    for item in alone:
        found = effects(item.initial_evidence, item.final_evidence, item.parameters)
        nothing_known = Division(essential=(), incidental=found)
        records[item.trajectory_id] = _record(item, nothing_known, 1, provenance)
    return tuple(records[item.trajectory_id] for item in finished)


def _record(
    trajectory: Trajectory, division: Division, compared: int, provenance: Provenance
) -> PerformanceEffects:
    essential, incidental = division.essential, division.incidental
    if compared == 1:
        essential, incidental = (), (*essential, *incidental)
    return PerformanceEffects(
        trajectory_id=trajectory.trajectory_id,
        subtask_id=trajectory.subtask_id,
        instance_id=trajectory.instance_id,
        compared=compared,
        essential=essential[:MOST_KEPT],
        incidental=_lasting_first(incidental)[:MOST_KEPT],
        left_out=sum(max(0, len(items) - MOST_KEPT) for items in (essential, incidental)),
        provenance=provenance,
    )


def _lasting_first(items: Sequence[Effect]) -> tuple[Effect, ...]:
    return tuple(sorted(items, key=lambda effect: effect.area == "screen"))
