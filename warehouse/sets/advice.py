"""Explains what connects the tasks of a pool, and what would separate them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taskloom.warehouse.sets.key_table import KeyTable
from taskloom.warehouse.sets.names import LEAK_KINDS

_NAMED: Final = 3
_MOST_TASKS: Final = 200_000


def advice_on(table: KeyTable) -> Iterator[str]:
    """Sentences about what most tasks share, and about what allowing sets to share it would change."""
    total = len(table.tasks)
    users = table.users()
    widest = sorted(range(len(users)), key=lambda key: -users[key])[:_NAMED]
    listed = ", ".join(f"{table.keys[key]!r} in {users[key]}" for key in widest)
    if listed:
        yield f"what most of the {total} tasks share: {listed}"
    if total > _MOST_TASKS:
        return
    for kind in LEAK_KINDS:
        largest = max(map(len, _without(table, kind).groups()))
        if any(key.startswith(f"{kind} ") for key in table.keys):
            yield f"with --leak {kind}, the largest group that cannot be parted has {largest} tasks"


def _without(table: KeyTable, kind: str) -> KeyTable:
    prefix = f"{kind} "
    return KeyTable.of(
        (task, (table.keys[key] for key in table.content(number) if not table.keys[key].startswith(prefix)))
        for number, task in enumerate(table.tasks)
    )
