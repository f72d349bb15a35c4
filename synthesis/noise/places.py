"""From the changes of idle recordings to places that mean the same in every recording."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from taskloom.evaluators_api.state.effects import effects
from taskloom.evaluators_api.state.noise import Noise
from taskloom.evaluators_api.state.templates import steady_path
from taskloom.resources.noise import NoisePlace
from taskloom.taskgraph.records.effect import ANY, Effect
from taskloom.taskgraph.records.evidence import Evidence, is_open_document

_LASTING = frozenset({"file", "directory"})
_Path = tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """A link that was opened, and opened again where that changed something."""

    link: str
    first: frozenset[NoisePlace]
    again: frozenset[NoisePlace] = frozenset()


def places_of(before: Evidence, after: Evidence) -> frozenset[NoisePlace]:
    """Where something was added or changed meanwhile."""
    return frozenset(
        _at(_place(effect), steady_path(effect.container))
        for effect in _changes(before, after)
        if effect.kind != "removed"
    )


def noise_places(recordings: Sequence[tuple[Evidence, Evidence]]) -> tuple[NoisePlace, ...]:
    """Where the state at the end of recordings in which nobody did anything differs from that at their start.

    What is added to a list or table stands for any further entry. A field that changes in several records of
    one group changes in all of them. Paths that only some recordings have are one path with `*` for the parts
    in which they differ; with nothing to compare it with, a path stands for itself. Folders that come or go
    beside each other stand for any such folder, and a file that comes or goes in one for any file in it.
    """
    found = [[_place(effect) for effect in _changes(*recording)] for recording in recordings]
    named = _unsteady_paths([{place.container for place in places} for places in found])
    places = {_at(place, named.get(place.container, place.container)) for places in found for place in places}
    return _sorted(_without_inner(_over_folders(_over_records(places))))


def _sorted(places: Iterable[NoisePlace]) -> tuple[NoisePlace, ...]:
    return tuple(sorted(places, key=lambda place: place.model_dump_json()))


def looking_places(looks: Sequence[Look]) -> tuple[NoisePlace, ...]:
    """What opening most of the links adds or changes, if those are several, and what opening a link adds for
    the first time and not again. Nothing is lost by looking.

    Files that several add have the same path, but for names that were made up.
    """
    links = {look.link for look in looks}
    most = {
        place
        for place in _over_records(place for look in looks for place in look.first)
        if len({look.link for look in looks if any(_covers(place, other) for other in look.first)})
        > max(1, len(links) / 2)
    }
    once = {
        place
        for look in looks
        for place in look.first
        if place.kind == "added" and not any(_covers(other, place) for other in look.again)
    }
    return _sorted(_without_inner(most | once))


def _changes(start: Evidence, end: Evidence) -> list[Effect]:
    before, after = (evidence.model_copy(update={"noise": ()}) for evidence in (start, end))
    found = effects(before, after, {}, screen=False)
    return [item for item in found if item.area in _LASTING and not is_open_document(item.container)]


def _place(effect: Effect) -> NoisePlace:
    """Where an effect is; of what was added or is gone, any record and any position."""
    pairs = zip(effect.address, effect.address_template, strict=True)
    general = effect.kind != "changed"
    address = tuple(ANY if general and template == ANY else name for name, template in pairs)
    return NoisePlace(area=effect.area, container=effect.container, address=address, kind=effect.kind)


def _over_records(places: Iterable[NoisePlace]) -> set[NoisePlace]:
    """With `*` for the record or position where the same field of several changes."""
    found = set(places)
    deepest = max((len(place.address) for place in found), default=0)
    for index in range(deepest):
        like: dict[NoisePlace, set[NoisePlace]] = {}
        for place in found:
            if place.kind == "changed" and index < len(place.address) - 1:
                address = (*place.address[:index], ANY, *place.address[index + 1 :])
                like.setdefault(place.model_copy(update={"address": address}), set()).add(place)
        for general, members in like.items():
            if len(members) > 1:
                found = (found - members) | {general}
    return found


def _over_folders(places: set[NoisePlace]) -> set[NoisePlace]:
    """With `*` for the part in which folders that are noise differ, and for the names of files in them."""
    folders = [place for place in places if place.area == "directory"]
    patterns = Counter(
        (pattern, place.kind) for place in folders for pattern in _with_any_part(place.container)
    )
    general = {
        place.container: pattern
        for place in folders
        for pattern in _with_any_part(place.container)
        if patterns[pattern, place.kind] > 1
    }

    def generalised(place: NoisePlace) -> NoisePlace:
        around = place.container.rpartition("/")[0]
        if place.area == "directory":
            return _at(place, general.get(place.container, place.container))
        in_folder = place.area == "file" and not place.address and around in general
        return _at(place, f"{general[around]}/{ANY}") if in_folder else place

    return set(map(generalised, places))


def _with_any_part(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join((*parts[:index], ANY, *parts[index + 1 :])) for index in range(len(parts))]


def _at(place: NoisePlace, container: str) -> NoisePlace:
    return place.model_copy(update={"container": container})


def _without_inner(places: set[NoisePlace]) -> list[NoisePlace]:
    return [
        place
        for place in places
        if not any(
            other != place and len(other.address) <= len(place.address) and _covers(other, place)
            for other in places
        )
    ]


def _covers(place: NoisePlace, other: NoisePlace) -> bool:
    return Noise([place]).covers(other.area, other.container, other.address, other.kind)


def _unsteady_paths(recordings: Sequence[set[str]]) -> dict[str, str]:
    steady = set.intersection(*recordings) if recordings else set()
    left = [
        (tuple(path.split("/")), number) for number, paths in enumerate(recordings) for path in paths - steady
    ]
    named: dict[str, str] = {}
    for path, number in left:
        others = [other for other, recording in left if recording != number and len(other) == len(path) > 1]
        best = max(others, key=lambda other: _alike(path, other), default=path)
        if _alike(path, best)[0]:
            named["/".join(path)] = "/".join(map(_pattern, path, best))
    return named


def _alike(path: _Path, other: _Path) -> tuple[int, int]:
    pairs = list(zip(path, other, strict=True))
    return sum(one == two for one, two in pairs), sum(len(_pattern(*pair)) for pair in pairs)


def _pattern(one: str, other: str) -> str:
    """What two names have in common, with `*` for the rest.

    >>> _pattern("run-17.pid", "run-204.pid"), _pattern("aa", "aaa"), _pattern("a", "a")
    ('run-*.pid', 'aa*', 'a')
    """
    if one == other:
        return one
    before = _shared(one, other)
    after = min(min(len(one), len(other)) - before, _shared(one[::-1], other[::-1]))
    return f"{one[:before]}{ANY}{one[len(one) - after :]}"


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
