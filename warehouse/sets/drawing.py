"""Which tasks an export holds, and in which sets: selected, divided without leaks, then drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from taskgraph.records.task import Task
from warehouse.errors import ExportRefusedError
from warehouse.sets.dividing import SPLITS, SplitName, apportion, divide
from warehouse.sets.selection import Candidates, Selection, Shortfall, candidates, draw
from warehouse.sets.splits import LeakageReport, keys_of, leakage, resembling
from warehouse.store import Warehouse

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Drawn:
    """The tasks of an export."""

    task_ids: tuple[str, ...]
    """All of them, sorted."""
    shortfalls: tuple[Shortfall, ...] = ()
    """What was wanted and could not be had, by set and cell."""
    splits: dict[SplitName, tuple[str, ...]] = field(default_factory=dict)
    """Sets; empty when neither sets nor lists were named."""
    report: LeakageReport | None = None
    """What was checked for leaks, where there was something to check."""


def draw_tasks(
    warehouse: Warehouse,
    selection: Selection,
    shares: Mapping[SplitName, float] | None = None,
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
        raise ExportRefusedError("No task meets the selection; nothing was written.")
    if shares is None and not named_lists:
        drawn, shortfalls = draw(pools)
        return Drawn(tuple(sorted(drawn)), tuple(shortfalls))
    wanted: Mapping[SplitName, float] = {"train": 1.0} if shares is None else shares
    tasks = {task.task_id: task for task in _read(warehouse, pools)}
    division = divide({name: keys_of(task) for name, task in tasks.items()}, wanted, selection.seed)
    _refuse_empty_sets(division.tasks, wanted, len(tasks))
    members = {name: [tasks[task] for task in chosen] for name, chosen in division.tasks.items()}
    removed = resembling(members, named_lists)
    gone = {leak.value for leak in removed}
    splits: dict[SplitName, tuple[str, ...]] = {}
    shortfalls = []
    for name in SPLITS:
        drawn, missing = draw(
            pools,
            {task.task_id for task in members[name]} - gone,
            lambda number, name=name: apportion(number, wanted)[name],  # type: ignore[misc]
            name if shares is not None else "",
        )
        splits[name] = tuple(sorted(drawn))
        shortfalls += missing
    kept = {name: [tasks[task] for task in chosen] for name, chosen in splits.items()}
    report = leakage(kept, len(division.left_out), named_lists, removed)
    if report.leaks:
        raise ExportRefusedError(
            f"The sets leak: {report.leaks[0].value} stands in {report.leaks[0].found_in}."
        )
    names = tuple(sorted(task for chosen in splits.values() for task in chosen))
    if not names:
        raise ExportRefusedError(
            f"Every selected task resembles an instruction of the lists, such as {removed[0].found_in[1]};"
            " nothing was written."
            if removed
            else "Nothing is left to draw; nothing was written."
        )
    return Drawn(names, tuple(shortfalls), splits, report)


def _read(warehouse: Warehouse, pools: Sequence[Candidates]) -> Iterator[Task]:
    names = sorted({name for pool in pools for name in pool.task_ids})
    for start in range(0, len(names), _BATCH):
        yield from warehouse.read(
            Task,
            "task_id IN (SELECT unnest($values::VARCHAR[]))",
            {"values": names[start : start + _BATCH]},
            pictures=False,
        )


def _refuse_empty_sets(
    tasks: Mapping[SplitName, Sequence[str]], shares: Mapping[SplitName, float], count: int
) -> None:
    for name, expected in apportion(count, shares).items():
        if expected and not tasks[name]:
            raise ExportRefusedError(
                f"The set {name!r} would be empty: the {count} tasks share too many subtasks, resources and intents to be"
                " divided. Give it no share, or select tasks of more applications and intents."
            )
