"""What an experiment asks for: every attempt once, with the instruction of its variant."""

from __future__ import annotations

from taskloom.omnieval.experiments import ExperimentFile, attempts_for, instruction_variants, order_for
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task
from tests.omnieval.test_standings import task

NODE = BoundSubtask(
    instance_id="a", subtask_id="a", application="notes", application_category="Office", instruction="Save.",
    parameters={"text_path": "Documents/plan.txt", "word": "it"},
)  # fmt: skip
TASK = task("t").model_copy(
    update={
        "graph": TaskGraph(nodes=(NODE,)),
        "instruction": "Write it down as Documents/plan.txt.",
        "intent": "Plan the week",
        "permuted_instructions": ("One.", "Other."),
        "low_level_instructions": ("Save.",),
    }
)


def test_a_value_that_is_held_back_is_said_when_asked() -> None:
    (asking,) = instruction_variants(TASK, ["ask"])
    assert asking.instruction == "Write it down as (ask me which)."
    assert asking.reply == "I mean Documents/plan.txt."
    (news,) = instruction_variants(TASK, ["news"])
    assert news.instruction == "Write it down as Documents/plan-draft.txt."
    assert news.news.endswith("not Documents/plan-draft.txt, but Documents/plan.txt.")


def test_what_a_task_lacks_is_not_told() -> None:
    bare = Task.model_validate(
        {**TASK.model_dump(), "intent": "", "permuted_instructions": (), "instruction": "Do."}
    )
    assert [
        item.variant
        for item in instruction_variants(bare, ["high", "low", "orders", "intent", "ask", "news"])
    ] == [
        "high",
        "low",
    ]
    assert [item.variant for item in instruction_variants(TASK, ["orders", "intent"])] == [
        "order 1",
        "order 2",
        "intent",
    ]


def test_every_attempt_has_an_id_and_the_seed_of_its_repeat() -> None:
    experiment = ExperimentFile.model_validate({"agents": ["recorded"], "repeats": 3, "seed": 5})
    planned = list(attempts_for(experiment, "e", experiment.agents[0], [TASK, task("u")]))
    assert len({item.attempt_id for item in planned}) == 6
    assert [item.seed for item in planned] == [5, 5, 6, 6, 7, 7]
    assert [item.number for item in planned] == list(range(6))


def test_limits_that_are_left_open_are_the_protocols() -> None:
    for name, steps, patience in (("paper", 30, 20), ("notes", 200, 201)):
        experiment = ExperimentFile.model_validate({"agents": ["recorded"], "protocol": name})
        order = order_for(experiment, "e", experiment.agents[0], [TASK])
        assert (order.step_limit, order.patience) == (steps, patience)
