"""Whether independent performances of a subtask agree: they reached the same result, by whatever route.

A failure is rarely repeated in the same way; a function written from it alone would accept it.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from taskloom.environments.machines.sandbox import APPLICATIONS_FOLDER
from taskloom.evaluators_api.state.effects import (
    LASTING,
    can_be_followed,
    effects,
    is_holder,
    lies_in,
    record_folders,
)
from taskloom.evaluators_api.state.essential import is_index_entry, known_texts, performances_of
from taskloom.evaluators_api.state.formats.database import COUNT
from taskloom.evaluators_api.state.templates import filled, is_generated, parameters_named
from taskloom.synthesis.trajectories.generalisation import carried_out
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_SHORTEST_MEANINGFUL = 3
_SHOWN_DIFFERENCES = 3
_EMPTY_VALUES = ("", "null", None)
T = TypeVar("T")
Result = frozenset[tuple[str, ...]]
"""The places that a performance changed, and how."""


def agreeing(
    trajectories: Sequence[Trajectory], quorum: int, found: Mapping[str, Result] | None = None
) -> list[Trajectory]:
    """The largest group of trajectories that agree in their result, if it has at least `quorum` members;
    `found` may hold their known `results`.

    Of groups of equal size, the first is taken. Performances that leave nothing lasting agree if the window
    shows the same title and address or, if neither changed, if their routes are equal: nothing else can be
    compared.
    """
    groups: dict[Result, list[Trajectory]] = {}
    found = results(trajectories) if found is None else found
    for trajectory in trajectories:
        groups.setdefault(found[trajectory.trajectory_id], []).append(trajectory)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) >= quorum else []


def routes(trajectories: Sequence[Trajectory]) -> set[tuple[tuple[str, ...], ...]]:
    """The different routes among `trajectories`, without the values of parameters."""
    return {route(trajectory) for trajectory in trajectories}


def route(trajectory: Trajectory) -> tuple[tuple[str, ...], ...]:
    """The actions, without the values of parameters, so performances with other values compare equal."""
    return tuple(_route_step(step, trajectory.parameters) for step in carried_out(trajectory))


def by_instance(trajectories: Iterable[Trajectory], items: Iterable[T]) -> dict[str, list[T]]:
    """The items of `trajectories`, one for each, grouped by instance."""
    found: dict[str, list[T]] = {}
    for trajectory, item in zip(trajectories, items, strict=True):
        found.setdefault(trajectory.instance_id, []).append(item)
    return found


def results(trajectories: Sequence[Trajectory]) -> dict[str, Result]:
    """The result of each of `trajectories` by its id, without what the application did by itself.

    A field that only one of two performances changed, with the same actions on the same controls, the same
    parameters and the same start, was not changed by these, for example what is noted after a wait. Files
    and records that only one of them made or lost count, and if nothing else was changed, so does everything.
    Changes that follow a touched record count only if there was something to follow. What an application
    changes in its own files with only some parameter sets is left out if each set was performed twice with
    the same result and what all have in common names all parameters: it depends on the state before, such as
    a status that is set only if it was different.

    Texts copied with the same parameters must be the same.
    """
    changes = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    changed = {
        item.trajectory_id: _result(item, done) for item, done in zip(trajectories, changes, strict=True)
    }
    for name, place in _deviating_copies(trajectories, changes).items():
        changed[name] |= {place}
    incidental = _optional_followers(trajectories, changes, changed)
    repeated: dict[object, list[Result]] = {}
    for item in trajectories:
        repeated.setdefault((item.instance_id, _exact_actions(item)), []).append(changed[item.trajectory_id])
    incidental |= {
        place
        for found in repeated.values()
        for place in Result().union(*found).difference(frozenset.intersection(*found))
        if place[0] == "file" and place[2] == "changed" and place[3:]
    }
    found = {name: (places - incidental) or places for name, places in changed.items()}
    grouped = by_instance(trajectories, (found[item.trajectory_id] for item in trajectories))
    consistent = len(grouped) > 1 and all(len(own) > 1 and len(set(own)) == 1 for own in grouped.values())
    common = frozenset.intersection(*found.values()) if consistent else Result()
    varying = Result().union(*found.values()) - common
    internal = all(place[1].startswith(f"{APPLICATIONS_FOLDER}/") and place[3:] for place in varying)
    if not common or not varying or not internal or not _name_all_parameters(trajectories):
        return found
    return dict.fromkeys(found, common)


def _deviating_copies(
    trajectories: Sequence[Trajectory], changes: Sequence[Sequence[Effect]]
) -> dict[str, tuple[str, ...]]:
    """What a performance copied, unless most of those with its parameters copied the same."""
    copied = [
        "".join(
            effect.after or ""
            for effect in found
            if effect.area == "clipboard" and effect.address == ("text",)
        )
        for found in changes
    ]
    copies = by_instance(trajectories, copied)
    return {
        item.trajectory_id: ("clipboard", "text", text)
        for item, text in zip(trajectories, copied, strict=True)
        if 2 * copies[item.instance_id].count(text) <= len(copies[item.instance_id]) > 1
        and not any(map(is_generated, text.replace("/", " ").split()))
    }


def _name_all_parameters(trajectories: Sequence[Trajectory]) -> bool:
    def templates(effect: Effect) -> tuple[str | None, ...]:
        texts = effect.after_template, effect.before_template, effect.source_template, effect.refers_template
        return (*effect.key, *texts, *effect.holds)

    performances = performances_of(trajectories)
    keys = frozenset.intersection(*(frozenset(item.key for item in found) for found, _ in performances))
    return all(
        set(parameters)
        <= parameters_named(*(text for item in found if item.key in keys for text in templates(item)))
        for found, parameters in performances
    )


def _optional_followers(
    trajectories: Sequence[Trajectory], changes: Iterable[Sequence[Effect]], changed: Mapping[str, Result]
) -> set[tuple[str, ...]]:
    """Changes that follow a touched record, where another performance had nothing to follow."""
    followers = {_place(effect): effect for found in changes for effect in found if effect.follows}
    return {
        place
        for place, effect in followers.items()
        for item in trajectories
        if place not in changed[item.trajectory_id] and not _had_followers(item, effect)
    }


def _had_followers(trajectory: Trajectory, effect: Effect) -> bool:
    within = effect.address[: effect.address_template.index(ANY)] if ANY in effect.address_template else ()
    path = filled(effect.container_template, trajectory.parameters)
    return can_be_followed(
        trajectory.initial_evidence, trajectory.final_evidence, trajectory.parameters, path, within
    )


def _result(trajectory: Trajectory, found: Sequence[Effect]) -> Result:
    """The places that changed, and how, in terms of the parameters; how often counts only for places with a
    name.

    What lies inside something added or removed is left out: two exports differ in their rows. An id that the
    application generated counts as the record behind it, if a parameter names that; a reference to something
    removed is left out, as are index entries. A folder with a generated name is one record of its
    application, whatever it contains.
    """
    lasting = [effect for effect in found if effect.area in LASTING and not is_holder(effect, found)]
    removed = _removed_names(lasting)
    lasting = [effect for effect in lasting if not _is_loose_end(effect, removed)] or lasting
    lasting = _without_index(lasting, trajectory.parameters) or lasting
    folders = record_folders(found)
    lasting = [effect for effect in (*lasting, *folders) if not lies_in(effect, folders)]
    if lasting:
        return frozenset(_place(effect) for effect in outermost(lasting))
    window = [effect for effect in found if effect.area == "window"]
    if window:
        return frozenset((*effect.key, *sorted(parameters_named(effect.after_template))) for effect in window)
    return frozenset(route(trajectory))


def difference(trajectories: Sequence[Trajectory], found: Mapping[str, Result] | None = None) -> str:
    """How the results of performances differ, in words; empty if they agree. See `agreeing` for `found`."""
    found = results(trajectories) if found is None else found
    last = {trajectory.instance_id: found[trajectory.trajectory_id] for trajectory in trajectories}
    common = Result.intersection(*last.values()) if last else Result()
    only = {name: sorted(places - common)[:_SHOWN_DIFFERENCES] for name, places in last.items()}
    parts = ((name, ", ".join(" ".join(filter(None, place)) for place in only[name])) for name in only)
    return "; ".join(f"only {name}: {shown}" for name, shown in parts if shown)


def outermost(found: Sequence[Effect]) -> list[Effect]:
    """Effects that do not lie inside another one."""
    holders = {(effect.place, effect.kind) for effect in found}
    return [effect for effect in found if holders.isdisjoint((place, effect.kind) for place in effect.around)]


def _place(effect: Effect) -> tuple[str, ...]:
    """Where an effect is; for an id, which record it refers to, whether it is new or replaces another."""
    if not effect.refers_template or effect.kind == "removed":
        return effect.key
    where = (effect.area, effect.container_template, *effect.address_template)
    return (*where[:2], "refers", *where[2:], effect.refers_template)


def _removed_names(found: Sequence[Effect]) -> set[str]:
    return {
        part
        for effect in found
        if effect.kind == "removed"
        for part in (effect.address[-1:] or effect.container.split("/"))
        if not part.isdigit()
    }


def _is_loose_end(effect: Effect, removed: set[str]) -> bool:
    """Whether an effect is only the loss of a reference to something removed."""
    emptied = effect.kind == "removed" or (effect.kind == "changed" and effect.after in _EMPTY_VALUES)
    return emptied and bool(effect.address) and effect.before in removed


def _without_index(found: Sequence[Effect], parameters: Mapping[str, str]) -> list[Effect]:
    texts = known_texts(found, parameters)
    entries = {
        (item.container, *(item.address[:-1] if item.kind == "changed" else item.address))
        for item in found
        if is_index_entry(item, texts)
    }
    tables = {(*entry[:2], COUNT) for entry in entries}
    return [
        item
        for item in found
        if not {(item.container, *item.address), (item.container, *item.address[:-1])} & (entries | tables)
    ]


def _exact_actions(trajectory: Trajectory) -> tuple[object, ...]:
    """Every action with its control and typed text, without waits and without positions of controls."""
    return tuple(
        (step.action.operation, step.target, step.end_target, step.action.events(), *step.action.manner)
        for step in carried_out(trajectory)
    )


def _route_step(step: TrajectoryStep, parameters: Mapping[str, str]) -> tuple[str, ...]:
    action, target = step.action, step.target
    if target is None:
        return (action.operation, "", "", *action.manner)
    text = target.text.casefold()
    named = any(value in text for value in _pieces(parameters.values()))
    return (action.operation, "<value>" if named else target.text, target.control_type, *action.manner)


def _pieces(values: Iterable[str]) -> set[str]:
    paths = [(value, PurePosixPath(value)) for value in values]
    pieces = {piece.casefold() for value, path in paths for piece in (value, path.stem, *path.parts)}
    return {piece for piece in pieces if len(piece) >= _SHORTEST_MEANINGFUL}
