"""Which tasks an export holds, and in which sets: selected, divided without leaks, then drawn. Where a
selection finds none: which condition keeps them out, and the nearest cells that have some."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import pyarrow as pa

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Dimension
from taskloom.resources.reading.catalog import load_capabilities
from taskloom.warehouse.errors import ExportRefusedError, QueryFailedError, QueryRefusedError
from taskloom.warehouse.sets.compared import COLUMNS, ComparedTasks, columns_for, compare
from taskloom.warehouse.sets.dividing import TOLERANCE, Division, apportion, check_shares, divide, hold_out
from taskloom.warehouse.sets.key_table import LEAK_KINDS, SPLITS, KeyTable, SplitName
from taskloom.warehouse.sets.selection import (
    Candidates,
    Selection,
    SetRequest,
    Shortfall,
    candidates,
    condition_fits,
    draw,
)
from taskloom.warehouse.sets.splits import Leak, LeakageReport, leakage, resembling
from taskloom.warehouse.store import Warehouse

_FEW = 100_000
_ATTEMPTS: Final = 3
_AMONG = "task_id IN (SELECT unnest($values::VARCHAR[]))"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The tasks of an export."""

    task_ids: tuple[str, ...]
    shortfalls: tuple[Shortfall, ...] = ()
    splits: dict[SplitName, tuple[str, ...]] = field(default_factory=dict)
    """Sets; empty when neither sets nor lists were named."""
    report: LeakageReport | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    unwritable: Mapping[str, str] = field(default_factory=dict)
    """Those of them that the format refuses."""


def draw_tasks(
    warehouse: Warehouse,
    selection: Selection,
    request: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    unwritable: Callable[[tuple[str, ...]], Mapping[str, str]] | None = None,
) -> Drawn:
    """Select tasks, divide them, take out what lists hold and what is `unwritable`, and draw from every set.

    All tasks that meet the conditions are divided before any are drawn, so that a wanted number is met
    where it can be.

    Raises:
        ExportRefusedError: nothing meets the selection, or a set would be empty; else as `select`.
    """
    pools = candidates(warehouse, selection)
    if not any(pool.task_ids for pool in pools):
        raise ExportRefusedError(f"{nothing_meets(warehouse, selection)} Nothing was written.")
    if request is None and not named_lists:
        drawn, shortfalls = draw(pools)
        shortfalls = _with_nearest(warehouse, selection, shortfalls)
        return Drawn(tuple(sorted(drawn)), tuple(shortfalls))
    pools, gone_before = _writable(pools, unwritable)
    asked = request or SetRequest(shares={"train": 1.0})
    check_shares(asked.shares)
    lists = named_lists or {}
    places = [f"{source}:{line}" for source, texts in lists.items() for line in range(1, len(texts) + 1)]
    tasks = _read(warehouse, pools, asked, [text for texts in lists.values() for text in texts])
    table = tasks.table
    division = _divided(tasks, asked, selection.seed)
    between_sets = "instruction" not in asked.may_share
    divided = tasks.numbered(division.tasks)
    removed = resembling(tasks, divided, places, between_sets=between_sets)
    shares = _given(division) if asked.held_out else asked.shares
    _refuse_empty_sets(division.tasks, shares, len(table.tasks))
    gone = {leak.value for leak in removed}
    splits: dict[SplitName, tuple[str, ...]] = {}
    shortfalls = _missed_shares(division, asked)
    for name in SPLITS:
        drawn, missing = draw(
            pools,
            set(division.tasks[name]) - gone,
            lambda number, name=name: apportion(number, shares)[name],  # type: ignore[misc]
            name if request is not None else "",
        )
        splits[name] = tuple(sorted(drawn))
        shortfalls += missing
    report = leakage(tasks, tasks.numbered(splits), places, asked.may_share, (divided, removed)).model_copy(
        update={
            **_account(asked, division, removed, lists),
            "advice": tuple(advice_on(tasks, asked, selection.seed)) if division.left_out and request else (),
        }
    )
    if report.leaks:
        raise ExportRefusedError(
            f"The sets leak: {report.leaks[0].value} stands in {report.leaks[0].found_in}."
        )
    names = tuple(sorted(chain.from_iterable(splits.values())))
    if not names:
        raise ExportRefusedError(
            f"Every selected task resembles an instruction of the lists, such as {removed[0].found_in[1]};"
            " nothing was written."
            if removed
            else "Nothing is left to draw; nothing was written."
        )
    left_out = {**gone_before, **division.left_out}
    return Drawn(names, tuple(shortfalls), splits, report, left_out, gone_before)


def _writable(
    pools: Sequence[Candidates], unwritable: Callable[[tuple[str, ...]], Mapping[str, str]] | None
) -> tuple[list[Candidates], Mapping[str, str]]:
    if unwritable is None:
        return list(pools), {}
    gone = unwritable(tuple(sorted({name for pool in pools for name in pool.task_ids})))
    left = [
        replace(pool, task_ids=tuple(name for name in pool.task_ids if name not in gone)) for pool in pools
    ]
    return left, gone


def _divided(tasks: ComparedTasks, asked: SetRequest, seed: int) -> Division:
    """The division by what is held out, or the nearest to the shares: leaving tasks out shifts them."""
    if asked.held_out:
        return hold_out(tasks.table, tasks.strata, asked, seed)
    shares = dict(asked.shares)
    best: tuple[float, Division] | None = None
    for _ in range(_ATTEMPTS):
        division = divide(tasks.table, shares, seed, tasks.strata)
        given = _given(division)
        missed = max((share - given[name] for name, share in asked.shares.items()), default=0.0)
        if best is None or missed < best[0]:
            best = missed, division
        if missed <= TOLERANCE / 2 or not division.left_out or not all(given[name] for name in shares):
            break
        tilted = {name: shares[name] * share / given[name] for name, share in asked.shares.items()}
        shares = {name: share / sum(tilted.values()) for name, share in tilted.items()}
    assert best is not None
    return best[1]


