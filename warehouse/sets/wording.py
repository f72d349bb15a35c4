"""Finds instructions that resemble each other: equal apart from case and spacing, or sharing half of their
wording.

All texts are worked on at once, as arrays: a million instructions are a few seconds of sorting.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from taskloom.taskgraph.text_folding import fold_text

Rows = NDArray[np.int64]
"""Numbers of texts, or of places in an array."""
_Hashes = NDArray[np.uint64]
_SHINGLE: Final = 5
NEAR: Final = 0.5
"""Share of common five-word sequences from which two instructions count as nearly the same."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_HALF: Final = np.uint64(32)
_MARKS: Final = 4
_MOST_RARE: Final = 2**15 - 1
_MOST_BITS: Final = 24
_TEXTS_AT_ONCE: Final = 50_000
_THREADS: Final = min(4, os.cpu_count() or 1)
_PLAIN: Final = r"^[!-_a-~]+(?: [!-_a-~]+)*$"
"""Lower-case texts in which `fold_text` changes nothing: visible ASCII characters without a backtick, single
spaces."""
_CANDIDATES_AT_ONCE: Final = 2_000_000
_PAIRS_AT_ONCE: Final = 20_000
_FIRST_LOOK: Final = 2
_WIDENED: Final = 8


@dataclass(frozen=True, slots=True)
class Wordings:
    """The five-word sequences of many texts, by number; a shorter text is one sequence, an empty one has
    none."""

    starts: Rows
    """Where the sequences of each text begin in `held`, and its length at the end."""
    held: NDArray[np.uint32]
    """Hashes of the sequences of all texts, each once in a text, those that few texts have first."""
    texts: _Hashes
    """A hash of each whole text after folding."""
    marks: _Hashes
    """For each text 256 bits, of which a bit says whether the number of sequences that fall on it is odd.

    A sequence that only one of two texts has changes one bit, so texts differ in at least as many sequences
    as bits.
    """

    @property
    def sizes(self) -> Rows:
        """How many sequences each text has."""
        sizes: Rows = self.starts[1:] - self.starts[:-1]
        return sizes


class WordingsReader:
    """Collects texts, some ten thousand at a time, which are hashed side by side while further ones are
    read."""

    def __init__(self) -> None:
        """Begin without any."""
        self._hashed: list[Future[_Hashed]] = []
        self._threads = ThreadPoolExecutor(_THREADS, "wordings")

    def add(self, texts: pa.Array) -> None:
        """Add texts; they are numbered in the order in which they come. One that is absent is empty."""
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            if len(self._hashed) >= _THREADS:
                # No more than this many are worked on, or waiting, at a time.
                self._hashed[-_THREADS].result()
            self._hashed.append(self._threads.submit(_hashed, texts.slice(start, _TEXTS_AT_ONCE)))

    def wordings(self, order: Rows | None = None) -> Wordings:
        """What was added; with an order, those it names come first, in that order. Nothing can be added
        afterwards."""
        self._threads.shutdown()
        parts = [_hashed(pa.array([], pa.string())), *(part.result() for part in self._hashed)]
        self._hashed.clear()
        sizes = np.concatenate([part.sizes for part in parts])
        held = np.concatenate([part.held for part in parts])
        texts = np.concatenate([part.texts for part in parts])
        del parts  # which are as large as what follows, and not needed twice
        if order is not None:
            order = np.concatenate((order, np.arange(len(order), len(texts))))
            held = _in_order(held, sizes, order)
            sizes, texts = sizes[order], texts[order]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        return Wordings(starts, _rarest_first(held, starts), texts, _marks(held, starts))


@dataclass(frozen=True, slots=True)
class _Hashed:
    """What is kept of some texts."""

    sizes: Rows
    held: NDArray[np.uint32]
    texts: _Hashes


