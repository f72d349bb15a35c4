"""What performances of subtasks and attempts at tasks changed: their work, and what is beside it or was lost.

Right work is clean: it changes what the subtask is about, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import Bound, beyond
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.essential import Division, by_products, divide, divided, performances_of
from taskloom.evaluators_api.state.noise import noise_between
from taskloom.synthesis.cross_verification.agreement import agreeing, by_instance
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.effect import Allowance, Effect, PerformanceEffects, SideEffects
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory

_SHOWN = 3
MOST_KEPT = 300
"""Effects kept of each kind; the first ones, and those come from the outside in."""
_NO_PROVENANCE = Provenance()


def may_change(trajectories: Sequence[Trajectory]) -> tuple[Allowance, ...]:
    """What work may change that is done as in `trajectories`, all of one subtask."""
    performances = performances_of(trajectories)
    return allowances(performances, by_products(trajectories, divide(performances)))


def side_effects(trajectories: Sequence[Trajectory], others: Sequence[Trajectory] = ()) -> dict[str, str]:
    """What each of the performances of one subtask changed beside its work, in words, by its id; clean ones
    are left out. What the work is `others` tell as well, which had the same result.

    The work is what all of them change, with all that is inside of what they add, and what two or more with
    the same parameters, and all of these, change in what the application keeps: it depends on what was
    there. Noise is no effect; what looking adds, such as a cached page, is renewed where the page was looked
    at before.
    """
    known = [*trajectories, *others]
    performances = performances_of(known)
    each_one = [{effect.key for effect in changes} for changes, _ in performances]
    alike = by_instance(known, each_one)
    everywhere = set.intersection(*each_one) if each_one else set()
    steady = {name: set.intersection(*same) if len(same) > 1 else everywhere for name, same in alike.items()}
    work = allowances(
        [
            (_work(division, steady[item.instance_id], item.initial_evidence), item.parameters)
            for division, item in zip(divided(known, performances), known, strict=True)
        ]
    )
    return {
        item.trajectory_id: "; ".join(beside.examples[:_SHOWN])
        for item in trajectories
        if (beside := beyond(item.initial_evidence, item.final_evidence, [(work, item.parameters)])).total
    }


def _work(division: Division, steady: set[tuple[str, ...]], start: Evidence) -> list[Effect]:
    """Effects at places that are changed each time, what lies inside of additions among them or of what is
    noise where it is added, and what goes along with a record that is touched."""
    noise = noise_between(start, start)
    made = {item.place for item in division.essential if item.kind == "added"}
    also = [
        item
        for item in division.incidental
        if item.follows
        or (item.key in steady and item.container.startswith(f"{APPLICATIONS_FOLDER}/"))
        or (item.kind != "removed" and noise.covers(item.area, item.container, item.address, "added"))
        or not made.isdisjoint(item.around)
    ]
    return [*division.essential, *also]


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
    divisions = dict(zip((item.trajectory_id for item in together), divided(together), strict=True))
    return tuple(
        _record(item, divisions.get(item.trajectory_id), len(together), provenance) for item in finished
    )


def _record(
    trajectory: Trajectory, division: Division | None, compared: int, provenance: Provenance
) -> PerformanceEffects:
    if division is None:
        found = effects(trajectory.initial_evidence, trajectory.final_evidence, trajectory.parameters)
        division, compared = Division(essential=(), incidental=found), 1
    essential, incidental = division.essential, division.incidental
    if compared == 1:
        essential, incidental = (), (*essential, *incidental)
    return PerformanceEffects(
        trajectory_id=trajectory.trajectory_id,
        subtask_id=trajectory.subtask_id,
        instance_id=trajectory.instance_id,
        compared=compared,
        essential=essential[:MOST_KEPT],
        incidental=tuple(sorted(incidental, key=lambda item: item.area == "screen")[:MOST_KEPT]),
        left_out=sum(max(0, len(items) - MOST_KEPT) for items in (essential, incidental)),
        provenance=provenance,
    )


@dataclass(frozen=True, slots=True)
class Completion:
    """A subtask of an attempt that its function accepted."""

    node: BoundSubtask
    """The subtask."""
    start: Evidence
    """The state that its function compared with."""
    done: Evidence
    """The state that was accepted."""


@dataclass(slots=True)
class SideEffectAccount:
    """Knows what subtasks change when they are done as verified."""

    verified: Mapping[str, VerifiedSubtask]
    """Verified subtasks by id."""
    _known: dict[str, tuple[Allowance, ...]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, done or not, from `start` to `end`."""
        return beyond(start, end, [self._bound(node) for node in nodes])

    def lost(
        self, completions: Sequence[Completion], end: Evidence, sandbox: EvaluationSandbox
    ) -> tuple[str, ...]:
        """Instance ids of the completed subtasks whose work is not there at the end.

        What a subtask that was completed later consumed, changed or covered is not lost.
        """
        found = []
        for number, item in enumerate(completions):
            known = self.verified.get(item.node.subtask_id)
            last = end.model_copy(update={"inputs": item.done.inputs})
            parameters = item.node.parameters
            if known is None or sandbox.evaluate(known.function.source, parameters, last, item.start).passed:
                continue
            later = [self._bound(other.node) for other in completions[number + 1 :]]
            if not later or beyond(item.done, end, later, about=self._bound(item.node)).total:
                found.append(item.node.instance_id)
        return tuple(found)

    def _bound(self, node: BoundSubtask) -> Bound:
        """What a node may change: as kept with the function, or as the performances show where it is not."""
        item = self.verified.get(node.subtask_id)
        if item is None:
            return (), node.parameters
        if node.subtask_id not in self._known:
            kept = item.function.allowed
            self._known[node.subtask_id] = may_change(item.trajectories) if kept is None else kept
        return self._known[node.subtask_id], node.parameters
