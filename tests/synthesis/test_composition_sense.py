"""What nobody would ask for together is in no task."""

from taskloom.resources.applications import ResourceDeclaration
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.worlds import load_world
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.task import EndProduct, Intent
from tests.synthesis.compositions import composed
from tests.taskgraph.small_graphs import clipboard, file, node

SENSE = Sense(fresh={"write": ("path",)}, useless_for={"copy": ("whiteboard",)})


def sets(nodes: list[BoundSubtask], sense: Sense | None = SENSE, **wishes: int) -> set[frozenset[str]]:
    result = compose(
        nodes,
        [Intent(intent_id="i", text="", subtask_ids=tuple(item.subtask_id for item in nodes))],
        CompositionRequest(count=50, minimum_size=2, near_duplicate_share=1, **wishes),
        fixtures={},
        sense=sense,
    )
    return {frozenset(item.subtask_id for item in task.graph.nodes) for task in result}


def written(path: str = "a.txt") -> BoundSubtask:
    return node("write", outputs=(file(path),)).model_copy(update={"parameters": {"path": path}})


def consuming(item: BoundSubtask) -> BoundSubtask:
    return item.model_copy(update={"consumed": item.inputs})


def elsewhere(item: BoundSubtask) -> BoundSubtask:
    return item.model_copy(update={"application": "elsewhere"})


def with_words(item: BoundSubtask) -> BoundSubtask:
    """A subtask that adds words of its own, different ones for each."""
    return item.model_copy(update={"parameters": {"words": f"Words of {item.subtask_id}"}})


def test_what_was_just_made_is_neither_deleted_nor_renamed() -> None:
    delete = consuming(node("delete", inputs=(file("a.txt"),)))
    rename = consuming(node("rename", inputs=(file("a.txt"),), outputs=(file("b.txt"),)))
    assert sets([written(), delete, rename]) == set()
    folder = node("folder", outputs=(file("f", "directory_path"),))
    move = node("move", inputs=(file("a.txt"), file("f", "directory_path")), outputs=(file("f/a.txt"),))
    assert sets([written(), folder, move.model_copy(update={"consumed": move.inputs[:1]})]) == set()
    assert frozenset({"write", "rename"}) in sets([written(), delete, rename], None)


def test_what_is_made_only_to_be_deleted_is_said_to_be_that() -> None:
    make, delete = written(), consuming(node("delete", inputs=(file("a.txt"),)))
    wanted = Intent(
        intent_id="i",
        text="",
        subtask_ids=("write", "delete"),
        end_products=(EndProduct(instance_id=delete.instance_id),),
    )
    request = CompositionRequest(count=5, minimum_size=2)
    composition = compose([make, delete], [wanted], request, fixtures={}, sense=SENSE)
    assert not list(composition)
    account = composition.account
    (missing,) = account.not_composed
    assert "'a.txt' that `write` makes, but nobody asks for both" in missing.reason
    (link,) = account.missing_links
    assert link.advice.startswith("Nobody reads") and "leaves it there" in link.advice


def test_a_task_is_for_one_occasion() -> None:
    office = Sense(worlds={"": load_world("")})
    agenda, budget, stock = (
        file(f"Documents/{name}") for name in ("agenda.txt", "budget.csv", "inventory.csv")
    )
    neutral = file("Documents/other.txt")
    make = node("make", outputs=(agenda,))
    assert sets(
        [
            make,
            node("pack", inputs=(agenda, budget), outputs=(file("a.zip"),)),
            node("list", outputs=(budget,)),
        ],
        office,
    )
    pack = node("pack", inputs=(agenda, stock), outputs=(file("a.zip"),))
    assert sets([make, pack, node("list", outputs=(stock,))], office) == set()
    assert sets([make, pack, node("list", outputs=(stock,))], SENSE)
    pass_on = node("pass_on", inputs=(agenda,), outputs=(neutral,))
    collect = node("collect", inputs=(neutral, stock), outputs=(file("b.zip"),))
    nodes = [make, pass_on, collect, node("list", outputs=(stock,))]
    assert sets(nodes, office) == {frozenset({"make", "pass_on"})}


def test_nothing_is_turned_back_into_what_it_was_made_of() -> None:
    pack = node("pack", inputs=(file("a.txt"),), outputs=(file("a.zip", "archive_path"),))
    unpack = node("unpack", inputs=(file("a.zip", "archive_path"),), outputs=(file("b/a.txt"),))
    assert sets([written(), pack, unpack]) == {frozenset({"write", "pack"})}
    named = unpack.model_copy(
        update={"parameters": {"archive_path": "a.zip", "made": "b/a.txt", "with": "a word"}}
    )
    assert frozenset({"write", "pack", "unpack"}) in sets([written(), pack, named])


