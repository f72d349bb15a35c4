"""Checks of raster pictures, by their mean colours in a grid: made from another one, or of the screen."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from taskloom.evaluators_api.checks.declaration import Scene, check, text_of_file
from taskloom.evaluators_api.errors import CheckMisusedError, CheckUnavailableError
from taskloom.taskgraph.records.evidence import FileState

_Colour = tuple[int, int, int]
_Grid = tuple[tuple[_Colour, ...], ...]

_MEAN_OFF, _WORST_OFF = 6.0, 60
"""Steps of 255 that colours of what was only drawn again may be off: on average, and anywhere."""


def _inverted(colour: _Colour) -> _Colour:
    return (255 - colour[0], 255 - colour[1], 255 - colour[2])


def _grey(colour: _Colour) -> _Colour:
    light = round(0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2])
    return (light, light, light)


def _each(change: Callable[[_Colour], _Colour]) -> Callable[[_Grid], _Grid]:
    return lambda grid: tuple(tuple(change(colour) for colour in row) for row in grid)


CHANGES: Mapping[str, Callable[[_Grid], _Grid]] = MappingProxyType(
    {
        "same": lambda grid: grid,
        "turned right": lambda grid: tuple(zip(*grid[::-1], strict=True)),
        "turned left": lambda grid: tuple(zip(*grid, strict=True))[::-1],
        "upside down": lambda grid: tuple(row[::-1] for row in grid[::-1]),
        "left and right exchanged": lambda grid: tuple(row[::-1] for row in grid),
        "top and bottom exchanged": lambda grid: grid[::-1],
        "colours inverted": _each(_inverted),
        "without colours": _each(_grey),
    }
)
"""What can be done to a picture."""


@check("files", of_source=True)
def check_picture(scene: Scene, source: str, target: str, change: str = "same") -> bool:
    """Checks if a picture shows what another one showed at the start, changed as a whole; its size does not
    count.

    Args:
        target: It may be the same path.
        change: 'same' (also scaled, or in another format), 'turned right', 'turned left', 'upside down',
            'left and right exchanged', 'top and bottom exchanged', 'colours inverted' or 'without colours'.

    Example:
        check_picture(source='Pictures/sign.png', target='Pictures/turned.png', change='turned right')
    """
    if change not in CHANGES:
        raise CheckMisusedError(f"check_picture knows the changes {', '.join(CHANGES)}; not {change[:80]!r}.")
    first, second = scene.start.file(source), scene.view.file(target)
    before = None if first is None else picture_of(first)
    after = None if second is None else picture_of(second)
    if before is None or after is None:
        return False
    wanted = CHANGES[change](before)
    return _alike(wanted, after) and (change == "same" or not _alike(wanted, before))


@check("screen")
def check_screen_captured(scene: Scene, file_path: str) -> bool:
    """Checks if a picture shows what the screen shows now: all of it, in its size. The pointer does not
    count.

    It is for pictures that were just taken of the screen, once the program that took them is gone from it.

    Example:
        check_screen_captured(file_path='Pictures/screen.png')
    """
    file = scene.view.file(file_path)
    taken = None if file is None or picture_of(file) is None else _told(text_of_file(file))
    if taken is None:
        return False
    if not scene.view.evidence.screen:
        raise CheckUnavailableError("The evidence does not tell what the screen showed.")
    shown = _told(scene.view.evidence.screen)
    return shown is not None and shown[:2] == taken[:2] and _alike(shown[2], taken[2])


@lru_cache(maxsize=64)
def picture_of(file: FileState) -> _Grid | None:
    """Mean colours of a picture, row by row; None for any other file."""
    if file.content not in (None, "picture") or not (file.text or "").startswith('{\n "width":'):
        return None
    told = _told(text_of_file(file))
    return None if told is None else told[2]


@lru_cache(maxsize=64)
def _told(text: str) -> tuple[int, int, _Grid] | None:
    try:
        told = json.loads(text)
        size = (int(told["width"]), int(told["height"]))
        rows = [[int(colour, 16) for colour in row.split()] for row in told["colours"]]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    if not rows or any(len(row) != len(rows) for row in rows):
        return None
    grid = tuple(
        tuple((colour >> 16 & 255, colour >> 8 & 255, colour & 255) for colour in row) for row in rows
    )
    return (*size, grid)


def _alike(one: _Grid, other: _Grid) -> bool:
    if len(one) != len(other):
        return False
    off = [
        abs(first - second)
        for row, twin in zip(one, other, strict=True)
        for colour, its in zip(row, twin, strict=True)
        for first, second in zip(colour, its, strict=True)
    ]
    return sum(off) / len(off) <= _MEAN_OFF and max(off) <= _WORST_OFF
