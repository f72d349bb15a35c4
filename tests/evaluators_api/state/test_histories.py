"""What a history tells of work in several goes counts as if it were done in one."""

from __future__ import annotations

import pytest

from taskloom.evaluators_api.state.effects import file_changes
from taskloom.evaluators_api.state.records import RecordCounts, count_records
from taskloom.taskgraph.records.evidence import FileState

NOTES = 'CREATE TABLE "ticket_change"("ticket", "time", "field", "oldvalue", "newvalue"); -- {} rows\n'
PAGES = 'CREATE TABLE "wiki"("name", "version", "text"); -- {} rows\n'


def counts(head: str, before: list[str], rows: list[str]) -> RecordCounts:
    table = head.split('"')[1]

    def state(values: list[str]) -> FileState:
        text = head.format(len(values)) + "".join(f'INSERT INTO "{table}" VALUES({row});\n' for row in values)
        return FileState(path="a.db", size=len(text), sha256=f"{len(text):064x}", text=text)

    return count_records(file_changes(state(before), state([*before, *rows]))[1])


OLD = ["9, 1795474870000000, 'owner', '', 'ada'"]
FIRST = [
    "4, 1795474878579344, 'comment', '1', ''",
    "4, 1795474878579344, 'priority', 'minor', 'major'",
]
SECOND = [
    "4, 1795474881604831, 'comment', '2', ''",
    "4, 1795474881604831, 'priority', 'major', 'critical'",
]


@pytest.mark.parametrize(
    ("rows", "added"),
    [
        (FIRST, 2),
        ([*FIRST, *SECOND], 2),
        ([*SECOND, *FIRST], 2),
        ([*FIRST, SECOND[0].replace("''", "'Looks good'"), SECOND[1]], 3),
        ([*FIRST, *(row.replace("4, ", "5, ", 1) for row in SECOND)], 4),
        ([*FIRST, SECOND[1].replace("priority", "owner")], 3),
        ([*FIRST, *FIRST], 4),
    ],
    ids=[
        "one go",
        "two goes",
        "newest first",
        "a comment",
        "another ticket",
        "another field",
        "twice the same",
    ],
)
def test_notes_of_one_change_in_two_goes_are_one(rows: list[str], added: int) -> None:
    assert counts(NOTES, OLD, rows) == RecordCounts(added, 0, 0)


@pytest.mark.parametrize(
    ("rows", "added"),
    [
        (["'News', 2, 'half'"], 1),
        (["'News', 3, 'whole'", "'News', 2, 'half'"], 1),
        (["'News', 2, 'half'", "'Plans', 2, 'other'"], 2),
        (["'News', 2, 'half'", "'News', 2, 'half'"], 2),
    ],
    ids=["one version", "two versions", "two pages", "the same twice"],
)
def test_versions_of_one_page_are_one(rows: list[str], added: int) -> None:
    assert counts(PAGES, ["'News', 1, 'old'"], rows) == RecordCounts(added, 0, 0)