def copying(name: str, of: str) -> BoundSubtask:
    return node(name, inputs=(file(of),), outputs=(clipboard(of),))


def test_a_copied_text_does_not_come_back_to_the_form_or_the_clipboard_it_came_from() -> None:
    copy, odt = copying("copy", "a.txt"), file("b.odt", "document_path")
    paste = node("paste", inputs=(clipboard("a.txt"),), outputs=(odt,))
    plain = node("plain", inputs=(odt,), outputs=(file("b.txt"),))
    signed = plain.model_copy(update={"parameters": {"words": "with best wishes"}})
    text = written()
    assert sets([text, copy, paste, plain]) == {frozenset({"write", "copy", "paste"})}
    assert frozenset({"write", "copy", "paste", "plain"}) in sets([text, copy, paste, signed])
    same = node("same", inputs=(clipboard("a.txt"),), outputs=(file("b.txt"),))
    twice = copying("twice", "b.txt"), node("last", inputs=(clipboard("b.txt"),), outputs=(file("l"),))
    assert sets([text, copy, same, *twice]) == {frozenset({"write", "copy", "same"})}
    joined = node("joined", inputs=(file("c.txt"), clipboard("a.txt")), outputs=(file("b.txt"),))
    again, note = copying("again", "b.txt"), node("note", inputs=(clipboard("b.txt"),), outputs=(file("n"),))
    other = node("other", outputs=(file("c.txt"),))
    found = sets([text, copy, other, joined, again, note])
    assert frozenset({"write", "other", "copy", "joined", "again", "note"}) in found


def test_a_document_saved_in_another_format_is_not_put_back_into_the_first() -> None:
    word = node("word", inputs=(file("a.odt"),), outputs=(file("a.docx"),))
    append = node("append", inputs=(file("a.docx"), clipboard("c.txt")), outputs=(file("b.odt"),))
    end = append.model_copy(update={"outputs": (file("b.docx"),)})
    nodes = [written("c.txt"), node("begin", outputs=(file("a.odt"),)), word, copying("copy", "c.txt")]
    assert not any({"word", "append"} <= names for names in sets([*nodes, append]))
    assert any({"word", "append"} <= names for names in sets([*nodes, end]))


def test_a_text_is_not_pasted_into_another_form_of_itself() -> None:
    copy = node("copy", inputs=(file("Documents/plan.txt"),), outputs=(clipboard("Documents/plan.txt"),))
    text = node("write", outputs=(file("Documents/plan.txt"),))

    def pasting(name: str) -> BoundSubtask:
        pdf = file(f"Documents/{name}.pdf", "pdf_path")
        return node(
            "paste", inputs=(clipboard("Documents/plan.txt"), pdf), outputs=(file("out.pdf", "pdf_path"),)
        )

    def pool(name: str) -> list[BoundSubtask]:
        return [
            text,
            copy,
            pasting(name),
            node("print", outputs=(file(f"Documents/{name}.pdf", "pdf_path"),)),
        ]

    assert sets(pool("plan")) == set()
    assert frozenset({"write", "copy", "paste", "print"}) in sets(pool("agenda"))


def test_a_file_is_not_put_together_with_what_was_made_from_it() -> None:
    extend = elsewhere(node("extend", inputs=(file("a.txt"),), outputs=(file("b.txt"),)))
    join = node("join", inputs=(file("a.txt"), file("b.txt")), outputs=(file("a.zip", "archive_path"),))
    assert sets([written(), extend, join]) == {frozenset({"write", "extend"})}
    apart = node("join", inputs=(file("b.txt"), file("c.txt")), outputs=(file("a.zip", "archive_path"),))
    other = node("other", outputs=(file("c.txt"),))
    assert frozenset({"write", "extend", "join", "other"}) in sets([written(), extend, apart, other])


def test_a_text_is_not_added_to_what_it_was_made_from_by_way_of_other_files() -> None:
    extend = node("extend", inputs=(file("plan.odt"),), outputs=(file("full.odt"),))
    copy = node("copy", inputs=(file("full.odt"),), outputs=(clipboard("full.odt"),))

    def pool(name: str) -> list[BoundSubtask]:
        write = node("write", outputs=(file("plan.odt"),))
        other = node("other", outputs=(file(name),))
        paste = node("paste", inputs=(clipboard("full.odt"), file(name)), outputs=(file("long.txt"),))
        return [write, extend, copy, other, paste]

    assert frozenset({"write", "extend", "copy", "other", "paste"}) in sets(pool("notes.txt"))
    assert sets(pool("plan.txt")) == {frozenset({"write", "extend"})}


