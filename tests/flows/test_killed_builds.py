"""Builds that are killed and started again end as if nothing had happened; `benchmarks.build_kills` does it
50 times."""

import pytest

from benchmarks.build_kills import measure

SMALL = (
    "--set=platform=simulated",
    "--applications=simulated_notes",
    "--set=intents.wanted=2",
    "--set=replay_share=0.3",
    "--tasks=4",
    "--quiet",
)


@pytest.mark.slow
def test_two_builds_on_one_ledger_of_which_one_is_killed_lose_and_double_nothing() -> None:
    found = measure(kills=2, processes=2, seed=3, options=SMALL)
    assert found.wrong == []
    assert found.calls_again == 0
    assert found.kills + found.builds >= 2
