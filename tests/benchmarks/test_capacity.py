"""The simulation of what many tasks cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.capacity import MEASURED, SIZES, Job, estimate, figures, makespan, simulated_growing, table

JOBS = st.lists(st.builds(Job, st.floats(0.1, 9), st.integers(1, 6)), min_size=1, max_size=20)


@given(JOBS, st.integers(1, 6))
def test_no_schedule_beats_its_bounds_and_none_is_worse_than_one_after_the_other(
    jobs: list[Job], width: int
) -> None:
    whole = sum(job.seconds for job in jobs)
    found = makespan(jobs, width, 10)
    assert found <= whole + 1e-9
    assert found >= max(whole / width, max(job.seconds for job in jobs)) - 1e-9
    assert abs(makespan(jobs, 1, 10) - whole) < 1e-6
    assert makespan(jobs, width, 1000) <= whole + 1e-9


def test_it_reproduces_the_measured_run() -> None:
    ratios = [item for item in figures(quick=True) if "against measured" in item.name]
    assert len(ratios) == 2
    assert all(item.met for item in ratios)


def test_it_would_notice_a_run_that_took_otherwise() -> None:
    slower = replace(MEASURED, replay_environment_seconds=2 * MEASURED.replay_environment_seconds)
    assert simulated_growing(slower) > 1.5 * MEASURED.growing_seconds


def test_what_costs_per_task_grows_with_the_tasks() -> None:
    small, large = estimate(1_000_000), estimate(100_000_000)
    assert 90 < large.usd / small.usd < 110
    assert 90 < large.core_days / small.core_days < 110
    assert large.days_on(100) < large.days_on(1)
    assert all(f"{size:,}" in table() for size in SIZES)


def test_the_page_has_the_table_as_it_is_computed() -> None:
    assert table() in (Path(__file__).parents[2] / "docs" / "capacity.md").read_text()
