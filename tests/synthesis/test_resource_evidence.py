from collections.abc import Sequence
from typing import Any

import pytest

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.synthesis.cross_verification.resource_evidence import contradictions
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import Control, Rectangle
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory


def file(path: str, text: str = "x") -> FileState:
    return FileState(path=path, size=len(text), sha256=f"{len(text):064d}", text=text)


def on_screen(text: str) -> Control:
    return Control(
        label="1", text=text, control_type="Text", rectangle=Rectangle(left=0, top=0, right=9, bottom=9)
    )


def a_file(path: str) -> Resource:
    return Resource(category="text_path", kind=ResourceKind.FILE, value=path)


CLIPBOARD = Resource(category="text_in_clipboard", kind=ResourceKind.CLIPBOARD)
IMAGE = Resource(category="image_in_clipboard", kind=ResourceKind.CLIPBOARD)
NOTE = Resource(category="note_title", kind=ResourceKind.RECORD, application="notes", value="Groceries")
OLD, NEW = a_file("Documents/old.txt"), a_file("Documents/new.txt")


INSTANCE = BoundSubtask(
    instance_id="notes.do:1",
    subtask_id="notes.do",
    application="notes",
    application_category="Note Management",
    instruction="Do.",
)


def found(
    before: Evidence,
    after: Evidence,
    *,
    inputs: Sequence[Resource] = (),
    outputs: Sequence[Resource] = (),
    consumed: Sequence[Resource] = (),
    parameters: dict[str, str] | None = None,
) -> list[str]:
    instance = INSTANCE.model_copy(
        update={
            "parameters": parameters or {},
            "inputs": (*inputs, *consumed),
            "outputs": tuple(outputs),
            "consumed": tuple(consumed),
        }
    )
    trajectory = Trajectory.model_construct(initial_evidence=before, steps=(Ended(after),))  # type: ignore[call-arg, arg-type]
    return contradictions(instance, trajectory)


class Ended:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence


NOTHING = Evidence(step=0)
WITH_OLD = Evidence(step=0, files=(file("Documents/old.txt"),))
WITH_BOTH = Evidence(step=3, files=(file("Documents/new.txt"), file("Documents/old.txt")))


def test_declarations_that_hold_are_not_contradicted() -> None:
    assert (
        found(WITH_OLD, WITH_BOTH, inputs=[OLD], outputs=[NEW], parameters={"text_path": "Documents/old.txt"})
        == []
    )
    gone = Evidence(step=3, files=(file("Documents/new.txt"),))
    assert found(WITH_OLD, gone, consumed=[OLD], outputs=[NEW]) == []
    copied = NOTHING.model_copy(update={"clipboard": ClipboardState(text="hello")})
    assert found(NOTHING, copied, outputs=[CLIPBOARD]) == []
    shown = NOTHING.model_copy(update={"controls": (on_screen("The note Groceries"),)})
    assert found(NOTHING, shown, outputs=[NOTE]) == []
    logged = Evidence(step=3, files=(file("Logs/job.log"), file("state.db")))
    assert found(NOTHING, logged) == [], "outside of people's folders applications keep their own"


@pytest.mark.parametrize(
    ("before", "after", "declared", "said"),
    [
        (NOTHING, NOTHING, {"inputs": [OLD]}, "did not exist before"),
        (WITH_OLD, NOTHING, {"inputs": [OLD]}, "it is consumed"),
        (WITH_OLD, WITH_OLD, {"consumed": [OLD]}, "still exists afterwards"),
        (WITH_OLD, WITH_OLD, {"outputs": [NEW], "inputs": [OLD]}, "does not exist afterwards"),
        (WITH_OLD, WITH_OLD, {"outputs": [OLD]}, "did not change"),
        (WITH_OLD, WITH_BOTH, {"inputs": [OLD]}, "writes 'Documents/new.txt' without declaring it"),
        (WITH_OLD, NOTHING, {}, "removes 'Documents/old.txt' without declaring it"),
        (WITH_OLD, WITH_OLD, {"parameters": {"text_path": "Documents/old.txt"}}, "names the existing file"),
        (NOTHING, NOTHING, {"inputs": [NOTE]}, "knew nothing before"),
        (NOTHING, NOTHING, {"outputs": [NOTE]}, "knows nothing afterwards"),
        (NOTHING, NOTHING, {"inputs": [CLIPBOARD]}, "the clipboard did not hold that before"),
        (NOTHING, NOTHING, {"outputs": [CLIPBOARD]}, "the clipboard does not hold that afterwards"),
    ],
)
def test_each_contradiction_is_said(
    before: Evidence, after: Evidence, declared: dict[str, Any], said: str
) -> None:
    assert any(said in problem for problem in found(before, after, **declared))


