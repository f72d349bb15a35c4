"""What performances of subtasks and attempts at tasks changed: work, side effects, and what was lost.

Right work is clean: it changes what the subtask is about, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.evaluators_api.state.account import Bound, find_side_effects
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

_MOST_EXAMPLES = 3
MOST_KEPT = 300
"""Maximum effects kept of each kind: the first ones, ordered from the outside in."""
_NO_PROVENANCE = Provenance()


def allowances_of(trajectories: Sequence[Trajectory]) -> tuple[Allowance, ...]:
    """What work done as in `trajectories`, all of one subtask, may change."""
    performances = performances_of(trajectories)
    return allowances(performances, by_products(trajectories, divide(performances)))


def side_effects(trajectories: Sequence[Trajectory], others: Sequence[Trajectory] = ()) -> dict[str, str]:
    """What each performance of one subtask changed beyond its work, in words, by its id; clean ones are left
    out. `others` are further performances with the same result, which help to tell what the work is.

    The work is what all of them change, with everything inside what they add, and, in the application's own
    data, what all of at least two with the same parameters change: that depends on the state before.
    Noise is not an effect; what looking adds, such as a cached page, may also be renewed.
    """
    known = [*trajectories, *others]
    performances = performances_of(known)
    keys = [{effect.key for effect in changes} for changes, _ in performances]
    common = set.intersection(*keys) if keys else set()
    groups = by_instance(known, keys)
    steady = {name: set.intersection(*own) if len(own) > 1 else common for name, own in groups.items()}
    work = allowances(
        [
            (_work(division, steady[item.instance_id], item.initial_evidence), item.parameters)
            for division, item in zip(divided(known, performances), known, strict=True)
        ]
    )
    return {
        item.trajectory_id: "; ".join(excess.examples[:_MOST_EXAMPLES])
        for item in trajectories
        if (
            excess := find_side_effects(item.initial_evidence, item.final_evidence, [(work, item.parameters)])
        ).total
    }


def _work(division: Division, steady: set[tuple[str, ...]], start: Evidence) -> list[Effect]:
    """Effects at places that change each time; those inside such additions, or where additions are noise; and
    those that follow a touched record."""
    noise = noise_between(start, start)
    added = {item.place for item in division.essential if item.kind == "added"}
    allowed = [
        item
        for item in division.incidental
        if item.follows
        or (item.key in steady and item.container.startswith(f"{APPLICATIONS_FOLDER}/"))
        or (item.kind != "removed" and noise.covers(item.area, item.container, item.address, "added"))
        or not added.isdisjoint(item.around)
    ]
    return [*division.essential, *allowed]


def performance_effects(
    trajectories: Sequence[Trajectory],
    agreed: Sequence[Trajectory] = (),
    provenance: Provenance = _NO_PROVENANCE,
) -> tuple[PerformanceEffects, ...]:
    """What each finished performance in `trajectories`, all of one subtask, changed; those `agreed` decide
    what is essential or, if none are given, the largest group that agrees."""
    finished = [item for item in trajectories if item.termination == "finished" and item.steps]
    chosen = {item.trajectory_id for item in agreed or agreeing(finished, quorum=2)}
    compared = [item for item in finished if item.trajectory_id in chosen]
    divisions = dict(zip((item.trajectory_id for item in compared), divided(compared), strict=True))
    return tuple(
        _record(item, divisions.get(item.trajectory_id), len(compared), provenance) for item in finished
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
    _allowances: dict[str, tuple[Allowance, ...]] = field(default_factory=dict)

    def of(self, nodes: Sequence[BoundSubtask], start: Evidence, end: Evidence) -> SideEffects:
        """Side effects of an attempt at `nodes`, completed or not, from `start` to `end`."""
        return find_side_effects(start, end, [self._allowance_of(node) for node in nodes])

    def lost(
        self, completions: Sequence[Completion], end: Evidence, sandbox: EvaluationSandbox
    ) -> tuple[str, ...]:
        """Instance ids of the completed subtasks whose work is gone at the end.

        What a subtask completed later consumed, changed or covered is not lost.
        """
        found = []
        for number, item in enumerate(completions):
            known = self.verified.get(item.node.subtask_id)
            last = end.model_copy(update={"inputs": item.done.inputs})
            parameters = item.node.parameters
            if known is None or sandbox.evaluate(known.function.source, parameters, last, item.start).passed:
                continue
            later = [self._allowance_of(other.node) for other in completions[number + 1 :]]
            if (
                not later
                or find_side_effects(item.done, end, later, about=self._allowance_of(item.node)).total
            ):
                found.append(item.node.instance_id)
        return tuple(found)

    def _allowance_of(self, node: BoundSubtask) -> Bound:
        """What a node may change: as kept with the function or, failing that, as the performances show."""
        item = self.verified.get(node.subtask_id)
        if item is None:
            return (), node.parameters
        if node.subtask_id not in self._allowances:
            kept = item.function.allowed
            self._allowances[node.subtask_id] = allowances_of(item.trajectories) if kept is None else kept
        return self._allowances[node.subtask_id], node.parameters
