"""Whether independent performances of a subtask agree: they led to the same result, by whatever route.

A performance that went astray is rarely repeated alike by another one with other values, whereas an evaluation function
written from it alone would approve of it. Ways may differ: two routes to one result say more about a function than one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from evaluators_api.state.effects import effects
from evaluators_api.state.volatility import is_generated
from taskgraph.records.effect import Effect
from taskgraph.records.interaction import WaitInput
from taskgraph.records.trajectory import Trajectory, TrajectoryStep

_SHORTEST_MEANINGFUL = 3
_LASTING = frozenset({"file", "directory", "clipboard"})
_SHOWN_DIFFERENCES = 3
_PARAMETER = re.compile(r"\{(\w+)")


def agreeing(trajectories: Sequence[Trajectory], quorum: int) -> list[Trajectory]:
    """The largest group of trajectories that agree in their result, if it has at least `quorum` members.

    Of groups of equal size, the first is taken. Performances that leave nothing lasting agree in what the
    window shows: its title and address, and where neither changed, in the route, because nothing else can be compared.
    """
    groups: dict[frozenset[tuple[str, ...]], list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault(result(trajectory), []).append(trajectory)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) >= quorum else []


def routes(trajectories: Sequence[Trajectory]) -> set[tuple[tuple[str, ...], ...]]:
    """The different routes among `trajectories`, with the values of parameters taken out."""
    return {route(trajectory) for trajectory in trajectories}


def route(trajectory: Trajectory) -> tuple[tuple[str, ...], ...]:
    """What was done, with parameter values taken out, so that performances with other values compare equal."""
    return tuple(
        _done(step, trajectory.parameters)
        for step in trajectory.steps
        if not step.problem and not isinstance(step.action, WaitInput)
    )


def result(trajectory: Trajectory) -> frozenset[tuple[str, ...]]:
    """Which places changed, and how, in terms of the parameters; how often counts for nothing where a place has no name.

    What lies inside of something new or lost is left out: two exports differ in their rows.
    """
    found = effects(trajectory.initial_evidence, trajectory.final_evidence, trajectory.parameters)
    lasting = [
        effect
        for effect in found
        if effect.area in _LASTING and not _is_stamp(effect) and not _is_holder(effect, found)
    ]
    if lasting:
        return frozenset(effect.key for effect in outermost(lasting))
    window = [effect for effect in found if effect.area == "window"]
    if window:
        return frozenset((*effect.key, *_named(effect.after_template or "")) for effect in window)
    return frozenset(route(trajectory))


def difference(trajectories: Sequence[Trajectory]) -> str:
    """How the results of performances differ, in words; empty if they agree."""
    found = {trajectory.instance_id: result(trajectory) for trajectory in trajectories}
    everywhere = frozenset[tuple[str, ...]].intersection(*found.values()) if found else frozenset()
    parts = []
    for instance, places in found.items():
        own = sorted(places - everywhere)
        if own:
            shown = ", ".join(" ".join(part for part in place if part) for place in own[:_SHOWN_DIFFERENCES])
            parts.append(f"only {instance}: {shown}")
    return "; ".join(parts)


def outermost(found: Sequence[Effect]) -> list[Effect]:
    """Effects that lie inside no other one."""
    holders = {(effect.area, effect.container, effect.address, effect.kind) for effect in found}
    return [
        effect
        for effect in found
        if not any(
            (effect.area, effect.container, effect.address[:depth], effect.kind) in holders
            for depth in range(len(effect.address))
        )
    ]


def _is_stamp(effect: Effect) -> bool:
    """Whether it is a time or an id that the application updates by itself."""
    return effect.kind == "changed" and bool(effect.after) and is_generated(effect.after or "")


def _is_holder(effect: Effect, found: Sequence[Effect]) -> bool:
    """Whether it is a folder that came or went with what is in it."""
    return effect.area == "directory" and any(
        other.container.startswith(f"{effect.container}/") for other in found
    )


def _named(template: str) -> list[str]:
    """Parameters that a template names, sorted."""
    return sorted(set(_PARAMETER.findall(template.replace("{{", ""))))


def _done(step: TrajectoryStep, parameters: Mapping[str, str]) -> tuple[str, ...]:
    action, target = step.action, step.target
    control = (_generic(target.text, parameters), target.control_type) if target else ("", "")
    return (action.operation, *control, *action.manner)


def _generic(text: str, parameters: Mapping[str, str]) -> str:
    folded = text.casefold()
    for value in sorted(_pieces(parameters.values()), key=len, reverse=True):
        if value in folded:
            return "<value>"
    return text


def _pieces(values: Iterable[str]) -> set[str]:
    pieces = set()
    for value in values:
        path = PurePosixPath(value)
        pieces |= {value.casefold(), path.stem.casefold(), *(part.casefold() for part in path.parts)}
    return {piece for piece in pieces if len(piece) >= _SHORTEST_MEANINGFUL}
