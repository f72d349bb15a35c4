"""Every check is a pure function of evidence."""

import re
from functools import partial
from typing import Any

import pytest

from taskloom.evaluators_api.checks.declaration import Answer, Scene, checks
from taskloom.evaluators_api.errors import CheckMisusedError, CheckUnavailableError
from taskloom.evaluators_api.evidence.evidence_view import EvidenceView, view
from taskloom.evaluators_api.evidence.sandbox_paths import LONGEST_ARGUMENT
from taskloom.evaluators_api.reference import checks_reference, signature, type_stubs
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import Control, Rectangle, Screenshot

PLACE = Rectangle(left=0, top=0, right=9, bottom=9)
PAPER = {
    "check_mouse_clicks", "check_keyboard_types", "check_file_exists", "check_text_exists_via_ocr",
    "check_text_exists_via_control", "check_text_exists", "clipboard_contains_text", "clipboard_contains_image",  # noqa: E501
    "clipboard_contains_file", "get_clipboard_text", "get_clipboard_file_name",
}  # fmt: skip


class FixedReader:
    """Reads the same texts in every picture."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def read(self, screenshot: Screenshot) -> tuple[str, ...]:
        if not self.texts:
            raise CheckUnavailableError("nothing reads here")
        return self.texts


def typed(text: str, into: str = "Text", step: int = 1) -> InputEvent:
    return InputEvent(step=step, kind="text", text=text, control=ControlQuery(text=into, control_type="Edit"))


def key(name: str) -> InputEvent:
    return InputEvent(step=1, kind="key", text=name, control=ControlQuery(text="Text", control_type="Edit"))


def clicked(text: str, parent: str = "") -> InputEvent:
    return InputEvent(step=1, kind="click", control=ControlQuery(text=text, parent_text=parent), text="left")


def ask(
    evidence: Evidence, name: str, *arguments: object, reader: FixedReader | None = None, **named: object
) -> Answer:
    scene = Scene(EvidenceView(evidence), reader or FixedReader(), EvidenceView(evidence))
    return checks()[name].ask(scene, arguments, named)[1]


EVIDENCE = Evidence(
    step=3,
    inputs=(clicked("&Save"), clicked("", parent="Toolbar menu")),
    controls=(
        Control(label="1", text="Title", control_type="Edit", value="Plan B", rectangle=PLACE),
        Control(label="2", text="Empty", control_type="Edit", value="", rectangle=PLACE),
        Control(label="3", text="Dark mode", control_type="CheckBox", checked=False, rectangle=PLACE),
        Control(
            label="4", text="Your note was saved in the folder of Ann", control_type="Text", rectangle=PLACE
        ),
    ),
    text_under_cursor="Export",
    clipboard=ClipboardState(text="Rent,900", file_name="budget.csv"),
    files=(
        FileState(path="Documents/budget.csv", size=1, sha256="0" * 64, text="Rent,900\n"),
        FileState(path="Documents/deep/er/x.bin", size=1, sha256="1" * 64),
        FileState(
            path="state/notes.db", size=1, sha256="2" * 64, text="INSERT INTO notes VALUES('Ann''s list');"
        ),
    ),
    directories=("Documents", "Empty folder"),
    active_application="notes",
    window_title="budget.csv - Notes - Draft",
    url="http://localhost/notes/7?edit=%2Fmy%20notes%2Fcaf%C3%A9#plan",
)
WITH_IMAGE = EVIDENCE.model_copy(update={"clipboard": ClipboardState(image_sha256="a" * 64)})


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("check_mouse_clicks", ("Save",), True),
        ("check_mouse_clicks", ("Toolbar menu",), True),
        ("check_mouse_clicks", ("Save As",), False),
        ("check_mouse_clicks", ("",), False),
        ("check_file_exists", ("Documents/budget.csv",), True),
        ("check_file_exists", ("~/Documents/budget.csv",), True),
        ("check_file_exists", ("/home/user/Documents/budget.csv",), True),
        ("check_file_exists", ("C:\\Users\\user\\documents\\Budget.csv",), True),
        ("check_file_exists", ("file:///home/user/Documents/budget.csv",), True),
        ("check_file_exists", ("documents/Budget.csv",), False),
        ("check_file_exists", ("Documents",), False),
        ("check_file_exists", ("/etc/passwd",), False),
        ("check_file_exists", ("../Documents/budget.csv",), False),
        ("check_file_missing", ("Documents/other.csv",), True),
        ("check_file_missing", ("Documents/budget.csv",), False),
        ("check_file_missing", ("Documents",), False),
        ("check_file_missing", ("/etc/nothing",), False),
        ("check_directory_exists", ("Documents",), True),
        ("check_directory_exists", ("Documents/deep/er",), True),
        ("check_directory_exists", ("Empty folder/",), True),
        ("check_directory_exists", ("Documents/budget.csv",), False),
        ("check_file_contains", ("Documents/budget.csv", "rent,900"), True),
        ("check_file_contains", ("Documents/budget.csv", "90"), False),
        ("check_any_file_contains", ("Ann's list",), True),
        ("check_any_file_contains", ("Ann's list", "Documents"), False),
        ("check_any_file_contains", ("Ann's list", "state"), True),
        ("check_any_file_contains", ("",), False),
        ("check_file_count", ("Documents", 1), True),
        ("check_file_count", ("Documents", 2), False),
        ("check_file_count", ("Empty folder", 0), True),
        ("check_file_count", ("No folder", 0), False),
        ("clipboard_contains_text", ("rent,900",), True),
        ("clipboard_contains_text", ("rent",), False),
        ("clipboard_contains_image", (), False),
        ("clipboard_contains_file", ("Documents/budget.csv",), True),
        ("clipboard_contains_file", ("other.csv",), False),
        ("get_clipboard_text", (), "Rent,900"),
        ("get_clipboard_file_name", (), "budget.csv"),
        ("check_text_exists_via_control", ("Plan B",), True),
        ("check_text_exists_via_control", ("Plan",), False),
        ("check_text_exists_via_control", ("note was saved",), True),
        ("check_control_value", ("Title", "plan b"), True),
        ("check_control_value", ("Title", "plan"), False),
        ("check_control_value", ("Empty", ""), True),
        ("check_control_value", ("Title", ""), False),
        ("check_control_value", ("Nowhere", ""), False),
        ("check_control_checked", ("Dark mode",), False),
        ("check_control_checked", ("Dark mode", False), True),
        ("check_control_checked", ("Title", False), False),
        ("check_text_under_cursor", ("export",), True),
        ("check_text_under_cursor", ("",), False),
        ("check_window", ("budget.csv",), True),
        ("check_window", ("Notes",), True),
        ("check_window", ("budget.csv - Notes - Draft",), True),
        ("check_window", ("budget",), False),
        ("check_window", ("/notes/7",), True),
        ("check_window", ("#plan",), True),
        ("check_window", ("/note",), False),
        ("check_window", ("/my notes/caf\u00e9",), True),
        ("check_window", ("",), False),
    ],
)  # fmt: skip
def test_check_answers(name: str, arguments: tuple[object, ...], expected: bool | str) -> None:
    assert ask(EVIDENCE, name, *arguments) == expected


def test_an_empty_clipboard_holds_nothing() -> None:
    empty = Evidence(step=0)
    assert ask(empty, "get_clipboard_text") == "" == ask(empty, "get_clipboard_file_name")
    assert ask(empty, "clipboard_contains_text", "x") is ask(empty, "clipboard_contains_file", "x") is False
    assert ask(WITH_IMAGE, "clipboard_contains_image") is True


@pytest.mark.parametrize(
    ("events", "text", "expected"),
    [
        ((typed("Hel"), typed("lo")), "Hello", True),
        ((typed("Hello"), typed("World", into="Other")), "HelloWorld", False),
        ((typed("one"), key("enter"), typed("two")), "one\ntwo", True),
        ((typed("one"), key("enter"), typed("two")), "two", True),
        ((typed("Hel"), key("backspace"), typed("lo")), "Hello", False),
        ((typed("Helx"), key("backspace"), typed("lo")), "Hello", True),
        ((typed("old"), key("ctrl+a"), typed("new")), "oldnew", False),
        ((typed("old"), clicked("Save"), typed("new")), "oldnew", False),
        ((typed("a"), key("space"), typed("b")), "a b", True),
        ((key("ctrl+s"),), "Ctrl+S", True),
        ((key("enter"),), "{ENTER}", True),
        ((typed("Buy milk"),), "milk", False),
        ((typed("Please buy some milk and bread tomorrow"),), "milk and bread", True),
        ((), "", False),
        ((typed("x"),), "", False),
    ],
)
def test_typed_text_is_what_was_typed_in_one_go(
    events: tuple[InputEvent, ...], text: str, expected: bool
) -> None:
    assert ask(Evidence(step=1, inputs=events), "check_keyboard_types", text) is expected


def test_pictures_are_read_only_when_controls_do_not_answer() -> None:
    painted = EVIDENCE.model_copy(update={"screenshot": Screenshot(sha256="e" * 64)})
    assert ask(painted, "check_text_exists", "Plan B") is True
    with pytest.raises(CheckUnavailableError):
        ask(painted, "check_text_exists", "Painted words")
    reader = FixedReader("Painted words", "Save As")
    assert ask(painted, "check_text_exists", "painted words", reader=reader) is True
    assert ask(painted, "check_text_exists_via_ocr", "Plan B", reader=reader) is False
    assert ask(painted, "check_text_exists_via_ocr", "Save", reader=reader) is False
    assert ask(EVIDENCE, "check_text_exists_via_ocr", "anything") is False, "no picture, nothing in it"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((1,), {}),
        ((), {}),
        (("a", "b"), {}),
        (("a",), {"file_path": "a"}),
        ((), {"path": "a"}),
        (("a" * (LONGEST_ARGUMENT + 1),), {}),
        ((None,), {}),
        ((True,), {}),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[object, ...], named: dict[str, Any]) -> None:
    with pytest.raises(CheckMisusedError, match="check_file_exists"):
        ask(EVIDENCE, "check_file_exists", *arguments, **named)


def test_the_eleven_of_the_paper_come_first_and_the_rest_is_marked() -> None:
    in_paper = [item.name for item in checks().values() if item.in_paper]
    assert set(in_paper) == PAPER and list(checks())[:11] == in_paper
    reference = checks_reference()
    beyond = reference.index("beyond the paper")
    for item in checks().values():
        assert (reference.index(f"def {item.name}(") < beyond) == item.in_paper
    assert {item.name for item in checks().values() if item.reads_route} == {
        "check_mouse_clicks",
        "check_keyboard_types",
    }


def test_the_reference_and_the_stubs_follow_the_code() -> None:
    reference, stubs = checks_reference(), type_stubs()
    for item in checks().values():
        assert signature(item) in reference
        assert f"{signature(item)}: ..." in stubs
        assert "scene" not in signature(item)
    compile(stubs, "stubs", "exec")


@pytest.mark.parametrize("name", checks())
def test_the_example_in_every_docstring_is_a_call_that_works(name: str) -> None:
    match = re.search(r"Example:\n\s+((?:\S.*\n?\s*)+)", checks()[name].function.__doc__ or "")
    assert match
    doors = {door: partial(ask, EVIDENCE, door) for door in checks()}
    assert eval(f"({match.group(1)})", doors) in (True, False)


def test_views_are_shared_by_identity() -> None:
    assert view(EVIDENCE) is view(EVIDENCE)
    assert view(EVIDENCE) is not view(EVIDENCE.model_copy())
