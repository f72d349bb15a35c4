"""What documents say is compared however it is laid out, and found where it came from."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from taskloom.offline.conditions.conditions import Terms
from taskloom.offline.conditions.state import lasting_conditions
from taskloom.prompts.inputs import Performance
from taskloom.prompts.shown_effects import ShownEffects
from taskloom.synthesis.evaluation_functions.origins import origins
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState
from tests.evaluators_api.test_state_checks import ask
from tests.limits import work_within

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Not shown</title><style>p { color: red }</style></head>
<body><h1>Trip &amp; plan</h1>
<p id="a">Take the <b>night</b> train</p><script>let a = 1</script></body></html>
"""
SAID = "Trip & plan\nTake the night train\n"
WORDS = st.lists(st.text("abcdefg", min_size=1, max_size=6), min_size=1, max_size=8)


def file(path: str, text: str) -> FileState:
    kind = "pdf" if path.endswith(".pdf") else "text"
    return FileState(path=path, size=len(text), sha256=f"{path} {text}", text=text, content=kind)


def held(*files: FileState, copied: str | None = None) -> Evidence:
    return Evidence(step=0, files=files, clipboard=ClipboardState(text=copied))


START = held(file("a.html", PAGE), file("b.txt", "Take the night train\n"))


def says(text: str, source: str = "a.html") -> object:
    end = held(*START.files, file("a.pdf", text))
    return ask(end, "check_says_all", START, source=source, target="a.pdf")


def test_what_a_page_shows_is_what_its_printed_form_says() -> None:
    assert says(SAID)
    assert not says(SAID.strip() + "s")
    assert says("1 of 1\nTrip & plan\nTake the\nnight train\nfile://a.html\n")
    assert says("Trip & plan\n1/2\nTake the night train\n2/2")
    assert says("Take the night train", "b.txt")
    for other in (
        "",
        "Take the night train",
        "Take the night train\nTrip & plan",
        "Trip & plan\nTake a train",
        "A " + SAID,
    ):
        assert not says(other), other
    copied = held(*START.files, copied="Trip & plan\n\nTake the night train")
    assert ask(copied, "check_says_all", START, source="a.html", target="clipboard")
    assert not ask(START, "check_says_all", START, source="a.html", target="clipboard")
    assert not ask(START, "check_says_all", START, source="gone.html", target="a.html")


@given(WORDS, st.lists(st.sampled_from([" ", "\n", "  \n"]), min_size=8, max_size=8), WORDS)
def test_line_breaks_do_not_count_and_words_do(
    words: list[str], breaks: list[str], others: list[str]
) -> None:
    assume("".join(words) not in "".join(others))
    start = held(file("a.txt", " ".join(words)))
    printed = "".join(word + space for word, space in zip(words, breaks, strict=False))
    assert ask(held(file("a.pdf", printed)), "check_says_all", start, source="a.txt", target="a.pdf")
    other = held(file("a.pdf", " ".join(others)))
    assert not ask(other, "check_says_all", start, source="a.txt", target="a.pdf")


def test_of_tables_rows_and_of_projects_texts_stay_whole() -> None:
    project = (
        '{"project": {"name": "Trip"}, "tasks": [{"name": "Buy a map", "hours": "8"}, {"name": "Pack"}]}'
    )
    planned = file("a.planner", project).model_copy(update={"content": "project"})
    start = held(file("a.csv", 'item,amount\nRent,900\n"Food, fresh",350\n'), planned)
    for source, target, said, right in (
        ("a.csv", "a.pdf", "a.csv\nitem amount\nRent 900\nFood, fresh 350\nPage 1", True),
        ("a.csv", "a.pdf", "item amount\nRent 350\nFood, fresh 900\n", False),
        ("a.csv", "a.pdf", "item amount\nRent 900\n", False),
        ("a.csv", "a.pdf", "Rent 900\nFood, fresh 350\n", False),
        ("a.planner", "a.html", "<html><h1>Trip</h1><p>Pack<p>Buy a map</html>", True),
        ("a.planner", "a.html", "<html><h1>Trip</h1><p>Unpack<p>Buy a map</html>", False),
    ):
        end = held(*start.files, file(target, said))
        assert ask(end, "check_says_all", start, source=source, target=target) is right, said


