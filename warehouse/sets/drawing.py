"""The tasks of an export and their sets: selected, divided without leaks, then drawn. If a selection finds
none: which condition excludes them, and the nearest cells that have some."""

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
from taskloom.warehouse.sets.splits import Leak, LeakageReport, find_resembling, leakage
from taskloom.warehouse.store import Warehouse

_FEW_TASKS = 100_000
_ATTEMPTS: Final = 3
_IN_VALUES = "task_id IN (SELECT unnest($values::VARCHAR[]))"


@dataclass(frozen=True, slots=True)
class DrawnTasks:
    """The tasks of an export."""

    task_ids: tuple[str, ...]
    shortfalls: tuple[Shortfall, ...] = ()
    splits: dict[SplitName, tuple[str, ...]] = field(default_factory=dict)
    """Sets; empty when neither sets nor lists were named."""
    report: LeakageReport | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    unwritable: Mapping[str, str] = field(default_factory=dict)
    """Left-out tasks that the format refuses, with the reason."""


def draw_tasks(
    warehouse: Warehouse,
    selection: Selection,
    request: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
    unwritable: Callable[[tuple[str, ...]], Mapping[str, str]] | None = None,
) -> DrawnTasks:
    """Select and divide tasks, remove those that lists hold or that are `unwritable`, and draw from each set.

    All tasks that meet the conditions are divided before any are drawn, so that a requested number is
    met if possible.

    Raises:
        ExportRefusedError: nothing meets the selection, or a set would be empty; otherwise as `select`.
    """
    pools = candidates(warehouse, selection)
    if not any(pool.task_ids for pool in pools):
        raise ExportRefusedError(f"{nothing_meets(warehouse, selection)} Nothing was written.")
    if request is None and not named_lists:
        drawn, shortfalls = draw(pools)
        shortfalls = _add_nearest_cells(warehouse, selection, shortfalls)
        return DrawnTasks(tuple(sorted(drawn)), tuple(shortfalls))
    pools, refused = _remove_unwritable(pools, unwritable)
    has_sets = request is not None
    request = request or SetRequest(shares={"train": 1.0})
    check_shares(request.shares)
    lists = named_lists or {}
    places = [f"{source}:{line}" for source, texts in lists.items() for line in range(1, len(texts) + 1)]
    tasks = _read_tasks(warehouse, pools, request, [text for texts in lists.values() for text in texts])
    table = tasks.table
    division = _divide(tasks, request, selection.seed)
    between_sets = "instruction" not in request.may_share
    divided = tasks.numbers_of(division.tasks)
    removed = find_resembling(tasks, divided, places, between_sets=between_sets)
    shares = _actual_shares(division) if request.held_out else request.shares
    _refuse_empty_sets(division.tasks, shares, len(table.tasks))
    removed_ids = {leak.value for leak in removed}
    splits: dict[SplitName, tuple[str, ...]] = {}
    shortfalls = _missed_shares(division, request)
    for name in SPLITS:
        drawn, missing = draw(
            pools,
            set(division.tasks[name]) - removed_ids,
            lambda number, name=name: apportion(number, shares)[name],  # type: ignore[misc]
            name if has_sets else "",
        )
        splits[name] = tuple(sorted(drawn))
        shortfalls += missing
    report = leakage(
        tasks, tasks.numbers_of(splits), places, request.may_share, (divided, removed)
    ).model_copy(
        update={
            **_report_fields(request, division, removed, lists),
            "advice": (
                tuple(advice_on(tasks, request, selection.seed)) if division.left_out and has_sets else ()
            ),
        }
    )
    if report.leaks:
        raise ExportRefusedError(
            f"The sets leak: {report.leaks[0].value} occurs in {' and '.join(report.leaks[0].found_in)}."
        )
    names = tuple(sorted(chain.from_iterable(splits.values())))
    if not names:
        raise ExportRefusedError(
            f"Every selected task resembles an instruction of the lists, such as {removed[0].found_in[1]};"
            " nothing was written."
            if removed
            else "Nothing is left to draw; nothing was written."
        )
    left_out = {**refused, **division.left_out}
    return DrawnTasks(names, tuple(shortfalls), splits, report, left_out, refused)


def _remove_unwritable(
    pools: Sequence[Candidates], unwritable: Callable[[tuple[str, ...]], Mapping[str, str]] | None
) -> tuple[list[Candidates], Mapping[str, str]]:
    if unwritable is None:
        return list(pools), {}
    refused = unwritable(tuple(sorted({name for pool in pools for name in pool.task_ids})))
    writable = [
        replace(pool, task_ids=tuple(name for name in pool.task_ids if name not in refused)) for pool in pools
    ]
    return writable, refused


