"""Divides tasks into train, validation and test sets that share no key.

Groups that share keys are dealt out so that every set gets its share of each stratum and of the whole. A
group too large for that is a knot: it is split so that few tasks would connect two sets; those are left
out.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

import numpy as np

from taskloom.warehouse.errors import SelectionInvalidError
from taskloom.warehouse.sets.growing import grow
from taskloom.warehouse.sets.key_table import SPLITS, KeyTable, SplitName
from taskloom.warehouse.sets.selection import SetRequest, draw_places

TOLERANCE: Final = 0.02
"""How far the share of a set may be from the requested one, as a part of all divided tasks."""


@dataclass(frozen=True, slots=True)
class Division:
    """Tasks by set."""

    tasks: dict[SplitName, tuple[str, ...]]
    """Ids of the tasks of every set, sorted."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Tasks that would connect two sets, with what connects them."""


def check_shares(shares: Mapping[SplitName, float]) -> None:
    """Refuse shares that are negative or do not add up to 1 (`SelectionInvalidError`)."""
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-6:
        parts = " + ".join(f"{value:g}" for value in shares.values())
        raise SelectionInvalidError(
            f"The shares of the sets must add up to 1; these add up to {parts} = {sum(shares.values()):g}."
        )


def divide(
    table: KeyTable, shares: Mapping[SplitName, float], seed: int = 0, strata: KeyTable | None = None
) -> Division:
    """Divide tasks into sets that share no key of `table`; the same input and seed give the same outcome.

    Every set gets its share of each label of `strata` if possible. Shares are checked.
    """
    check_shares(shares)
    dealer = _Dealer(strata or KeyTable.of((task, ()) for task in table.tasks), shares)
    order = draw_places(table.tasks, seed)
    groups = _large_and_rare_first(table.groups(), dealer.rarest(), order)
    connected = list(takewhile(lambda group: len(group) > 1, groups))
    knots = list(filter(dealer.is_knot, connected))
    for group in knots:
        size = len(group)
        room = {name: dealer.room[name] * size / max(dealer.undealt, size) for name in SPLITS}
        ordered = sorted(group, key=order.__getitem__)
        grown = grow(table, ordered, room)
        for name in SPLITS:
            dealer.deal([[task] for task, owner in grown.items() if owner == name], name)
        dealer.undealt -= size
    split_groups = {group[0] for group in knots}
    dealer.deal([group for group in groups if group[0] not in split_groups])
    tasks: dict[SplitName, tuple[str, ...]] = {
        name: tuple(sorted(table.tasks[task] for task in dealer.chosen[name])) for name in SPLITS
    }
    return Division(tasks, _left_out_reasons(table, dealer))


def hold_out(table: KeyTable, strata: KeyTable, request: SetRequest, seed: int) -> Division:
    """The held-out tasks as the test set, the others by shares; what would connect the two is left out.
    Refused if no task is held out, or none remains."""
    used = strata.use_counts()
    present = {label: number for number, label in enumerate(strata.keys) if used[number]}
    for item in request.held_out:
        if item not in present:
            kind, _, name = item.partition("=")
            known = sorted(label for label in present if label.startswith(f"{kind}="))
            names = ", ".join(label.partition("=")[2] for label in known)
            raise SelectionInvalidError(f"No selected task has the {kind} {name!r}; there are: {names}.")
    held_out = {present[item] for item in request.held_out}
    test = [number for number in range(len(table.tasks)) if held_out.intersection(strata.content(number))]
    chosen = set(test)
    test_keys = {key for number in test for key in table.content(number)}
    left_out: dict[str, str] = {}
    others: list[int] = []
    for number, task in enumerate(table.tasks):
        if number in chosen:
            continue
        shared = next((key for key in table.content(number) if key in test_keys), None)
        if shared is None:
            others.append(number)
        else:
            left_out[task] = f"would connect test ({table.keys[shared]}) and train"
    if not others:
        raise SelectionInvalidError(
            "Every other task shares something with what is held out; say with --leak what the sets may"
            " share."
        )
    inner = divide(table.only(others), request.shares, seed, strata.only(others))
    tasks: dict[SplitName, tuple[str, ...]] = {
        **inner.tasks,
        "test": tuple(sorted(table.tasks[number] for number in test)),
    }
    return Division(tasks, {**left_out, **inner.left_out})


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


