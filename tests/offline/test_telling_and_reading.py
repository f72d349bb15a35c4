"""What the summarizer tells, the judge reads back; what is spoilt, it notices. Both know the catalogue's
phrases alone."""

import re
from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from taskloom.offline.dependency_judge import infer
from taskloom.offline.mistakes import MistakeSource
from taskloom.offline.reading.forms import hidden, shown
from taskloom.offline.summarizer import summarize
from taskloom.offline.telling.phrasebook import Phrasebook
from taskloom.offline.telling.purposes import Purpose, said_for
from taskloom.offline.telling.sentences import Sentence
from taskloom.prompts.inputs import (
    DependencyJudgeInput,
    NumberedSubtask,
    ResourceInView,
    ResourceLink,
    SummarizerInput,
)
from taskloom.prompts.replies import DependencyJudgeReply
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.catalog_links import fixtures_of
from taskloom.resources.reading.translation import WorldlyApplications, applications_in, parameters_in
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.binding import bind_pool, fixtures_at_reset
from taskloom.synthesis.composition.pool.compiled_pool import fixture_key
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest
from taskloom.synthesis.instructions.instructions import (
    called_in,
    in_order,
    numbered,
    resource_links,
    uses_in,
)
from taskloom.synthesis.instructions.literal_checks import goal_problems, literal_problems
from taskloom.synthesis.validation.validation import compare_orders
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task

APPLICATIONS = load_applications()
BOOK = Phrasebook(APPLICATIONS, load_resource_categories())
TITLES = {name: application.title for name, application in APPLICATIONS.items()}
NO_MISTAKES = MistakeSource(0.0)


@cache
def tasks() -> tuple[Task, ...]:
    """Tasks composed from all curated subtasks."""
    subtasks = [
        Subtask.of(example.template, application, origin="curated")
        for application in APPLICATIONS.values()
        for example in application.example_subtasks
    ]
    pool, _ = bind_pool(subtasks, load_resource_categories())
    result = compose(
        pool,
        [],
        CompositionRequest(count=150, seed=3),
        fixtures=fixtures_at_reset(APPLICATIONS.values(), load_resource_categories()),
        sense=Sense.of(subtasks, APPLICATIONS),
    )
    return tuple(result.tasks)


def view(task: Task) -> SummarizerInput:
    nodes = in_order(task)
    return SummarizerInput(
        subtasks=numbered(nodes, TITLES),
        links=resource_links(task, nodes),
        called=called_in(task),
        uses=uses_in(task),
    )


@cache
def worldly_tasks(*, wide: bool = False) -> tuple[Task, ...]:
    """Tasks composed from the core subtasks of all applications in two other worlds; `wide` ones collect up
    to five things."""
    worldly = WorldlyApplications(APPLICATIONS, ("bakery-1", "club-2"))
    categories = load_resource_categories()
    subtasks, pool = [], []
    for application in worldly.values():
        for example in application.example_subtasks:
            if not example.core:
                continue
            subtask = Subtask.of(example.template, application, origin="curated")
            subtasks.append(subtask)
            pool += [
                subtask.bind(parameters_in(worldly, values, world), categories, world)
                for world in ("bakery-1", "club-2")
                for values in subtask.available_parameters
            ]
    fixtures = {
        fixture_key(name, world): frozenset(fixtures_of(application, categories))
        for world in ("bakery-1", "club-2")
        for name, application in applications_in(worldly, world).items()
    }
    limits = (
        {
            "maximum_size": 9,
            "maximum_readers": 5,
            "maximum_ends": 5,
            "maximum_gathered": 5,
            "maximum_errands": 5,
        }
        if wide
        else {}
    )
    request = CompositionRequest(count=80, seed=5, collecting_share=1 if wide else 0.12, **limits)
    return tuple(compose(pool, [], request, fixtures=fixtures, sense=Sense.of(subtasks, worldly)))


def read(text: str, subtasks: Sequence[NumberedSubtask]) -> DependencyJudgeReply:
    return infer(DependencyJudgeInput(instruction=text, subtasks=tuple(subtasks)[::-1]), BOOK)


