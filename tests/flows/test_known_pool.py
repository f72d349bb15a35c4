"""What of an earlier run counts as verified."""

import logging
from pathlib import Path

import pytest

from evaluators_api.interpreter import static_analysis
from flows.stages.known_pool import load_verified
from resources.reading.catalog import load_applications
from taskgraph.records.evaluation_function import EvaluationFunction, VerificationRound
from tests.flows.test_verify_function import GOOD, subtask_of
from tests.synthesis.recordings import note_written
from warehouse.store import Warehouse

APPLICATION = load_applications()["tiddlywiki"]
GENERATOR = "    parts = (check_file_text(text_path, item) for item in [text])\n"
NO_LONGER_ADMITTED = GOOD.replace("    return", f"{GENERATOR}    return")


def stored(warehouse: Path, source: str) -> None:
    trajectory = note_written().model_copy(update={"subtask_id": "tiddlywiki.write"})
    function = EvaluationFunction(
        function_id="f",
        subtask_id="tiddlywiki.write",
        source=source,
        parameter_names=tuple(trajectory.parameters),
        accepted=True,
    )
    accepted = VerificationRound(
        verification_id="f:1",
        subtask_id="tiddlywiki.write",
        round=1,
        instance_id=trajectory.instance_id,
        trajectory_id=trajectory.trajectory_id,
        function_id="f",
        evaluation=None,
        accepted=True,
    )
    with Warehouse(str(warehouse)) as store:
        store.write([APPLICATION, subtask_of(trajectory), trajectory, function, accepted])


def verified(warehouse: Path) -> list[str]:
    with Warehouse(str(warehouse), read_only=True) as store:
        return list(load_verified(store, {"tiddlywiki": APPLICATION}))


def test_what_was_verified_stays_verified(tmp_path: Path) -> None:
    stored(tmp_path, GOOD)
    assert verified(tmp_path) == ["tiddlywiki.write"]


def test_a_function_that_is_no_longer_admitted_verifies_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored(tmp_path, NO_LONGER_ADMITTED)
    with caplog.at_level(logging.WARNING):
        assert verified(tmp_path) == []
    assert "tiddlywiki.write" in caplog.text


def test_each_source_is_analysed_once(tmp_path: Path) -> None:
    stored(tmp_path, GOOD.replace("lacks", "does not hold"))
    before = static_analysis._analyse.cache_info().misses
    verified(tmp_path)
    verified(tmp_path)
    assert static_analysis._analyse.cache_info().misses == before + 1
