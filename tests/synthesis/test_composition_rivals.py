"""Instances that nobody would ask for beside each other are in no task together."""

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog import load_applications
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask
from tests.synthesis.test_composition_sense import (
    SENSE,
    consuming,
    copying,
    count,
    elsewhere,
    sets,
    with_words,
    written,
)
from tests.taskgraph.small_graphs import clipboard, file, node


def test_one_thing_is_not_put_into_two_of_a_kind() -> None:
    kinds = ("archive_path", "archive_path", "pdf_path")
    readers = [
        with_words(node(f"r{number}", inputs=(file("a.txt"),), outputs=(file(f"{number}", kind),)))
        for number, kind in enumerate(kinds)
    ]
    found = sets([written(), *readers], maximum_ends=3, maximum_readers=3)
    assert frozenset({"write", "r0", "r2"}) in found and frozenset({"write", "r1", "r2"}) in found
    assert not any({"r0", "r1"} <= subtasks for subtasks in found)


def test_one_thing_is_not_sent_twice_nor_taken_from_two_places() -> None:
    pack = node("pack", inputs=(file("a.txt"), file("b.csv")), outputs=(file("a.zip", "archive_path"),))
    store = node("store", inputs=(file("c.txt"), file("b.csv")), outputs=(file("c.zip", "archive_path"),))
    letters = [
        node(name, inputs=(what,), outputs=(file(name, "message"),))
        for name, what in (("plain", file("a.txt")), ("packed", file("a.zip", "archive_path")))
    ]
    makers = [written(), node("list", outputs=(file("b.csv"),)), node("other", outputs=(file("c.txt"),))]
    found = sets([*makers, pack, store, *letters], maximum_ends=3, maximum_readers=3)
    assert any({"pack", "packed"} <= names for names in found)
    assert not any({"pack", "store"} <= names or {"plain", "packed"} <= names for names in found)
    exports = [node(name, outputs=(file(path),)) for name, path in (("e", "D/b-export.csv"), ("f", "b.csv"))]
    page = node("page", outputs=(file("page", "directory_path"),))
    attach = [
        node(f"a{item.instance_id}", inputs=(item.outputs[0], page.outputs[0]), outputs=())
        for item in exports
    ]
    assert not any({"ae", "af"} <= names for names in sets([*exports, page, *attach], maximum_ends=3))


def test_what_was_copied_goes_into_two_places_at_most_and_into_one_file() -> None:
    def paste(number: int, *places: Resource) -> BoundSubtask:
        made = places or (file(f"n{number}", f"kind{number}"),)
        item = node(f"note{number}", inputs=(clipboard("a.txt"),), outputs=made)
        return with_words(item)

    def most(*notes: BoundSubtask) -> int:
        found = sets([written(), copying("copy", "a.txt"), *notes], maximum_ends=3, maximum_readers=3)
        return max(count(names, "note") for names in found)

    pages = [Resource(category=f"page{number}", kind=ResourceKind.RECORD, value="p") for number in range(3)]
    assert most(*(paste(number, page) for number, page in enumerate(pages))) == 2
    assert most(*(paste(number) for number in range(3))) == 1


def test_one_text_is_not_pasted_twice_into_what_becomes_one_file() -> None:
    def paste(name: str, into: str, made: str) -> BoundSubtask:
        return node(name, inputs=(file(into), clipboard("a.txt")), outputs=(file(made),))

    line = node("line", inputs=(file("c.odt"),), outputs=(file("d.odt"),))
    line = line.model_copy(update={"parameters": {"line": "Bring the agenda"}})
    start = [written(), copying("copy", "a.txt"), node("begin", outputs=(file("b.odt"),))]
    first, again, other = paste("first", "b.odt", "c.odt"), paste("again", "d.odt", "e.odt"), line
    found = sets([*start, first, other, again])
    assert frozenset({"write", "copy", "begin", "first", "line"}) in found
    assert not any({"first", "again"} <= names for names in found)


def test_files_go_to_one_place_in_one_application() -> None:
    def move(name: str, application: str) -> BoundSubtask:
        item = node(
            f"{application}_{name}",
            inputs=(file(f"{name}.txt"), file("f", "directory_path")),
            outputs=(file(f"f/{name}.txt"),),
        )
        return item.model_copy(update={"application": application, "consumed": item.inputs[:1]})

    pool = [
        node("folder", outputs=(file("f", "directory_path"),)),
        *(node(f"export_{name}", outputs=(file(f"{name}.txt"),)) for name in "ab"),
        *(move(name, application) for name in "ab" for application in ("one", "other")),
    ]
    found = sets(pool, maximum_ends=3, maximum_readers=3)
    assert any({"one_a", "one_b"} <= names for names in found)
    assert not any({"one_a", "other_b"} <= names for names in found)


