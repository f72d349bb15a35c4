"""Questions about tables that a task reads, and who answers them."""

from __future__ import annotations

import pytest

from taskloom.flows.experimenting.derived_tasks import question_about
from taskloom.omnieval.agents.recorded import create
from taskloom.omnieval.brief import AgentBrief, AgentTask, RecordedPart
from taskloom.taskgraph.measures.complexity import complexity_of
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.interaction import Observation, Screenshot
from taskloom.taskgraph.records.task import Question, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from tests.synthesis.task_samples import pooled_subtasks

SALES = "Documents/sales.csv"
TABLES = "simulated_tables"


def task(name: str) -> Task:
    """A task of one subtask, which is about the table of sales."""
    node = next(
        instance
        for item in pooled_subtasks()
        for instance in item.instances
        if item.subtask.subtask_id == f"{TABLES}.{name}" and instance.parameters.get("csv_path") == SALES
    )
    graph = TaskGraph(nodes=(node,))
    return Task(task_id="t", graph=graph, complexity=complexity_of(graph))


@pytest.mark.parametrize(
    ("table", "answer", "match"),
    [
        ("month,amount\nMay,120\nJune,140\n", "120", "value"),
        ("month,amount\nMay,120\nMay,130\nJune,-1.5\n", "-1.5", "value"),
        ("month,state\nMay, open \nJune,closed\n", "open", "includes"),
        ("month,amount\nMay,\nMay,7\nJune\n", "3", "value"),
        ("month\nMay\nJune\n", "2", "value"),
    ],
)
def test_a_question_asks_for_what_one_row_alone_says_or_else_for_their_number(
    table: str, answer: str, match: str
) -> None:
    asked = question_about(task("copy_table"), {SALES: table, "Documents/other.csv": "a,b\nc,1\nd,2\n"})
    assert asked is not None
    assert (asked.answers, asked.match, asked.source) == ((answer,), match, SALES)


def test_nothing_is_asked_about_a_table_without_rows_or_one_that_the_task_does_not_read() -> None:
    assert question_about(task("copy_table"), {SALES: "month,amount\nMay,120\n"}) is None
    assert question_about(task("copy_table"), {"Documents/other.csv": "a,b\nc,1\nd,2\n"}) is None


@pytest.mark.parametrize("fault", ["", "insists"])
async def test_the_recorded_agent_answers_once_its_work_is_done_unless_it_insists(fault: str) -> None:
    question = Question(text="How much?", answers=("120",), match="value")
    nothing = Trajectory(
        trajectory_id="r",
        subtask_id="s",
        instance_id="i",
        parameters={},
        instruction="Do it.",
        platform="simulated",
        initial_evidence=Evidence(step=0),
        termination="finished",
    )
    brief = AgentBrief(
        task=AgentTask(task_id="t", instruction="Do it.", question=question.text),
        settings={"fault": fault},
        recorded=(RecordedPart("i", TABLES, "Tables", False, nothing),),
        answer=question.right_answer,
    )
    seen = Observation(screenshot=Screenshot.of(b"picture"), controls=(), active_application=TABLES)
    done = await create(brief).decide("Do it.", seen, ())
    assert (done.status, done.answer) == ("finish", "" if fault else "```Answer:120```")