def test_a_file_is_not_put_into_one_format_after_the_other() -> None:
    word = elsewhere(node("word", inputs=(file("a.txt"),), outputs=(file("a.docx"),)))
    plain = node("plain", inputs=(file("a.docx"),), outputs=(file("b.odt"),))
    capitals = node("capitals", inputs=(file("a.docx"),), outputs=(file("big.docx"),))
    assert frozenset({"write", "word", "plain"}) not in sets([written(), word, plain])
    assert frozenset({"write", "word", "capitals"}) in sets([written(), word, capitals])


def test_what_was_seen_not_to_work_is_not_linked() -> None:
    read = elsewhere(node("read", inputs=(file("a.txt"),), outputs=(file("r"),)))
    assert sets([written(), read]) == {frozenset({"write", "read"})}
    assert sets([written(), read], Sense(clashes=frozenset({("write", "read")}))) == set()
    assert sets([written(), read], Sense(clashes=frozenset({("read", "write")})))


def test_a_further_version_of_a_subtask_is_known_by_the_catalogue_too() -> None:
    applications = load_applications()
    application = applications["tiddlywiki"]
    example = next(item for item in application.example_subtasks if item.useless_for)
    first = Subtask.of(example.template, application, origin="curated")
    second = first.model_copy(update={"subtask_id": f"{first.subtask_id}_v2"})
    sense = Sense.of([second], applications)
    assert sense.useless_for[second.subtask_id] == sense.useless_for[first.subtask_id]
    filing = next(item for item in applications["thunar"].example_subtasks if any(item.subjects))
    former = Subtask.of(filing.template, applications["thunar"], origin="curated")
    latter = former.model_copy(update={"subtask_id": f"{former.subtask_id}_v2"})
    bound = [item.bind(filing.parameter_sets[0], load_resource_categories()) for item in (former, latter)]
    known = Sense.of([former, latter], applications)
    assert known.subject_of(bound[0]) == known.subject_of(bound[1]) == filing.subjects[0]
    flow, version = node("flow", outputs=(file("a.txt"),)), node("read_v2", inputs=(file("a.txt"),))
    assert Sense(useless_for={"flow": ("read",)}).is_lost_work(flow, version)
    assert not Sense(useless_for={"flow": ("other",)}).is_lost_work(flow, version)


def test_what_was_exported_under_a_given_name_may_be_moved() -> None:
    export = node("export", outputs=(file("a.txt"),)).model_copy(update={"parameters": {"path": "a.txt"}})
    move = consuming(node("move", inputs=(file("a.txt"),), outputs=(file("b.txt"),)))
    assert sets([export, move]) == {frozenset({"export", "move"})}


def test_a_product_is_not_taken_where_it_is_useless() -> None:
    copy = node("copy", outputs=(clipboard("a"),))
    wiki = node("wiki", inputs=(clipboard("a"),), outputs=(file("w"),), application="wiki")
    board = node("board", inputs=(clipboard("a"),), outputs=(file("b"),), application="whiteboard")
    assert sets([copy, wiki, board]) == {frozenset({"copy", "wiki"})}


def test_a_file_of_another_name_is_another_subject_and_a_moved_one_is_the_same() -> None:
    def copying(path: str) -> BoundSubtask:
        item = node(f"copy {path}", outputs=(clipboard("a"),))
        return item.model_copy(update={"subtask_id": "copy", "parameters": {"path": path}})

    page = node("page", outputs=(file("w"),), inputs=(clipboard("a"),))
    sense = Sense(
        subjects={"copy Documents/ideas.txt": "ideas", page.instance_id: "ideas"},
        subjects_by_file={("copy", ""): {"ideas.txt": "ideas", "agenda.txt": "agenda"}},
    )
    pasted = {
        path: not sense.is_lost_work(copying(path), page)
        for path in ("Documents/ideas.txt", "Archive/ideas.txt", "Archive/agenda.txt", "Archive/kiosk.txt")
    }
    assert list(pasted.values()) == [True, True, False, False]


def editing(subtask_id: str, *inputs: tuple[str, str], **values: str) -> Subtask:
    return Subtask(
        subtask_id=subtask_id,
        application="editor",
        application_category="Office",
        instruction_template=" ".join([subtask_id, *(f"{{{name}}}" for name in values)]),
        available_parameters=(values,),
        inputs=tuple(ResourceDeclaration(category=item, parameter=name) for item, name in inputs),
    )


def test_things_of_which_nothing_is_known_go_into_no_place_for_known_ones() -> None:
    text, folder = ("text_path", "path"), ("directory_path", "folder")
    filing = editing("file", text, folder, path="agenda.txt", folder="meetings")
    opening = editing("file", text, path="agenda.txt")
    sense = Sense(subjects_by_file={("file", "bakery-1"): {"agenda.txt": "agenda"}})
    assert not sense.accepts_other_inputs(filing)
    assert sense.accepts_other_inputs(opening) and Sense().accepts_other_inputs(filing)