def _divide(tasks: ComparedTasks, request: SetRequest, seed: int) -> Division:
    """Divide by what is held out, or as near to the shares as possible: leaving tasks out shifts them."""
    if request.held_out:
        return hold_out(tasks.table, tasks.strata, request, seed)
    shares = dict(request.shares)
    best: tuple[float, Division] | None = None
    for _ in range(_ATTEMPTS):
        division = divide(tasks.table, shares, seed, tasks.strata)
        actual = _actual_shares(division)
        missed = max((share - actual[name] for name, share in request.shares.items()), default=0.0)
        if best is None or missed < best[0]:
            best = missed, division
        if missed <= TOLERANCE / 2 or not division.left_out or not all(actual[name] for name in shares):
            break
        adjusted = {name: shares[name] * share / actual[name] for name, share in request.shares.items()}
        shares = {name: share / sum(adjusted.values()) for name, share in adjusted.items()}
    assert best is not None
    return best[1]


def _report_fields(
    request: SetRequest,
    division: Division,
    removed: Sequence[Leak],
    lists: Mapping[str, Sequence[str]],
) -> dict[str, object]:
    removed_by_list = Counter(leak.found_in[1].rpartition(":")[0] for leak in removed)
    return {
        "asked": {str(name): share for name, share in request.shares.items()},
        "given": {str(name): share for name, share in _actual_shares(division).items()},
        "left_out": len(division.left_out),
        "left_out_reasons": dict(Counter(map(_kind_of_reason, division.left_out.values())).most_common()),
        "removed": tuple(removed),
        "named": {source: sum(bool(text.strip()) for text in texts) for source, texts in lists.items()},
        "resembling": {source: count for source, count in removed_by_list.items() if source in lists},
    }


def _read_tasks(
    warehouse: Warehouse, pools: Sequence[Candidates], request: SetRequest, lines: Sequence[str]
) -> ComparedTasks:
    names = {name for pool in pools for name in pool.task_ids}
    columns = columns_for(request.may_share, bool(lines))
    selected = ", ".join(f"{COLUMNS[column]} AS {column}" for column in columns)
    # Looking up very many ids takes longer than reading all tasks.
    few = len(names) <= _FEW_TASKS
    condition = _IN_VALUES if few else "true"
    return warehouse.stream(
        f"SELECT {selected} FROM tasks WHERE {condition}",
        lambda batches: compare(
            _filter_batches(batches, names),
            lambda wanted: _read_instructions(warehouse, wanted),
            request.may_share,
            lines,
        ),
        {"values": sorted(names)} if few else {},
    )


