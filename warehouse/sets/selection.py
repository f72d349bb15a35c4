"""The tasks of an export: conditions, cells with quotas, a size, a seed (shortfalls are reported, never
filled); and its sets: by share, or by what is reserved for the test set."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from taskloom.resources.dimensions import DIMENSIONS, LEVELS, Dimension
from taskloom.resources.reading.catalog import load_capabilities, load_scenarios
from taskloom.resources.record import Record
from taskloom.warehouse.errors import QueryFailedError, QueryRefusedError, SelectionInvalidError
from taskloom.warehouse.reviews import AcceptanceRule, accepted_tasks
from taskloom.warehouse.sets.key_table import LEAK_KINDS, SPLITS, LeakKind, SplitName
from taskloom.warehouse.store import Warehouse


class CellQuota(Record):
    """A wanted number of tasks with certain levels."""

    levels: dict[Dimension, str]
    """Level per dimension; dimensions left out may have any."""
    size: int = Field(ge=1)
    """Tasks wanted."""


class Selection(Record):
    """What an export takes from the warehouse. All conditions must hold."""

    where: str = ""
    """SQL condition over the columns of `tasks`."""
    unvalidated: bool = False
    """Whether to include tasks that are only composed, or were rejected."""
    levels: dict[Dimension, str] = Field(default_factory=dict)
    """Level per dimension that every task must have."""
    capability: str = ""
    """Capability of Table 12 that every task must test."""
    preset: Literal["as_printed", "repaired"] = "repaired"
    """Reading of Table 12 that `capability` uses."""
    scenario: str = ""
    """Scenario of App. A.5 that every task must belong to."""
    applications: tuple[str, ...] = ()
    """Applications of which every task uses at least one."""
    replayed: bool = False
    """Whether every task must have a successful replay, whose recording covers the whole task."""
    accepted: AcceptanceRule | None = None
    """When people must have accepted a task; None requires no review."""
    cells: tuple[CellQuota, ...] = ()
    """Quotas; without any, all tasks that meet the conditions are candidates."""
    size: int | None = Field(default=None, ge=1)
    """Maximum number of tasks, drawn with `seed`; all by default."""
    seed: int = 0
    """Seed of the draw."""


class Shortfall(Record):
    """Wanted tasks that do not exist."""

    levels: dict[Dimension, str]
    """The cell; empty for the whole selection."""
    split: str = ""
    """The set; empty where no sets were requested."""
    wanted: int
    """How many are wanted."""
    found: int
    """How many meet the conditions."""
    nearest: str = ""
    """The nearest cells that have tasks, where the wanted one has none."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The tasks from which a cell, or the whole selection, is drawn."""

    levels: dict[Dimension, str]
    """The cell; empty for the whole selection."""
    wanted: int | None
    task_ids: tuple[str, ...]
    """Tasks that meet the conditions, in the order in which they are drawn."""


def select(warehouse: Warehouse, selection: Selection) -> tuple[str, ...]:
    """The ids of the tasks that match `selection`, sorted; the same data and seed give the same tasks.

    Raises:
        SelectionInvalidError: an unknown level, capability, scenario or application, or too small a size.
        QueryFailedError, QueryRefusedError: `where` does not run, or could leave the warehouse.
    """
    return tuple(sorted(draw(candidates(warehouse, selection))[0]))


def candidates(warehouse: Warehouse, selection: Selection) -> list[Candidates]:
    """The tasks from which each cell of `selection` may be drawn; raises what `select` does."""
    total = sum(quota.size for quota in selection.cells)
    if selection.size is not None and selection.size < total:
        raise SelectionInvalidError(
            f"The cells ask for {total} tasks, but the size allows {selection.size}; leave one of them out."
        )
    conditions, parameters = _conditions(warehouse, selection)
    pools: list[Candidates] = []
    quotas: Sequence[CellQuota | None] = selection.cells or (None,)
    for quota in quotas:
        levels = quota.levels if quota else {}
        level_conditions, values = _level_conditions(levels, "cell")
        sql = f"SELECT task_id FROM tasks WHERE {' AND '.join(['true', *conditions, *level_conditions])}"
        names = warehouse.query(sql, {**parameters, **values}).texts()
        wanted = quota.size if quota else selection.size
        order = np.argsort(draw_places(names, selection.seed))
        pools.append(Candidates(levels, wanted, tuple([names[number] for number in order])))
    return pools


