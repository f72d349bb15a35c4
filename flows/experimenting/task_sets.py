"""The tasks that an experiment selects: by ids, from an export, or by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from taskloom.flows.errors import CommandError
from taskloom.omnieval.experiments.specification import TaskSet
from taskloom.warehouse.sets.empty_selections import nothing_meets
from taskloom.warehouse.sets.selection import Selection, parse_levels, select
from taskloom.warehouse.store import Warehouse

_KNOWN = "SELECT task_id FROM tasks WHERE task_id IN (SELECT unnest(?::VARCHAR[]))"


def selected_tasks(warehouse: Warehouse, wanted: TaskSet) -> list[str]:
    """Ids of the tasks of a set, in the order of their ids.

    Raises:
        CommandError: a task or an export that is named is not there, or no task meets the conditions.
        SelectionInvalidError, QueryFailedError, QueryRefusedError: a condition cannot be meant.
    """
    names = list(dict.fromkeys([*wanted.ids, *(_exported(wanted.export) if wanted.export else ())]))
    if names:
        there = {str(row[0]) for row in warehouse.query(_KNOWN, [names]).rows()}
        missing = [name for name in names if name not in there]
        if missing:
            raise CommandError(
                f"{len(missing)} of the {len(names)} tasks are not in the warehouse, such as {missing[0]!r}"
            )
        return names
    levels = parse_levels(",".join(f"{name}={level}" for name, level in wanted.levels.items()))
    selection = Selection(
        where=wanted.where,
        levels=levels,
        capability=wanted.capability,
        applications=wanted.applications,
        size=wanted.size,
        seed=wanted.seed,
    )
    found = list(select(warehouse, selection))
    if not found:
        raise CommandError(nothing_meets(warehouse, selection))
    return found


def _exported(named: str) -> Sequence[str]:
    """Tasks of an export, or of one of its sets."""
    from taskloom.warehouse.exporting.exporting import MANIFEST, Manifest

    folder, _, split = named.rpartition(":") if ":" in named else (named, "", "")
    path = Path(folder) / MANIFEST
    try:
        sets = Manifest.model_validate_json(path.read_text(encoding="utf-8")).splits
    except (OSError, ValueError, ValidationError) as error:
        raise CommandError(f"tasks.export: {path} is no manifest of an export: {error}") from None
    if split and split not in sets:
        raise CommandError(
            f"tasks.export: {folder} has no set {split!r}; it has: {', '.join(sets) or 'no sets'}"
        )
    return [name for key, members in sets.items() if split in ("", key) for name in members]
