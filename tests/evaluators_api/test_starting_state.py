"""What an attempt needs must be there before anything is scored."""

from taskloom.evaluators_api.evidence.starting_state import missing_at_start
from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence
from tests.synthesis.recordings import control, file, screen

RUNNING = Evidence(step=0, controls=screen(), files=(file("Documents/a.txt", "hello"),))


def need(category: str, kind: ResourceKind, value: str = "") -> Resource:
    return Resource(category=category, kind=kind, value=value)


def test_what_is_there_is_not_missing() -> None:
    start = RUNNING.model_copy(update={"clipboard": ClipboardState(text="x")})
    needed = [
        need("text_path", ResourceKind.FILE, "Documents/a.txt"),
        need("note_title", ResourceKind.RECORD, "Hello"),
        need("text_in_clipboard", ResourceKind.CLIPBOARD),
        need("text_in_processing", ResourceKind.OPEN_DOCUMENT),
    ]
    assert missing_at_start(needed, start) == ()


def test_each_thing_that_lacks_is_named() -> None:
    needed = [
        need("text_path", ResourceKind.FILE, "Documents/b.txt"),
        need("note_title", ResourceKind.RECORD, "Plans"),
        need("image_in_clipboard", ResourceKind.CLIPBOARD),
    ]
    assert missing_at_start(needed, RUNNING) == (
        "text_path 'Documents/b.txt' does not exist",
        "the application knows nothing of note_title 'Plans'",
        "the clipboard holds no image_in_clipboard",
    )


def test_a_file_that_is_not_the_fixture_is_the_wrong_start() -> None:
    needed = [need("text_path", ResourceKind.FILE, "Documents/a.txt")]
    own = {"Documents/a.txt": RUNNING.files[0].sha256}

    assert missing_at_start(needed, RUNNING, own) == ()
    assert missing_at_start(needed, RUNNING, {"Documents/a.txt": "0" * 64}) == (
        "text_path 'Documents/a.txt' is another file than the fixture",
    )
    assert missing_at_start([], RUNNING, {"Documents/a.txt": "0" * 64}) == ()


def test_an_application_that_shows_nothing_is_not_running() -> None:
    bar = control("Back").model_copy(update={"application": "environment"})
    assert missing_at_start((), RUNNING.model_copy(update={"controls": (bar,)})) == (
        "the application shows nothing",
    )
