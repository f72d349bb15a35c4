"""Generalises changes of idle recordings to places that are the same in every recording."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

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
    """A link that was opened, and opened again if that changed something."""

    link: str
    first: frozenset[NoisePlace]
    again: frozenset[NoisePlace] = frozenset()


def places_of(before: Evidence, after: Evidence) -> frozenset[NoisePlace]:
    """The places where something was added or changed in between."""
    return frozenset(
        _relocate(_place(effect), steady_path(effect.container))
        for effect in _lasting_effects(before, after)
        if effect.kind != "removed"
    )


def noise_places(recordings: Sequence[tuple[Evidence, Evidence]]) -> tuple[NoisePlace, ...]:
    """The places that differ between start and end of recordings in which nobody did anything.

    An addition to a list or table stands for any further entry. A field that changes in several records of a
    group counts for all of them. Paths that only some recordings have become one path with `*` for the parts
    in which they differ; a path without a counterpart stands for itself. Folders that come or go side by side
    stand for any such folder, and a file that comes or goes in one for any file in it.
    """
    found = [[_place(effect) for effect in _lasting_effects(*recording)] for recording in recordings]
    patterns = _path_patterns([{place.container for place in places} for places in found])
    places = {_relocate(place, patterns.get(place.container, place.container)) for place in chain(*found)}
    return _sorted(_outermost(_merge_folders(_merge_records(places))))


def _sorted(places: Iterable[NoisePlace]) -> tuple[NoisePlace, ...]:
    return tuple(sorted(places, key=lambda place: place.model_dump_json()))


def looking_places(looks: Sequence[Look]) -> tuple[NoisePlace, ...]:
    """What opening most of the links adds or changes, if there are several, and what opening a link adds only
    the first time. Looking removes nothing.

    Files that several links add have the same path, except for generated names.
    """
    links = {look.link for look in looks}
    most = {
        place
        for place in _merge_records(place for look in looks for place in look.first)
        if len({look.link for look in looks if any(_covers(place, other) for other in look.first)})
        > max(1, len(links) / 2)
    }
    once = {
        place
        for look in looks
        for place in look.first
        if place.kind == "added" and not any(_covers(other, place) for other in look.again)
    }
    return _sorted(_outermost(most | once))


def _lasting_effects(start: Evidence, end: Evidence) -> list[Effect]:
    before, after = (evidence.model_copy(update={"noise": ()}) for evidence in (start, end))
    found = effects(before, after, {}, screen=False)
    return [item for item in found if item.area in _LASTING and not is_open_document(item.container)]


def _place(effect: Effect) -> NoisePlace:
    """Where an effect is; for additions and removals, any record and any position."""
    pairs = zip(effect.address, effect.address_template, strict=True)
    general = effect.kind != "changed"
    address = tuple(ANY if general and template == ANY else name for name, template in pairs)
    return NoisePlace(area=effect.area, container=effect.container, address=address, kind=effect.kind)


def _merge_records(places: Iterable[NoisePlace]) -> set[NoisePlace]:
    """Places with `*` for the record or position if the same field of several changes."""
    found = set(places)
    deepest = max((len(place.address) for place in found), default=0)
    for index in range(deepest):
        groups: dict[NoisePlace, set[NoisePlace]] = {}
        for place in found:
            if place.kind == "changed" and index < len(place.address) - 1:
                address = (*place.address[:index], ANY, *place.address[index + 1 :])
                groups.setdefault(place.model_copy(update={"address": address}), set()).add(place)
        for general, members in groups.items():
            if len(members) > 1:
                found = (found - members) | {general}
    return found


def _merge_folders(places: set[NoisePlace]) -> set[NoisePlace]:
    """Places with `*` for the part in which noise folders differ, and for the names of files in them."""
    folders = [place for place in places if place.area == "directory"]
    patterns = Counter(
        (pattern, place.kind) for place in folders for pattern in _with_any_part(place.container)
    )
    pattern_of = {
        place.container: pattern
        for place in folders
        for pattern in _with_any_part(place.container)
        if patterns[pattern, place.kind] > 1
    }

    def generalise(place: NoisePlace) -> NoisePlace:
        around = place.container.rpartition("/")[0]
        if place.area == "directory":
            return _relocate(place, pattern_of.get(place.container, place.container))
        in_folder = place.area == "file" and not place.address and around in pattern_of
        return _relocate(place, f"{pattern_of[around]}/{ANY}") if in_folder else place

    return set(map(generalise, places))


def _with_any_part(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join((*parts[:index], ANY, *parts[index + 1 :])) for index in range(len(parts))]


def _relocate(place: NoisePlace, container: str) -> NoisePlace:
    return place.model_copy(update={"container": container})


def _outermost(places: set[NoisePlace]) -> list[NoisePlace]:
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


def _path_patterns(recordings: Sequence[set[str]]) -> dict[str, str]:
    common = set.intersection(*recordings) if recordings else set()
    varying = [
        (tuple(path.split("/")), number) for number, paths in enumerate(recordings) for path in paths - common
    ]
    found: dict[str, str] = {}
    for path, number in varying:
        others = [other for other, index in varying if index != number and len(other) == len(path) > 1]
        best = max(others, key=lambda other: _similarity(path, other), default=path)
        if _similarity(path, best)[0]:
            found["/".join(path)] = "/".join(map(_pattern, path, best))
    return found


def _similarity(path: _Path, other: _Path) -> tuple[int, int]:
    pairs = list(zip(path, other, strict=True))
    return sum(one == two for one, two in pairs), sum(len(_pattern(*pair)) for pair in pairs)


def _pattern(one: str, other: str) -> str:
    """What two names have in common, with `*` for the rest.

    >>> _pattern("run-17.pid", "run-204.pid"), _pattern("aa", "aaa"), _pattern("a", "a")
    ('run-*.pid', 'aa*', 'a')
    """
    if one == other:
        return one
    before = _common_prefix_length(one, other)
    after = min(min(len(one), len(other)) - before, _common_prefix_length(one[::-1], other[::-1]))
    return f"{one[:before]}{ANY}{one[len(one) - after :]}"


def _common_prefix_length(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
