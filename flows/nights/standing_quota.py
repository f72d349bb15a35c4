"""What of a request a dataset still lacks: in a night, `composition` says how many tasks the dataset should
hold in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from taskloom.flows.wiring import Run
from taskloom.resources.dimensions import DIMENSIONS, TABLE, Cell
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.warehouse.store import Warehouse

_CELLS = ", ".join(f"{row.level_column}" for row in TABLE)


def wanted_by(run: Run) -> CompositionRequest | None:
    """The tasks that `run` is to compose: what its settings ask for, in a night without what the dataset
    holds; None if nothing."""
    request = run.settings.composition
    if not run.settings.nights.enabled:
        return request
    return still_wanted(request, cells_held(run.warehouse, run.run_id))


def cells_held(warehouse: Warehouse, run_id: str) -> list[Cell]:
    """The levels of every validated task of other runs than `run_id`, in the order of the dimensions."""
    sql = f"SELECT {_CELLS} FROM tasks WHERE status = 'validated' AND run_id <> ?"  # noqa: S608 - columns of ours
    rows = warehouse.query(sql, [run_id]).table.to_pylist()
    return [tuple(row[item.level_column] for item in TABLE) for row in rows]


def still_wanted(request: CompositionRequest, held: Iterable[Cell]) -> CompositionRequest | None:
    """The request without what is `held` already; None if nothing is lacking.

    A task counts towards the first quota that allows it and is not yet full. Of quotas per level, each
    dimension lacks as many tasks as the one that lacks most: what others have too many of is spread over
    their levels as they were asked for.
    """
    cells = list(held)
    if request.quotas:
        return _of_quotas(request, cells)
    if request.level_quotas:
        return _of_levels(request, cells)
    left = request.count - len(cells)
    return request.model_copy(update={"count": left}) if left > 0 else None


def _of_quotas(request: CompositionRequest, cells: list[Cell]) -> CompositionRequest | None:
    left = [quota.count for quota in request.quotas]
    for cell in cells:
        for position, quota in enumerate(request.quotas):
            if left[position] and quota.levels.allows(cell):
                left[position] -= 1
                break
    quotas = tuple(
        quota.model_copy(update={"count": count})
        for quota, count in zip(request.quotas, left, strict=True)
        if count
    )
    return request.model_copy(update={"quotas": quotas}) if quotas else None


def _of_levels(request: CompositionRequest, cells: list[Cell]) -> CompositionRequest | None:
    lacking = {}
    for dimension, levels in request.level_quotas.items():
        held = Counter(cell[DIMENSIONS.index(dimension)] for cell in cells)
        lacking[dimension] = {level: max(0, count - held[level]) for level, count in levels.items()}
    most = max(sum(levels.values()) for levels in lacking.values())
    if not most:
        return None
    for dimension, levels in lacking.items():
        wanted = sorted(request.level_quotas[dimension].items(), key=lambda item: -item[1])
        for position in range(most - sum(levels.values())):
            levels[wanted[position % len(wanted)][0]] += 1
    return request.model_copy(update={"level_quotas": lacking})
