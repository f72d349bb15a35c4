"""Splits a connected group of tasks: decides which set owns which key, so that few tasks are left out.

The smaller sets are grown content by content, each time by the one that touches the fewest further tasks,
up to several sizes; then keys are exchanged by simulated annealing, to gain tasks.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taskloom.warehouse.sets.key_table import KeyTable, SplitName

Content = tuple[int, ...]
"""The keys of a task, by number."""
_Numbers = NDArray[np.int64]
_Amounts = NDArray[np.float64]
_SCALES: Final = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1)
"""Fractions of their share to which the smaller sets are grown; the best result is taken."""
_MOST_CONTENTS: Final = 10_000
"""Maximum contents considered; further ones follow their keys."""
_MOST_EXCHANGES: Final = 20_000
"""Maximum exchanges tried."""
_MOST_EXCHANGES_PER_CONTENT: Final = 50
"""The same per content."""
_START_TEMPERATURE: Final = 0.004
"""Loss that an exchange may cause at first, as a share of all tasks."""
_SLACK: Final = 0.015
"""How far below its share a set may be without a penalty."""
_PENALTY: Final = 8.0
"""Penalty for each task that a set lacks."""
_UNOWNED: Final = -1


def grow(table: KeyTable, group: Sequence[int], room: Mapping[SplitName, float]) -> dict[int, SplitName]:
    """The set of each task of a connected group; tasks that would connect two sets are absent."""
    by_content: dict[Content, list[int]] = {}
    for task in group:
        by_content.setdefault(table.content(task), []).append(task)
    order = list(by_content)
    names = sorted((name for name in room if room[name] > 0), key=lambda name: room[name])
    users = Counter(key for content in order[:_MOST_CONTENTS] for key in content)
    shared = [content for content in order[:_MOST_CONTENTS] if any(users[key] > 1 for key in content)]
    contents = shared or order[:1]
    sizes = [float(len(by_content[content])) for content in contents]
    component = _Component(contents, np.array(sizes), np.array([room[name] for name in names]))
    grown = [component.grow(scale) for scale in _SCALES]
    owner = component.exchange(max(grown, key=component.score))
    owners = {key: names[owner[place]] for key, place in component.place.items()}
    dealt = _deal(order, names, owners)
    return {task: name for content, name in dealt.items() for task in by_content[content]}


class _Component:
    """Contents by number, and the score of giving their keys to sets, the smallest set first."""

    def __init__(self, contents: Sequence[Content], sizes: _Amounts, room: _Amounts) -> None:
        users = Counter(key for content in contents for key in content)
        shared = [key for key, count in users.items() if count > 1] or list(users)
        self.place = {key: number for number, key in enumerate(shared)}
        self._contents = [
            np.array([self.place[key] for key in content if key in self.place], np.int64)
            for content in contents
        ]
        self._flat = np.concatenate(self._contents)
        self._lengths = np.array([len(content) for content in self._contents], np.int64)
        self._starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._lengths)[:-1]))
        self._sizes = sizes
        self._shares = room / room.sum()
        self._needed = self._shares - np.minimum(_SLACK, self._shares / 4)
        by_key = np.argsort(self._flat, kind="stable")
        holder = np.repeat(np.arange(len(contents)), self._lengths)[by_key]
        self._users = np.split(holder, np.cumsum(np.bincount(self._flat, minlength=len(self.place)))[:-1])

    def score(self, owner: _Numbers) -> float:
        return self._score_of(self._sizes @ (self._count_held(owner) == self._lengths[:, None]))

    def _score_of(self, totals: _Amounts) -> float:
        total = float(totals.sum())
        return total - _PENALTY * float(np.maximum(self._needed * total - totals, 0.0).sum())

    def _count_held(self, owner: _Numbers) -> _Numbers:
        """How many keys of each content each set owns."""
        owned = owner[self._flat][:, None] == np.arange(len(self._shares))
        held: _Numbers = np.add.reduceat(owned, self._starts, dtype=np.int64)
        return held

    def grow(self, scale: float) -> _Numbers:
        """The owner of each key after growing the smaller sets to a part of their share."""
        owner = np.full(len(self.place), _UNOWNED, np.int64)
        for number in range(len(self._shares) - 1):
            self._grow_set(owner, number, scale * self._shares[number] * float(self._sizes.sum()))
        owner[owner == _UNOWNED] = len(self._shares) - 1
        return owner

    def _grow_set(self, owner: _Numbers, number: int, target: float) -> None:
        touched = np.logical_or.reduceat(owner[self._flat] != _UNOWNED, self._starts)
        available = ~touched
        open_sizes = np.bincount(
            self._flat, np.repeat(np.where(touched, 0.0, self._sizes), self._lengths), len(self.place)
        )
        size = 0.0
        while size < target and available.any():
            new = np.where(owner[self._flat] == number, 0.0, open_sizes[self._flat])
            cost = np.where(available, np.add.reduceat(new, self._starts), math.inf)
            keys = self._contents[int(cost.argmin())]
            keys = keys[owner[keys] == _UNOWNED]
            owner[keys] = number
            for content in np.unique(np.concatenate([self._users[key] for key in keys])):
                if not touched[content]:
                    touched[content] = True
                    open_sizes[self._contents[content]] -= self._sizes[content]
            inside = available & np.logical_and.reduceat(owner[self._flat] == number, self._starts)
            size += float(self._sizes[inside].sum())
            available &= ~inside

    def exchange(self, owner: _Numbers) -> _Numbers:
        """The owner of each key after exchanging all keys of one content, or one of them, at a time."""
        generator = np.random.default_rng(0)
        owner, held = owner.copy(), self._count_held(owner)
        totals = self._sizes @ (held == self._lengths[:, None])
        score = best_score = self._score_of(totals)
        best = owner.copy()
        temperature = _START_TEMPERATURE * float(self._sizes.sum())
        trials = min(_MOST_EXCHANGES, _MOST_EXCHANGES_PER_CONTENT * len(self._contents))
        contents = generator.integers(len(self._contents), size=trials)
        sets = generator.integers(len(self._shares), size=trials)
        chances = generator.random((2, trials))
        for trial in range(trials):
            keys, target = self._contents[contents[trial]], int(sets[trial])
            if chances[0, trial] < 0.5:
                keys = keys[int(2 * chances[0, trial] * len(keys))][None]
            keys = keys[owner[keys] != target]
            if not len(keys):
                continue
            previous = owner[keys]
            new_totals = totals + self._move(held, owner, keys, np.full(len(keys), target))
            gain = self._score_of(new_totals) - score
            if gain >= 0 or chances[1, trial] < math.exp(gain / (temperature * (1 - trial / trials))):
                totals, score = new_totals, score + gain
                if score > best_score:
                    best_score, best = score, owner.copy()
            else:
                self._move(held, owner, keys, previous)
        return best

    def _move(self, held: _Numbers, owner: _Numbers, keys: _Numbers, targets: _Numbers) -> _Amounts:
        """Give keys to sets; returns the tasks that each set gains."""
        gained = np.zeros(len(self._shares))
        for key, number in zip(keys.tolist(), targets.tolist(), strict=True):
            users, old = self._users[key], owner[key]
            gained[old] -= self._sizes[users[held[users, old] == self._lengths[users]]].sum()
            held[users, old] -= 1
            held[users, number] += 1
            gained[number] += self._sizes[users[held[users, number] == self._lengths[users]]].sum()
            owner[key] = number
        return gained


def _deal(
    order: Sequence[Content], names: Sequence[SplitName], owner: Mapping[int, SplitName]
) -> dict[Content, SplitName]:
    """The set of each content whose keys have one owner. Others go to the only set that uses their keys, or
    to the largest where none does."""
    dealt: dict[Content, SplitName] = {}
    for content in order:
        owners = {owner[key] for key in content if key in owner}
        if len(owners) == 1:
            dealt[content] = owners.pop()
    used = {key: name for content, name in dealt.items() for key in content}
    for content in order:
        if content not in dealt:
            users = {used[key] for key in content if key in used} or {names[-1]}
            if len(users) == 1:
                dealt[content] = users.pop()
                used.update(dict.fromkeys(content, dealt[content]))
    return dealt
