from synthesis.evaluation_functions.evidence_changes import observed_change
from taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskgraph.records.interaction import Control, Rectangle


def file(path: str, text: str) -> FileState:
    return FileState(path=path, size=len(text), sha256=f"{hash(text) & 0xFFFFFF:064x}", text=text)


def control(text: str, value: str = "", application: str = "notes") -> Control:
    place = Rectangle(left=0, top=0, right=1, bottom=1)
    return Control(
        label="1", text=text, value=value, control_type="Edit", rectangle=place, application=application
    )


def test_files_are_told_by_what_became_of_them():
    before = Evidence(step=0, files=(file("a.txt", "one\ntwo\n"), file("b.txt", "x")), directories=("old",))
    after = Evidence(
        step=1, files=(file("a.txt", "two\none\nthree\n"), file("c.txt", "y")), directories=("new",)
    )
    change = observed_change(before, after)
    assert (change.created_files, change.deleted_files, change.changed_files) == (
        ("c.txt",),
        ("b.txt",),
        ("a.txt",),
    )
    assert {item.path: (item.added_lines, item.removed_lines) for item in change.texts} == {
        "c.txt": (("y",), ()),
        "a.txt": (("three",), ()),
    }
    assert (change.created_directories, change.deleted_directories) == (("new",), ("old",))


def test_only_inputs_since_the_first_evidence_count():
    first = InputEvent(step=1, kind="text", text="before")
    second = InputEvent(step=2, kind="text", text="after")
    key = InputEvent(step=2, kind="key", text="ctrl+s")
    change = observed_change(Evidence(step=1, inputs=(first,)), Evidence(step=2, inputs=(first, second, key)))
    assert (change.typed, change.keys) == (("after",), ("ctrl+s",))


def test_screen_texts_come_from_the_page_and_from_fields():
    before = Evidence(step=0, controls=(control("Name"), control("Ready")))
    after = Evidence(
        step=1,
        controls=(control("Name", "Ada"), control("Saved"), control("Back", application="environment")),
    )
    change = observed_change(before, after)
    assert (change.appeared_texts, change.vanished_texts) == (("Ada", "Saved"), ("Ready",))


def test_files_that_hold_the_copied_text_are_named():
    after = Evidence(
        step=1,
        files=(file("a.txt", "hello there\n"), file("b.txt", "else")),
        clipboard=ClipboardState(text="hello there"),
    )
    assert observed_change(Evidence(step=0), after).clipboard_text_in == ("a.txt",)


def test_nothing_done_is_no_change():
    evidence = Evidence(
        step=0, files=(file("a.txt", "x"),), controls=(control("Name", "Ada"),), window_title="A"
    )
    assert observed_change(evidence, evidence).model_dump(exclude_defaults=True) == {}
