"""Finds the instruction that another one resembles: equal apart from case and spacing, or sharing half of its wording."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from math import ceil
from typing import Final
from zlib import crc32

from taskgraph.text_folding import fold_text

_SHINGLE: Final = 5
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same."""


def wording_of(text: str) -> array[int]:
    """Sorted unique hashes of a text's five-word sequences; of the whole text if it is shorter."""
    words = [word.encode() for word in fold_text(text).split()]
    if not words:
        return array("I")
    line = b" ".join(words)
    ends = list(accumulate(map(len, words), lambda end, size: end + 1 + size))
    starts = chain((0,), (end + 1 for end in ends))
    return array(
        "I",
        sorted(
            {
                crc32(line[start:end])
                for start, end in zip(starts, ends[_SHINGLE - 1 :] or ends[-1:], strict=False)
            }
        ),
    )


class InstructionIndex:
    """Finds the nearest of many instructions.

    Two sets of which at least half is common share some of their rarest elements, so that only these are indexed and
    looked up, and turns of phrase that all instructions have cost nothing. How many of them two sets share limits how
    much they can have in common: most that share a few are never compared in full.
    """

    def __init__(self, wordings: Iterable[tuple[str, array[int]]]) -> None:
        """Index pairs of a name and a wording; empty wordings are passed over."""
        self._known = [(name, wording) for name, wording in wordings if wording]
        self._frequency: Counter[int] = Counter(chain.from_iterable(wording for _, wording in self._known))
        self._holders: dict[int, list[int]] = defaultdict(list)
        for number, (_, wording) in enumerate(self._known):
            for shingle in self._by_rarity(wording)[: _enough(len(wording))]:
                self._holders[shingle].append(number)

    def resembled_by(self, wording: array[int], other_than: str = "") -> str | None:
        """The name of the instruction that a wording resembles most, `other_than` one of them, or None."""
        if not wording or not self._known:
            return None
        size = len(wording)
        ordered = self._by_rarity(wording)
        # Elements that no indexed wording has are the rarest, and are found nowhere: they are counted, not looked up.
        looked_up = max(_enough(size) - (size - len(ordered)), 0)
        holders = self._holders
        shared = Counter(
            chain.from_iterable(holders[shingle] for shingle in ordered[:looked_up] if shingle in holders)
        )
        best = (0.0, 0)
        own: set[int] = set()
        for number, rare in shared.items():
            name, other = self._known[number]
            # Whatever else is common comes after the rarest elements of one of the two.
            most = rare + max(len(ordered) - looked_up, len(other) - _enough(len(other)))
            if most < NEAR * (size + len(other) - most) or name == other_than:
                continue
            own = own or set(wording)
            common = len(own.intersection(other))
            best = max(best, (common / (size + len(other) - common), -number))
        return self._known[-best[1]][0] if best[0] >= NEAR else None

    def _by_rarity(self, wording: array[int]) -> Sequence[int]:
        """The elements that indexed wordings have, the rarest first, equally rare ones in their order."""
        frequency = self._frequency
        return sorted(filter(frequency.__contains__, wording), key=frequency.__getitem__)


def _enough(size: int) -> int:
    """So many of the rarest elements that any set which has half in common with one of this size holds one of them."""
    return size - ceil(NEAR * size) + 1
