"""Recognises noise: changes at places that applications were measured to change on their own. Evidence lists
these places (`Evidence.noise`); without any, nothing is noise."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from taskloom.resources.noise import Area, EffectKind, NoisePlace
from taskloom.taskgraph.records.evidence import Evidence

_ANY = "*"
_Place = tuple[Callable[[str], object], tuple[str, ...]]
"""A test for whether a path belongs to the place, and the address in the file."""


class Noise:
    """The places that some applications change by themselves."""

    def __init__(self, places: Sequence[NoisePlace]) -> None:
        self._places: dict[tuple[Area, EffectKind], list[_Place]] = {}
        for place in places:
            matches = re.compile("[^/]*".join(map(re.escape, place.container.split(_ANY)))).fullmatch
            self._places.setdefault((place.area, place.kind), []).append((matches, place.address))

    def covers(self, area: Area, container: str, address: Sequence[str], kind: EffectKind) -> bool:
        """Whether a change of this kind, at this address or one around it, is noise.

        >>> noise = Noise([NoisePlace(container="a.db", address=("visits", "rows", "*"), kind="added")])
        >>> noise.covers("file", "a.db", ("visits", "rows", "7", "page"), "added")
        True
        >>> noise.covers("file", "a.db", ("visits", "rows", "7"), "removed")
        False
        """
        return any(
            len(place) <= len(address)
            and all(part in (_ANY, name) for part, name in zip(place, address, strict=False))
            and matches(container) is not None
            for matches, place in self._places.get((area, kind), ())
        )

    def concerns(self, container: str) -> bool:
        """Whether there can be noise in this file, or the file can be noise."""
        of_files = (places for (area, _), places in self._places.items() if area == "file")
        return any(matches(container) is not None for places in of_files for matches, _ in places)


@lru_cache(maxsize=256)
def _compiled(places: tuple[NoisePlace, ...]) -> Noise:
    return Noise(places)


NO_NOISE = _compiled(())
"""No place changes by itself, or none was measured."""


def noise_between(start: Evidence, end: Evidence) -> Noise:
    """The noise of the applications in these states."""
    return _compiled(start.noise or end.noise)
