"""Why a selection finds no tasks: which condition keeps them out, and the nearest cells that have some."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Dimension
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError
from taskloom.warehouse.sets.selection import Selection, candidates, condition_fits
from taskloom.warehouse.store import Warehouse

_NAMED: Final = 3
_EVERYTHING: Final = Selection()
_LEVEL: Final = re.compile(
    rf"\b({'|'.join(DIMENSIONS)})_level\s*(?:=|IN\s*\()\s*'({'|'.join(LEVELS)})'", re.IGNORECASE
)
_OPTIONS: Final = {
    "where": "--where",
    "levels": "--level",
    "capability": "--capability",
    "scenario": "--scenario",
    "applications": "--application",
    "accepted": "--accepted",
    "replayed": "a successful replay",
}


def nothing_meets(warehouse: Warehouse, selection: Selection) -> str:
    """What to say of a selection, or of its only cell, that no task meets."""
    selection = selection.model_copy(update={"size": None})
    if len(selection.cells) == 1:
        levels = {**selection.levels, **selection.cells[0].levels}
        selection = selection.model_copy(update={"levels": levels, "cells": ()})
    return " ".join(["No task meets the selection.", *_remarks(warehouse, selection)])


def _remarks(warehouse: Warehouse, selection: Selection) -> Iterator[str]:
    asked = [name for name in _OPTIONS if getattr(selection, name)]
    without = {}
    for name in asked if len(asked) > 1 else ():
        rest = selection.model_copy(update={name: getattr(_EVERYTHING, name)})
        without[_OPTIONS[name]] = len(_found(warehouse, rest))
    if any(without.values()):
        counts = "; ".join(f"without {name} {count} would" for name, count in without.items() if count)
        yield f"{counts[0].upper()}{counts[1:]}."
    elif not asked or not _found(warehouse, _EVERYTHING):
        stored = len(_found(warehouse, Selection(unvalidated=True)))
        yield f"{stored} tasks are stored, and none is validated or imported."
    yield from _parts(warehouse, selection)
    wanted = _wanted(selection)
    if wanted:
        free = selection.model_copy(update={"levels": {}, "capability": ""})
        if _LEVEL.search(selection.where):
            free = free.model_copy(update={"where": ""})
        near = nearest_cells(warehouse, free, wanted)
        yield f"The nearest cells with tasks: {near}." if near else ""
    if selection.replayed:
        yield (
            "Each must have a successful replay, whose recording leads through the whole task;"
            " `taskloom build --set replay_share=1` makes them."
        )
    if selection.accepted is not None:
        yield (
            "`taskloom view --review` is where people accept and reject tasks; `taskloom sql acceptance`"
            " shows what they said."
        )


def nearest_cells(warehouse: Warehouse, selection: Selection, wanted: Mapping[Dimension, str]) -> str:
    """The cells with tasks of `selection` that differ least from some levels; empty where there is none."""
    levels = ", ".join(f"{dimension}_level" for dimension in wanted)
    rows = warehouse.query(
        f"SELECT count(*), {levels} FROM tasks WHERE task_id IN (SELECT unnest($ids::VARCHAR[]))"
        f" AND {' AND '.join(f'{name}_level IS NOT NULL' for name in wanted)} GROUP BY ALL",
        {"ids": _found(warehouse, selection)},
    ).rows()
    place = {str(level): number for number, level in enumerate(LEVELS)}
    far = [
        (
            sum(abs(place[str(one)] - place[two]) for one, two in zip(found, wanted.values(), strict=True)),
            -int(str(count)),
            ",".join(f"{name}={level}" for name, level in zip(wanted, found, strict=True)),
        )
        for count, *found in rows
    ]
    return "; ".join(f"{cell} ({-count})" for _, count, cell in sorted(far)[:_NAMED])


def _wanted(selection: Selection) -> dict[Dimension, str]:
    wanted: dict[Dimension, str] = {}
    for name, level in _LEVEL.findall(selection.where):
        wanted |= {dimension: level.lower() for dimension in DIMENSIONS if dimension == name.lower()}
    for item in load_capabilities():
        if item.name == selection.capability:
            wanted |= item.levels(selection.preset)
    return wanted | selection.levels


def _parts(warehouse: Warehouse, selection: Selection) -> Iterator[str]:
    parts = [part.strip() for part in re.split(r"\bAND\b", selection.where, flags=re.IGNORECASE)]
    if len(parts) > 1 and all(condition_fits(warehouse, part) for part in parts):
        counts = (f"{len(_found(warehouse, Selection(where=part)))} meet {part}" for part in parts)
        yield f"Of all tasks, {', '.join(counts)}."


def _found(warehouse: Warehouse, selection: Selection) -> list[str]:
    try:
        return [name for pool in candidates(warehouse, selection) for name in pool.task_ids]
    except (QueryFailedError, QueryRefusedError):
        return []
