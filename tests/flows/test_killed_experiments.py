"""An experiment that is killed again and again ends as if nothing had happened."""

from pathlib import Path

import pytest

from benchmarks.experiment_kills import measure


@pytest.mark.slow
def test_an_experiment_killed_ten_times_has_the_same_tables_and_figures(built_data: Path) -> None:
    found = measure(kills=10, seed=3, dataset=built_data)
    assert found.wrong == []
    assert found.kills == 10
    assert any(0 < kept < found.attempts for kept in found.kept)