def draw(
    pools: Sequence[Candidates],
    among: Collection[str] | None = None,
    portion: Callable[[int], int] = int,
    split: str = "",
) -> tuple[list[str], list[Shortfall]]:
    """Draw the tasks that every cell wants, and report what is missing.

    Only tasks in `among` may be drawn, and only a `portion` of a wanted number; `split` is the set's name.
    """
    drawn: dict[str, None] = {}
    shortfalls: list[Shortfall] = []
    for pool in pools:
        free = [name for name in pool.task_ids if name not in drawn and (among is None or name in among)]
        if pool.wanted is None:
            drawn.update(dict.fromkeys(free))
            continue
        wanted = portion(pool.wanted)
        if len(free) < wanted:
            shortfalls.append(Shortfall(levels=pool.levels, split=split, wanted=wanted, found=len(free)))
        drawn.update(dict.fromkeys(free[:wanted]))
    return list(drawn), shortfalls


def parse_levels(text: str) -> dict[Dimension, str]:
    """Levels from text such as `dependency=hard,instruction=easy`; refused if one is unknown."""
    levels: dict[Dimension, str] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        name, _, value = part.partition("=")
        dimension = next((known for known in DIMENSIONS if known == name.strip()), None)
        if dimension is None:
            raise SelectionInvalidError(f"Unknown dimension {name!r}; known: {', '.join(DIMENSIONS)}.")
        levels[dimension] = value.strip()
    _level_conditions(levels, "level")
    return levels


def parse_quota(text: str) -> CellQuota:
    """A quota from text such as `dependency=hard,instruction=hard:50`; refused for a missing number or
    unknown levels."""
    levels, _, size = text.rpartition(":")
    if not size.isdigit() or int(size) < 1:
        raise SelectionInvalidError(
            f"A cell ends with the number of tasks, as in dependency=hard:50; got {text!r}."
        )
    return CellQuota(levels=parse_levels(levels), size=int(size))


def draw_places(task_ids: Sequence[str], seed: int) -> list[int]:
    """The position of each task in the draw: uniform, and independent of what else is stored."""
    # Eight bytes suffice: among a million tasks, two keys collide once in 36 million draws.
    keys = b"".join([hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8] for name in task_ids])
    places = np.empty(len(task_ids), np.int64)
    places[np.argsort(np.frombuffer(keys, ">u8"), kind="stable")] = np.arange(len(task_ids))
    result: list[int] = places.tolist()
    return result


def _conditions(warehouse: Warehouse, selection: Selection) -> tuple[list[str], dict[str, object]]:
    conditions, values = _level_conditions(selection.levels, "level")
    parameters: dict[str, object] = dict(values)
    if not selection.unvalidated:
        conditions.append("status IN ('validated', 'imported')")
    if selection.replayed:
        conditions.append(
            "task_id IN (SELECT r.task_id FROM replays AS r WHERE r.success AND r.trajectory_id <> '')"
        )
    if selection.accepted is not None:
        accepted = accepted_tasks(warehouse, selection.accepted)
        conditions.append(
            "EXISTS (SELECT 1 FROM (SELECT unnest($accepted_ids::VARCHAR[]) AS id,"
            " unnest($accepted_texts::VARCHAR[]) AS text) AS agreed WHERE agreed.id = task_id AND agreed.text"
            " = instruction)"
        )
        parameters["accepted_ids"] = [task_id for task_id, _ in accepted]
        parameters["accepted_texts"] = [text for _, text in accepted]
    if selection.where:
        _check_condition(warehouse, selection.where)
        conditions.append(f"({selection.where})")
    if selection.capability:
        known = {item.name: item for item in load_capabilities()}
        if selection.capability not in known:
            raise SelectionInvalidError(
                f"Unknown capability {selection.capability!r}; known: {', '.join(known)}."
            )
        capability_levels = known[selection.capability].levels(selection.preset)
        level_conditions, values = _level_conditions(capability_levels, "capability")
        conditions += level_conditions
        parameters.update(values)
    if selection.scenario:
        names = [item.name for item in load_scenarios()]
        stored = warehouse.query("SELECT DISTINCT scenario FROM tasks").texts()
        if selection.scenario not in {*names, *stored}:
            raise SelectionInvalidError(
                f"Unknown scenario {selection.scenario!r}; known: {', '.join(names)}."
            )
        conditions.append("scenario = $scenario")
        parameters["scenario"] = selection.scenario
    if selection.applications:
        stored = warehouse.query("SELECT DISTINCT unnest(applications) FROM tasks ORDER BY 1").texts()
        for name in selection.applications:
            if name not in stored:
                raise SelectionInvalidError(
                    f"No task uses the application {name!r}; used: {', '.join(stored)}."
                )
        conditions.append("list_has_any(applications, $applications)")
        parameters["applications"] = list(selection.applications)
    return conditions, parameters