def _account(
    asked: SetRequest,
    division: Division,
    removed: Sequence[Leak],
    lists: Mapping[str, Sequence[str]],
) -> dict[str, object]:
    found = Counter(leak.found_in[1].rpartition(":")[0] for leak in removed)
    return {
        "asked": {str(name): share for name, share in asked.shares.items()},
        "given": {str(name): share for name, share in _given(division).items()},
        "left_out": len(division.left_out),
        "left_out_reasons": dict(Counter(map(_kind_of_reason, division.left_out.values())).most_common()),
        "removed": tuple(removed),
        "named": {source: sum(bool(text.strip()) for text in texts) for source, texts in lists.items()},
        "resembling": {source: count for source, count in found.items() if source in lists},
    }


def _read(
    warehouse: Warehouse, pools: Sequence[Candidates], request: SetRequest, lines: Sequence[str]
) -> ComparedTasks:
    names = {name for pool in pools for name in pool.task_ids}
    columns = columns_for(request.may_share, bool(lines))
    listed = ", ".join(f"{COLUMNS[column]} AS {column}" for column in columns)
    # The ids of nearly everything are more to look up than everything is to read.
    few = len(names) <= _FEW
    condition = _AMONG if few else "true"
    return warehouse.stream(
        f"SELECT {listed} FROM tasks WHERE {condition}",
        lambda batches: compare(
            _among(batches, names),
            lambda wanted: _instructions(warehouse, wanted),
            request.may_share,
            lines,
        ),
        {"values": sorted(names)} if few else {},
    )


def _among(batches: Iterator[pa.RecordBatch], names: Collection[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        wanted = [name in names for name in batch.column("task_id").to_pylist()]
        yield batch if all(wanted) else batch.filter(pa.array(wanted, pa.bool_()))


def _instructions(warehouse: Warehouse, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(names), _FEW):
        rows = warehouse.query(
            f"SELECT task_id, instruction FROM tasks WHERE {_AMONG}",
            {"values": names[start : start + _FEW]},
        ).rows()
        found.update((str(name), str(text)) for name, text in rows)
    return found


def _given(division: Division) -> dict[SplitName, float]:
    total = sum(map(len, division.tasks.values()))
    return {name: len(division.tasks[name]) / total if total else 0.0 for name in SPLITS}


def _missed_shares(division: Division, request: SetRequest) -> list[Shortfall]:
    if request.held_out:
        return []
    sizes = {name: len(tasks) for name, tasks in division.tasks.items()}
    total = sum(sizes.values())
    return [
        Shortfall(levels={}, split=name, wanted=round(share * total), found=sizes[name])
        for name, share in request.shares.items()
        if sizes[name] < (share - TOLERANCE) * total - 1
    ]


def _with_nearest(
    warehouse: Warehouse, selection: Selection, shortfalls: Sequence[Shortfall]
) -> list[Shortfall]:
    free = selection.model_copy(update={"cells": (), "size": None, "levels": {}, "capability": ""})
    return [
        item.model_copy(update={"nearest": nearest_cells(warehouse, free, item.levels)})
        if item.levels and not item.found and not item.split
        else item
        for item in shortfalls
    ]


def _kind_of_reason(reason: str) -> str:
    return " ".join(part.partition(" (")[0] for part in reason.split(") ")).removesuffix(")")


def _refuse_empty_sets(
    tasks: Mapping[SplitName, Sequence[str]], shares: Mapping[SplitName, float], count: int
) -> None:
    for name, expected in apportion(count, shares).items():
        if expected and not tasks[name]:
            raise ExportRefusedError(
                f"The set {name!r} would be empty: the {count} tasks share too many subtasks, resources and"
                " intents to be divided. Give it no share, select tasks of more applications and intents, or"
                " say with --leak what the sets may share."
            )


_NAMED: Final = 3
_MOST_TASKS: Final = 50_000


def advice_on(tasks: ComparedTasks, request: SetRequest, seed: int) -> Iterator[str]:
    """Sentences about what most tasks share, and about what allowing sets to share it would change."""
    table = tasks.table
    total = len(table.tasks)
    users = table.users()
    widest = sorted(range(len(users)), key=lambda key: -users[key])[:_NAMED]
    listed = ", ".join(f"{table.keys[key]!r} in {users[key]}" for key in widest)
    if listed:
        yield f"what most of the {total} tasks share: {listed}"
    if total > _MOST_TASKS or request.held_out:
        return
    for kind in LEAK_KINDS:
        if any(key.startswith(f"{kind} ") for key in table.keys):
            division = divide(_without(table, kind), request.shares, seed, tasks.strata)
            left_out = len(division.left_out)
            yield f"with --leak {kind}, {left_out} tasks ({left_out / total:.0%}) would be left out"


def _without(table: KeyTable, kind: str) -> KeyTable:
    prefix = f"{kind} "
    return KeyTable.of(
        (task, (table.keys[key] for key in table.content(number) if not table.keys[key].startswith(prefix)))
        for number, task in enumerate(table.tasks)
    )


_CELLS_NAMED: Final = 3
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
    return "; ".join(f"{cell} ({-count})" for _, count, cell in sorted(far)[:_CELLS_NAMED])


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