def test_a_value_that_is_no_resource_belongs_to_the_file_of_its_example_unless_the_catalogue_frees_it() -> (
    None
):
    extend = editing("extend", ("text_path", "path"), path="agenda.txt", line="Bring the printed agenda")
    assert not Sense().accepts_other_inputs(extend)
    applications = load_applications()

    def example(title: str) -> Subtask:
        application = applications[title.partition(".")[0]]
        found = next(item for item in application.example_subtasks if title.endswith(f".{item.name}"))
        return Subtask.of(found.template, application, origin="curated")

    sense = Sense.of([], applications)
    bound = ["gnumeric.add_row", "gnumeric.sum_column", "trac.comment_on_ticket", "tiddlywiki.extend_note"]
    free = ["gnumeric.export_table", "sylpheed.draft_with_table", "trac.attach_csv"]
    assert [title for title in (*bound, *free) if sense.accepts_other_inputs(example(title))] == free


def test_one_product_has_a_bounded_number_of_readers_and_a_task_of_ends() -> None:
    readers = [
        with_words(node(f"read{number}", inputs=(file("a.txt"),), outputs=(file("a", f"kind_{number}"),)))
        for number in range(5)
    ]
    assert max(map(len, sets([written(), *readers], maximum_ends=5, maximum_readers=3))) == 4
    assert max(map(len, sets([written(), *readers], maximum_ends=2, maximum_readers=5))) == 3


def test_a_place_for_several_things_is_not_made_for_one() -> None:
    folder = node("folder", outputs=(file("lists", "directory_path"),))
    moves = [
        node(f"move{number}", inputs=(file(f"{number}.txt"), file("lists", "directory_path")))
        for number in range(2)
    ]
    there = {"": frozenset({file("0.txt"), file("1.txt")})}
    nodes = [folder, *moves]
    for sense, fewest in ((Sense(), 2), (Sense(gatherers=frozenset({"folder"})), 3)):
        request = CompositionRequest(count=20, near_duplicate_share=1, pattern_share=1, subtask_share=1)
        found = list(compose(nodes, [], request, fixtures=there, sense=sense))
        assert min(len(task.graph.nodes) for task in found) == fewest


def test_tasks_of_the_same_subtasks_are_bounded() -> None:
    nodes = [written(f"{number}.txt") for number in range(9)]
    nodes += [
        node("read", inputs=(file(f"{number}.txt"),), outputs=(file(f"r{number}"),)) for number in range(9)
    ]
    nodes = [
        item.model_copy(update={"instance_id": f"{item.subtask_id}:{number}"})
        for number, item in enumerate(nodes)
    ]
    intent = Intent(intent_id="i", text="", subtask_ids=("write", "read"))
    tasks, account = composed(
        (nodes, [intent], {}), count=20, minimum_size=2, maximum_size=2, pattern_share=0.1
    )
    assert len(tasks) == 5
    assert account.over_share > 0


def gathered(made: int, **wishes: int) -> set[frozenset[str]]:
    """Sets around a page to which five things can be attached, of which so many must be made first."""
    page = node("page", outputs=(file("page", "directory_path"),))
    attached = [
        node(f"attach{number}", inputs=(file(f"{number}.txt"), file("page", "directory_path")))
        for number in range(5)
    ]
    makers = [node(f"make{number}", outputs=(file(f"{number}.txt"),)) for number in range(made)]
    result = compose(
        [page, *attached, *makers],
        [],
        CompositionRequest(count=200, near_duplicate_share=1, pattern_share=1, subtask_share=1, **wishes),
        fixtures={"": frozenset(file(f"{number}.txt") for number in range(made, 5))},
        sense=Sense(gatherers=frozenset({"page"})),
    )
    found = {frozenset(item.subtask_id for item in task.graph.nodes) for task in result}
    return {one for one in found if "page" in one}


def count(names: frozenset[str], kind: str) -> int:
    return sum(name.startswith(kind) for name in names)


def test_things_that_go_to_one_place_count_as_one_end() -> None:
    assert {count(one, "attach") for one in gathered(0)} == {2, 3, 4, 5}


def test_a_subtask_can_stand_alone_and_not_beside_another_of_its_kind() -> None:
    flows = [
        node("flow", outputs=(file(f"{number}.txt"),)).model_copy(update={"instance_id": f"flow:{number}"})
        for number in range(2)
    ]
    read = node("read", inputs=(file("0.txt"), file("1.txt")), outputs=(file("r"),))
    look = node("look", inputs=(file("0.txt"),), outputs=(file("l"),))
    nodes = [*flows, read, look]
    assert frozenset({"flow", "read"}) in sets(nodes, Sense())
    assert sets(nodes, Sense(not_with={"flow": ("flow",)})) == {frozenset({"flow", "look"})}
