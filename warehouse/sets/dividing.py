"""Divides tasks into train, validation and test sets that share no key.

Tasks that share a key belong together. Where that leaves enough separate groups, groups are dealt out. Where one group
holds too much, as in a pool whose subtasks are used everywhere, the smaller sets are grown content by content, each
time taking what brings in the fewest new things, and tasks that would connect two sets are left out. How far the
smaller sets may grow is tried out: the division in which the worst-off set gets most of its share is taken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from warehouse.errors import SelectionInvalidError
from warehouse.sets.selection import draw_key

SplitName = Literal["train", "validation", "test"]
"""A set."""
SPLITS: Final[tuple[SplitName, ...]] = ("train", "validation", "test")
"""The sets, in order."""
_SCALES: Final = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Parts of their share up to which the smaller sets are grown, of which the best is taken."""
_TRIED: Final = 1_000
"""Most contents that the growing looks at; further ones follow where their keys are."""


@dataclass(frozen=True, slots=True)
class Division:
    """Tasks by set."""

    tasks: dict[SplitName, tuple[str, ...]]
    """Ids of the tasks of every set, sorted."""
    left_out: tuple[str, ...]
    """Tasks that would connect two sets."""


def divide(keys: Mapping[str, frozenset[str]], shares: Mapping[SplitName, float], seed: int = 0) -> Division:
    """Deal tasks out into sets that share no key; the same outcome for the same input and seed.

    Raises:
        SelectionInvalidError: shares that are negative or do not add up to 1.
    """
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-6:
        raise SelectionInvalidError(
            f"The shares of the sets must add up to 1; these add up to {_sum(shares)}."
        )
    wanted = {name: shares.get(name, 0.0) * len(keys) for name in SPLITS}
    chosen: dict[str, SplitName] = {}
    left: set[str] = set()
    groups = sorted(_groups(keys), key=lambda group: (-len(group), draw_key(group[0], seed)))
    for group in groups:
        room = {name: wanted[name] - sum(1 for split in chosen.values() if split == name) for name in SPLITS}
        best = max(SPLITS, key=lambda name: room[name])
        if len(group) <= room[best] + 0.5 or len(group) == 1 or len([s for s in shares.values() if s]) == 1:
            chosen.update(dict.fromkeys(group, best))
        else:
            dealt = _grow({task: keys[task] for task in group}, room, seed)
            chosen.update(dealt)
            left |= set(group) - set(dealt)
    tasks: dict[SplitName, tuple[str, ...]] = {
        name: tuple(sorted(task for task, split in chosen.items() if split == name)) for name in SPLITS
    }
    return Division(tasks, tuple(sorted(left)))


def apportion(total: int, shares: Mapping[SplitName, float]) -> dict[SplitName, int]:
    """Whole numbers of tasks by set that add up to `total`, by largest remainders.

    >>> apportion(10, {"train": 0.75, "test": 0.25})
    {'train': 8, 'validation': 0, 'test': 2}
    """
    exact = {name: shares.get(name, 0.0) * total for name in SPLITS}
    counts = {name: int(exact[name] + 1e-9) for name in SPLITS}
    for name in sorted(SPLITS, key=lambda name: counts[name] - exact[name])[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def _sum(shares: Mapping[SplitName, float]) -> str:
    return f"{' + '.join(f'{value:g}' for value in shares.values())} = {sum(shares.values()):g}"


def _groups(keys: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Tasks connected through shared keys, directly or not."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for task, own in keys.items():
        for key in own:
            parent[root(f"key {key}")] = root(f"task {task}")
    groups: dict[str, list[str]] = defaultdict(list)
    for task in sorted(keys):
        groups[root(f"task {task}")].append(task)
    return list(groups.values())


def _grow(
    keys: Mapping[str, frozenset[str]], room: Mapping[SplitName, float], seed: int
) -> dict[str, SplitName]:
    """The sets of one connected group's tasks; tasks that would connect two sets have none."""
    by_content: dict[frozenset[str], list[str]] = defaultdict(list)
    for task, own in keys.items():
        by_content[own].append(task)
    order = sorted(by_content, key=lambda own: draw_key(by_content[own][0], seed))
    sizes = {own: len(by_content[own]) for own in order}
    best: dict[frozenset[str], SplitName] = {}
    best_rank = (-1.0, -1)
    for scale in _SCALES:
        dealt = _grown(order, sizes, room, scale)
        got: Counter[SplitName] = Counter()
        for own, name in dealt.items():
            got[name] += sizes[own]
        rank = (min(min(got[name] / room[name], 1.0) for name in SPLITS if room[name] >= 1), got.total())
        if rank > best_rank:
            best, best_rank = dealt, rank
    return {task: name for own, name in best.items() for task in by_content[own]}


def _grown(
    order: Sequence[frozenset[str]],
    sizes: Mapping[frozenset[str], int],
    room: Mapping[SplitName, float],
    scale: float,
) -> dict[frozenset[str], SplitName]:
    """Grow the smaller sets up to `scale` of their room, and give the largest what remains unconnected."""
    tried = order[:_TRIED]
    seen = sum(sizes[own] for own in tried)
    users: Counter[str] = Counter()
    for own in tried:
        users.update(dict.fromkeys(own, sizes[own]))
    dealt: dict[frozenset[str], SplitName] = {}
    owner: dict[str, SplitName] = {}
    names = sorted(SPLITS, key=lambda name: room[name])
    part = scale * seen / sum(sizes.values())
    for name in names[:-1]:
        target = min(room[name] * part, seen / 3)
        free = [own for own in tried if own not in dealt and not own & owner.keys()]
        held: set[str] = set()
        size = 0
        while free and size < target - 0.5:
            nearest = min(free, key=lambda own: (sum(users[key] for key in own - held), len(own - held)))
            held |= nearest
            inside = [own for own in free if own <= held]
            dealt.update(dict.fromkeys(inside, name))
            size += sum(sizes[own] for own in inside)
            taken = set(inside)
            free = [own for own in free if own not in taken]
        owner.update(dict.fromkeys(held, name))
    rest = [own for own in order if own not in dealt]
    free = [own for own in rest if not own & owner.keys()]
    dealt.update(dict.fromkeys(free, names[-1]))
    owner.update({key: names[-1] for own in free for key in own})
    for own in rest:
        owners = {owner[key] for key in own if key in owner}
        if own not in dealt and len(owners) == 1:
            dealt[own] = owners.pop()
            owner.update(dict.fromkeys(own, dealt[own]))
    return dealt
