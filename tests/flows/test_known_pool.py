"""What of an earlier run counts as verified."""

import logging
from pathlib import Path

import pytest

from taskloom.evaluators_api.interpreter import static_analysis
from taskloom.flows.pool import load_verified
from taskloom.resources.reading.catalog import load_applications
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction, VerificationRound
from taskloom.warehouse.store import Warehouse
from tests.flows.test_verify_function import GOOD, subtask_of
from tests.synthesis.recordings import note_written

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


def test_a_performance_that_only_an_earlier_function_accepted_does_not_count(tmp_path: Path) -> None:
    stored(tmp_path, GOOD)
    here = note_written().model_copy(update={"subtask_id": "tiddlywiki.write"})
    there = note_written("Documents/mill_order.txt", "Order rye").model_copy(
        update={
            "subtask_id": here.subtask_id,
            "trajectory_id": "there",
            "instance_id": "there",
            "world": "bakery-1",
        }
    )
    both = subtask_of(here).model_copy(update={"available_parameters": (here.parameters, there.parameters)})
    earlier = EvaluationFunction(
        function_id="earlier",
        subtask_id="tiddlywiki.write",
        source=GOOD,
        parameter_names=tuple(here.parameters),
        accepted=False,
    )

    def accepted_by(function_id: str) -> VerificationRound:
        return VerificationRound(
            verification_id="f:2",
            subtask_id="tiddlywiki.write",
            round=2,
            instance_id="there",
            trajectory_id="there",
            function_id=function_id,
            evaluation=None,
            accepted=True,
        )

    for function_id, worlds in (("earlier", []), ("f", [("", "bakery-1")])):
        with Warehouse(str(tmp_path)) as store:
            store.write([both, there, earlier, accepted_by(function_id)], replace=True)
            found = load_verified(store, {"tiddlywiki": APPLICATION})
        assert [item.worlds for item in found.values()] == worlds


def test_a_function_that_is_no_longer_admitted_verifies_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored(tmp_path, NO_LONGER_ADMITTED)
    with caplog.at_level(logging.WARNING):
        assert verified(tmp_path) == []
    assert "tiddlywiki.write" in caplog.text


def test_each_source_is_analysed_once(tmp_path: Path) -> None:
    stored(tmp_path, GOOD.replace("lacks", "does not hold"))
    before = static_analysis.analyse.cache_info().misses
    verified(tmp_path)
    verified(tmp_path)
    assert static_analysis.analyse.cache_info().misses == before + 1
