"""Means with bootstrap intervals, paired differences, pass@k and pass^k, agreement of two judges. Tasks are
what is drawn again, with a fixed seed: attempts at one task depend on each other, so that an interval over
attempts would be too narrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

_DRAWS = 2000
_SEED = 20260101
_EXACT = 12
_LEVEL = 95.0


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """The mean difference of pairs, with its interval and a p-value."""

    p_value: float
    """Of a two-sided sign-flip test."""


def interval(values: Sequence[float]) -> Interval | None:
    """The mean of one value per task, with its percentile bootstrap interval; None without values.

    >>> interval([1.0, 1.0, 1.0])
    Interval(value=1.0, low=1.0, high=1.0)
    """
    if not values:
        return None
    found = np.asarray(values, dtype=float)
    return Interval(float(found.mean()), *_percentiles(found[_drawn(len(found))].mean(axis=1)))


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Interval | None:
    """A ratio of sums over tasks, such as steps per success, with its interval; None where the lower sum is
    0."""
    above, below = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if not below.sum():
        return None
    draws = _drawn(len(above))
    sums = below[draws].sum(axis=1)
    found = above[draws].sum(axis=1)[sums > 0] / sums[sums > 0]
    return Interval(float(above.sum() / below.sum()), *_percentiles(found))


def paired(first: Mapping[str, float], second: Mapping[str, float]) -> Difference | None:
    """The mean of `first` minus that of `second` over the tasks that both have; None without any.

    The test flips the signs of differences: all flips of at most 12 tasks, else 2,000 drawn ones.

    >>> paired({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}).p_value
    0.5
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    found = np.asarray([first[name] - second[name] for name in shared])
    count = len(found)
    mean = float(found.mean())
    if count <= _EXACT:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        extra = 0
    else:
        signs = 1 - 2 * np.random.default_rng(_SEED).integers(0, 2, (_DRAWS, count))
        extra = 1
    as_far = np.abs((signs * found).mean(axis=1)) >= abs(mean) - 1e-12
    low, high = _percentiles(found[_drawn(count)].mean(axis=1))
    return Difference(mean, low, high, float((as_far.sum() + extra) / (len(signs) + extra)))


def pass_at(successes: int, attempts: int, k: int) -> float | None:
    """Chance that at least one of `k` attempts succeeds (Chen et al. 2021, unbiased); None with fewer.

    >>> pass_at(1, 2, 1), pass_at(1, 2, 2), pass_at(0, 2, 3)
    (0.5, 1.0, None)
    """
    return None if attempts < k else 1.0 - comb(attempts - successes, k) / comb(attempts, k)


def pass_all(successes: int, attempts: int, k: int) -> float | None:
    """Chance that all of `k` attempts succeed (pass^k, Yao et al. 2024); None with fewer.

    >>> pass_all(1, 2, 1), pass_all(1, 2, 2)
    (0.5, 0.0)
    """
    return None if attempts < k else comb(successes, k) / comb(attempts, k)


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """How far two judges agree beyond chance (Cohen 1960); None where both always say the same one thing.

    >>> cohens_kappa([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15)
    0.4
    """
    if not pairs:
        return None
    found = np.asarray(pairs, dtype=float)
    first, second = found.mean(axis=0)
    chance = first * second + (1 - first) * (1 - second)
    if chance == 1:
        return None
    return round(float(((found[:, 0] == found[:, 1]).mean() - chance) / (1 - chance)), 12)


def pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation; None for fewer than two pairs, or where one side never differs.

    >>> pearson([(0.0, 0.1), (0.5, 0.6), (1.0, 1.1)]), pearson([(0.0, 1.0), (1.0, 1.0)])
    (1.0, None)
    """
    found = np.asarray(pairs, dtype=float)
    if len(found) < 2 or not found.std(axis=0).all():
        return None
    return round(float(np.corrcoef(found[:, 0], found[:, 1])[0, 1]), 12)


def _percentiles(draws: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = np.percentile(draws, [(100 - _LEVEL) / 2, (100 + _LEVEL) / 2])
    return float(low), float(high)


def _drawn(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.random.default_rng(_SEED).integers(0, count, (_DRAWS, count))