def _filter_batches(batches: Iterator[pa.RecordBatch], names: Collection[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        kept = [name in names for name in batch.column("task_id").to_pylist()]
        yield batch if all(kept) else batch.filter(pa.array(kept, pa.bool_()))


def _read_instructions(warehouse: Warehouse, names: Sequence[str]) -> dict[str, str]:
    instructions: dict[str, str] = {}
    for start in range(0, len(names), _FEW_TASKS):
        rows = warehouse.query(
            f"SELECT task_id, instruction FROM tasks WHERE {_IN_VALUES}",
            {"values": names[start : start + _FEW_TASKS]},
        ).rows()
        instructions.update((str(name), str(text)) for name, text in rows)
    return instructions


def _actual_shares(division: Division) -> dict[SplitName, float]:
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


def _add_nearest_cells(
    warehouse: Warehouse, selection: Selection, shortfalls: Sequence[Shortfall]
) -> list[Shortfall]:
    unrestricted = selection.model_copy(update={"cells": (), "size": None, "levels": {}, "capability": ""})
    return [
        item.model_copy(update={"nearest": nearest_cells(warehouse, unrestricted, item.levels)})
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


_KEYS_NAMED: Final = 3
_MOST_TASKS: Final = 50_000


def advice_on(tasks: ComparedTasks, request: SetRequest, seed: int) -> Iterator[str]:
    """Sentences on what most tasks share, and on what would change if sets could share it."""
    table = tasks.table
    total = len(table.tasks)
    use_counts = table.use_counts()
    most_used = sorted(range(len(use_counts)), key=lambda key: -use_counts[key])[:_KEYS_NAMED]
    listed = ", ".join(f"{table.keys[key]!r} in {use_counts[key]}" for key in most_used)
    if listed:
        yield f"what most of the {total} tasks share: {listed}"
    if total > _MOST_TASKS or request.held_out:
        return
    for kind in LEAK_KINDS:
        if any(key.startswith(f"{kind} ") for key in table.keys):
            division = divide(_without_kind(table, kind), request.shares, seed, tasks.strata)
            left_out = len(division.left_out)
            yield f"with --leak {kind}, {left_out} tasks ({left_out / total:.0%}) would be left out"


def _without_kind(table: KeyTable, kind: str) -> KeyTable:
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
    """The message for a selection, or for its only cell, that no task meets."""
    selection = selection.model_copy(update={"size": None})
    if len(selection.cells) == 1:
        levels = {**selection.levels, **selection.cells[0].levels}
        selection = selection.model_copy(update={"levels": levels, "cells": ()})
    return " ".join(["No task meets the selection.", *_explanations(warehouse, selection)])


def _explanations(warehouse: Warehouse, selection: Selection) -> Iterator[str]:
    conditions = [name for name in _OPTIONS if getattr(selection, name)]
    without = {}
    for name in conditions if len(conditions) > 1 else ():
        others = selection.model_copy(update={name: getattr(_EVERYTHING, name)})
        without[_OPTIONS[name]] = len(_matching_tasks(warehouse, others))
    if any(without.values()):
        counts = "; ".join(f"without {name} {count} would" for name, count in without.items() if count)
        yield f"{counts[0].upper()}{counts[1:]}."
    elif not conditions or not _matching_tasks(warehouse, _EVERYTHING):
        stored = len(_matching_tasks(warehouse, Selection(unvalidated=True)))
        yield f"{stored} tasks are stored, and none is validated or imported."
    yield from _counts_of_parts(warehouse, selection)
    wanted = _wanted_levels(selection)
    if wanted:
        unrestricted = selection.model_copy(update={"levels": {}, "capability": ""})
        if _LEVEL.search(selection.where):
            unrestricted = unrestricted.model_copy(update={"where": ""})
        nearest = nearest_cells(warehouse, unrestricted, wanted)
        yield f"The nearest cells with tasks: {nearest}." if nearest else ""
    if selection.replayed:
        yield (
            "Each must have a successful replay, whose recording covers the whole task;"
            " `taskloom build --set replay_share=1` makes them."
        )
    if selection.accepted is not None:
        yield (
            "People accept and reject tasks in `taskloom view --review`; `taskloom sql acceptance` shows"
            " their verdicts."
        )


def nearest_cells(warehouse: Warehouse, selection: Selection, wanted: Mapping[Dimension, str]) -> str:
    """The cells with tasks of `selection` that differ least from some levels; empty if there is none."""
    levels = ", ".join(f"{dimension}_level" for dimension in wanted)
    rows = warehouse.query(
        f"SELECT count(*), {levels} FROM tasks WHERE task_id IN (SELECT unnest($ids::VARCHAR[]))"
        f" AND {' AND '.join(f'{name}_level IS NOT NULL' for name in wanted)} GROUP BY ALL",
        {"ids": _matching_tasks(warehouse, selection)},
    ).rows()
    rank = {str(level): number for number, level in enumerate(LEVELS)}
    cells = [
        (
            sum(
                abs(rank[str(level)] - rank[other])
                for level, other in zip(found_levels, wanted.values(), strict=True)
            ),
            -int(str(count)),
            ",".join(f"{name}={level}" for name, level in zip(wanted, found_levels, strict=True)),
        )
        for count, *found_levels in rows
    ]
    return "; ".join(f"{cell} ({-count})" for _, count, cell in sorted(cells)[:_CELLS_NAMED])


def _wanted_levels(selection: Selection) -> dict[Dimension, str]:
    wanted: dict[Dimension, str] = {}
    for name, level in _LEVEL.findall(selection.where):
        wanted |= {dimension: level.lower() for dimension in DIMENSIONS if dimension == name.lower()}
    for item in load_capabilities():
        if item.name == selection.capability:
            wanted |= item.levels(selection.preset)
    return wanted | selection.levels


def _counts_of_parts(warehouse: Warehouse, selection: Selection) -> Iterator[str]:
    parts = [part.strip() for part in re.split(r"\bAND\b", selection.where, flags=re.IGNORECASE)]
    if len(parts) > 1 and all(condition_fits(warehouse, part) for part in parts):
        counts = (f"{len(_matching_tasks(warehouse, Selection(where=part)))} meet {part}" for part in parts)
        yield f"Of all tasks, {', '.join(counts)}."


def _matching_tasks(warehouse: Warehouse, selection: Selection) -> list[str]:
    try:
        return [name for pool in candidates(warehouse, selection) for name in pool.task_ids]
    except (QueryFailedError, QueryRefusedError):
        return []
