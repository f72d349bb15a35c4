"""What evidence and evaluations say of themselves."""

from taskloom.taskgraph.records.evaluation_function import EvalResult, Evaluation
from taskloom.taskgraph.records.evidence import Evidence, FileState

NOTE = FileState(path="Documents/Note.txt", size=1, sha256="0" * 64, text="a")


def test_a_file_is_found_by_exactly_its_path() -> None:
    evidence = Evidence(step=0, files=(NOTE,))
    assert evidence.file("Documents/Note.txt") == NOTE
    assert evidence.file("documents/note.txt") is None
    assert evidence.files_by_path() == {"Documents/Note.txt": NOTE}


def test_an_evaluation_says_what_the_function_said_or_why_it_said_nothing() -> None:
    answered = Evaluation(outcome="result", result=EvalResult(success=False, message="no file"), message="x")
    assert answered.said == "no file"
    assert Evaluation(outcome="timed_out", message="after 5 s").said == "timed_out: after 5 s"
