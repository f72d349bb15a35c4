"""Intervals, paired tests and pass@k against values worked by hand."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.omnieval.reports.statistics import interval, paired_difference, pass_all, pass_at, ratio

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(VALUES)
def test_an_interval_holds_its_mean_and_stays_within_the_values(values: list[float]) -> None:
    found = interval(values)
    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= max(values) + 1e-9


def test_few_pairs_are_tested_exactly() -> None:
    first = dict.fromkeys("abcdef", 1.0)
    second = dict.fromkeys("abcdef", 0.0)
    found = paired_difference(first, second)
    assert found is not None
    assert (found.value, found.p_value) == (1.0, 2 / 2**6)
    assert paired_difference(first, {"z": 1.0}) is None


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=1))
def test_an_agent_does_not_differ_from_itself(values: dict[str, float]) -> None:
    found = paired_difference(values, values)
    assert found is not None
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@given(st.integers(0, 8), st.integers(1, 8), st.integers(1, 8))
def test_pass_at_k_counts_the_draws_with_a_success(successes: int, attempts: int, k: int) -> None:
    successes = min(successes, attempts)
    if k > attempts:
        assert pass_at(successes, attempts, k) is None
        return
    at, every = pass_at(successes, attempts, k), pass_all(successes, attempts, k)
    assert at is not None and every is not None
    assert at == pytest.approx(1 - comb(attempts - successes, k) / comb(attempts, k))
    assert every <= successes / attempts + 1e-12 <= at + 2e-12


def test_what_a_success_takes_counts_failures_too() -> None:
    found = ratio([10.0, 30.0], [1.0, 0.0])
    assert found is not None and found.value == 40.0
    assert ratio([10.0], [0.0]) is None
