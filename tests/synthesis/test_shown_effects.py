"""What a writer is shown: records as wholes, origins of new content, counts, and what the screen shows
anew."""

from taskloom.evaluators_api.state.essential import divided
from taskloom.synthesis.evaluation_functions.shown_effects import shown_effects
from taskloom.taskgraph.records.evidence import ClipboardState
from tests.synthesis.recordings import click, control, file, recording, screen

SALES = "region,amount\nNorth,10\n"
NOTE = '{"title": "Groceries", "text": "Bread and milk", "tag": "home"}'
OTHER = '{"title": "Packing", "text": "A warm coat", "tag": "home"}'


def test_a_new_row_is_shown_as_a_whole() -> None:
    done = recording(
        "tables.add",
        {"region": "South"},
        [click("Save", files=(file("sales.csv", f"{SALES}South,20\n"),))],
        start={"files": (file("sales.csv", SALES),)},
    )
    shown = shown_effects(done, divided([done])[0])
    (record,) = shown.records
    assert (record.kind, record.fields) == ("added", {"region": "South", "amount": "20"})
    assert all(effect.area != "screen" for effect in shown.essential)


def test_a_pasted_text_comes_from_the_clipboard() -> None:
    done = recording(
        "notes.paste",
        {},
        [click("Save", files=(file("a.txt", "before\nSome words\n"),))],
        start={"clipboard": ClipboardState(text="Some words"), "files": (file("b.txt", "else"),)},
    )
    shown = shown_effects(done, divided([done])[0])
    assert [(item.kind, item.source, item.target) for item in shown.origins] == [
        ("part", "clipboard", "a.txt")
    ]


def test_fields_of_an_export_come_from_the_record_that_was_exported() -> None:
    done = recording(
        "notes.export",
        {"title": "Groceries"},
        [click("Save", files=(file("1.json", NOTE), file("2.json", OTHER), file("out/note.json", NOTE)))],
        start={"files": (file("1.json", NOTE), file("2.json", OTHER))},
    )
    shown = shown_effects(done, divided([done])[0])
    fields = {item.target_at: item.source for item in shown.origins if item.kind == "field"}
    assert fields == {"title": "1.json", "text": "1.json", "tag": "1.json"}


def test_texts_that_appear_and_vanish_are_told_apart() -> None:
    done = recording(
        "wiki.open",
        {},
        [click("New", controls=screen(control("Plans", "Heading")))],
        start={"controls": screen(control("Home", "Heading"))},
    )
    shown = shown_effects(done, divided([done])[0])
    assert (shown.appeared, shown.vanished) == (("Plans",), ("Home",))
