"""Grows small sets inside one connected group of tasks, leaving out what would connect them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from taskloom.warehouse.sets.key_table import KeyTable
from taskloom.warehouse.sets.names import SplitName

_SCALES: Final = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Parts of their share up to which the smaller sets are grown, of which the best is taken."""
_TRIED: Final = 1_000
"""Most contents that the growing looks at; further ones follow where their keys are."""
Content = tuple[int, ...]
"""The keys of a task, by number."""


def grow(table: KeyTable, group: Sequence[int], room: Mapping[SplitName, float]) -> dict[int, SplitName]:
    """The set of each task of a connected group, in order; None for tasks that would connect two sets.

    Of the divisions that are tried, the one is taken in which the worst-off set gets most of its room.
    """
    by_content: dict[Content, list[int]] = {}
    for task in group:
        by_content.setdefault(table.content(task), []).append(task)
    order = list(by_content)
    sizes = {own: len(members) for own, members in by_content.items()}
    best: dict[Content, SplitName] = {}
    best_rank = (-1.0, -1)
    scales = _SCALES if len(order) <= 20 * _TRIED else _SCALES[::3]
    for scale in scales:
        dealt = _grown(order, sizes, room, scale)
        got: Counter[SplitName] = Counter()
        for own, name in dealt.items():
            got[name] += sizes[own]
        rank = (
            min((min(got[name] / room[name], 1.0) for name in room if room[name] >= 1), default=1.0),
            got.total(),
        )
        if rank > best_rank:
            best, best_rank = dealt, rank
    return {task: name for own, name in best.items() for task in by_content[own]}


def _grown(
    order: Sequence[Content], sizes: Mapping[Content, int], room: Mapping[SplitName, float], scale: float
) -> dict[Content, SplitName]:
    """Grow the smaller sets up to `scale` of their room, and give the largest what remains unconnected."""
    tried = order[:_TRIED]
    seen = sum(sizes[own] for own in tried)
    users: Counter[int] = Counter()
    for own in tried:
        for key in own:
            users[key] += sizes[own]
    dealt: dict[Content, SplitName] = {}
    owner: dict[int, SplitName] = {}
    names = sorted((name for name in room if room[name] > 0), key=lambda name: room[name])
    part = scale * seen / sum(sizes.values())
    for name in names[:-1]:
        free = [own for own in tried if own not in dealt and not any(key in owner for key in own)]
        inside, held = _gathered(free, sizes, users, min(room[name] * part, seen / 3))
        dealt.update(dict.fromkeys(inside, name))
        owner.update(dict.fromkeys(held, name))
    _deal_rest([own for own in order if own not in dealt], names[-1], dealt, owner)
    return dealt


def _gathered(
    free: list[Content], sizes: Mapping[Content, int], users: Mapping[int, int], target: float
) -> tuple[list[Content], set[int]]:
    """Contents of about `target` tasks that share keys with as few others as can be, and their keys."""
    found: list[Content] = []
    held: set[int] = set()
    size = 0
    while free and size < target - 0.5:
        nearest = min(free, key=lambda own: (sum(users[key] for key in own if key not in held), len(own)))
        held.update(nearest)
        inside = {own for own in free if held.issuperset(own)}
        found += inside
        size += sum(sizes[own] for own in inside)
        free = [own for own in free if own not in inside]
    return found, held


def _deal_rest(
    rest: Sequence[Content],
    largest: SplitName,
    dealt: dict[Content, SplitName],
    owner: dict[int, SplitName],
) -> None:
    """Give the largest set what no smaller one has keys of, and each set what has keys of it alone."""
    for own in rest:
        if not any(key in owner and owner[key] != largest for key in own):
            dealt[own] = largest
            owner.update(dict.fromkeys(own, largest))
    for own in rest:
        owners = {owner[key] for key in own if key in owner}
        if own not in dealt and len(owners) == 1:
            dealt[own] = owners.pop()
            owner.update(dict.fromkeys(own, dealt[own]))
