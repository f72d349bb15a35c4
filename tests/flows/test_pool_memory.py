"""What the warehouse remembers for exploration, and under which id a subtask enters the pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.flows.pool import (
    MISSING_LINK,
    NOT_COMPOSED,
    exploration_memory,
    known_categories,
    proposals_to_try_again,
    rejected_proposals,
    tried_before,
    undecided_proposals,
    version_of,
    wishes_of,
)
from taskloom.resources.applications import ControlQuery
from taskloom.resources.categories import ResourceKind
from taskloom.synthesis.cross_verification.performances import TriedBefore
from taskloom.synthesis.cross_verification.verified_subtasks import VerifiedSubtask
from taskloom.taskgraph.records.evaluation_function import EvaluationFunction
from taskloom.taskgraph.records.exploration import ProposedCategory, SeenScreen
from taskloom.taskgraph.records.interaction import Control, Rectangle
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask
from taskloom.taskgraph.records.task import Rejection
from taskloom.warehouse.records import RunRecord
from taskloom.warehouse.store import Warehouse
from tests.synthesis.recordings import note_written
from tests.synthesis.simulated_world import APPLICATIONS, CATEGORIES
from tests.synthesis.test_verification_pool import WRITE, verified

NOTES = APPLICATIONS["simulated_notes"]
EARLIER, LATER, NOW = (Provenance(run_id=name) for name in ("earlier", "later", "now"))
FOUND = WRITE.model_copy(update={"origin": "proposed", "provenance": EARLIER})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Warehouse]:
    with Warehouse(tmp_path / "warehouse") as opened:
        yield opened


def rejected(name: str, provenance: Provenance) -> Rejection:
    return Rejection(
        item_kind="subtask",
        item_id=name,
        stage="s",
        reason="not_verified",
        message=name,
        provenance=provenance,
    )


def screen(provenance: Provenance, version: str = NOTES.version, text: str = "File") -> SeenScreen:
    place = Rectangle(left=0, top=0, right=9, bottom=9)
    return SeenScreen(
        screen_id=f"{version}-{text}",
        application=NOTES.name,
        version=version,
        path=(ControlQuery(text=text, control_type="MenuItem", equals=1),),
        outcome="new",
        controls=(Control(label="1", text="Open", control_type="MenuItem", rectangle=place),),
        provenance=provenance,
    )


def test_what_other_runs_brought_is_remembered_and_what_this_one_did_is_not(store: Warehouse) -> None:
    ours = FOUND.model_copy(update={"subtask_id": "simulated_notes.ours", "provenance": NOW})
    store.write(
        [
            rejected("simulated_notes.fly", EARLIER),
            rejected("simulated_notes.swim", NOW),
            rejected("simulated_mail.fly", EARLIER),
            rejected(FOUND.subtask_id, EARLIER),
            screen(EARLIER),
            screen(EARLIER, version="0.1"),
        ]
    )
    curated = WRITE.model_copy(update={"origin": "curated"})
    memory = exploration_memory(store, NOTES, [verified(FOUND), verified(ours), verified(curated)], "now")
    assert memory.verified == (FOUND,)
    assert [item.item_id for item in memory.rejected] == ["simulated_notes.fly"]
    assert memory.screens == (screen(EARLIER),)
    assert not memory.walked


def test_proposals_that_a_stopped_run_left_are_remembered_until_they_are_decided(store: Warehouse) -> None:
    left, tried, refused, again, ours = (
        FOUND.model_copy(update={"subtask_id": f"simulated_notes.{name}", "provenance": provenance})
        for name, provenance in (
            ("left", EARLIER),
            ("tried", EARLIER),
            ("refused", EARLIER),
            ("again", LATER),
            ("ours", NOW),
        )
    )
    curated = WRITE.model_copy(update={"origin": "curated", "provenance": EARLIER})
    elsewhere = left.model_copy(update={"application": "simulated_mail", "subtask_id": "simulated_mail.left"})
    function = verified(tried).function
    store.write([left, tried, refused, again, ours, curated, elsewhere, function])
    store.write([rejected(refused.subtask_id, EARLIER), rejected(again.subtask_id, EARLIER)])
    memory = exploration_memory(store, NOTES, [], NOW.run_id)
    assert memory.undecided == (again, left)
    assert memory.taken == (again, left)
    assert undecided_proposals(store, NOTES.name, {left.subtask_id}) == [again, ours]


def test_rejected_proposals_that_are_to_be_tried_again_count_as_undecided(store: Warehouse) -> None:
    lost, kept, other = (
        FOUND.model_copy(update={"subtask_id": f"simulated_notes.{name}", "provenance": EARLIER})
        for name in ("lost", "kept", "other")
    )
    function = verified(FOUND).function.model_copy(update={"accepted": True})
    store.write([lost, kept, other, FOUND, function])
    store.write([rejected(item.subtask_id, EARLIER) for item in (lost, kept, other, FOUND)])
    again = ("*.lost", "*.kept", FOUND.subtask_id)
    memory = exploration_memory(store, NOTES, [verified(FOUND)], NOW.run_id, again)
    assert memory.undecided == (kept, lost)
    assert [item.item_id for item in memory.rejected] == [other.subtask_id]
    assert exploration_memory(store, NOTES, [verified(FOUND)], NOW.run_id).undecided == ()
    assert rejected_proposals(store) == tuple(item.subtask_id for item in (kept, lost, other))
    store.write([rejected(lost.subtask_id, NOW)])
    assert proposals_to_try_again(store, NOTES.name, again, NOW.run_id) == [kept]
    assert proposals_to_try_again(store, "simulated_mail", again, NOW.run_id) == []


def test_attempts_of_what_is_tried_again_are_counted_on(store: Warehouse) -> None:
    first = note_written().model_copy(update={"provenance": EARLIER})
    later = first.model_copy(update={"trajectory_id": "later", "attempt": 4})
    ours = first.model_copy(update={"trajectory_id": "ours", "attempt": 5, "provenance": NOW})
    function = EvaluationFunction(
        function_id="f", subtask_id=first.subtask_id, source="x = 1", parameter_names=(), provenance=EARLIER
    )
    store.write([first, later, ours, function])
    tried = tried_before(store, [first.subtask_id], NOW.run_id)
    assert tried == TriedBefore({first.instance_id: 5}, {first.subtask_id: 1})
    assert tried_before(store, ["another.*"], NOW.run_id) == TriedBefore()
    assert tried_before(store, (), NOW.run_id) == TriedBefore()


def test_a_resumed_run_does_not_walk_again(store: Warehouse) -> None:
    store.write([screen(NOW)])
    assert exploration_memory(store, NOTES, [], "now").walked


def test_the_last_composition_tells_what_was_missing(store: Warehouse) -> None:
    def shortfall(run: str, message: str) -> Rejection:
        return Rejection(
            item_kind="composition",
            item_id="all cells",
            stage="composition",
            reason="used_up",
            message=message,
            provenance=Provenance(run_id=run),
        )

    runs = [
        RunRecord(run_id=run, flow="f", started_at=f"2026-01-0{day}T00:00:00Z")
        for day, run in ((1, "a"), (2, "b"))
    ]
    store.write([*runs, shortfall("a", "old"), shortfall("b", "nothing reads csv_path")])
    assert exploration_memory(store, NOTES, [], "now").wishes == ("nothing reads csv_path",)


def test_links_that_are_missing_come_first_and_only_to_their_application(store: Warehouse) -> None:
    store.write([RunRecord(run_id="earlier", flow="f", started_at="2026-01-01T00:00:00Z")])

    def short(item_id: str, reason: str, message: str) -> Rejection:
        return rejected(item_id, EARLIER).model_copy(
            update={"item_kind": "composition", "reason": reason, "message": message}
        )

    store.write(
        [
            short("all cells", "used_up", "A: levels"),
            short("intent-1", NOT_COMPOSED, "B: a goal"),
            short("simulated_notes/text_path", MISSING_LINK, "C: its own link"),
            short("simulated_mail/subject", MISSING_LINK, "D: the link of another one"),
        ]
    )
    assert exploration_memory(store, NOTES, [], "now").wishes == ("C: its own link", "B: a goal", "A: levels")
    assert wishes_of(store, "now", "simulated_mail")[0] == "D: the link of another one"
    assert wishes_of(store, "now", "simulated_files") == ("B: a goal", "A: levels")


def test_proposed_categories_are_known_to_later_runs(store: Warehouse) -> None:
    mine = ProposedCategory(
        name="bookmark", kind=ResourceKind.RECORD, description="A bookmark.", application="notes"
    )
    store.write([mine, mine.model_copy(update={"name": "text_path"})])
    known = known_categories(None, store)
    assert known["bookmark"] == mine.category
    assert known["text_path"].kind is ResourceKind.FILE


def test_an_equal_subtask_keeps_its_id() -> None:
    pool = {FOUND.subtask_id: verified(FOUND)}
    assert entering(FOUND, pool) == (FOUND, pool[FOUND.subtask_id])


def entering(subtask: Subtask, pool: dict[str, VerifiedSubtask]) -> tuple[Subtask, VerifiedSubtask | None]:
    def bound(item: Subtask) -> list[BoundSubtask]:
        return [item.bind(values, CATEGORIES) for values in item.available_parameters]

    return version_of(subtask, pool, bound, "now")


def changed(subtask: Subtask, text: str) -> Subtask:
    return subtask.model_copy(update={"instruction_template": f"{text}: {subtask.instruction_template}"})


def test_a_changed_subtask_is_a_new_version() -> None:
    second = changed(FOUND, "quickly").model_copy(update={"subtask_id": f"{FOUND.subtask_id}_v2"})
    pool = {item.subtask_id: verified(item) for item in (FOUND, second)}
    third = changed(FOUND, "slowly")
    assert entering(third, pool)[0].subtask_id == f"{FOUND.subtask_id}_v3"
    assert entering(changed(FOUND, "quickly"), pool) == (second, pool[second.subtask_id])


def test_what_a_run_verified_before_it_was_interrupted_is_what_became_of_the_subtask() -> None:
    redeclared = FOUND.model_copy(update={"outputs": (), "provenance": NOW})
    pool = {redeclared.subtask_id: verified(redeclared)}
    proposed = FOUND.model_copy(update={"provenance": NOW})
    assert entering(proposed, pool) == (redeclared, pool[redeclared.subtask_id])