def _check_condition(warehouse: Warehouse, where: str) -> None:
    """Refuse text that is not a complete condition, such as one that closes a bracket it did not open."""
    try:
        for condition in (where, f"({where})"):
            warehouse.query(f"SELECT task_id FROM tasks WHERE {condition} LIMIT 0")
    except QueryFailedError as error:
        raise QueryFailedError(f"{where!r} is not a condition over the columns of tasks: {error}") from None


def condition_fits(warehouse: Warehouse, where: str) -> bool:
    """Whether `where` is a complete condition over the columns of tasks."""
    try:
        _check_condition(warehouse, where)
    except (QueryFailedError, QueryRefusedError):
        return False
    return True


def _level_conditions(levels: Mapping[Dimension, str], prefix: str) -> tuple[list[str], dict[str, str]]:
    for dimension, level in levels.items():
        if level not in LEVELS:
            raise SelectionInvalidError(
                f"Unknown level {level!r} of {dimension}; known: {', '.join(LEVELS)}."
            )
    conditions = [f"{dimension}_level = ${prefix}_{dimension}" for dimension in levels]
    return conditions, {f"{prefix}_{dimension}": level for dimension, level in levels.items()}


class SetRequest(Record):
    """The sets of an export."""

    shares: dict[SplitName, float] = Field(default_factory=dict)
    """Part that each set gets, adding up to 1."""
    may_share: tuple[LeakKind, ...] = ()
    """What the sets may have in common."""
    held_out: tuple[str, ...] = ()
    """What makes the test set, as `application=NAME` or `scenario=NAME`; the shares divide the others."""


def parse_shares(text: str) -> dict[SplitName, float]:
    """Shares from text such as `train=0.8,test=0.2`; refused for an unknown or repeated set, or a
    missing number."""
    shares: dict[SplitName, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        known = next((item for item in SPLITS if item == name.strip()), None)
        try:
            share = float(value)
        except ValueError:
            raise SelectionInvalidError(f"--split takes NAME=SHARE, not {part!r}.") from None
        if known is None:
            raise SelectionInvalidError(f"There is no set {name!r}; known: {', '.join(SPLITS)}.")
        if known in shares:
            raise SelectionInvalidError(f"--split names the set {known!r} twice.")
        shares[known] = share
    return shares


def parse_request(split: str, leak: str, held_out: Sequence[str]) -> SetRequest | None:
    """The request on a command line; None if it asks for no sets; refused if it contradicts itself."""
    kinds: list[LeakKind] = []
    for name in filter(None, (part.strip() for part in leak.split(","))):
        kind = next((known for known in LEAK_KINDS if known == name), None)
        if kind is None:
            raise SelectionInvalidError(f"--leak takes {', '.join(LEAK_KINDS)}; not {name!r}.")
        kinds.append(kind)
    labels = tuple(map(_parse_held_out, held_out))
    shares = parse_shares(split) if split else {}
    if labels and "test" in shares:
        raise SelectionInvalidError(
            "--hold-out makes the test set; --split then divides the other tasks into train and validation."
        )
    if not shares and not labels:
        if kinds:
            raise SelectionInvalidError(
                "--leak says what sets may share; ask for sets with --split or --hold-out."
            )
        return None
    return SetRequest(shares=shares or {"train": 1.0}, may_share=tuple(kinds), held_out=labels)


def _parse_held_out(text: str) -> str:
    kind, _, name = text.partition("=")
    if kind not in ("application", "scenario") or not name.strip():
        raise SelectionInvalidError(f"--hold-out takes application=NAME or scenario=NAME, not {text!r}.")
    return f"{kind}={name.strip()}"
