from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from taskloom.taskgraph.measures.acceptance_rates import wilson_interval
from taskloom.taskgraph.records.criticism import Review
from taskloom.taskgraph.records.task import Task
from taskloom.warehouse.errors import ExportRefusedError, ReviewInvalidError, SelectionInvalidError
from taskloom.warehouse.exporting.exporting import export
from taskloom.warehouse.queries import named_query
from taskloom.warehouse.querying import QueryResult
from taskloom.warehouse.reviews import AcceptanceRule, accepted_tasks, new_review, parse_rule
from taskloom.warehouse.sets.selection import Selection, select
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.task_quality import people_report, task_quality
from tests.shared_work import examples
from tests.warehouse.samples import records

TASK = next(record for record in records() if isinstance(record, Task))


def tasks(count: int) -> list[Task]:
    return [TASK.model_copy(update={"task_id": f"t{number:02}"}) for number in range(count)]


def review(number: int, reviewer: str, accepted: bool, minute: int = 0, **fields: object) -> Review:
    values: dict[str, object] = {
        "review_id": f"{number}-{reviewer}-{minute}",
        "task_id": f"t{number:02}",
        "reviewer": reviewer,
        "verdict": "accepted" if accepted else "rejected",
        "failed": () if accepted else ("sense",),
        "instruction": TASK.instruction,
        "reviewed_at": f"2026-11-22T10:{minute:02}:00.000000+00:00",
    }
    return Review.model_validate(values | fields)


def acceptance(warehouse: Warehouse) -> dict[tuple[str, str], dict[str, JsonValue]]:
    rows = warehouse.query(named_query("acceptance").sql).as_dicts()
    return {(str(row["people"]), str(row["measure"])): row for row in rows}


def store(warehouse: Warehouse, table: Sequence[Sequence[bool | None]]) -> None:
    """Store the verdicts of people (columns) on tasks (rows)."""
    warehouse.write(tasks(len(table)))
    warehouse.change(lambda connection: connection.execute("DELETE FROM reviews"))
    warehouse.write(
        [
            review(number, f"p{person}", verdict)
            for number, row in enumerate(table)
            for person, verdict in enumerate(row)
            if verdict is not None
        ]
    )


@cache
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def asked_of(table: Sequence[Sequence[bool | None]]) -> dict[tuple[str, str], dict[str, JsonValue]]:
    """The query's answer where the view holds these verdicts."""
    said = [
        {
            "task_id": f"t{number}",
            "reviewer": f"p{person}",
            "accepted": verdict,
            "failed": [] if verdict else ["sense"],
            "instruction": "x",
        }
        for number, row in enumerate(table)
        for person, verdict in enumerate(row)
        if verdict is not None
    ]
    columns = ["task_id", "reviewer", "accepted", "failed", "instruction"]
    kinds = [pa.string(), pa.string(), pa.bool_(), pa.list_(pa.string()), pa.string()]
    connection().register(
        "latest_reviews", pa.Table.from_pylist(said, pa.schema(list(zip(columns, kinds, strict=True))))
    )
    known = [{"task_id": f"t{number}", "instruction": "x"} for number in range(len(table))]
    connection().register("tasks", pa.Table.from_pylist(known))
    answer = QueryResult.of(connection().execute(named_query("acceptance").sql).to_arrow_table())
    return {(str(row["people"]), str(row["measure"])): row for row in answer.as_dicts()}


def cohen(pairs: Sequence[tuple[bool, bool]]) -> Fraction | None:
    if not pairs:
        return None
    cells = Counter(pairs)
    n = len(pairs)
    observed = Fraction(sum(cells[v, v] for v in (True, False)), n)
    chance = sum(
        (
            Fraction(sum(a == v for a, _ in pairs), n) * Fraction(sum(b == v for _, b in pairs), n)
            for v in (True, False)
        ),
        Fraction(0),
    )
    return None if chance == 1 else (observed - chance) / (1 - chance)


def fleiss(rows: Sequence[Sequence[bool]]) -> Fraction | None:
    """From the definition: the share of agreeing ordered pairs of people per task, against chance."""
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        return None
    agreeing = [
        Fraction(
            sum(row[i] == row[j] for i, j in product(range(len(row)), repeat=2) if i != j),
            len(row) * (len(row) - 1),
        )
        for row in rows
    ]
    said = [verdict for row in rows for verdict in row]
    chance = sum((Fraction(said.count(v), len(said)) ** 2 for v in (True, False)), Fraction(0))
    return None if chance == 1 else (sum(agreeing, Fraction(0)) / len(rows) - chance) / (1 - chance)