def agrees(reply: DependencyJudgeReply, asked: SummarizerInput) -> bool:
    inferred = [(str(pair.before), str(pair.after)) for pair in reply.dependencies]
    links = {(str(link.producer), str(link.consumer)) for link in asked.links}
    return compare_orders(inferred, links).agrees and not reply.not_asked_for and not reply.not_listed


def test_every_task_of_the_catalogue_is_told_shortly_and_read_back() -> None:
    shorter = 0
    for task in tasks():
        asked = view(task)
        reply, _ = summarize(asked, 0, NO_MISTAKES, BOOK)
        assert agrees(read(reply.instruction, asked.subtasks), asked), reply.instruction
        assert literal_problems(task, reply.instruction, TITLES) == ()
        assert goal_problems(task, reply.goal, TITLES) == ()
        listed = sum(len(node.instruction.split()) for node in task.graph.nodes)
        shorter += len(reply.instruction.split()) < listed
    assert shorter > 0.5 * len(tasks())


def test_what_it_is_for_is_said_once_by_nearly_every_task_and_read_back() -> None:
    purposes = 0
    for task in worldly_tasks():
        asked = view(task)
        reply, _ = summarize(asked, 0, NO_MISTAKES, BOOK)
        assert agrees(read(reply.instruction, asked.subtasks), asked), reply.instruction
        assert literal_problems(task, reply.instruction, TITLES) == ()
        text = reply.instruction[:1].lower() + reply.instruction[1:]
        for words in asked.called.values():
            text = text.replace(words, "")
        said = [use for use in set(asked.uses.values()) if re.search(rf"\b{re.escape(use)}\b", text)]
        purposes += bool(said)
        assert len(said) <= 1 or any(one in other for one in said for other in said if one != other), text
    assert purposes > 0.9 * len(worldly_tasks())


def test_many_like_things_are_told_in_one_list() -> None:
    asked = [view(task) for task in worldly_tasks(wide=True) if task.complexity.width > 4]
    texts = [summarize(item, 0, NO_MISTAKES, BOOK)[0].instruction for item in asked]
    assert texts
    assert all(agrees(read(text, item.subtasks), item) for text, item in zip(texts, asked, strict=True))
    assert not any(text.lower().count("attach ") > 1 for text in texts)


def test_then_is_not_said_of_several_attachments_of_which_one_waits_for_nothing() -> None:
    told = []
    for task in worldly_tasks():
        ready = {node.instance_id for node in task.graph.nodes} - {
            edge.consumer
            for edge in task.graph.edges
            if not edge.resource.category.startswith(("wiki_page", "page"))
        }
        attached = [node.instance_id for node in task.graph.nodes if ".attach_" in node.subtask_id]
        if len(attached) > 1 and ready.intersection(attached) and not ready.issuperset(attached):
            told += [summarize(view(task), number, NO_MISTAKES, BOOK)[0].instruction for number in range(4)]
    assert told
    assert not [text for text in told if re.search(r"(?:, then|Then|After that,) attach [^.]* and ", text)]


def told_ways(clause: str, purpose: Purpose) -> set[str]:
    return {
        said_for(purpose, [Sentence([clause])], "terse", Random(1), share / 20, short=False)
        for share in range(20)
    }


def test_a_purpose_is_told_in_many_ways() -> None:
    sentence = [Sentence(["export the table"])]
    purpose = Purpose("the tax return", "the March sales")
    assert told_ways("export the table", purpose) == {
        "For the tax return, export the table.",
        "We need the March sales for the tax return. Export the table.",
    }
    assert told_ways("export the table to sales.csv", Purpose("the spring fair")) == {
        "For the spring fair, export the table to sales.csv.",
        "To prepare for the spring fair, export the table to sales.csv.",
        "Export the table to sales.csv for the spring fair.",
    }
    assert told_ways("paste it into a new page in Trac", Purpose("", readers="the club board")) == {
        "Paste it into a new page in Trac, so that the club board can read it."
    }
    short = said_for(purpose, sentence, "terse", Random(1), 0, short=True)
    assert short == "For the tax return, export the table."


def test_the_voices_differ() -> None:
    texts = [summarize(view(task), 0, NO_MISTAKES, BOOK)[0].instruction for task in tasks()[:80]]
    beginnings = {text.split()[0] for text in texts}
    assert {"I", "We", "Please"} & beginnings
    assert len(beginnings) >= 6
    assert not any("this gives you" in text for text in texts)
    assert not any("For that, " in text or "To get there, " in text for text in texts)


