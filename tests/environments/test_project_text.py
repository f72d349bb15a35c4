"""What checks read of a project of Planner: what was planned, not what follows from it."""

from __future__ import annotations

import gzip
import json
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.evidence.unpacked_text import unpacked_text

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
PROJECT = """<?xml version="1.0"?>
<project name={name} company="" manager="Ada" phase="" project-start="{start}" mrproject-version="2">
<calendars><calendar id="1" name="Default"/></calendars><tasks>{tasks}</tasks>
<resources><resource id="1" name="Tom" type="1" email=""/></resources></project>
"""


def task(number: int, name: str, inside: str = "", **more: str) -> str:
    given = {"work": "28800", "note": "", "percent-complete": "0", "priority": "0", "end": "20260302T170000Z"}
    given |= {key.replace("_", "-"): value for key, value in more.items()}
    fields = " ".join(f"{key}={quoteattr(value)}" for key, value in given.items())
    return f'<task id="{number}" name={quoteattr(name)} {fields}>{inside}</task>'


def told(tasks: str, name: str = "Plan", start: str = "20260302T000000Z") -> dict[str, Any]:
    content = PROJECT.format(name=quoteattr(name), start=start, tasks=tasks).encode()
    kind, text = unpacked_text(content) or ("", "")
    assert kind == "project"
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@given(NAMES, st.lists(NAMES, max_size=5))
def test_a_project_is_its_name_and_its_tasks(name: str, tasks: list[str]) -> None:
    found = told("".join(task(number, item) for number, item in enumerate(tasks)), name)
    assert found["project"] == {"name": name, "company": "", "manager": "Ada"}
    assert found["tasks"] == [{"name": item, "hours": "8", "complete": "0"} for item in tasks]
    assert found["resources"] == [{"name": "Tom"}]


def test_what_is_out_of_the_ordinary_is_told() -> None:
    [found] = told(task(1, "a", work="5400", percent_complete="40", priority="3", note="Soon"))["tasks"]
    assert found == {"name": "a", "hours": "1.5", "complete": "40", "priority": "3", "note": "Soon"}


@pytest.mark.parametrize("work", ["9" * 400, "9" * 5000, "much"])
def test_work_that_is_no_number_of_hours_is_none(work: str) -> None:
    assert told(task(1, "a", work=work))["tasks"][0]["hours"] == ""


def test_tasks_know_their_holders_and_what_they_wait_for() -> None:
    waits = '<predecessors><predecessor id="1" predecessor-id="1" type="FS"/></predecessors>'
    found = told(task(1, "first") + task(2, "all", task(3, "part", waits)))["tasks"]
    assert found == [
        {"name": "first", "hours": "8", "complete": "0"},
        {"name": "all", "hours": "8", "complete": "0"},
        {"name": "part", "hours": "8", "complete": "0", "part of": "all", "after": ["first"]},
    ]


def test_dates_and_numbers_of_records_make_no_difference() -> None:
    assert told(task(1, "a")) == told(task(7, "a", end="20270101T170000Z"), start="20270101T000000Z")


@pytest.mark.parametrize("change", [("Ada", "&x;"), ("</project>", ""), ("mrproject-version", "version")])
def test_other_texts_stay_what_they_are(change: tuple[str, str]) -> None:
    text = PROJECT.format(name='"P"', start="1", tasks=task(1, "a")).replace(*change)
    assert unpacked_text(text.encode()) is None
    assert unpacked_text(gzip.compress(text.encode())) == ("packed", text)
