"""Performances that stop early at the same place are doubted, by what the instruction ends with."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from taskloom.resources.applications import ControlQuery
from taskloom.synthesis.cross_verification.performances import Performances
from taskloom.synthesis.trajectories.settled_ends import doubt, last_clause_head, overlooked
from taskloom.synthesis.trajectories.setup_trajectories import SetupTrajectory
from taskloom.taskgraph.records.evidence import InputEvent
from taskloom.taskgraph.records.interaction import ClickInput
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.recordings import Move, recording


def performed(name: str, *clicked: str, attempt: int = 0) -> Trajectory:
    moves: list[Move] = [
        (
            ClickInput(control_label=text),
            ControlQuery(text=text, control_type="Button"),
            InputEvent(step=1, kind="click"),
            {},
        )
        for text in clicked
    ]
    instruction = f"In Notes, write '{name}', and save it."
    return recording("notes.write", {"text": name}, moves, attempt=attempt, instruction=instruction)


@pytest.mark.parametrize(
    ("instruction", "head"),
    [
        ("In Player, play the track 'A, B', which is number 2, and pause it.", "pause"),
        ("Open the note and export it", "export"),
        ("Open 'x and close'.", "open"),
        ("'quoted'", ""),
    ],
)
def test_the_last_clause_begins_with(instruction: str, head: str) -> None:
    assert last_clause_head(instruction) == head


def test_a_button_the_instruction_ends_with_must_be_used() -> None:
    assert overlooked(performed("a", "New")) == ("Save",)
    assert overlooked(performed("a", "New", "Save")) == ()


def test_only_what_all_overlooked_is_doubted() -> None:
    assert "'Save'" in doubt([performed("a", "New"), performed("b", "New")])
    assert doubt([performed("a", "New"), performed("b", "New", "Save")]) == ""
    assert doubt([]) == ""


class Scripted(Performances):
    """Performances that come from a list instead of an environment."""

    def follow(self, script: dict[str, list[tuple[str, ...]]]) -> None:
        self.stage = cast(Any, script)

    def _goes_another_way(self, instance: BoundSubtask, instances: list[BoundSubtask]) -> bool:
        return False

    async def _perform(
        self,
        instance: BoundSubtask,
        setups: Mapping[str, SetupTrajectory],
        *,
        another_way: bool = False,
        original: Trajectory | None = None,
    ) -> Trajectory:
        attempt = self.attempts[instance.instance_id]
        self.attempts[instance.instance_id] += 1
        name = instance.parameters["text"]
        script = cast(dict[str, list[tuple[str, ...]]], self.stage)
        return performed(name, *script[name][attempt], attempt=attempt)


def instance(name: str) -> BoundSubtask:
    one = performed(name)
    return BoundSubtask(
        instance_id=one.instance_id,
        subtask_id=one.subtask_id,
        application="notes",
        application_category="Note Management",
        instruction=one.instruction,
        parameters=one.parameters,
    )


async def agreed(
    script: dict[str, list[tuple[str, ...]]], most_attempts: int = 5
) -> tuple[Scripted, list[int]]:
    performances = Scripted(cast(Any, None))
    performances.follow(script)
    instances = [instance(name) for name in script]
    found = await performances.agreed(
        instances, {item.instance_id: SetupTrajectory() for item in instances}, most_attempts
    )
    return performances, [item.attempt for item in found]


async def test_agreement_in_stopping_early_is_doubted_and_the_actor_told() -> None:
    early, whole = ("New",), ("New", "Save")
    performances, attempts = await agreed({"a": [early, whole], "b": [early, whole]})
    assert attempts == [1, 1]
    assert all("'Save'" in messages[0] for messages in performances.feedback.values())


async def test_a_doubt_that_changes_nothing_rejects_nothing() -> None:
    other_way = ("New", "Close")
    _, attempts = await agreed({"a": [other_way] * 2, "b": [other_way] * 2})
    assert attempts == [1, 1]


async def test_nothing_is_doubted_when_no_attempts_are_left() -> None:
    early = ("New",)
    _, attempts = await agreed({"a": [early] * 2, "b": [early] * 2}, most_attempts=2)
    assert attempts == [0, 0]