def test_mistakes_made_on_purpose_are_noticed() -> None:
    noticed = made = 0
    for task in tasks()[:60]:
        asked = view(task)
        for attempt in range(3):
            reply, mistakes = summarize(asked, attempt, MistakeSource(0.7, 5), BOOK)
            if mistakes:
                made += 1
                noticed += not agrees(read(reply.instruction, asked.subtasks), asked)
    assert made > 40
    assert noticed == made


EXPORT = NumberedSubtask(
    number=1,
    application="sqlite-web",
    instruction=(
        "In sqlite-web, export the table 'customers' as the CSV file 'Downloads/customers-export.csv'."
    ),
    subtask_id="sqlite_web.export_table_as_csv",
    parameters={"table_name": "customers", "csv_path": "Downloads/customers-export.csv"},
)
MOVE = NumberedSubtask(
    number=2,
    application="copyparty",
    instruction=(
        "In copyparty, move the CSV file 'Downloads/customers-export.csv' so that it becomes"
        " 'Documents/customers-export.csv'."
    ),
    subtask_id="copyparty.move_csv_file",
    parameters={"csv_path": "Downloads/customers-export.csv", "moved_path": "Documents/customers-export.csv"},
)


@pytest.mark.parametrize(
    ("text", "pairs", "missing", "besides"),
    [
        (
            "Export the customers table as CSV to Downloads/customers-export.csv and move it to Documents.",
            {(1, 2)},
            [],
            0,
        ),
        (
            (
                "Move Downloads/customers-export.csv to Documents. Export the customers table as CSV to"
                " Downloads/customers-export.csv."
            ),
            set(),
            [],
            0,
        ),
        (
            (
                "I need the CSV export of the customers table moved to Documents. To get there, export the"
                " table as CSV to Downloads/customers-export.csv."
            ),
            {(1, 2)},
            [],
            0,
        ),
        ("Export the customers table as CSV to Downloads/customers-export.csv.", set(), [2], 0),
        (
            "Export the orders table as CSV to Downloads/customers-export.csv and move it to Documents.",
            set(),
            [1],
            1,
        ),
        (
            "Export the customers table as CSV to Downloads/customers-export.csv and move it to Pictures.",
            set(),
            [2],
            0,
        ),
        (
            (
                "Export the customers table as CSV to Downloads/customers-export.csv, then move it to"
                " Documents. Also water the plants in the kitchen."
            ),
            {(1, 2)},
            [],
            1,
        ),
    ],
    ids=["right", "turned round", "wish first", "left out", "other table", "other folder", "foreign deed"],
)
def test_what_the_words_say_is_read(
    text: str, pairs: set[tuple[int, int]], missing: list[int], besides: int
) -> None:
    reply = read(text, [EXPORT, MOVE])
    if not missing:
        assert {(pair.before, pair.after) for pair in reply.dependencies} == pairs
    assert reply.not_asked_for == missing
    assert bool(reply.not_listed) == bool(besides)


def test_subtasks_without_phrases_are_told_and_read_in_their_own_words() -> None:
    text = ResourceInView(category="text_in_clipboard", kind="clipboard")
    subtasks = (
        NumberedSubtask(
            number=1, application="Wiki", instruction="Copy the text of the page 'Home'.", makes=(text,)
        ),
        NumberedSubtask(
            number=2, application="Editor", instruction="Paste it into 'Documents/b.txt'.", reads=(text,)
        ),
    )
    links = (ResourceLink(producer=1, consumer=2, category="text_in_clipboard", kind="clipboard"),)
    asked = SummarizerInput(goal="Keep Home", subtasks=subtasks, links=links)
    reply, _ = summarize(asked, 0, NO_MISTAKES, BOOK)
    assert reply.goal == "Keep Home"
    assert agrees(read(reply.instruction, subtasks), asked), reply.instruction


def test_hiding_punctuation_in_quotations_loses_nothing() -> None:
    text = "Write “Bread, milk. And more!” and `a: [1, 2]`."
    assert shown(hidden(text)) == text
    assert "," not in hidden(text)
