"""Which tasks an export holds, and in which sets: selected, divided without leaks, then drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resources.dimensions import TABLE
from warehouse.errors import ExportRefusedError
from warehouse.sets.advice import advice_on
from warehouse.sets.dividing import TOLERANCE, Division, apportion, check_shares, divide
from warehouse.sets.key_table import KeyTable
from warehouse.sets.names import SPLITS, SplitName
from warehouse.sets.requests import SetRequest, hold_out
from warehouse.sets.selection import Candidates, Selection, Shortfall, candidates, draw
from warehouse.sets.splits import (
    LEAK_KINDS,
    Compared,
    Leak,
    LeakageReport,
    leakage,
    named_keys,
    resembling,
)
from warehouse.sets.wording import wording_of
from warehouse.store import Warehouse

_BATCH = 100_000
_COLUMNS = f"""
    task_id, instruction, intent_id, intent, scenario, applications,
    {", ".join(row.level_column for row in TABLE)},
    list_distinct([node.subtask_id FOR node IN nodes]) AS templates,
    list_distinct(flatten([[item.value FOR item IN list_concat(node.inputs, node.outputs)] FOR node IN nodes]))
        AS resource_values
"""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The tasks of an export."""

    task_ids: tuple[str, ...]
    """All of them, sorted."""
    shortfalls: tuple[Shortfall, ...] = ()
    """What was wanted but does not exist, by set and cell."""
    splits: dict[SplitName, tuple[str, ...]] = field(default_factory=dict)
    """Sets; empty when neither sets nor lists were named."""
    report: LeakageReport | None = None
    """What was checked for leaks, if anything."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Tasks in no set, with the reason."""


def _nothing_meets(selection: Selection) -> str:
    if selection.replayed:
        return (
            "No task meets the selection and has a successful replay, whose recording leads through the whole task;"
            " nothing was written. Replays are made by `taskloom build --set replay_share=1`."
        )
    if selection.accepted is not None:
        return (
            "No task meets the selection and was accepted by people as asked; nothing was written. `taskloom view --review`"
            " is where people accept and reject tasks; `taskloom sql acceptance` shows what they said."
        )
    return "No task meets the selection; nothing was written."


def draw_tasks(
    warehouse: Warehouse,
    selection: Selection,
    request: SetRequest | None = None,
    named_lists: Mapping[str, Sequence[str]] | None = None,
) -> Drawn:
    """Select tasks, divide them, take out what the lists hold, and draw the wanted numbers from every set.

    All tasks that meet the conditions are divided before any are drawn, so that a wanted number is met where it can be.

    Raises:
        ExportRefusedError: nothing meets the selection, or a set would be empty.
        SelectionInvalidError: an unknown level, capability, scenario or application, or shares that do not add up to 1.
        QueryFailedError, QueryRefusedError: the condition does not run, or could leave the warehouse.
    """
    pools = candidates(warehouse, selection)
    if not any(pool.task_ids for pool in pools):
        raise ExportRefusedError(_nothing_meets(selection))
    if request is None and not named_lists:
        drawn, shortfalls = draw(pools)
        return Drawn(tuple(sorted(drawn)), tuple(shortfalls))
    asked = request or SetRequest(shares={"train": 1.0})
    check_shares(asked.shares)
    tasks, strata = _read(warehouse, pools, asked, bool(named_lists))
    table = KeyTable.of((name, task.keys) for name, task in sorted(tasks.items()))
    if asked.held_out:
        division = hold_out(table, strata, asked, selection.seed)
    else:
        division = divide(table, asked.shares, selection.seed, strata)
    members = {name: [tasks[task] for task in chosen] for name, chosen in division.tasks.items()}
    removed = resembling(members, named_lists, between_sets="instruction" not in asked.may_share)
    shares = _given(division) if asked.held_out else asked.shares
    _refuse_empty_sets(division.tasks, shares, len(tasks))
    gone = {leak.value for leak in removed}
    splits: dict[SplitName, tuple[str, ...]] = {}
    shortfalls = _missed_shares(division, asked)
    for name in SPLITS:
        drawn, missing = draw(
            pools,
            {task.task_id for task in members[name]} - gone,
            lambda number, name=name: apportion(number, shares)[name],  # type: ignore[misc]
            name if request is not None else "",
        )
        splits[name] = tuple(sorted(drawn))
        shortfalls += missing
    kept = {name: [tasks[task] for task in chosen] for name, chosen in splits.items()}
    report = leakage(kept, named_lists, asked.may_share).model_copy(
        update={
            "asked": {str(name): share for name, share in asked.shares.items()},
            "given": {str(name): share for name, share in _given(division).items()},
            "left_out": len(division.left_out),
            "left_out_reasons": dict(Counter(map(_kind_of_reason, division.left_out.values())).most_common()),
            "removed": tuple(removed),
            "advice": tuple(advice_on(table)) if division.left_out and request else (),
        }
    )
    if report.leaks:
        raise ExportRefusedError(
            f"The sets leak: {report.leaks[0].value} stands in {report.leaks[0].found_in}."
        )
    names = tuple(sorted(task for chosen in splits.values() for task in chosen))
    if not names:
        raise ExportRefusedError(_nothing_left(removed))
    return Drawn(names, tuple(shortfalls), splits, report, division.left_out)


