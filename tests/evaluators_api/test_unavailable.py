"""What the evidence does not hold is neither there nor missing."""

from __future__ import annotations

import pytest

from taskloom.evaluators_api.checks.declaration import Scene, checks
from taskloom.evaluators_api.errors import CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView
from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.taskgraph.records.evidence import Evidence, FileState

BINARY = FileState(path="a.png", size=9, sha256="1")
CUT = FileState(path="long.txt", size=99_999, sha256="2", text="the beginning of it", truncated=True)
TABLES = FileState(
    path="a.db",
    size=99_999,
    sha256="3",
    text='CREATE TABLE "pages"("id" PRIMARY KEY); -- 1 row\nINSERT INTO "pages" VALUES(1);\n'
    'CREATE TABLE "visits"("id" PRIMARY KEY); -- 400 rows\nINSERT INTO "visits" VALUES(9);\n',
    truncated=True,
)
"""One table is whole, of the other one there are the newest rows only."""
END = Evidence(
    step=1, files=(BINARY, TABLES, CUT), directories=("full",), unseen=("full", "Documents/locked.txt")
)


def ask(name: str, **named: object) -> object:
    return checks()[name].ask(Scene(EvidenceView(END), None, EvidenceView(END)), (), named)[1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("check_file_exists", {"file_path": "full/a.txt"}),
        ("check_file_missing", {"file_path": "full/deep/a.txt"}),
        ("check_file_missing", {"file_path": "Documents/locked.txt"}),
        ("check_directory_exists", {"path": "full/a"}),
        ("check_file_count", {"folder": "full", "count": 0}),
        ("check_any_file_contains", {"text": "not there"}),
        ("check_file_contains", {"file_path": "a.png", "text": "x"}),
        ("check_file_contains", {"file_path": "long.txt", "text": "the end"}),
        ("check_file_text", {"file_path": "a.png", "text": "x"}),
        ("check_file_text", {"file_path": "long.txt", "text": "the beginning of it"}),
        ("check_record", {"file_path": "a.png", "fields": {"a": "1"}}),
        ("check_record", {"file_path": "long.txt", "fields": {"a": "1"}}),
        ("check_record_added", {"file_path": "long.txt", "fields": {"a": "1"}}),
        ("check_record_count", {"file_path": "long.txt", "fields": {"a": "1"}, "count": 0}),
        ("check_record", {"file_path": "", "fields": {"a": "1"}}),
        ("check_field", {"file_path": "long.txt", "field": "a", "value": "1"}),
        ("check_record_count", {"file_path": "a.db", "fields": {"id": "1"}, "count": 0, "within": "visits"}),
        ("check_field", {"file_path": "a.db", "field": "visits/rows/1/id", "value": "1"}),
        ("get_file_text", {"file_path": "a.png"}),
    ],
)
def test_no_check_answers_about_what_is_not_held(name: str, named: dict[str, object]) -> None:
    with pytest.raises(CheckUnavailableError):
        ask(name, **named)


@pytest.mark.parametrize(
    ("name", "named", "answer"),
    [
        ("check_file_exists", {"file_path": "a.png"}, True),
        ("check_file_missing", {"file_path": "other.txt"}, True),
        ("check_directory_exists", {"path": "full"}, True),
        ("check_file_contains", {"file_path": "long.txt", "text": "the beginning"}, True),
        ("check_any_file_contains", {"text": "the beginning"}, True),
        ("check_record", {"file_path": "a.db", "fields": {"id": "9"}, "within": "visits"}, True),
        ("check_record", {"file_path": "a.db", "fields": {"id": "9"}, "within": "pages"}, False),
        ("check_record_count", {"file_path": "a.db", "fields": {}, "count": 1, "within": "pages"}, True),
        ("check_field", {"file_path": "a.db", "field": "pages/rows/1/id", "value": "2"}, False),
    ],
)
def test_what_is_certain_is_answered(name: str, named: dict[str, object], answer: bool) -> None:
    assert ask(name, **named) is answer


def test_an_evaluation_without_an_answer_is_unavailable_and_neither_passed_nor_failed() -> None:
    source = (
        "def evaluate_agent_task_completion(path: str) -> EvalResult:\n"
        "    try:\n        gone = check_file_missing(path)\n    except TypeError:\n        gone = True\n"
        "    return EvalResult(gone, '', 1.0)\n"
    )
    with EvaluationSandbox() as sandbox:
        found = sandbox.evaluate(source, {"path": "full/a.txt"}, END)
    assert found.outcome == "unavailable" and found.result is None and not found.passed
    assert "full" in found.message
