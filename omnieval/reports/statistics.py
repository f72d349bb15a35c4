"""Means with bootstrap intervals, paired differences, pass@k and pass^k, agreement of two judges. Tasks are
resampled, with a fixed seed: attempts at one task depend on each other, so an interval over attempts would be
too narrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

_DRAWS = 2000
_SEED = 20260101
_MAXIMUM_EXACT = 12
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
    """P-value of a two-sided sign-flip test."""


def interval(values: Sequence[float]) -> Interval | None:
    """The mean of one value per task, with its percentile bootstrap interval; None without values.

    >>> interval([1.0, 1.0, 1.0])
    Interval(value=1.0, low=1.0, high=1.0)
    """
    if not values:
        return None
    array = np.asarray(values, dtype=float)
    return Interval(float(array.mean()), *_percentiles(array[_sample_indices(len(array))].mean(axis=1)))


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Interval | None:
    """A ratio of sums over tasks, such as steps per success, with its interval; None if the denominator is
    0."""
    above, below = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if not below.sum():
        return None
    samples = _sample_indices(len(above))
    sums = below[samples].sum(axis=1)
    ratios = above[samples].sum(axis=1)[sums > 0] / sums[sums > 0]
    return Interval(float(above.sum() / below.sum()), *_percentiles(ratios))


def paired(first: Mapping[str, float], second: Mapping[str, float]) -> Difference | None:
    """The mean of `first` minus that of `second` over the tasks that both have; None without any.

    The test flips the signs of differences: all combinations for up to 12 tasks, otherwise 2,000 random ones.

    >>> paired({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}).p_value
    0.5
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return None
    differences = np.asarray([first[name] - second[name] for name in shared])
    count = len(differences)
    mean = float(differences.mean())
    if count <= _MAXIMUM_EXACT:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        extra = 0
    else:
        signs = 1 - 2 * np.random.default_rng(_SEED).integers(0, 2, (_DRAWS, count))
        extra = 1
    as_extreme = np.abs((signs * differences).mean(axis=1)) >= abs(mean) - 1e-12
    low, high = _percentiles(differences[_sample_indices(count)].mean(axis=1))
    return Difference(mean, low, high, float((as_extreme.sum() + extra) / (len(signs) + extra)))


def pass_at(successes: int, attempts: int, k: int) -> float | None:
    """Chance that one or more of `k` attempts succeed (Chen et al. 2021, unbiased); None with fewer attempts.

    >>> pass_at(1, 2, 1), pass_at(1, 2, 2), pass_at(0, 2, 3)
    (0.5, 1.0, None)
    """
    return None if attempts < k else 1.0 - comb(attempts - successes, k) / comb(attempts, k)


def pass_all(successes: int, attempts: int, k: int) -> float | None:
    """Chance that all of `k` attempts succeed (pass^k, Yao et al. 2024); None with fewer attempts.

    >>> pass_all(1, 2, 1), pass_all(1, 2, 2)
    (0.5, 0.0)
    """
    return None if attempts < k else comb(successes, k) / comb(attempts, k)


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Agreement of two judges beyond chance (Cohen 1960); None if both always give the same verdict.

    >>> cohens_kappa([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15)
    0.4
    """
    if not pairs:
        return None
    verdicts = np.asarray(pairs, dtype=float)
    first, second = verdicts.mean(axis=0)
    chance = first * second + (1 - first) * (1 - second)
    if chance == 1:
        return None
    return round(float(((verdicts[:, 0] == verdicts[:, 1]).mean() - chance) / (1 - chance)), 12)


def pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's correlation; None for fewer than two pairs, or if one side is constant.

    >>> pearson([(0.0, 0.1), (0.5, 0.6), (1.0, 1.1)]), pearson([(0.0, 1.0), (1.0, 1.0)])
    (1.0, None)
    """
    values = np.asarray(pairs, dtype=float)
    if len(values) < 2 or not values.std(axis=0).all():
        return None
    return round(float(np.corrcoef(values[:, 0], values[:, 1])[0, 1]), 12)


def _percentiles(samples: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = np.percentile(samples, [(100 - _LEVEL) / 2, (100 + _LEVEL) / 2])
    return float(low), float(high)


def _sample_indices(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.random.default_rng(_SEED).integers(0, count, (_DRAWS, count))