def test_the_textbook_case_of_cohens_kappa(warehouse: Warehouse) -> None:
    # 50 proposals: both yes 20, only the first 5, only the second 10, both no 15: kappa is 0.4.
    store(
        warehouse,
        [[True, True]] * 20 + [[True, False]] * 5 + [[False, True]] * 10 + [[False, False]] * 15,
    )
    row = acceptance(warehouse)["p0 and p1", "Cohen's kappa"]
    assert row["value"] == pytest.approx(0.4)
    assert (row["count"], row["total"]) == (35, 50)
    # The large-sample error of this table is 0.127 (Fleiss, Cohen and Everitt 1969): the jackknife is near
    # it.
    assert row["low"] == pytest.approx(0.4 - 1.96 * 0.127, abs=0.02)
    assert row["high"] == pytest.approx(0.4 + 1.96 * 0.127, abs=0.02)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[True, True]] * 20 + [[False, False]] * 20, 1.0),
        ([[True, False]] * 10 + [[False, True]] * 10, -1.0),
        ([[True, True]] * 5 + [[True, False]] + [[False, False]] * 3, 0.7692307692),
    ],
    ids=["full agreement", "full disagreement", "nine tasks"],
)
def test_kappa_has_no_interval_where_none_can_be_known(
    warehouse: Warehouse, table: list[list[bool | None]], kappa: float
) -> None:
    store(warehouse, table)

    row = acceptance(warehouse)["p0 and p1", "Cohen's kappa"]

    assert row["value"] == pytest.approx(kappa)
    assert (row["low"], row["high"]) == (None, None)


@settings(max_examples=examples(40, 100))
@given(
    st.integers(2, 4).flatmap(
        lambda people: st.lists(
            st.lists(st.sampled_from([True, False, None]), min_size=people, max_size=people),
            min_size=1,
            max_size=9,
        )
    )
)
def test_rates_and_kappas_are_those_of_their_definitions(table: list[list[bool | None]]) -> None:
    found = asked_of(table)
    said = [[verdict for verdict in row if verdict is not None] for row in table]
    reviewers = [person for person in range(len(table[0])) if any(row[person] is not None for row in table)]
    for person in reviewers:
        own = [row[person] for row in table if row[person] is not None]
        low, high = wilson_interval(own.count(True), len(own))
        row = found[f"p{person}", "accepted"]
        assert (row["count"], row["total"]) == (own.count(True), len(own))
        assert [row["low"], row["high"]] == pytest.approx([low, high])
    for first in reviewers:
        for second in (person for person in reviewers if person > first):
            both = [
                (row[first], row[second])
                for row in table
                if row[first] is not None and row[second] is not None
            ]
            expected = cohen([(bool(a), bool(b)) for a, b in both])
            value = found.get((f"p{first} and p{second}", "Cohen's kappa"), {}).get("value")
            assert value == (None if expected is None else pytest.approx(float(expected), abs=1e-9))
    expected = fleiss(said) if len(reviewers) > 2 else None
    value = found.get(("all reviewers", "Fleiss' kappa"), {}).get("value")
    assert value == (None if expected is None else pytest.approx(float(expected), abs=1e-9))
    majority = [2 * row.count(True) > len(row) for row in said if row]
    if majority:
        row = found["the majority", "accepted"]
        assert (row["count"], row["total"]) == (majority.count(True), len(majority))


def test_the_latest_review_counts_and_none_is_lost(warehouse: Warehouse) -> None:
    warehouse.write(tasks(2))
    warehouse.write(
        [
            review(0, "Ada", False, 0),
            review(0, "Ada", True, 1),
            review(1, "Ada", True, 0),
            review(1, "Ada", True, 2, verdict="withdrawn"),
        ]
    )
    rows = warehouse.query("SELECT task_id, accepted FROM latest_reviews").as_dicts()
    assert rows == [{"task_id": "t00", "accepted": True}]
    assert warehouse.count(Review) == 4


