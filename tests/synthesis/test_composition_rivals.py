"""Instances that nobody would ask for beside each other are in no task together."""

from taskloom.resources.reading.catalog import load_applications
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask
from tests.synthesis.test_composition_sense import SENSE, consuming, copying, count, sets, written
from tests.taskgraph.small_graphs import clipboard, file, node


def test_one_thing_is_not_put_into_two_of_a_kind() -> None:
    kinds = ("archive_path", "archive_path", "pdf_path")
    readers = [
        node(f"r{number}", inputs=(file("a.txt"),), outputs=(file(f"{number}", kind),))
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
    def paste(number: int, **values: str) -> BoundSubtask:
        made = file(f"n{number}", f"kind{number}")
        item = node(f"note{number}", inputs=(clipboard("a.txt"),), outputs=(made,))
        return item.model_copy(update={"parameters": values})

    def most(*notes: BoundSubtask) -> int:
        found = sets([written(), copying("copy", "a.txt"), *notes], maximum_ends=3, maximum_readers=3)
        return max(count(names, "note") for names in found)

    assert most(*(paste(number, title="Words to it") for number in range(3))) == 2
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
    for beside in (converted, counted):
        assert frozenset({"table", "attach", beside.subtask_id}) in sets([table, attach, beside], sense)
