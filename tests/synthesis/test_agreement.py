from resources.applications import ControlQuery
from synthesis.cross_verification.agreement import agreeing, route
from taskgraph.records.evidence import InputEvent
from taskgraph.records.interaction import ClickInput, KeyboardInput, WaitInput
from tests.synthesis.recordings import file, recording

SAVED = {"files": (file("Documents/a.txt", "hello"),)}


def performed(name: str, *, clicked: str = "Save", saved: bool = True, attempt: int = 0, waits: bool = False):
    typed = (
        KeyboardInput(control_label="1", keys=name),
        ControlQuery(text="File name", control_type="Edit"),
        InputEvent(step=1, kind="text", text=name),
        {},
    )
    click = (
        ClickInput(control_label="2"),
        ControlQuery(text=clicked, control_type="Button"),
        InputEvent(step=2, kind="click"),
        {"files": (file(name, "hello"),)} if saved else {},
    )
    wait = (WaitInput(), ControlQuery(), InputEvent(step=3, kind="wheel"), {})
    moves = [typed, *([wait] if waits else []), click]
    return recording("notes.save", {"text_path": name}, moves, attempt=attempt)


def test_other_values_are_the_same_route():
    one, two = performed("Documents/a.txt"), performed("Documents/b.txt")
    assert agreeing([one, two], 2) == [one, two]


def test_a_control_named_by_a_value_is_the_same_route():
    one = performed("Documents/a.txt", clicked="Documents/a.txt")
    two = performed("Documents/b.txt", clicked="Documents/b.txt")
    assert route(one) == route(two)


def test_a_folder_named_by_a_value_is_the_same_route():
    one = performed("Documents/a.txt", clicked="Documents")
    two = performed("Downloads/b.txt", clicked="Downloads")
    assert route(one) == route(two)


def test_another_control_is_another_route():
    assert agreeing([performed("Documents/a.txt"), performed("Documents/b.txt", clicked="Close")], 2) == []


def test_another_result_does_not_agree():
    assert agreeing([performed("Documents/a.txt"), performed("Documents/b.txt", saved=False)], 2) == []


def test_a_third_performance_decides():
    good, stray, again = (
        performed("Documents/a.txt"),
        performed("Documents/b.txt", clicked="Close"),
        performed("Documents/b.txt", attempt=1),
    )
    assert agreeing([good, stray, again], 2) == [good, again]


def test_waiting_is_no_part_of_the_route():
    assert route(performed("Documents/a.txt", waits=True)) == route(performed("Documents/a.txt"))
