"""What is told in its place asks for the subtask and is read back, with all of its values or not at all."""

from offline.dependency_judge import infer
from offline.mistakes import MistakeSource
from offline.summarizer import summarize
from offline.telling.clauses import Graph
from offline.telling.phrasebook import Phrasebook
from offline.telling.placing import gathering, placed_in, told_later
from prompts.inputs import DependencyJudgeInput, NumberedSubtask, ResourceLink, SummarizerInput
from prompts.replies import DependencyJudgeReply
from resources.reading.catalog import load_applications, load_resource_categories

APPLICATIONS = load_applications()
BOOK = Phrasebook(APPLICATIONS, load_resource_categories())


def subtask(number: int, subtask_id: str, **parameters: str) -> NumberedSubtask:
    application, _, name = subtask_id.partition(".")
    entry = APPLICATIONS[application]
    example = next(item for item in entry.example_subtasks if item.name == name)
    return NumberedSubtask(
        number=number,
        application=entry.title,
        instruction=example.instruction_template.format(**parameters),
        subtask_id=subtask_id,
        parameters=parameters,
    )


def link(producer: int, consumer: int, category: str, value: str, kind: str = "file") -> ResourceLink:
    return ResourceLink(producer=producer, consumer=consumer, category=category, value=value, kind=kind)


SUBTASKS = (
    subtask(1, "trac.create_page", page_title="MondayMeeting", text="Please look at these in advance."),
    subtask(
        2,
        "sqlite_web.export_table_as_csv",
        table_name="customers",
        csv_path="Downloads/customers-export.csv",
    ),
    subtask(3, "supervisor.write_table", process="sales_export", csv_path="Documents/sales.csv"),
    subtask(
        4,
        "excalidraw.drawing_to_svg",
        drawing_path="Downloads/sketch.excalidraw",
        svg_path="Downloads/sketch.svg",
    ),
    subtask(5, "trac.attach_text", text_path="Documents/agenda.txt", page_title="MondayMeeting"),
    subtask(6, "trac.attach_csv", csv_path="Downloads/customers-export.csv", page_title="MondayMeeting"),
    subtask(7, "trac.attach_csv", csv_path="Documents/sales.csv", page_title="MondayMeeting"),
    subtask(8, "trac.attach_svg", svg_path="Downloads/sketch.svg", page_title="MondayMeeting"),
)
LINKS = (
    *(link(1, attached, "page_title", "MondayMeeting", "record") for attached in (5, 6, 7, 8)),
    link(2, 6, "csv_path", "Downloads/customers-export.csv"),
    link(3, 7, "csv_path", "Documents/sales.csv"),
    link(4, 8, "svg_path", "Downloads/sketch.svg"),
)
TEXT = (
    "Create a wiki page MondayMeeting in Trac with the text “Please look at these in advance.” Then attach the CSV export of"
    " the customers table from sqlite-web (Downloads/customers-export.csv), the March sales from a new run of the job"
    " sales_export in Supervisor (Documents/sales.csv) and the SVG export of Downloads/sketch.excalidraw from Excalidraw"
    " (Downloads/sketch.svg) to the page. Attach Documents/agenda.txt to the page, too."
)


def graph() -> Graph:
    return Graph({item.number: BOOK.teller(item) for item in SUBTASKS}, LINKS)


def read(text: str) -> DependencyJudgeReply:
    return infer(DependencyJudgeInput(instruction=text, subtasks=SUBTASKS), BOOK)


def test_what_goes_to_one_place_is_told_there_with_what_people_call_it() -> None:
    assert [number for number in range(1, 9) if gathering(graph(), number)] == [1]
    placed = placed_in(graph(), BOOK, {"Documents/sales.csv": "the March sales"})
    assert placed == {2: "", 3: "the March sales", 4: ""}


def test_a_name_that_would_break_a_list_is_not_used() -> None:
    placed = placed_in(graph(), BOOK, {"Documents/sales.csv": "the sales of March and April"})
    assert placed[3] == ""


def test_work_for_a_few_things_is_asked_for_with_a_verb() -> None:
    few = Graph(
        {item.number: BOOK.teller(item) for item in SUBTASKS if item.number != 8},
        [item for item in LINKS if item.consumer != 8],
    )
    assert placed_in(few, BOOK, {}) == {}
    asked = SummarizerInput(
        subtasks=tuple(item for item in SUBTASKS if item.number in (2, 6)),
        links=tuple(item for item in LINKS if item.producer == 2),
    )
    text = summarize(asked, 0, MistakeSource(0.0), BOOK)[0].instruction
    assert "export the customers table" in text.replace("Export", "export")
    assert "the CSV export of" not in text


def test_of_many_things_those_that_are_made_follow_with_their_making() -> None:
    assert told_later(graph()) == {6, 7, 8}
    three = [item for item in LINKS if item.consumer != 8]
    assert told_later(Graph({item.number: BOOK.teller(item) for item in SUBTASKS[:7]}, three)) == frozenset()
    asked = SummarizerInput(subtasks=SUBTASKS, links=LINKS)
    text = summarize(asked, 0, MistakeSource(0.0), BOOK)[0].instruction
    assert text.find("Documents/agenda.txt") < text.find("Downloads/sketch.svg")
    assert " to the page, too" in text


def test_every_subtask_that_is_told_in_its_place_is_read_with_its_dependencies() -> None:
    reply = read(TEXT)
    assert {(pair.before, pair.after) for pair in reply.dependencies} == {
        (item.producer, item.consumer) for item in LINKS
    }
    assert not reply.not_asked_for
    assert not reply.not_listed


def test_the_page_is_told_first_and_everything_else_in_the_list() -> None:
    asked = SummarizerInput(subtasks=SUBTASKS, links=LINKS)
    text = summarize(asked, 0, MistakeSource(0.0), BOOK)[0].instruction
    places = [text.find(words) for words in ("wiki page MondayMeeting", "attach", "sqlite-web", "Supervisor")]
    assert -1 not in places
    assert places[0] < min(places[1:])
    assert "from a new run of the job sales_export" in text
    assert not read(text).not_asked_for


def test_another_table_job_or_file_in_its_place_is_not_taken_for_it() -> None:
    for right, wrong, missing in (
        ("the customers table", "the orders table", 2),
        ("sales_export", "stock_export", 3),
        ("Downloads/sketch.excalidraw", "Downloads/map.excalidraw", 4),
    ):
        assert missing in read(TEXT.replace(right, wrong)).not_asked_for
