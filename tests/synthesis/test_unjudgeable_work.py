"""Work of which nothing tells right from wrong: no function can accept the one and reject the other."""

from taskloom.synthesis.examination.examination import build_cases
from taskloom.synthesis.examination.subject import Case
from taskloom.taskgraph.records.evidence import ClipboardState
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import click, control, recording, screen, typing

QUERIES = {"SELECT 1": "one", "SELECT 2": "two"}


def query_run(query: str = "SELECT 1", *, attempt: int = 0) -> Trajectory:
    """A query is typed and executed; its result is another one for each query."""
    field = control("sql", "Edit", query)
    shown = screen(field, control("Permalink", "Hyperlink"), control(QUERIES[query], "DataItem"))
    moves = [typing("sql", query, controls=screen(field)), click("Send", controls=shown)]
    return recording("base.query", {"query": query}, moves, attempt=attempt)


def restarted(message: str, url: str) -> Trajectory:
    shown = click("Send", controls=screen(control(message, "Text")), url=url)
    start = {"url": "http://127.0.0.1/"}
    return recording("jobs.restart", {"process": "mailer"}, [shown], start=start)


def copied(text: str, instruction: str) -> Trajectory:
    done = click("Save", clipboard=ClipboardState(text=text))
    return recording("flows.copy", {"flow": "Lights"}, [done], instruction=instruction)


def told(positive: Trajectory, words: str, *others: Trajectory) -> list[Case]:
    return [item for item in build_cases(positive, other_trajectories=others) if words in item.description]


def test_a_value_can_be_typed_over_what_was_done_for_another() -> None:
    (case,) = told(query_run(), "was only typed over it", query_run("SELECT 2", attempt=1))
    texts = {item.text: item.value for item in case.evidence.controls}
    assert texts["sql"] == "SELECT 1"
    assert "two" in texts and "one" not in texts
    assert not case.right


def test_a_field_beside_which_all_is_the_same_was_filled_in_rightly() -> None:
    same = query_run("SELECT 2", attempt=1)
    shown = [
        item.model_copy(update={"text": "one"}) if item.text == "two" else item
        for item in same.final_evidence.controls
    ]
    last = same.steps[-1].model_copy(
        update={"evidence": same.final_evidence.model_copy(update={"controls": tuple(shown)})}
    )
    assert told(query_run(), "typed over", same.model_copy(update={"steps": (*same.steps[:-1], last)})) == []


def test_a_message_that_the_address_holds_is_gone_after_loading_the_page_again() -> None:
    positive = restarted("Process mailer restarted", "http://127.0.0.1/?message=Process%20mailer%20restarted")
    (case,) = told(positive, "the page was loaded again")
    assert case.right
    assert not any("restarted" in item.text for item in case.evidence.controls)
    assert case.evidence.url == "http://127.0.0.1/"


def test_a_text_that_the_address_does_not_hold_is_no_such_message() -> None:
    positive = restarted("Process mailer restarted", "http://127.0.0.1/?page=2")
    assert told(positive, "the page was loaded again") == []