def test_an_undeclared_change_of_the_clipboard_is_said() -> None:
    copied = NOTHING.model_copy(update={"clipboard": ClipboardState(text="hello")})
    assert found(NOTHING, copied) == ["changes the clipboard without declaring it as an output"]


def test_text_is_no_image() -> None:
    copied = NOTHING.model_copy(update={"clipboard": ClipboardState(text="hello")})
    assert any("does not hold that" in item for item in found(NOTHING, copied, outputs=[IMAGE]))


@pytest.mark.parametrize(
    ("changed", "arrived"),
    [
        ({"files": (file("Documents/new.txt", "Say HELLO"),)}, True),
        ({"files": (FileState(path="Documents/new.bin", size=1, sha256="0" * 64),)}, True),
        ({"files": (file("Documents/new.png", "{}").model_copy(update={"content": "picture"}),)}, True),
        ({"controls": (on_screen("hello there"),)}, True),
        ({"files": (file("Documents/new.txt", "Something else"),)}, False),
        ({}, False),
    ],
)
def test_what_the_clipboard_held_must_be_in_something_that_changed(
    changed: dict[str, Any], arrived: bool
) -> None:
    given = Evidence(step=0, clipboard=ClipboardState(text="say hello"), files=(file("hello.txt", "hello"),))
    files = (*given.files, *changed.get("files", ()))
    after = given.model_copy(update={**changed, "files": files})
    said = [item for item in found(given, after, inputs=[CLIPBOARD]) if "in nothing that changed" in item]
    assert bool(said) is not arrived


def test_pasting_what_was_there_before_needs_a_declared_input() -> None:
    given = NOTHING.model_copy(update={"clipboard": ClipboardState(text="hello")})
    pasted = {"inputs": (InputEvent(step=1, kind="key", text="ctrl+v"),)}
    said = "pastes what was in the clipboard before without declaring it as an input"
    assert found(given, given.model_copy(update=pasted)) == [said]
    assert found(NOTHING, NOTHING.model_copy(update=pasted)) == []


def test_pasting_what_was_copied_needs_none_whatever_the_control_was_called() -> None:
    given = Evidence(step=0, clipboard=ClipboardState(text="hello"))
    taken = given.model_copy(update={"clipboard": ClipboardState(text="own")})
    end = taken.model_copy(update={"inputs": (InputEvent(step=2, kind="key", text="ctrl+v"),)})
    steps = (Ended(taken), Ended(end))
    done = Trajectory.model_construct(initial_evidence=given, steps=steps)  # type: ignore[call-arg, arg-type]
    assert "pastes" not in " ".join(contradictions(INSTANCE, done))


def test_folders_on_the_way_to_a_declared_file_need_no_declaration() -> None:
    deep = a_file("Documents/archive/new.txt")
    after = Evidence(step=1, files=(file("Documents/archive/new.txt"),), directories=("Documents/archive",))
    assert found(NOTHING, after, outputs=[deep]) == []


def test_what_applications_keep_for_themselves_needs_no_declaration() -> None:
    after = Evidence(step=1, files=(file(".applications/notes/cache.db"),))
    assert found(NOTHING, after) == []
