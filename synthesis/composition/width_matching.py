"""The matching of comparable pairs whose size tells the width of a set, enlarged one member at a time
(Dilworth)."""

from __future__ import annotations

from collections.abc import Sequence


def enlarged(position: int, above: Sequence[int], matched: list[int]) -> list[int] | None:
    """The matching of comparable pairs enlarged by `position`, or None when it cannot be.

    `matched` gives for every node the descendant it is matched to, or -1; the search follows alternating
    paths.
    """
    free = above[position]
    mask = free
    while mask:
        low = mask & -mask
        other = low.bit_length() - 1
        mask ^= low
        if matched[other] < 0:
            result = matched.copy()
            result[other] = position
            return result
    came_from: dict[int, int] = {}
    stack, seen = [position], 0
    while stack:
        node = stack.pop()
        free = above[node] & ~seen
        while free:
            low = free & -free
            other = low.bit_length() - 1
            free ^= low
            seen |= low
            came_from[other] = node
            if matched[other] < 0:
                return _flipped(matched, came_from, other, position)
            stack.append(matched[other])
    return None


def _flipped(matched: list[int], came_from: dict[int, int], free: int, start: int) -> list[int]:
    """Flip the alternating path that ends in the unmatched node `free` and began at `start`."""
    result = matched.copy()
    partner = {node: other for other, node in enumerate(matched) if node >= 0}
    other = free
    while True:
        node = came_from[other]
        result[other] = node
        if node == start:
            return result
        other = partner[node]
