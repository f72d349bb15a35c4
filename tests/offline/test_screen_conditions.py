"""Conditions that the offline writer makes of what is shown."""

from offline.evaluation_writer import write_function
from offline.mistakes import MistakeSource
from prompts.inputs import EvaluationWriterInput
from synthesis.evaluation_functions.evaluation_functions import performances
from taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, recording


def opened(path: str, book: str) -> Trajectory:
    """A file of a book is opened in the editor; the address begins with the book."""
    start = {"url": f"http://127.0.0.1/{book}/income/"}
    url = f"http://127.0.0.1/{book}/editor/?file_path=~%2F{path.replace('/', '%2F')}"
    return recording("books.open", {"path": path}, [click("New", url=url)], start=start)


def written(*trajectories: Trajectory) -> str:
    view = EvaluationWriterInput(
        checks_reference="",
        operating_system="",
        application="books",
        title="Books",
        instruction_template="Open the file '{path}' in the editor.",
        parameter_names=("path",),
        performances=performances(trajectories),
        result_on_screen=True,
    )
    return write_function(view, 0, MistakeSource(0.0, 0))[0].source


def test_the_end_of_an_address_is_asked_for_where_its_beginning_differs() -> None:
    source = written(opened("Documents/a.ledger", "home"), opened("Documents/b.ledger", "club"))
    assert "check_window(text='/editor/?file_path=~/' + path)" in source
    assert "home" not in source


def test_all_of_an_address_is_asked_for_where_it_is_the_same() -> None:
    source = written(opened("Documents/a.ledger", "home"), opened("Documents/b.ledger", "home"))
    assert "check_window(text='/home/editor/?file_path=~/' + path)" in source