def test_a_document_of_a_word_processor_is_its_text_without_marks() -> None:
    marked = f"# Trip plan\n- Take the train\n![]({'0' * 64})\n"
    document = file("a.odt", marked).model_copy(update={"content": "document"})
    start = held(document, file("a.txt", "Take the train\nand a map"))
    for target, said, right in (
        ("b.txt", "Trip plan\nTake the train", True),
        ("b.txt", "Trip plan", False),
        ("b.docx", marked, True),
    ):
        end = held(*start.files, file(target, said).model_copy(update={"content": "document"}))
        assert ask(end, "check_says_all", start, source="a.odt", target=target) is right
    for said, right in (("Take the train\nand a map\n", True), ("# Take the train\nand a map\n", False)):
        made = file("b.odt", said).model_copy(update={"content": "document", "sha256": "b"})
        end = held(*start.files, made)
        assert ask(end, "check_copied", start, source="a.txt", target="b.odt") is right
        assert ask(end, "check_says_all", start, source="a.txt", target="b.odt")


def test_a_line_of_a_document_that_begins_like_a_mark_is_printed_as_it_is() -> None:
    document = file("a.odt", "Trip\n# Plan\n- Take the train\n").model_copy(update={"content": "document"})
    start = held(document)
    for said, right in (("Trip\n# Plan\n- Take the train", True), ("Trip\nPlan", False)):
        end = held(document, file("a.pdf", said))
        assert ask(end, "check_says_all", start, source="a.odt", target="a.pdf") is right


def test_a_picture_stands_once_in_a_document() -> None:
    mark = f"![]({'5' * 64})\n"
    picture = file("a.png", "{}").model_copy(update={"content": "picture", "sha256": "5" * 64})
    for said, right in (("Take\n" + mark, True), ("Take\n", False), (mark + "Take\n" + mark, False)):
        made = file("b.odt", said).model_copy(update={"content": "document"})
        end = held(picture, made)
        assert ask(end, "check_copied", held(picture), source="a.png", target="b.odt", whole=False) is right


def test_a_file_that_is_no_text_holds_no_text() -> None:
    sound = file("a.wav", "").model_copy(update={"text": None, "content": "", "size": 9})
    end = held(sound)
    assert ask(end, "get_file_text", end, file_path="a.wav") == ""
    assert ask(end, "check_file_text", end, file_path="a.wav", text="") is False


def asked(end: Evidence, parameters: dict[str, str]) -> set[str]:
    found = origins(START, end, list(parameters.values()), set(parameters.values()))
    performance = Performance.model_construct(
        parameters=parameters, effects=ShownEffects(origins=found), instruction="Do it."
    )
    return {item.call.source() for item in lasting_conditions(Terms(performance))}


def test_where_a_laid_out_document_comes_from_is_found_and_asked_for() -> None:
    printed = held(*START.files, file("a.pdf", SAID))
    assert "check_says_all(source=old, target=new)" in asked(printed, {"old": "a.html", "new": "a.pdf"})
    copied = held(*START.files, copied=SAID)
    assert "check_says_all(source=old, target='clipboard')" in asked(copied, {"old": "a.html"})
    text = held(*START.files, file("c.txt", "Take the night train\n"))
    assert asked(text, {"old": "b.txt", "new": "c.txt"}) == {
        "check_copied(source=old, target=new, whole=True)"
    }, "of texts as they stand, copies say more"


def test_lines_that_look_alike_are_compared_within_seconds() -> None:
    start = held(file("b.txt", "a" * 30_000 + "b"))
    end = held(*start.files, file("a.pdf", "a\n" * 30_000))
    with work_within(5):
        assert not ask(end, "check_says_all", start, source="b.txt", target="a.pdf")


def test_a_table_that_was_copied_comes_from_the_file_that_says_all_of_it() -> None:
    start = held(file("t.csv", "region,amount\nNorth,120\nSouth,95\n"))
    for copied, kinds in (("region\tamount\nNorth\t120\nSouth\t95", ["said"]), ("region\tamount", [])):
        end = held(*start.files, copied=copied)
        assert [item.kind for item in origins(start, end, (), {"t.csv"})] == kinds
