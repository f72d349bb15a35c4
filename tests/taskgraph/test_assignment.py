"""What an agent is asked to do: a subtask's own words, or a task's without a subtask's parameters."""

from __future__ import annotations

from taskloom.environments.episode import Assignment
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.task import Task
from tests.taskgraph.small_graphs import shaped


def test_a_subtask_is_told_by_its_own_instruction_and_parameters() -> None:
    node = shaped((0,)).nodes[0].model_copy(update={"parameters": {"csv_path": "a.csv"}})
    assignment = Assignment.of_subtask(node)
    assert assignment.instruction == node.instruction
    assert assignment.instance_id == node.instance_id
    assert assignment.parameters == {"csv_path": "a.csv"}


def test_a_task_is_told_as_a_whole_and_has_no_parameters_of_one_of_its_subtasks() -> None:
    graph = shaped((0, 0b1))
    task = Task(task_id="t", graph=graph, complexity=complexity_of(graph))
    assignment = Assignment.of_task(task, "run:t", "Do both.")
    assert (assignment.subtask_id, assignment.instance_id) == ("t", "run:t")
    assert (assignment.instruction, assignment.parameters) == ("Do both.", {})
