"""Right work on other content must be accepted: what was exported or copied held something else from the
start."""

from collections.abc import Mapping

import pytest

from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
from taskloom.offline.evaluation_writer import write_function
from taskloom.prompts.inputs import EvaluationWriterInput
from taskloom.synthesis.evaluation_functions.evaluation_functions import performances
from taskloom.synthesis.examination.examination import build_cases, examine
from taskloom.synthesis.examination.subject import Case
from taskloom.taskgraph.records.evidence import ClipboardState
from taskloom.taskgraph.records.interaction import Control, Rectangle
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, file, recording

NOTES = {"Bread": "Flour and salt", "Trip": "Tickets and coats"}
BEGIN = "def evaluate_agent_task_completion(title: str, path: str) -> EvalResult:\n    done = "
END = "\n    return EvalResult(done, 'the export', 1.0 if done else 0.0)\n"
SOURCE = "f'wiki/{title}.tid'"
TAKEN_OVER = f"check_field(path, '0/tags', get_field({SOURCE}, 'tags', at_start=True))"
LITERAL = "check_field(path, '0/tags', 'home')"


def note(title: str) -> str:
    return f"tags: home\ntitle: {title}\n\n{NOTES[title]}"


def exported(title: str = "Bread") -> Trajectory:
    """A note whose tag is the same as that of all others is exported."""
    wiki = tuple(file(f"wiki/{name}.tid", note(name)) for name in NOTES)
    made = f'[{{"title": "{title}", "tags": "home", "text": "{NOTES[title]}"}}]'
    path = f"Downloads/{title}.json"
    done = click("Save", files=(file(path, made), *wiki))
    return recording("wiki.export", {"title": title, "path": path}, [done], start={"files": wiki})


def copied() -> Trajectory:
    files = (file("Documents/plan.txt", "Plant the beans in May"),)
    done = click("Save", clipboard=ClipboardState(text="Plant the beans in May"))
    return recording("notes.copy", {"path": "Documents/plan.txt"}, [done], start={"files": files})


def otherwise(positive: Trajectory) -> list[Case]:
    return [
        item for item in build_cases(positive) if "held something else" in item.description and item.right
    ]


def accepted(shared_sandbox: EvaluationSandbox, condition: str) -> bool:
    positive = exported()
    quality = examine(f"{BEGIN}{condition}{END}", positive, build_cases(positive), shared_sandbox)
    assert quality.passes_positive
    return all(item.killed == item.total for item in quality.families if item.family == "second_positive")


def test_a_field_is_another_one_at_the_start_and_in_the_export() -> None:
    found = {item.description: item for item in otherwise(exported())}
    case = found["the same was done when wiki/Bread.tid: tags held something else"]
    texts = [{item.path: item.text or "" for item in state.files} for state in (case.start, case.evidence)]
    assert "tags: homezq7" in texts[0]["wiki/Bread.tid"]
    assert texts[0]["wiki/Bread.tid"] == texts[1]["wiki/Bread.tid"]
    assert '"tags": "homezq7"' in texts[1]["Downloads/Bread.json"]
    assert "tags: home\n" in texts[1]["wiki/Trip.tid"]


def test_a_value_that_a_parameter_names_stays_what_it_is() -> None:
    assert not any("title" in item.description for item in otherwise(exported()))


def test_a_copied_file_is_another_one_and_so_is_the_copy() -> None:
    (case,) = otherwise(copied())
    assert case.evidence.clipboard.text == case.start.files[0].text != "Plant the beans in May"


def test_a_function_that_asks_where_it_came_from_accepts_it(shared_sandbox: EvaluationSandbox) -> None:
    assert accepted(shared_sandbox, TAKEN_OVER)


def test_a_function_that_asks_for_what_it_happened_to_be_does_not(shared_sandbox: EvaluationSandbox) -> None:
    assert not accepted(shared_sandbox, LITERAL)


def test_the_screen_that_showed_it_shows_the_other_one() -> None:
    positive = exported()
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    controls = tuple(
        Control(label=text, text=text, control_type="Text", rectangle=place)
        for text in ("home", "homework", "Tags: home.")
    )
    begun = positive.initial_evidence.model_copy(update={"controls": controls})
    cases = otherwise(positive.model_copy(update={"initial_evidence": begun}))
    case = next(item for item in cases if "wiki/Bread.tid: tags held" in item.description)
    assert [item.text for item in case.start.controls] == ["homezq7", "homework", "Tags: homezq7."]


def test_the_offline_writer_asks_where_it_came_from() -> None:
    view = EvaluationWriterInput(
        checks_reference="",
        operating_system="",
        application="wiki",
        title="Wiki",
        instruction_template="Export the note '{title}' as '{path}'.",
        parameter_names=("title", "path"),
        performances=performances([exported(), exported("Trip")]),
    )
    source = write_function(view).source
    assert "field='tags'" in source
    assert "'home'" not in source


def test_what_is_pasted_is_another_one_in_the_clipboard_too() -> None:
    """The clipboard holds what a file holds: whichever the content is taken from, the function may look
    there."""
    words = "Plant the beans in May"
    plan = file("Documents/plan.txt", words)
    done = click("Save", files=(plan, file("Documents/pasted.txt", words)))
    start = {"files": (plan,), "clipboard": ClipboardState(text=words)}
    (case,) = otherwise(recording("notes.paste", {"path": "Documents/pasted.txt"}, [done], start=start))
    assert case.start.clipboard.text == case.evidence.clipboard.text != words
    assert {item.text for item in case.evidence.files} == {case.start.clipboard.text}


STORE = ".applications/shop/shop.db"
COPIED = f"check_records_copied(path, '{STORE}', target_within='sales')"


def imported(path: str, rows: Mapping[str, int]) -> Trajectory:
    """A table is imported into a database."""
    given = file(path, "\n".join(["region,amount", *(f"{name},{amount}" for name, amount in rows.items())]))
    lines = [f"INSERT INTO \"sales\" VALUES('{name}', {amount});" for name, amount in rows.items()]
    empty, full = (
        file(STORE, "\n".join([f'CREATE TABLE "sales"("region", "amount"); -- {len(held)} rows', *held, ""]))
        for held in ([], lines)
    )
    done = click("Import", files=(full, given))
    return recording("shop.import", {"title": "sales", "path": path}, [done], start={"files": (empty, given)})


@pytest.mark.parametrize(
    "number",
    [f"check_record_count('{STORE}', {{}}, 3)"],
)
def test_a_number_copied_from_recordings_refuses_right_work(
    shared_sandbox: EvaluationSandbox, number: str
) -> None:
    """Even where every performance had as many records."""
    performances = [
        imported("Documents/a.csv", {"North": 120, "South": 95, "West": 70}),
        imported("Documents/b.csv", {"Anna": 20, "Ben": 9, "Cleo": 8}),
    ]
    cases = build_cases(performances[0], other_trajectories=performances[1:])
    qualities = [
        examine(f"{BEGIN}{COPIED}{more}{END}", performances[0], cases, shared_sandbox)
        for more in ("", f" and {number}")
    ]
    refused = [
        [text for item in quality.families if item.family == "second_positive" for text in item.survivors]
        for quality in qualities
    ]
    assert all(quality.passes_positive for quality in qualities)
    assert not refused[0]
    assert len(refused[1]) == 1 and "Documents/a.csv held something else" in refused[1][0]
