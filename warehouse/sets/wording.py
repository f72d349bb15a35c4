"""Finds the instruction that another one resembles: equal apart from case and spacing, or sharing half of its wording."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import ceil
from typing import Final
from zlib import crc32

from taskgraph.text_folding import fold_text

_SHINGLE: Final = 5
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same."""


def wording_of(text: str) -> array[int]:
    """Sorted unique hashes of a text's five-word sequences; of the whole text if it is shorter."""
    words = fold_text(text).split()
    if not words:
        return array("I")
    starts = range(max(len(words) - _SHINGLE, 0) + 1)
    return array("I", sorted({crc32(" ".join(words[at : at + _SHINGLE]).encode()) for at in starts}))


class InstructionIndex:
    """Finds the nearest of many instructions.

    Two sets of which at least half is common share one of their rarest elements, so that only these are indexed and
    looked up, and turns of phrase that all instructions have cost nothing.
    """

    def __init__(self, wordings: Iterable[tuple[str, array[int]]]) -> None:
        """Index pairs of a name and a wording; empty wordings are passed over."""
        self._known = [(name, wording) for name, wording in wordings if wording]
        self._frequency: Counter[int] = Counter()
        for _, wording in self._known:
            self._frequency.update(wording)
        self._holders: dict[int, list[int]] = defaultdict(list)
        for number, (_, wording) in enumerate(self._known):
            for shingle in self._rarest(wording):
                self._holders[shingle].append(number)

    def resembled_by(self, wording: array[int], other_than: str = "") -> str | None:
        """The name of the instruction that a wording resembles most, `other_than` one of them, or None."""
        if not wording or not self._known:
            return None
        own = set(wording)
        near = {number for shingle in self._rarest(wording) for number in self._holders.get(shingle, ())}
        best = (0.0, 0)
        for number in near:
            name, other = self._known[number]
            if name == other_than:
                continue
            common = len(own.intersection(other))
            best = max(best, (common / (len(own) + len(other) - common), -number))
        return self._known[-best[1]][0] if best[0] >= NEAR else None

    def _rarest(self, wording: array[int]) -> list[int]:
        """So many of the rarest elements that any set which has half in common with this one holds one of them.

        Elements that no indexed wording has are the rarest, and are found nowhere: they are counted, not returned.
        """
        frequency = self._frequency
        known = [shingle for shingle in wording if shingle in frequency]
        enough = len(wording) - ceil(NEAR * len(wording)) + 1 - (len(wording) - len(known))
        if enough <= 0:
            return []
        known.sort(key=lambda shingle: (frequency[shingle], shingle))
        return known[:enough]