def _hashed(texts: pa.Array) -> _Hashed:
    """The sequences of texts, each once in a text, and a hash of each whole text."""
    column = _folded(texts)
    split = pc.split_pattern(column, " ")
    encoded = split.values.dictionary_encode()
    known = np.array(
        [int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) for word in encoded.dictionary.to_pylist()],  # noqa: E501
        np.uint64,
    )  # fmt: skip
    words = known[encoded.indices.to_numpy(zero_copy_only=False)]
    offsets = split.offsets.to_numpy().astype(np.int64)
    first, lengths = offsets[:-1], np.diff(offsets)
    count = np.where(pc.equal(column, "").to_numpy(zero_copy_only=False), 0, lengths)
    ends = first + count
    number = np.where(count, np.maximum(count - _SHINGLE + 1, 1), 0)
    at = spread(first, number)
    text = np.repeat(np.arange(len(column)), number)
    end = ends[text]
    padded = np.concatenate((words, np.zeros(_SHINGLE, np.uint64)))
    shingles = np.zeros(len(at), np.uint64)
    for place in range(_SHINGLE):
        shingles *= _FACTOR
        shingles += np.where(at + place < end, padded[at + place], np.uint64(0))
    shingles = _mixed(shingles) >> _HALF
    unique = _sorted_once((text.astype(np.uint64) << _HALF) | shingles)
    sizes = np.bincount((unique >> _HALF).astype(np.int64), minlength=len(column))
    places = np.arange(len(words)) - np.repeat(first, lengths)
    sums = np.concatenate(
        (np.zeros(1, np.uint64), np.cumsum(_mixed(words + _mixed(places.astype(np.uint64)))))
    )
    return _Hashed(sizes, unique.astype(np.uint32), sums[ends] - sums[first])


def _folded(texts: pa.Array) -> pa.Array:
    """The texts as `fold_text` folds them. Most are plain, and only their case is folded, all at once."""
    column = pc.fill_null(texts.cast(pa.large_string()), "")
    lower = pc.ascii_lower(column)
    plain = pc.match_substring_regex(lower, _PLAIN)
    other = pc.invert(plain)
    if not pc.any(other).as_py():
        return lower
    folded = [fold_text(text) for text in column.filter(other).to_pylist()]
    return pc.replace_with_mask(lower, other, pa.array(folded, pa.large_string()))


def wordings_of(texts: Sequence[str]) -> Wordings:
    """The wordings of texts, numbered in their order."""
    reader = WordingsReader()
    reader.add(pa.array(texts, pa.large_string()))
    return reader.wordings()


def resembled(wordings: Wordings, probes: Rows, among: Rows, *, not_itself: bool = False) -> Rows:
    """For each of `probes` a text of `among` that it resembles, or -1 where there is none.

    Whether there is one is exact. Of several, the nearest of those that were met first is given.

    Two texts of which half is common share some of their rarest sequences: only those are indexed and looked
    up, and turns of phrase that all texts have cost nothing. Equal texts are compared once, and a text that
    was found to resemble one is not compared with further ones.
    """
    sizes = wordings.sizes[probes]
    least = int(sizes[sizes > 0].min(initial=2**31 - 1))
    index = _Index(wordings, _first_of_each(wordings, among), least)
    _, chosen, same = np.unique(wordings.texts[probes], return_index=True, return_inverse=True)
    found = np.full(len(chosen), -1, np.int64)

    def look(start: int) -> None:
        part = slice(start, start + _TEXTS_AT_ONCE)
        found[part] = index.resembled_by(probes[chosen[part]], not_itself)

    _side_by_side(look, range(0, len(chosen), _TEXTS_AT_ONCE))
    return found[same] if len(probes) else found