def test_no_file_is_taken_as_it_was_before_what_it_is_of_is_written_anew() -> None:
    text, pdf = file("a.txt"), file("a.pdf", "pdf_path")
    write, mark = written(), node("mark", inputs=(pdf,), outputs=(file("b.pdf", "pdf_path"),))
    pack = node("pack", inputs=(file("b.pdf", "pdf_path"),), outputs=(file("b.zip", "archive_path"),))
    printing = node("print", inputs=(text,), outputs=(pdf,))
    result = compose(
        [write, mark, pack, printing],
        [],
        CompositionRequest(count=50, minimum_size=2, near_duplicate_share=1),
        fixtures={"": frozenset({text, pdf})},
        sense=SENSE,
    )
    found = {frozenset(item.subtask_id for item in task.graph.nodes) for task in result}
    assert {frozenset({"mark", "pack"}), frozenset({"write", "print", "mark"})} <= found
    assert not any({"write", "mark"} <= names and "print" not in names for names in found)


def test_what_one_subtask_takes_away_no_other_one_reads_beside_it() -> None:
    export = node("export", outputs=(file("a.txt"),))
    move = consuming(node("move", inputs=(file("a.txt"),), outputs=(file("b.txt"),)))
    attach = node("attach", inputs=(file("a.txt"),))
    read_moved = node("read_moved", inputs=(file("b.txt"),))
    found = sets([export, move, attach, read_moved])
    assert {frozenset({"export", "attach"}), frozenset({"export", "move", "read_moved"})} <= found
    assert not any({"move", "attach"} <= names for names in found)


def test_beside_a_new_version_in_another_format_nobody_goes_on_with_the_old_one() -> None:
    table = node("table", outputs=(file("a.csv", "csv_path"),))
    attach = node("attach", inputs=(file("a.csv", "csv_path"),))

    def from_table(name: str, category: str, **values: str) -> BoundSubtask:
        item = node(name, inputs=(file("a.csv", "csv_path"),), outputs=(file("b", category),))
        return item.model_copy(update={"parameters": {"path": "a.csv", "made": "b", **values}})

    longer = from_table("longer", "workbook_path", row="East")
    converted = from_table("converted", "workbook_path")
    counted = from_table("counted", "text_path", job="count")
    sense = Sense.of([], load_applications())
    assert not any({"longer", "attach"} <= names for names in sets([table, attach, longer], sense))
    assert frozenset({"table", "attach", "counted"}) in sets([table, attach, counted], sense)
    send = node("send", inputs=(file("b", "workbook_path"),))
    assert frozenset({"table", "attach", "converted", "send"}) in sets(
        [table, attach, converted, send], sense
    )


def test_nothing_is_only_put_into_another_format_or_together_beside_what_else_is_done_with_it() -> None:
    attach = node("attach", inputs=(file("a.txt"),))
    printing = node("print", inputs=(file("a.txt"),), outputs=(file("a.pdf", "pdf_path"),))
    pack = node("pack", inputs=(file("a.txt"), file("b.txt")), outputs=(file("a.zip", "archive_path"),))
    makers = [written(), node("other", outputs=(file("b.txt"),))]
    for idle, kind in ((printing, "pdf_path"), (pack, "archive_path")):
        alone = {"write", idle.subtask_id} | ({"other"} if idle is pack else set())
        send = node("send", inputs=(file(idle.outputs[0].value, kind),))
        found = sets([*makers, attach, idle, send], maximum_ends=3)
        assert alone in found and alone | {"attach"} not in found and alone | {"attach", "send"} in found


def test_what_an_application_wrote_it_does_not_save_again_under_another_name() -> None:
    longer = node("longer", inputs=(file("a.txt"),), outputs=(file("b.txt"),))
    assert sets([written(), longer]) == set()
    assert sets([written(), elsewhere(longer)]) == {frozenset({"write", "longer"})}
    paste = node("longer", inputs=(file("a.txt"), clipboard("c.txt")), outputs=(file("b.txt"),))
    copy = [node("other", outputs=(file("c.txt"),)), copying("copy", "c.txt")]
    assert {"write", "other", "copy", "longer"} in sets([written(), *copy, paste])


def test_what_was_written_is_copied_where_it_was_written() -> None:
    here, there = copying("here", "a.txt"), elsewhere(copying("there", "a.txt"))
    paste = with_words(node("paste", inputs=(clipboard("a.txt"),), outputs=(file("note", "page_title"),)))
    assert {"write", "there", "paste"} in sets([written(), there, paste])
    assert sets([written(), here, there, paste]) == {frozenset({"write", "here", "paste"})}


def test_nobody_is_written_to_twice() -> None:
    def letter(name: str, to: str) -> BoundSubtask:
        item = node(name, inputs=(file("a.txt"),), outputs=(file(name, "message"),))
        return item.model_copy(update={"parameters": {"recipient": to}})

    pool = [written(), letter("first", "tom@example.org"), letter("second", "tom@example.org")]
    assert not any({"first", "second"} <= names for names in sets(pool))
