"""Parts a group of tasks that all hang together: which set owns which key, so that few are left out.

The smaller sets are grown content by content, each time by what touches the fewest further tasks, up to
several sizes; then keys change hands, as in simulated annealing, while that gains tasks.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taskloom.warehouse.sets.key_table import KeyTable, SplitName

Content = tuple[int, ...]
_Numbers = NDArray[np.int64]
_Amounts = NDArray[np.float64]
_SCALES: Final = (1.0, 0.7, 0.5, 0.35, 0.2, 0.1)
"""Parts of their share up to which the smaller sets are grown, of which the best is taken."""
_TRIED: Final = 10_000
"""Most contents that are looked at; further ones follow where their keys are."""
_EXCHANGES: Final = 20_000
"""How often keys are tried in another set, at most."""
_EXCHANGES_OF_EACH: Final = 50
"""The same for each content."""
_HEAT: Final = 0.004
"""What an exchange may cost at first, as a part of all tasks."""
_SLACK: Final = 0.015
"""How far below its share a set may be without that counting."""
_PENALTY: Final = 8.0
"""What each task counts that a set lacks."""
_FREE: Final = -1


def grow(table: KeyTable, group: Sequence[int], room: Mapping[SplitName, float]) -> dict[int, SplitName]:
    """The set of each task of a connected group; tasks that would connect two sets are absent."""
    by_content: dict[Content, list[int]] = {}
    for task in group:
        by_content.setdefault(table.content(task), []).append(task)
    order = list(by_content)
    names = sorted((name for name in room if room[name] > 0), key=lambda name: room[name])
    users = Counter(key for own in order[:_TRIED] for key in own)
    tried = [own for own in order[:_TRIED] if any(users[key] > 1 for key in own)] or order[:1]
    sizes = [float(len(by_content[own])) for own in tried]
    knot = _Knot(tried, np.array(sizes), np.array([room[name] for name in names]))
    grown = [knot.grown(scale) for scale in _SCALES]
    owner = knot.exchanged(max(grown, key=knot.worth))
    owners = {key: names[owner[place]] for key, place in knot.place.items()}
    dealt = _deal(order, names, owners)
    return {task: name for own, name in dealt.items() for task in by_content[own]}


class _Knot:
    """Contents by number, and what it is worth to give their keys to sets, the smallest set first."""

    def __init__(self, contents: Sequence[Content], sizes: _Amounts, room: _Amounts) -> None:
        users = Counter(key for own in contents for key in own)
        shared = [key for key, count in users.items() if count > 1] or list(users)
        self.place = {key: number for number, key in enumerate(shared)}
        self._contents = [
            np.array([self.place[key] for key in own if key in self.place], np.int64) for own in contents
        ]
        self._flat = np.concatenate(self._contents)
        self._lengths = np.array([len(own) for own in self._contents], np.int64)
        self._starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._lengths)[:-1]))
        self._sizes = sizes
        self._shares = room / room.sum()
        self._needed = self._shares - np.minimum(_SLACK, self._shares / 4)
        by_key = np.argsort(self._flat, kind="stable")
        holder = np.repeat(np.arange(len(contents)), self._lengths)[by_key]
        self._users = np.split(holder, np.cumsum(np.bincount(self._flat, minlength=len(self.place)))[:-1])

    def worth(self, owner: _Numbers) -> float:
        return self._worth(self._sizes @ (self._held(owner) == self._lengths[:, None]))

    def _worth(self, got: _Amounts) -> float:
        total = float(got.sum())
        return total - _PENALTY * float(np.maximum(self._needed * total - got, 0.0).sum())

    def _held(self, owner: _Numbers) -> _Numbers:
        """How many keys of each content each set owns."""
        owned = owner[self._flat][:, None] == np.arange(len(self._shares))
        held: _Numbers = np.add.reduceat(owned, self._starts, dtype=np.int64)
        return held

    def grown(self, scale: float) -> _Numbers:
        """The owner of each key after the smaller sets were grown to a part of what they should get."""
        owner = np.full(len(self.place), _FREE, np.int64)
        for number in range(len(self._shares) - 1):
            self._gather(owner, number, scale * self._shares[number] * float(self._sizes.sum()))
        owner[owner == _FREE] = len(self._shares) - 1
        return owner

    def _gather(self, owner: _Numbers, number: int, target: float) -> None:
        touched = np.logical_or.reduceat(owner[self._flat] != _FREE, self._starts)
        open_to = ~touched
        open_users = np.bincount(
            self._flat, np.repeat(np.where(touched, 0.0, self._sizes), self._lengths), len(self.place)
        )
        size = 0.0
        while size < target and open_to.any():
            new = np.where(owner[self._flat] == number, 0.0, open_users[self._flat])
            cost = np.where(open_to, np.add.reduceat(new, self._starts), math.inf)
            keys = self._contents[int(cost.argmin())]
            keys = keys[owner[keys] == _FREE]
            owner[keys] = number
            for content in np.unique(np.concatenate([self._users[key] for key in keys])):
                if not touched[content]:
                    touched[content] = True
                    open_users[self._contents[content]] -= self._sizes[content]
            inside = open_to & np.logical_and.reduceat(owner[self._flat] == number, self._starts)
            size += float(self._sizes[inside].sum())
            open_to &= ~inside

    def exchanged(self, owner: _Numbers) -> _Numbers:
        """The owners after keys changed hands: those of one content, or one key of it."""
        draw = np.random.default_rng(0)
        owner, held = owner.copy(), self._held(owner)
        got = self._sizes @ (held == self._lengths[:, None])
        worth = most = self._worth(got)
        best = owner.copy()
        heat = _HEAT * float(self._sizes.sum())
        turns = min(_EXCHANGES, _EXCHANGES_OF_EACH * len(self._contents))
        picks = draw.integers(len(self._contents), size=turns)
        sets = draw.integers(len(self._shares), size=turns)
        luck = draw.random((2, turns))
        for turn in range(turns):
            keys, to = self._contents[picks[turn]], int(sets[turn])
            if luck[0, turn] < 0.5:
                keys = keys[int(2 * luck[0, turn] * len(keys))][None]
            keys = keys[owner[keys] != to]
            if not len(keys):
                continue
            before = owner[keys]
            now = got + self._moved(held, owner, keys, np.full(len(keys), to))
            gain = self._worth(now) - worth
            if gain >= 0 or luck[1, turn] < math.exp(gain / (heat * (1 - turn / turns))):
                got, worth = now, worth + gain
                if worth > most:
                    most, best = worth, owner.copy()
            else:
                self._moved(held, owner, keys, before)
        return best

    def _moved(self, held: _Numbers, owner: _Numbers, keys: _Numbers, to: _Numbers) -> _Amounts:
        """Give keys to sets; what each set gains."""
        gained = np.zeros(len(self._shares))
        for key, number in zip(keys.tolist(), to.tolist(), strict=True):
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
    """The set of each content whose keys have one owner. Others go to the only set that uses their keys, to
    the largest where none does."""
    dealt: dict[Content, SplitName] = {}
    for own in order:
        owners = {owner[key] for key in own if key in owner}
        if len(owners) == 1:
            dealt[own] = owners.pop()
    used = {key: name for own, name in dealt.items() for key in own}
    for own in order:
        if own not in dealt:
            users = {used[key] for key in own if key in used} or {names[-1]}
            if len(users) == 1:
                dealt[own] = users.pop()
                used.update(dict.fromkeys(own, dealt[own]))
    return dealt