def spread(starts: Rows, counts: Rows) -> Rows:
    """The places `starts[0]`, `starts[0] + 1` and so on, `counts[0]` of them, then those from `starts[1]` on.

    >>> spread(np.array([10, 20]), np.array([2, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    before = np.cumsum(counts) - counts
    places: Rows = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return places


class _Index:
    """The rarest sequences of some texts, sorted, with the texts that have them.

    Two texts resemble each other if a third of both sizes together is common. If the first common sequence
    has the place p in a text of n, no more than n - p are common; so the other text has at most 2 n - 3 p
    sequences. This is the reach of the
    place: both texts must lie in that of the other.
    """

    def __init__(self, wordings: Wordings, rows: Rows, least: int) -> None:
        """Index `rows`, for texts of at least `least` sequences."""
        self._wordings = wordings
        self._sizes = wordings.sizes
        own = self._sizes[rows]
        self._least = int(own[own > 0].min(initial=2**31 - 1))
        counts = _in_reach(own, least)
        at = spread(wordings.starts[rows], counts)
        held = wordings.held[at]
        order = np.argsort(held, kind="stable")
        owner = np.repeat(np.arange(len(rows)), counts)
        sizes = own[owner]
        self._rows = rows
        self._marks = wordings.marks[rows]
        self._held = held[order]
        self._owners = owner[order].astype(np.int32)
        self._owner_sizes = sizes[order].astype(np.int32)
        self._reach = _reach(sizes, at - wordings.starts[rows][owner])[order]
        bits = _bits(len(held))
        self._shift = np.uint32(32 - bits)
        self._starts = np.concatenate(
            (np.zeros(1, np.int64), np.cumsum(np.bincount(held >> self._shift, minlength=1 << bits)))
        )

    def resembled_by(self, probes: Rows, not_itself: bool) -> Rows:
        """For each probe a text of the index that it resembles, or -1."""
        found = np.full(len(probes), -1, np.int64)
        counts = _in_reach(self._sizes[probes], self._least)
        owner = np.repeat(np.arange(len(probes)), counts)
        place = spread(np.zeros(len(probes), np.int64), counts)
        text = probes[owner]
        held = self._wordings.held[self._wordings.starts[text] + place]
        size = self._sizes[text].astype(np.int32)
        reach = _reach(size, place)
        bucket = held >> self._shift
        first, last = self._starts[bucket], self._starts[bucket + np.uint32(1)]
        marks = self._wordings.marks[probes]
        width = _FIRST_LOOK
        while True:
            # A few texts with each sequence first: where many are alike, one of them is met at once.
            live = np.flatnonzero((first < last) & (found[owner] < 0))
            owner, first, last = owner[live], first[live], last[live]
            held, size, reach = held[live], size[live], reach[live]
            if not len(owner):
                return found
            number = np.minimum(last - first, width)
            reached = np.cumsum(number)
            cuts = np.searchsorted(reached, np.arange(_CANDIDATES_AT_ONCE, reached[-1], _CANDIDATES_AT_ONCE))
            for part in np.split(np.arange(len(owner)), np.unique(cuts)):
                entry = np.repeat(part, number[part])
                posting = spread(first[part], number[part])
                near = self._held[posting] == held[entry]
                near &= self._owner_sizes[posting] <= reach[entry]
                near &= self._reach[posting] >= size[entry]
                entry, posting = entry[near], posting[near]
                who, other = owner[entry], self._owners[posting]
                apart = _bits_set(marks[who] ^ self._marks[other])
                near = 3 * apart <= size[entry] + self._owner_sizes[posting]
                who, other = who[near], self._rows[other[near]]
                if not_itself:
                    who, other = who[probes[who] != other], other[probes[who] != other]
                self._settle(found, probes, who, other)
            first = first + number
            width *= _WIDENED

    def _settle(self, found: Rows, probes: Rows, who: Rows, other: Rows) -> None:
        """Compare pairs in full, and note the nearest of each probe that is near enough."""
        pairs = _sorted_once((who.astype(np.uint64) << _HALF) | other.astype(np.uint64))
        who, other = (pairs >> _HALF).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            left, right = probes[who[part]], other[part]
            common = self._common(left, right)
            total = self._sizes[left] + self._sizes[right] - common
            near = np.flatnonzero((common >= NEAR * total) & (found[who[part]] < 0))
            order = near[np.lexsort((right[near], -(common / total)[near], who[part][near]))]
            winners, at = np.unique(who[part][order], return_index=True)
            found[winners] = right[order][at]

    def _common(self, left: Rows, right: Rows) -> Rows:
        """How many sequences the texts of each pair have in common."""
        both = np.concatenate((left, right))
        pair = np.tile(np.arange(len(left)), 2)
        counts = self._sizes[both]
        held = self._wordings.held[spread(self._wordings.starts[both], counts)].astype(np.uint64)
        ordered = np.sort((np.repeat(pair, counts).astype(np.uint64) << _HALF) | held)
        twice = ordered[1:][ordered[1:] == ordered[:-1]] >> _HALF
        return np.bincount(twice.astype(np.int64), minlength=len(left))


def _reach(sizes: NDArray[np.integer[Any]], places: Rows) -> NDArray[np.int32]:
    """How many sequences a text may have whose first common one has this place in a text of this size."""
    reach: NDArray[np.int32] = (2 * sizes - 3 * places).astype(np.int32)
    return reach


def _in_reach(sizes: Rows, least: int) -> Rows:
    """How many of the rarest sequences of each text may be the first common one, with texts of at least
    `least`.

    The other text has at least half as many as this one, too.
    """
    least_of_each = np.maximum((sizes + 1) // 2, least)
    return np.where(sizes, np.maximum((2 * sizes - least_of_each) // 3 + 1, 0), 0)


def _bits_set(rows: _Hashes) -> NDArray[np.int32]:
    """How many bits of each row of four are set; 0 for all 256, since this only tells what need not be
    compared."""
    each = np.bitwise_count(rows).view(np.uint32).ravel()
    return ((each * np.uint32(0x01010101)) >> np.uint32(24)).astype(np.int32)


def _first_of_each(wordings: Wordings, rows: Rows) -> Rows:
    """The rows without those whose text an earlier one has."""
    _, first = np.unique(wordings.texts[rows], return_index=True)
    return rows[np.sort(first)]


def _mixed(values: _Hashes) -> _Hashes:
    mixed = (values ^ (values >> _HALF)) * _FACTOR
    return (mixed ^ (mixed >> np.uint64(29))) * _FACTOR


def _bits(count: int) -> int:
    """How many bits of a hash tell most of so many apart."""
    return min(_MOST_BITS, count.bit_length() + 2)


def _sorted_once(values: _Hashes) -> _Hashes:
    values.sort()
    return values[np.concatenate((np.ones(1, bool), values[1:] != values[:-1]))] if len(values) else values


def _in_order(held: NDArray[np.uint32], sizes: Rows, order: Rows) -> NDArray[np.uint32]:
    """The rows of these sizes in another order; in parts, since the places of all elements take more than the
    elements."""
    first, moved = np.cumsum(sizes) - sizes, np.cumsum(sizes[order])
    ordered = np.empty_like(held)

    def move(start: int) -> None:
        rows = order[start : start + _TEXTS_AT_ONCE]
        last = int(moved[start + len(rows) - 1])
        taken = held[spread(first[rows], sizes[rows])]
        ordered[last - len(taken) : last] = taken

    _side_by_side(move, range(0, len(order), _TEXTS_AT_ONCE))
    return ordered


def _rarest_first(held: NDArray[np.uint32], starts: Rows) -> NDArray[np.uint32]:
    """The elements of each row, those that are rare in all rows first; in buckets, so nearly by frequency."""
    shift = np.uint32(32 - _bits(len(held)))
    frequency = np.minimum(np.bincount(held >> shift, minlength=1), _MOST_RARE).astype(np.uint16)
    ordered = np.empty_like(held)

    def order(start: int) -> None:
        bounds = starts[start : start + _TEXTS_AT_ONCE + 1]
        part = held[bounds[0] : bounds[-1]]
        row = np.repeat(np.arange(len(bounds) - 1, dtype=np.uint64), np.diff(bounds))
        key = (row << np.uint64(47)) | (frequency[part >> shift].astype(np.uint64) << _HALF) | part
        key.sort()
        ordered[bounds[0] : bounds[-1]] = key.astype(np.uint32)

    _side_by_side(order, range(0, len(starts) - 1, _TEXTS_AT_ONCE))
    return ordered


def _marks(held: NDArray[np.uint32], starts: Rows) -> _Hashes:
    marks = np.zeros((len(starts) - 1, _MARKS), np.uint64)
    filled = np.flatnonzero(np.diff(starts))

    def mark(start: int) -> None:
        rows = filled[start : start + _TEXTS_AT_ONCE]
        part = held[starts[rows[0]] : starts[rows[-1] + 1]].astype(np.uint64)
        bits = np.uint64(1) << (part & np.uint64(63))
        which = (part >> np.uint64(6)) & np.uint64(_MARKS - 1)
        for number in range(_MARKS):
            own = np.where(which == number, bits, np.uint64(0))
            marks[rows, number] = np.bitwise_xor.reduceat(own, starts[rows] - starts[rows[0]])

    _side_by_side(mark, range(0, len(filled), _TEXTS_AT_ONCE))
    return marks


def _side_by_side(work: Callable[[int], None], starts: Iterable[int]) -> None:
    """Do parts of which none needs another. Sorting and arithmetic of arrays run on several cores."""
    with ThreadPoolExecutor(_THREADS, "wordings") as threads:
        for done in [threads.submit(work, start) for start in starts]:
            done.result()
