"""Whether performances are clean: right work changes what the subtask is about, and nothing beside it."""

from collections.abc import Sequence

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.account import beyond
from taskloom.evaluators_api.state.allowances import allowances
from taskloom.evaluators_api.state.essential import Division, by_products, divide, divided, performances_of
from taskloom.evaluators_api.state.noise import noise_between
from taskloom.synthesis.cross_verification.agreement import by_instance
from taskloom.taskgraph.records.effect import Allowance, Effect
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.trajectory import Trajectory

_SHOWN = 3


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
    told: dict[str, str] = {}
    for item in trajectories:
        beside = beyond(item.initial_evidence, item.final_evidence, [(work, item.parameters)])
        if beside.total:
            told[item.trajectory_id] = "; ".join(beside.examples[:_SHOWN])
    return told


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
