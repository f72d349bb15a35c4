"""Records that exist after a reset and that no entry names are found in the state and on the screen."""

from __future__ import annotations

from taskloom.resources.applications import Fixture, ResourceDeclaration
from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.reading.catalog_checks import fixtures_of
from taskloom.synthesis.exploration.memory import found_records, with_records
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import Subtask
from tests.servers.web_applications.catalogue import small_applications
from tests.synthesis.recordings import file

WATCHES = next(item for item in small_applications() if item.name == "watches")
CATEGORIES = {
    "watch_title": ResourceCategory(name="watch_title", kind=ResourceKind.RECORD, description="A watch.")
}
START = Evidence(
    step=0, files=(file("a/watch.json", '{"title": "Library hours"}'), file("b/watch.json", "Train times"))
)
NOW = Provenance(run_id="now")


def subtask(*titles: str, fresh: tuple[str, ...] = (), makes: bool = False) -> Subtask:
    """A subtask that reads or makes a watch."""
    declared = (ResourceDeclaration(category="watch_title", parameter="title"),)
    return Subtask(
        subtask_id="watches.pause",
        application="watches",
        application_category="Office",
        instruction_template="Pause '{title}'.",
        available_parameters=tuple({"title": title} for title in titles),
        inputs=() if makes else declared,
        outputs=declared if makes else (),
        fresh=fresh,
    )


def test_what_is_there_is_found_once_and_what_others_make_is_not() -> None:
    proposals = [subtask("Library hours", "Museum"), subtask("Library hours", "Train times")]
    found = found_records(proposals, WATCHES, CATEGORIES, START, NOW)
    assert [(item.category, item.value) for item in found] == [
        ("watch_title", "Library hours"),
        ("watch_title", "Train times"),
    ]
    assert found_records([subtask("Library hours", fresh=("title",))], WATCHES, CATEGORIES, START, NOW) == ()
    named = WATCHES.model_copy(update={"fixtures": (Fixture(category="watch_title", value="Library hours"),)})
    assert [item.value for item in found_records(proposals, named, CATEGORIES, START, NOW)] == ["Train times"]


def test_what_another_proposal_makes_is_not_there_although_a_longer_text_mentions_it() -> None:
    makes = subtask("Library", "Concerts", fresh=("title",), makes=True)
    assert found_records([subtask("Library", "Concerts"), makes], WATCHES, CATEGORIES, START, NOW) == ()
    assert [item.value for item in found_records([subtask("Library")], WATCHES, CATEGORIES, START, NOW)] == [
        "Library"
    ]


def test_found_records_are_fixtures_of_that_version_alone() -> None:
    found = found_records([subtask("Library hours")], WATCHES, CATEGORIES, START, NOW)
    known = with_records(with_records(WATCHES, found), found)
    (fixture,) = fixtures_of(known, CATEGORIES)
    assert isinstance(fixture, Resource) and fixture.value == "Library hours"
    newer = WATCHES.model_copy(update={"version": "2.0"})
    assert with_records(newer, found).fixtures == ()