def _read(
    warehouse: Warehouse, pools: Sequence[Candidates], request: SetRequest, with_parts: bool
) -> tuple[dict[str, Compared], dict[str, tuple[str, ...]]]:
    """What is compared of every candidate, and its strata."""
    kinds = [kind for kind in LEAK_KINDS if kind not in request.may_share]
    parts = ", [node.instruction FOR node IN nodes] AS parts" if with_parts else ""
    tasks: dict[str, Compared] = {}
    strata: dict[str, tuple[str, ...]] = {}
    for row in _rows(warehouse, pools, f"{_COLUMNS}{parts}"):
        name = str(row["task_id"])
        tasks[name] = Compared(
            name,
            named_keys(
                row["templates"],
                row["resource_values"],
                row["intent_id"] or "",
                row["intent"] or "",
                row["instruction"] or "",
                kinds,
            ),
            wording_of(row["instruction"] or ""),
            tuple(map(wording_of, row.get("parts") or ())),
        )
        strata[name] = (
            *(f"{dimension.name}={row[dimension.level_column]}" for dimension in TABLE),
            *(f"application={application}" for application in row["applications"]),
            f"scenario={row['scenario']}",
        )
    return tasks, strata


def _rows(warehouse: Warehouse, pools: Sequence[Candidates], columns: str) -> Iterator[dict[str, Any]]:
    names = sorted({name for pool in pools for name in pool.task_ids})
    for start in range(0, len(names), _BATCH):
        sql = f"SELECT {columns} FROM tasks WHERE task_id IN (SELECT unnest($values::VARCHAR[]))"
        answer = warehouse.query(sql, {"values": names[start : start + _BATCH]}).table
        for batch in answer.to_batches(max_chunksize=2_000):
            yield from batch.to_pylist()


def _given(division: Division) -> dict[SplitName, float]:
    """Shares of the sets among the tasks that are in one."""
    total = sum(len(members) for members in division.tasks.values())
    return {name: len(division.tasks[name]) / total if total else 0.0 for name in SPLITS}


def _missed_shares(division: Division, request: SetRequest) -> list[Shortfall]:
    """Sets whose share deviates too far from what was asked for."""
    if request.held_out:
        return []
    total = sum(len(members) for members in division.tasks.values())
    return [
        Shortfall(levels={}, split=name, wanted=round(share * total), found=len(division.tasks[name]))
        for name, share in request.shares.items()
        if len(division.tasks[name]) < (share - TOLERANCE) * total - 1
    ]


def _kind_of_reason(reason: str) -> str:
    """A reason without the names in it, for counting."""
    return " ".join(part.partition(" (")[0] for part in reason.split(") ")).removesuffix(")")


def _nothing_left(removed: Sequence[Leak]) -> str:
    return (
        f"Every selected task resembles an instruction of the lists, such as {removed[0].found_in[1]};"
        " nothing was written."
        if removed
        else "Nothing is left to draw; nothing was written."
    )


def _refuse_empty_sets(
    tasks: Mapping[SplitName, Sequence[str]], shares: Mapping[SplitName, float], count: int
) -> None:
    for name, expected in apportion(count, shares).items():
        if expected and not tasks[name]:
            raise ExportRefusedError(
                f"The set {name!r} would be empty: the {count} tasks share too many subtasks, resources and intents to be"
                " divided. Give it no share, select tasks of more applications and intents, or say with --leak what the"
                " sets may share."
            )
