"""What the summarizer tells, the judge reads back; what is spoilt, it notices. Both know the catalogue's
phrases alone."""

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from taskloom.offline.dependency_judge import infer
from taskloom.offline.models import OfflineRules
from taskloom.offline.phrasebook import Phrasebook
from taskloom.offline.summarizer import summarize
from taskloom.prompts.inputs import (
    DependencyJudgeInput,
    NumberedSubtask,
    ResourceInView,
    ResourceLink,
    SummarizerInput,
)
from taskloom.prompts.replies import DependencyJudgeReply
from taskloom.resources.reading.catalog import load_applications, load_resource_categories
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.resources.reading.translation import WorldlyApplications, applications_in, parameters_in
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.compiled_pool import fixture_key
from taskloom.synthesis.composition.pool.instances import bind_pool, fixtures_at_reset
from taskloom.synthesis.composition.pool.sense import Sense
from taskloom.synthesis.composition.request import CompositionRequest, Quota
from taskloom.synthesis.instructions import (
    goal_problems,
    in_order,
    literal_problems,
    numbered,
    resource_links,
    uses_in,
)
from taskloom.synthesis.validation.calibration import SPOIL_KINDS, spoil
from taskloom.synthesis.validation.validation import compare_orders
from taskloom.taskgraph.records.criticism import SpoilKind
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Task
from tests.synthesis.mistakes import MistakenRules

APPLICATIONS = load_applications()
BOOK = Phrasebook(APPLICATIONS, load_resource_categories())
MISTAKEN = MistakenRules(OfflineRules(APPLICATIONS, load_resource_categories()), 0.7, 5)
TITLES = {name: application.title for name, application in APPLICATIONS.items()}


def test_a_further_version_of_a_subtask_has_the_phrases_of_the_catalogue() -> None:
    application = APPLICATIONS["tiddlywiki"]
    example = next(item for item in application.example_subtasks if item.request)
    subtask = Subtask.of(example.template, application, origin="curated")
    bound = subtask.bind(example.parameter_sets[0], load_resource_categories())
    version = bound.model_copy(update={"subtask_id": f"{bound.subtask_id}_v2"})
    first, second = BOOK.phrased(numbered([bound, version], TITLES)).values()
    assert first.phrase == second.phrase == example.request


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
        CompositionRequest(quotas=(Quota(count=150),)),
        fixtures=fixtures_at_reset(APPLICATIONS.values(), load_resource_categories()),
        sense=Sense.of(subtasks, APPLICATIONS),
        seed=3,
    )
    return tuple(result)


def view(task: Task) -> SummarizerInput:
    nodes = in_order(task)
    return SummarizerInput(
        subtasks=numbered(nodes, TITLES),
        links=resource_links(task, nodes),
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
            "subtask_share": 1,
            "pattern_share": 1,
        }
        if wide
        else {}
    )
    request = CompositionRequest(quotas=(Quota(count=80),), **limits)
    return tuple(compose(pool, [], request, fixtures=fixtures, sense=Sense.of(subtasks, worldly), seed=5))


def test_a_task_is_told_with_the_occasion_that_its_things_have_in_common() -> None:
    told = [(asked.uses, summarize(asked, 0, BOOK).instruction) for asked in map(view, worldly_tasks())]
    common = [(next(iter(uses.values())), text) for uses, text in told if len(set(uses.values())) == 1]
    assert len({use for use, _ in common}) > 3
    assert all(text.startswith(f"For {use}, ") for use, text in common)
    assert not any(text.startswith("For ") for uses, text in told if len(set(uses.values())) != 1)


def read(text: str, subtasks: Sequence[NumberedSubtask]) -> DependencyJudgeReply:
    return infer(DependencyJudgeInput(instruction=text, subtasks=tuple(subtasks)[::-1]), BOOK)


def agrees(reply: DependencyJudgeReply, asked: SummarizerInput) -> bool:
    inferred = [(str(pair.before), str(pair.after)) for pair in reply.dependencies]
    links = {(str(link.producer), str(link.consumer)) for link in asked.links}
    return compare_orders(inferred, links).agrees and not reply.not_asked_for and not reply.not_listed


@pytest.mark.parametrize("attempt", [0, 1])
def test_every_task_of_the_catalogue_is_told_shortly_and_read_back(attempt: int) -> None:
    shorter = 0
    for task in (*tasks(), *worldly_tasks(wide=True)):
        asked = view(task)
        reply = summarize(asked, attempt, BOOK)
        assert agrees(read(reply.instruction, asked.subtasks), asked), reply.instruction
        assert literal_problems(task, reply.instruction, TITLES) == ()
        assert goal_problems(task, reply.goal, TITLES) == ()
        listed = sum(len(node.instruction.split()) for node in task.graph.nodes)
        shorter += len(reply.instruction.split()) < listed
    assert shorter > 0.9 * len(tasks())


