"""Labelled outcomes come in, and error rates go out wherever a dataset describes itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from taskloom.taskgraph.measures.acceptance_rates import rate
from taskloom.taskgraph.records.evaluation_function import GENUINE_FAMILIES, JudgedOutcome
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import ERROR_RATES_UNKNOWN, error_rates
from taskloom.warehouse.viewer.server import create_application
from taskloom.warehouse.views import views
from tests.warehouse.foreign import run_import

OUTCOME = {
    "case_id": "create: renamed",
    "subtask_id": "notes.create",
    "function_id": "notes.create:f",
    "kind": "wrong place",
    "right": False,
    "accepted": True,
}


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def unlabelled_template(filled_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("unlabelled") / "warehouse"
    with Warehouse(shutil.copytree(filled_template, place)) as opened:
        opened.change(lambda connection: connection.execute("DELETE FROM judged_outcomes"))
    return place


@pytest.fixture
def unlabelled(unlabelled_template: Path, tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse(shutil.copytree(unlabelled_template, tmp_path / "warehouse")) as opened:
        yield opened


def test_rates_are_those_of_accepted_functions_alone(unlabelled: Warehouse, tmp_path: Path) -> None:
    foreign = {**OUTCOME, "function_id": "notes.create:rejected", "case_id": "other"}
    right = {**OUTCOME, "case_id": "by keyboard", "kind": "another route", "right": True}
    run_import(
        unlabelled, "labelled_outcomes", written(tmp_path / "r.json", {"outcomes": [OUTCOME, foreign, right]})
    )

    rates = error_rates(unlabelled)

    assert unlabelled.count(JudgedOutcome) == 3
    assert rates is not None
    assert rates.functions == 1
    assert (rates.overall.true_positive.count, rates.overall.true_positive.of) == (1, 1)
    assert (rates.overall.true_negative.count, rates.overall.true_negative.of) == (0, 1)
    assert [item.group for item in rates.by_kind] == ["another route", "wrong place"]
    assert [item.group for item in rates.by_application] == ["notes"]


def test_a_verdict_that_is_imported_again_replaces_the_earlier_one(
    unlabelled: Warehouse, tmp_path: Path
) -> None:
    run_import(unlabelled, "labelled_outcomes", written(tmp_path / "1.json", [OUTCOME]))
    run_import(
        unlabelled, "labelled_outcomes", written(tmp_path / "2.json", [{**OUTCOME, "accepted": False}])
    )

    rates = error_rates(unlabelled)

    assert rates is not None
    assert (rates.overall.true_negative.count, rates.overall.true_negative.of) == (1, 1)


def test_lines_are_read_too(unlabelled: Warehouse, tmp_path: Path) -> None:
    lines = tmp_path / "r.jsonl"
    lines.write_text(
        f"{json.dumps(OUTCOME)}\n\n{json.dumps({**OUTCOME, 'case_id': 'b'})}\n", encoding="utf-8"
    )

    assert run_import(unlabelled, "labelled_outcomes", lines).counts == {"judged_outcomes": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"outcomes": [{**OUTCOME, "right": "yes"}]}, "outcomes[0].right"),
        ({"outcomes": [{**OUTCOME, "kind": " "}]}, "outcomes[0].kind"),
        ({"outcomes": [OUTCOME, OUTCOME]}, "also occurs in"),
        ({"rates": {}}, "must be a list of outcomes"),
    ],
)
def test_broken_outcomes_are_refused_with_their_place(
    unlabelled: Warehouse, tmp_path: Path, content: object, said: str
) -> None:
    with pytest.raises(ImportRefusedError) as refused:
        run_import(unlabelled, "labelled_outcomes", written(tmp_path / "r.json", content))

    assert said in str(refused.value)
    assert unlabelled.count(JudgedOutcome) == 0


@pytest.mark.parametrize("by", ["all", "application", "kind"])
def test_the_query_gives_the_same_intervals(sampled: Warehouse, by: str) -> None:
    query = named_query("error_rates")

    rows = sampled.query(query.sql, query.bind({"by": by})).as_dicts()

    assert rows
    for row in rows:
        expected = rate(int(str(row["count"])), int(str(row["total"])))
        assert row["low"] == pytest.approx(expected.low)
        assert row["high"] == pytest.approx(expected.high)
        assert row["rate"] == pytest.approx(expected.share)


def card_of(warehouse: Warehouse, folder: Path) -> str:
    export(warehouse, "hugging_face", folder)
    return (folder / "README.md").read_text()


def test_card_and_viewer_show_the_rates(sampled: Warehouse, tmp_path: Path) -> None:
    card = card_of(sampled, tmp_path / "out")
    page = TestClient(create_application(sampled), base_url="http://127.0.0.1").get("/").text

    for text in (card, page):
        assert "50.0 % (9.5 to 90.5 %, 1 of 2)" in text
        assert "wrong place" in text


def test_a_dataset_without_labelled_outcomes_says_so(unlabelled: Warehouse, tmp_path: Path) -> None:
    page = TestClient(create_application(unlabelled), base_url="http://127.0.0.1").get("/").text

    assert error_rates(unlabelled) is None
    assert ERROR_RATES_UNKNOWN in card_of(unlabelled, tmp_path / "out")
    assert ERROR_RATES_UNKNOWN in page


def test_the_view_of_qualities_knows_the_families_of_right_work() -> None:
    sql = next(view.sql for view in views() if view.name == "evaluation_quality")

    assert all(f"'{family}'" in sql for family in GENUINE_FAMILIES)
