"""Whether independent performances of a subtask agree: they led to the same result, by whatever route.

One that went astray is rarely repeated alike; a function written from it alone would approve of it.
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
_NOTHING = ("", "null", None)
T = TypeVar("T")
Result = frozenset[tuple[str, ...]]
"""Which places performances changed, and how."""


def agreeing(
    trajectories: Sequence[Trajectory], quorum: int, found: Mapping[str, Result] | None = None
) -> list[Trajectory]:
    """The largest group of trajectories that agree in their result, if it has at least `quorum` members;
    their `results` may be given where they are `found` already.

    Of groups of equal size, the first is taken. Performances that leave nothing lasting agree in what the
    window shows: its title and address, and where neither changed, in the route, because nothing else can be
    compared.
    """
    groups: dict[Result, list[Trajectory]] = {}
    found = results(trajectories) if found is None else found
    for trajectory in trajectories:
        groups.setdefault(found[trajectory.trajectory_id], []).append(trajectory)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) >= quorum else []


def routes(trajectories: Sequence[Trajectory]) -> set[tuple[tuple[str, ...], ...]]:
    """The different routes among `trajectories`, with the values of parameters taken out."""
    return {route(trajectory) for trajectory in trajectories}


def route(trajectory: Trajectory) -> tuple[tuple[str, ...], ...]:
    """What was done, without the values of parameters, so that performances with others compare equal."""
    return tuple(_done(step, trajectory.parameters) for step in carried_out(trajectory))


def by_instance(trajectories: Iterable[Trajectory], each: Iterable[T]) -> dict[str, list[T]]:
    """What there is of each of `trajectories`, together for those of one instance."""
    found: dict[str, list[T]] = {}
    for trajectory, item in zip(trajectories, each, strict=True):
        found.setdefault(trajectory.instance_id, []).append(item)
    return found


def results(trajectories: Sequence[Trajectory]) -> dict[str, Result]:
    """The result of each of `trajectories` by its id, without what the application did by itself.

    The same actions on the same controls, with the same parameters, from the same start: a field that only
    one of two such performances changed was not changed by them, such as what is noted after a wait. Files
    and records that only one of them made or lost count, and where nothing else was changed, so does
    everything. What goes along with a record that the work touches counts where there was something to go
    along. What an application changes in its own files with some sets of parameters only is left out where
    each was performed twice alike, and what they have in common tells all parameters: it depends on what was
    there, such as a status that is set only where it was another one.

    Texts copied with the same parameters are to be the same.
    """
    changes = [effects(item.initial_evidence, item.final_evidence, item.parameters) for item in trajectories]
    whole = {
        item.trajectory_id: _result(item, done) for item, done in zip(trajectories, changes, strict=True)
    }
    for name, place in _other_copies(trajectories, changes).items():
        whole[name] |= {place}
    passing = _along(trajectories, changes, whole)
    alike: dict[object, list[Result]] = {}
    for item in trajectories:
        alike.setdefault((item.instance_id, _exactly(item)), []).append(whole[item.trajectory_id])
    passing |= {
        place
        for found in alike.values()
        for place in Result().union(*found).difference(frozenset.intersection(*found))
        if place[0] == "file" and place[2] == "changed" and place[3:]
    }
    found = {name: (places - passing) or places for name, places in whole.items()}
    each = by_instance(trajectories, (found[item.trajectory_id] for item in trajectories))
    steady = len(each) > 1 and all(len(same) > 1 and len(set(same)) == 1 for same in each.values())
    common = frozenset.intersection(*found.values()) if steady else Result()
    varying = Result().union(*found.values()) - common
    inside = all(place[1].startswith(f"{APPLICATIONS_FOLDER}/") and place[3:] for place in varying)
    if not common or not varying or not inside or not _tell_all(trajectories):
        return found
    return dict.fromkeys(found, common)


def _other_copies(
    trajectories: Sequence[Trajectory], changes: Sequence[Sequence[Effect]]
) -> dict[str, tuple[str, ...]]:
    """What a performance copied, where that is not what most of those with its parameters copied."""
    copied = [
        "".join(
            effect.after or ""
            for effect in found
            if effect.area == "clipboard" and effect.address == ("text",)
        )
        for found in changes
    ]
    each = by_instance(trajectories, copied)
    return {
        item.trajectory_id: ("clipboard", "text", text)
        for item, text in zip(trajectories, copied, strict=True)
        if 2 * each[item.instance_id].count(text) <= len(each[item.instance_id]) > 1
        and not any(map(is_generated, text.replace("/", " ").split()))
    }


def _tell_all(trajectories: Sequence[Trajectory]) -> bool:
    def told(effect: Effect) -> tuple[str | None, ...]:
        texts = effect.after_template, effect.before_template, effect.source_template, effect.refers_template
        return (*effect.key, *texts, *effect.holds)

    performances = performances_of(trajectories)
    keys = frozenset.intersection(*(frozenset(item.key for item in found) for found, _ in performances))
    return all(
        set(parameters)
        <= parameters_named(*(text for item in found if item.key in keys for text in told(item)))
        for found, parameters in performances
    )


def _along(
    trajectories: Sequence[Trajectory], changes: Iterable[Sequence[Effect]], whole: Mapping[str, Result]
) -> set[tuple[str, ...]]:
    """Changes that go along with touched records, where another performance had none to go along."""
    following = {_place(effect): effect for found in changes for effect in found if effect.follows}
    return {
        place
        for place, effect in following.items()
        for item in trajectories
        if place not in whole[item.trajectory_id] and not _had_followers(item, effect)
    }


def _had_followers(trajectory: Trajectory, effect: Effect) -> bool:
    within = effect.address[: effect.address_template.index(ANY)] if ANY in effect.address_template else ()
    path = filled(effect.container_template, trajectory.parameters)
    return can_be_followed(
        trajectory.initial_evidence, trajectory.final_evidence, trajectory.parameters, path, within
    )


def _result(trajectory: Trajectory, found: Sequence[Effect]) -> Result:
    """Which places changed, and how, in terms of the parameters; how often counts for nothing where a place
    has no name.

    What lies inside of something new or lost is left out: two exports differ in their rows. An id that the
    application made up counts as the record behind it, if a parameter names that, and a reference to what was
    removed goes with it, as the entries of an index go with what they list. A folder under a made-up name is
    one record of its application, whatever is in it.
    """
    lasting = [effect for effect in found if effect.area in LASTING and not is_holder(effect, found)]
    gone = _gone(lasting)
    lasting = [effect for effect in lasting if not _is_loose_end(effect, gone)] or lasting
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
    everywhere = Result.intersection(*last.values()) if last else Result()
    own = {name: sorted(places - everywhere)[:_SHOWN_DIFFERENCES] for name, places in last.items()}
    parts = ((name, ", ".join(" ".join(filter(None, place)) for place in own[name])) for name in own)
    return "; ".join(f"only {name}: {shown}" for name, shown in parts if shown)


def outermost(found: Sequence[Effect]) -> list[Effect]:
    """Effects that lie inside no other one."""
    holders = {(effect.place, effect.kind) for effect in found}
    return [effect for effect in found if holders.isdisjoint((place, effect.kind) for place in effect.around)]


def _place(effect: Effect) -> tuple[str, ...]:
    """Where an effect is; of an id, which record is meant, whether it is new or stands for another."""
    if not effect.refers_template or effect.kind == "removed":
        return effect.key
    where = (effect.area, effect.container_template, *effect.address_template)
    return (*where[:2], "refers", *where[2:], effect.refers_template)


def _gone(found: Sequence[Effect]) -> set[str]:
    return {
        part
        for effect in found
        if effect.kind == "removed"
        for part in (effect.address[-1:] or effect.container.split("/"))
        if not part.isdigit()
    }


def _is_loose_end(effect: Effect, gone: set[str]) -> bool:
    """Whether it is a mere reference to something that was removed, which goes with it."""
    emptied = effect.kind == "removed" or (effect.kind == "changed" and effect.after in _NOTHING)
    return emptied and bool(effect.address) and effect.before in gone


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


def _exactly(trajectory: Trajectory) -> tuple[object, ...]:
    """Every action with its control and what was typed, without waiting and where a control stood."""
    return tuple(
        (step.action.operation, step.target, step.end_target, step.action.events(), *step.action.manner)
        for step in carried_out(trajectory)
    )


def _done(step: TrajectoryStep, parameters: Mapping[str, str]) -> tuple[str, ...]:
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