class _Dealer:
    """Assigns groups of tasks to the sets that need them most."""

    def __init__(self, strata: KeyTable, shares: Mapping[SplitName, float]) -> None:
        self._strata = strata
        self._total = len(strata.tasks)
        self._shares = {name: shares.get(name, 0.0) for name in SPLITS}
        self._names = [name for name in SPLITS if self._shares[name]]
        self._sizes = strata.use_counts()
        self._wanted = {name: [self._shares[name] * size for size in self._sizes] for name in SPLITS}
        self._held = {name: [0] * len(self._sizes) for name in SPLITS}
        self._lacking = {name: [1.0] * len(self._sizes) for name in SPLITS}
        self.room = {name: self._shares[name] * self._total for name in SPLITS}
        self.chosen: dict[SplitName, list[int]] = {name: [] for name in SPLITS}
        self.undealt = self._total

    def rarest(self) -> list[int]:
        """The size of each task's rarest stratum; rare ones are dealt first, while every set has room."""
        starts = np.frombuffer(self._strata.starts, np.int64)
        smallest = np.zeros(len(self._strata.tasks), np.int64)
        labelled = np.flatnonzero(np.diff(starts))
        if len(labelled):
            sizes = np.array(self._sizes, np.int64)[self._strata.numbers()]
            smallest[labelled] = np.minimum.reduceat(sizes, starts[:-1][labelled])
        result: list[int] = smallest.tolist()
        return result

    def is_knot(self, group: Sequence[int]) -> bool:
        """Whether no set can take the group and stay near its share."""
        if len(self._names) == 1:
            return False
        return len(group) > max(self.room.values()) + max(0.5, TOLERANCE / 2 * self._total)

    def deal(self, groups: Sequence[Sequence[int]], only: SplitName | None = None) -> None:
        """Give each group to the set with the most room that lacks most of its strata, or all to `only`."""
        starts, labels_of = self._strata.starts, self._strata.held
        room, group_slack = self.room, max(0.5, TOLERANCE / 4 * self._total)
        sets = [
            (
                name,
                self._shares[name] * self._total,
                self._lacking[name].__getitem__,
                self._held[name],
                self._wanted[name],
                self._lacking[name],
                self.chosen[name].extend,
            )
            for name in self._names
            if only in (None, name)
        ]
        for group in groups:
            size = len(group)
            if size == 1:
                slack, labels = 0.5, labels_of[starts[group[0]] : starts[group[0] + 1]]
            else:
                slack = group_slack
                labels = array("q", (label for task in group for label in self._strata.content(task)))
            highest, chosen = float("-inf"), None
            for candidate in sets:
                free = room[candidate[0]]
                if free + slack >= size:
                    need = free / candidate[1] + sum(map(candidate[2], labels)) / size
                    if need > highest:
                        highest, chosen = need, candidate
            if chosen is None:
                chosen = max(sets, key=lambda candidate: room[candidate[0]])
            name, _, _, held, wanted, lacking, take = chosen
            take(group)
            room[name] -= size
            for label in labels:
                count = held[label] + 1
                held[label] = count
                lacking[label] = 1 - count / wanted[label]


def _large_and_rare_first(
    groups: list[list[int]], rarest: Sequence[int], order: Sequence[int]
) -> list[list[int]]:
    """Large groups first; among equal ones rare strata, while sets have room; then those drawn first."""
    sizes = [len(group) for group in groups]
    rare = [rarest[group[0]] if len(group) == 1 else min(rarest[task] for task in group) for group in groups]
    drawn = [order[group[0]] if len(group) == 1 else min(order[task] for task in group) for group in groups]
    return [groups[number] for number in np.lexsort(np.array([drawn, rare, np.negative(sizes)]))]


def _left_out_reasons(table: KeyTable, dealer: _Dealer) -> dict[str, str]:
    if sum(map(len, dealer.chosen.values())) == len(table.tasks):
        return {}
    owner: dict[int, SplitName] = {}
    dealt = bytearray(len(table.tasks))
    for name in SPLITS:
        for task in dealer.chosen[name]:
            dealt[task] = 1
            owner.update(dict.fromkeys(table.content(task), name))
    reasons: dict[str, str] = {}
    for task, is_dealt in enumerate(dealt):
        if not is_dealt:
            through: dict[SplitName, str] = {}
            for key in table.content(task):
                if key in owner:
                    through.setdefault(owner[key], table.keys[key])
            ends = [f"{name} ({through[name]})" for name in SPLITS if name in through]
            reasons[table.tasks[task]] = f"would connect {' and '.join(ends)}"
    return reasons
