"""Conditions that the offline writer makes of what is shown."""

from taskloom.offline.evaluation_writer import write_function
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.synthesis.evaluation_functions.evaluation_functions import performances
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, control, recording, screen


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
    return write_function(view).source


def test_the_end_of_an_address_is_asked_for_where_its_beginning_differs() -> None:
    source = written(opened("Documents/a.ledger", "home"), opened("Documents/b.ledger", "club"))
    assert "check_window(text='/editor/?file_path=~/' + path)" in source
    assert "home" not in source


def test_all_of_an_address_is_asked_for_where_it_is_the_same() -> None:
    source = written(opened("Documents/a.ledger", "home"), opened("Documents/b.ledger", "home"))
    assert "check_window(text='/home/editor/?file_path=~/' + path)" in source


def renamed(name: str, kind: str = "Text", *, typed: bool = False) -> str:
    shown = control("Name", "Edit", value=name) if typed else control(name, kind)
    done = click("Rename", controls=screen(shown))
    return written(recording("books.rename", {"path": name}, [done], start={"controls": screen()}))


def test_what_a_parameter_says_is_asked_for_letter_by_letter_where_a_control_shows_it() -> None:
    assert "check_text_exists_via_control(text=path, exact=True)" in renamed("Overview")
    assert "exact=True" not in renamed("Overview", typed=True)


def test_a_text_that_only_contains_a_parameter_may_be_set_in_other_letters() -> None:
    done = click("Rename", controls=screen(control("PAGE: Overview", "Heading")))
    source = written(recording("books.rename", {"path": "Overview"}, [done]))
    assert "check_text_exists_via_control(text='PAGE: ' + path)" in source