@pytest.mark.parametrize("kind", SPOIL_KINDS)
def test_every_kind_of_spoilt_instruction_is_noticed(kind: SpoilKind) -> None:
    tried = 0
    for task in tasks():
        asked = view(task)
        text = summarize(asked, 0, BOOK).instruction
        spoilt = spoil(text, task, kind, tasks()[:40], Random(task.task_id))
        if spoilt is not None:
            tried += 1
            assert not agrees(read(spoilt, asked.subtasks), asked), spoilt
    assert tried > 10


def test_a_goal_says_what_is_pasted() -> None:
    goals = [summarize(view(task), 0, BOOK).goal for task in tasks()]
    pasted = [goal for goal in goals if "paste the copied text" in goal.lower()]
    assert pasted
    assert all("copy " in goal.lower() for goal in pasted)


def test_mistakes_made_on_purpose_are_noticed() -> None:
    noticed = made = 0
    for task in tasks()[:60]:
        asked = view(task)
        for attempt in range(3):
            reply, mistake = MISTAKEN.answer(asked, attempt)
            if mistake:
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


EXPORTED = "Export the customers table as CSV to Downloads/customers-export.csv"


@pytest.mark.parametrize(
    ("text", "pairs", "missing", "besides"),
    [
        (f"{EXPORTED} and move the CSV file to Documents.", {(1, 2)}, [], 0),
        (f"Move Downloads/customers-export.csv to Documents. {EXPORTED}.", set(), [], 0),
        (f"{EXPORTED}.", set(), [2], 0),
        (
            f"{EXPORTED.replace('customers', 'orders', 1)} and move the CSV file to Documents.",
            set(),
            [1],
            1,
        ),
        (f"{EXPORTED} and move the CSV file to Pictures.", set(), [2], 1),
        (
            f"{EXPORTED}, then move the CSV file to Documents. Also water the plants in the kitchen.",
            {(1, 2)},
            [],
            1,
        ),
    ],
    ids=["right", "turned round", "left out", "other table", "other folder", "foreign deed"],
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
    reply = summarize(asked, 0, BOOK)
    assert reply.goal == "Keep Home"
    assert agrees(read(reply.instruction, subtasks), asked), reply.instruction


def test_the_same_asked_of_several_things_is_one_request() -> None:
    page = NumberedSubtask(
        number=1,
        application="Trac",
        instruction="In Trac, create the wiki page 'BankTalk' with the text 'Look at these.'.",
        subtask_id="trac.create_page",
        parameters={"page_title": "BankTalk", "text": "Look at these."},
    )
    attached = [
        NumberedSubtask(
            number=number,
            application="Trac",
            instruction=f"In Trac, attach '{path}' to the wiki page 'BankTalk'.",
            subtask_id=f"trac.attach_{kind}",
            parameters={f"{kind}_path": path, "page_title": "BankTalk"},
        )
        for number, kind, path in (
            (2, "csv", "Documents/may.csv"),
            (3, "markdown", "Documents/plan.md"),
            (4, "csv", "Documents/june.csv"),
        )
    ]
    subtasks = (page, *attached)
    links = tuple(
        ResourceLink(producer=1, consumer=item.number, category="page_title", kind="record", value="BankTalk")
        for item in attached
    )
    asked = SummarizerInput(subtasks=subtasks, links=links)
    text = summarize(asked, 0, BOOK).instruction
    assert "attach Documents/may.csv, Documents/plan.md and Documents/june.csv to the" in text
    assert agrees(read(text, subtasks), asked), text
    without = read(text.replace(", Documents/plan.md", ""), subtasks)
    assert without.not_asked_for == [3] and not without.not_listed
    assert read(text.replace("plan", "plans"), subtasks).not_listed
    named = summarize(asked, 1, BOOK).instruction
    assert named.count("ttach ") == 3 and agrees(read(named, subtasks), asked)


def test_words_for_a_kind_do_not_repeat_the_words_before_them() -> None:
    told = [summarize(view(task), 0, BOOK).instruction for task in (*tasks(), *worldly_tasks(wide=True))]
    assert any("the text file" in text for text in told)
    assert not any("text of the text file" in text for text in told)