def test_a_review_of_an_earlier_instruction_does_not_count(warehouse: Warehouse) -> None:
    warehouse.write(tasks(1))
    warehouse.write([review(0, "Ada", True)])
    assert acceptance(warehouse)["Ada", "accepted"]["count"] == 1
    warehouse.write([tasks(1)[0].model_copy(update={"instruction": "Something else"})], replace=True)
    assert acceptance(warehouse) == {}
    everyone = Selection(accepted=AcceptanceRule(rule="any"))
    assert select(warehouse, everyone) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("any", ["t00", "t01", "t02"]),
        ("majority", ["t00", "t01"]),
        ("all", ["t00"]),
        ("majority:3", ["t01"]),
        ("all:3", []),
    ],
)
def test_rules_choose_tasks(warehouse: Warehouse, text: str, expected: list[str]) -> None:
    store(
        warehouse,
        [
            [True, True, None],
            [True, True, False],
            [True, False, None],
            [False, None, None],
            [None, None, None],
        ],
    )
    rule = parse_rule(text)
    assert [task_id for task_id, _ in accepted_tasks(warehouse, rule)] == expected
    assert list(select(warehouse, Selection(accepted=rule))) == expected


@pytest.mark.parametrize("text", ["", "most", "all:", "all:0", "any:-1", "majority:x", "all:1.5"])
def test_a_rule_that_is_none_is_refused_with_the_rules(text: str) -> None:
    with pytest.raises(SelectionInvalidError, match="any, majority, all"):
        parse_rule(text)


def test_an_export_takes_what_was_accepted_after_the_version_was_published(
    filled: Warehouse, tmp_path: Path
) -> None:
    filled.publish("v1")
    filled.write([new_review(TASK.task_id, TASK.instruction, "Ada", "accepted")])
    filled.close()
    rule = Selection(accepted=parse_rule("all"))
    with Warehouse(filled.address, read_only=True, version="v1") as version:
        manifest = export(version, "omnibench", tmp_path / "accepted", rule)
    assert manifest.outcome.counts["tasks"] == 1
    stored = json.loads((tmp_path / "accepted" / "manifest.json").read_text())
    assert stored["selection"]["accepted"] == {"rule": "all", "people": 1}


def test_an_export_of_what_nobody_accepted_says_where_it_is_done(filled: Warehouse, tmp_path: Path) -> None:
    filled.write([new_review(TASK.task_id, TASK.instruction, "Bo", "rejected", ("sense",))])
    with pytest.raises(ExportRefusedError, match=r"accept and reject tasks in .taskloom view --review"):
        export(filled, "omnibench", tmp_path / "none", Selection(accepted=parse_rule("all")))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reviewer": ""}, "reviewer"),
        ({"reviewer": "x" * 81}, "reviewer"),
        ({"reviewer": "a\x1bb"}, "reviewer"),
        ({"verdict": "perhaps"}, "verdict"),
        ({"verdict": "rejected"}, "must name a question"),
        ({"verdict": "rejected", "note": "  "}, "must name a question"),
        ({"failed": ("sense",)}, "every question answered with yes"),
        ({"verdict": "rejected", "failed": ("beauty",)}, "failed"),
    ],
)
def test_a_review_that_contradicts_itself_is_refused(fields: dict[str, object], said: str) -> None:
    values: dict[str, object] = {
        "task_id": "t",
        "instruction": "x",
        "reviewer": "Ada",
        "verdict": "accepted",
        **fields,
    }
    with pytest.raises(ReviewInvalidError, match=said):
        new_review(**values)  # type: ignore[arg-type]


def test_a_record_refuses_what_the_form_refuses() -> None:
    with pytest.raises(ValidationError, match="every question answered with yes"):
        review(0, "Ada", True, failed=("sense",))


def test_figures_for_readers_name_no_person(warehouse: Warehouse) -> None:
    assert people_report(warehouse) is None
    assert dict(task_quality(warehouse).lines())["tasks that people accept"].startswith("not known")
    store(warehouse, [[True, True], [True, False], [False, False], [True, True]])
    report = people_report(warehouse)
    assert report is not None and report.agreement is not None
    assert (report.accepted.count, report.accepted.of) == (2, 4)
    assert report.agreement.measure == "Cohen's kappa"
    assert report.agreement.value == pytest.approx(0.5)
    text = str(task_quality(warehouse).lines())
    assert "p0" not in text and "reviewed tasks that most people accepted" in text


def test_of_three_people_fleiss_kappa_is_told(warehouse: Warehouse) -> None:
    store(warehouse, [[True, True, False], [False, False, False], [True, True, True]])
    report = people_report(warehouse)
    assert report is not None and report.agreement is not None
    assert report.agreement.measure == "Fleiss' kappa"
