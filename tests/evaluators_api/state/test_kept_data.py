"""What applications keep is counted over all of their files, and a change that cannot be read is no
number."""

from __future__ import annotations

import json

from taskloom.evaluators_api.state.kept_data import kept_counts
from taskloom.evaluators_api.state.records import RecordCounts
from tests.evaluators_api.state.evidence import evidence

NOTES = ".applications/notes/notes.json"
TAGS = ".applications/notes/tags.json"


def listed(*titles: str) -> str:
    return json.dumps([{"title": title, "text": f"about {title}"} for title in titles])


def test_records_of_all_files_are_counted_together() -> None:
    start = evidence({NOTES: listed("tea", "milk"), TAGS: listed("red")})
    end = evidence({NOTES: listed("tea", "milk", "salt"), TAGS: listed()})
    assert kept_counts(start, end) == RecordCounts(1, 1, 0)


def test_a_file_that_is_new_or_gone_counts_as_one_record() -> None:
    one, both = (
        evidence({NOTES: listed("tea")}),
        evidence({NOTES: listed("tea"), TAGS: listed("red", "blue")}),
    )
    assert kept_counts(one, both) == RecordCounts(1, 0, 0)
    assert kept_counts(both, one) == RecordCounts(0, 1, 0)


def test_the_files_of_the_user_do_not_count() -> None:
    start = evidence({NOTES: listed("tea"), "Documents/a.txt": "one"})
    end = evidence({NOTES: listed("tea"), "Documents/a.txt": "two"})
    assert kept_counts(start, end) == RecordCounts(0, 0, 0)


def test_only_changes_at_the_address_count() -> None:
    start = evidence({NOTES: json.dumps({"notes": {"a": "1"}, "view": {"page": "1"}})})
    end = evidence({NOTES: json.dumps({"notes": {"a": "1"}, "view": {"page": "2"}})})
    assert kept_counts(start, end, ("notes",)) == RecordCounts(0, 0, 0)
    assert kept_counts(start, end, ("view",)) != RecordCounts(0, 0, 0)


def test_a_changed_file_whose_text_was_not_kept_has_no_number() -> None:
    start, end = evidence({NOTES: listed("tea")}), evidence({NOTES: listed("milk")})
    without = end.model_copy(
        update={"files": tuple(file.model_copy(update={"text": None}) for file in end.files)}
    )
    cut = end.model_copy(
        update={"files": tuple(file.model_copy(update={"truncated": True}) for file in end.files)}
    )
    assert kept_counts(start, without) is None
    assert kept_counts(start, cut) is None
    assert kept_counts(start, end) is not None
