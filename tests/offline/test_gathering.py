"""Places that are made for several things: what is made for them is made first and goes by its name
afterwards."""

from collections.abc import Mapping

import pytest

from taskloom.offline.dependency_judge import infer
from taskloom.offline.mistakes import MistakeSource
from taskloom.offline.summarizer import summarize
from taskloom.offline.telling.clauses import Graph
from taskloom.offline.telling.phrasebook import Phrasebook
from taskloom.offline.telling.plans import goal_of
from taskloom.prompts.inputs import DependencyJudgeInput, NumberedSubtask, ResourceLink, SummarizerInput
from taskloom.prompts.replies import DependencyJudgeReply
from taskloom.resources.reading.catalog import load_applications, load_resource_categories

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
NAMES = {
    "Documents/sales.csv": "the March sales",
    "Documents/agenda.txt": "the agenda",
    "Downloads/sketch.excalidraw": "the stall sketch",
    "Downloads/sketch.svg": "the stall sketch",
}


def graph() -> Graph:
    return Graph({item.number: BOOK.teller(item) for item in SUBTASKS}, LINKS)


def told(names: Mapping[str, str] = NAMES) -> str:
    asked = SummarizerInput(subtasks=SUBTASKS, links=LINKS, called=names)
    return summarize(asked, 0, MistakeSource(0.0), BOOK)[0].instruction


def read(text: str) -> DependencyJudgeReply:
    return infer(DependencyJudgeInput(instruction=text, subtasks=SUBTASKS), BOOK)


def test_only_the_page_is_made_for_several_things() -> None:
    assert [number for number in range(1, 9) if graph().gathers(number)] == [1]


def test_what_goes_to_the_page_is_made_before_it_and_attached_in_one_list() -> None:
    text = told()
    places = [
        text.find(words) for words in ("customers table", "sales_export", "wiki page MondayMeeting", "ttach ")
    ]
    assert -1 not in places
    assert max(places[:2]) < places[2] < places[3]
    assert text.lower().count("attach ") == 1


def test_a_table_that_a_job_writes_goes_by_its_name_afterwards() -> None:
    text = told()
    assert "to write the March sales table (Documents/sales.csv)" in text
    assert text.count("Documents/sales.csv") == 1
    assert "the March sales table" in text.partition("ttach ")[2]


def test_a_product_without_a_name_goes_by_its_path() -> None:
    text = told({"Documents/agenda.txt": "the agenda"})
    assert "to write Documents/sales.csv" in text


def test_products_of_one_name_go_by_their_paths() -> None:
    names = NAMES | {"Documents/agenda.txt": "the March sales table"}
    assert "to write Documents/sales.csv" in told(names)


def test_everything_that_is_told_is_read_with_its_dependencies() -> None:
    reply = read(told())
    assert {(pair.before, pair.after) for pair in reply.dependencies} == {
        (item.producer, item.consumer) for item in LINKS
    }
    assert not reply.not_asked_for
    assert not reply.not_listed


@pytest.mark.parametrize(
    ("right", "wrong", "missing"),
    [
        ("the customers table", "the orders table", 2),
        ("sales_export", "stock_export", 3),
        ("(Documents/sales.csv)", "(Documents/stock.csv)", 3),
        ("Downloads/sketch.excalidraw", "Downloads/map.excalidraw", 4),
    ],
)
def test_another_table_job_or_file_is_not_taken_for_it(right: str, wrong: str, missing: int) -> None:
    text = told()
    assert right in text
    assert missing in read(text.replace(right, wrong)).not_asked_for


def test_a_goal_that_ends_in_several_attachments_names_them_in_one_list() -> None:
    goal = goal_of(graph(), BOOK, NAMES)
    assert goal.lower().count("attach ") == 1
    assert all(words in goal for words in ("Downloads/customers-export.csv", "the agenda", "MondayMeeting"))


@pytest.mark.parametrize(
    ("end", "places", "title"),
    [
        ("trac.paste_into_new_page", {"page_title": "IdeaCollection"}, "IdeaCollection"),
        ("tiddlywiki.paste_into_new_note", {"note_title": "Ideas to consider"}, "“Ideas to consider”"),
    ],
)
def test_a_text_is_opened_and_pasted_without_a_word_for_the_copying(
    end: str, places: dict[str, str], title: str
) -> None:
    subtasks = (
        subtask(1, "nodered.run_text_flow", flow_name="Ideas", text_path="Documents/ideas.txt"),
        subtask(2, "jupyterlab.copy_text", text_path="Documents/ideas.txt"),
        subtask(3, end, **places),
    )
    links = (
        link(1, 2, "text_path", "Documents/ideas.txt"),
        link(2, 3, "text_in_clipboard", "Documents/ideas.txt", "clipboard"),
    )
    text = summarize(SummarizerInput(subtasks=subtasks, links=links), 0, MistakeSource(0.0), BOOK)[
        0
    ].instruction
    assert "open the text file in JupyterLab and paste its text into a new" in text
    assert title in text
    reply = infer(DependencyJudgeInput(instruction=text, subtasks=subtasks), BOOK)
    assert {(pair.before, pair.after) for pair in reply.dependencies} == {(1, 2), (2, 3)}
    assert not reply.not_asked_for
