"""A small dataset with one record of every class, as a run would write it."""

from __future__ import annotations

from functools import partial

from taskloom.evaluators_api.checks.declaration import check_facts
from taskloom.resources.applications import (
    Application,
    ExampleSubtask,
    Fixture,
    Launch,
    WorkedStep,
)
from taskloom.resources.record import Record
from taskloom.taskgraph.records.effect import Effect, PerformanceEffects, SideEffects
from taskloom.taskgraph.records.evaluation_function import (
    CheckCall,
    EvalResult,
    Evaluation,
    EvaluationFunction,
    FamilyKills,
    FunctionQuality,
    JudgedOutcome,
    VerificationRound,
)
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.interaction import (
    ClickInput,
)
from taskloom.taskgraph.records.task import Intent, Rejection, Replay, ReplayedSubtask, Task, Validation
from taskloom.warehouse.exporting import exporting
from taskloom.warehouse.records import ModelCallRecord, RunRecord
from tests.warehouse.sample_parts import MADE, SOURCE, complexity, file_resource, node, subtask, trajectory

export = partial(exporting.export, checks=check_facts())
"""Exports as `taskloom export` does, which knows the checks."""


def records() -> list[Record]:
    """Two subtasks, a two-node task, its validation and replay, and all that led to them."""
    create = subtask("create")
    chart = subtask("chart", "sheets", "Office", inputs=(), outputs=())
    first = node(create, "a.csv")
    second = node(chart, "a.csv", reads=(file_resource("a.csv"),))
    graph = TaskGraph(
        nodes=(first, second),
        edges=(
            Dependency(
                producer=first.instance_id, consumer=second.instance_id, resource=file_resource("a.csv")
            ),
        ),
    )
    order = (first.instance_id, second.instance_id)
    misled = (
        trajectory().steps[1].model_copy(update={"action": ClickInput(control_label="1"), "thought": "Guess"})
    )
    task = Task(
        task_id="task-1",
        status="validated",
        graph=graph,
        intent_id="intent-1",
        intent="Prepare the report",
        scenario="Office Work",
        complexity=complexity(2, 1, 2, 1),
        capabilities=("long_range_planning",),
        instruction="In notes, create 'a.csv', then in sheets, chart 'a.csv'.",
        low_level_instructions=(first.instruction, second.instruction),
        order_count=1,
        successful_order_count=1,
        successful_orders=(order,),
        provenance=MADE,
    )
    functions = [
        EvaluationFunction(
            function_id=f"{item.subtask_id}:f",
            accepted=True,
            subtask_id=item.subtask_id,
            source=SOURCE,
            parameter_names=("csv_path",),
            quality=FunctionQuality(
                families=(FamilyKills(family="no_op", total=4, killed=3, survivors=("reset state",)),),
                mutants=2,
                mutants_killed=1,
                route_dependence=0.5,
                untested_checks=("check_window",),
            ),
            provenance=MADE,
        )
        for item in (create, chart)
    ]
    applications = [
        Application(
            name=name,
            title=name.title(),
            category="Office",
            version="1.0",
            licence="MIT",
            description="For tests.",
            manual="Click.",
            launch=Launch(command=("{venv}/bin/python", "-m", name, "--port", "{port}")),
            fixtures=(Fixture(category="csv_path", value="Documents/start.csv", content="x"),),
        )
        for name in ("sheets",)
    ]
    return [
        *applications,
        Application(
            name="notes",
            title="Notes",
            category="Note Management",
            version="1.0",
            licence="MIT",
            description="Keeps notes.",
            manual="Click New.",
            example_subtasks=(
                ExampleSubtask(
                    name="create",
                    instruction_template="Create '{csv_path}'.",
                    parameter_sets=({"csv_path": "a.csv"}, {"csv_path": "b.csv"}),
                    worked_example=(WorkedStep(operation="drag_input", path=((0.1, 0.2), (0.3, 0.4))),),
                ),
            ),
        ),
        create,
        chart,
        trajectory(),
        trajectory("trajectory-2", "sheets.chart", steps=trajectory().steps[:2]),
        trajectory("trajectory-bad", steps=(*trajectory().steps[:1], misled)),
        trajectory("recording-1", "task:task-1"),
        PerformanceEffects(
            trajectory_id="trajectory-1",
            subtask_id=create.subtask_id,
            instance_id=first.instance_id,
            compared=2,
            essential=(
                Effect(
                    area="file",
                    container="a.csv",
                    format="delimited",
                    kind="added",
                    after="a,b\n1,2\n",
                    container_template="{csv_path}",
                    after_template="a,b\n1,2\n",
                ),
                Effect(
                    area="screen", address=("Text", "Saved"), kind="added", address_template=("Text", "Saved")
                ),
            ),
            incidental=(
                Effect(
                    area="file",
                    container=".applications/notes/recent.json",
                    address=("last",),
                    kind="changed",
                    before="x.csv",
                    after="a.csv",
                    container_template=".applications/notes/recent.json",
                    address_template=("last",),
                    before_template="x.csv",
                    after_template="{csv_path}",
                ),
            ),
            provenance=MADE,
        ),
        PerformanceEffects(
            trajectory_id="trajectory-2",
            subtask_id=chart.subtask_id,
            instance_id=second.instance_id,
            incidental=(
                Effect(
                    area="clipboard", address=("text",), kind="added", after="copied", after_template="copied"
                ),
            ),
        ),
        *functions,
        *(
            JudgedOutcome(
                outcome_id=f"{case}@notes.create:f",
                case_id=case,
                subtask_id=create.subtask_id,
                application="notes",
                kind=kind,
                right=right,
                accepted=accepted,
                function_id="notes.create:f",
            )
            for case, kind, right, accepted in (
                ("create: by keyboard", "another route", True, True),
                ("create: empty", "wrong content", False, False),
                ("create: elsewhere", "wrong place", False, True),
            )
        ),
        VerificationRound(
            verification_id="verification-1",
            subtask_id=create.subtask_id,
            round=1,
            instance_id=first.instance_id,
            trajectory_id="trajectory-1",
            function_id=None,
            evaluation=Evaluation(
                outcome="result",
                result=EvalResult(success=True, progress=1.0),
                calls=(
                    CheckCall(check="check_file_exists", arguments={"file_path": "a.csv"}, answer="True"),
                ),
            ),
            accepted=True,
            provenance=MADE,
        ),
        VerificationRound(
            verification_id="verification-0",
            subtask_id=create.subtask_id,
            round=1,
            instance_id=first.instance_id,
            trajectory_id="trajectory-bad",
            function_id=None,
            evaluation=Evaluation(outcome="result", result=EvalResult(success=False, message="no file")),
            accepted=False,
            revised="trajectory",
            reason="no file",
        ),
        VerificationRound(
            verification_id="verification-2",
            subtask_id=chart.subtask_id,
            round=1,
            instance_id=second.instance_id,
            trajectory_id="trajectory-2",
            function_id=None,
            evaluation=None,
            accepted=True,
        ),
        Intent(
            intent_id="intent-1", text="Prepare the report", subtask_ids=(create.subtask_id, chart.subtask_id)
        ),
        task,
        Validation(
            validation_id="validation-1",
            task_id="task-1",
            round=1,
            instruction=task.instruction,
            inferred=((order[0], order[1]),),
            accepted=True,
        ),
        Replay(
            replay_id="task-1(0)",
            task_id="task-1",
            order=order,
            success=True,
            subtasks=tuple(
                ReplayedSubtask(instance_id=name, success=True, first_step=at, last_step=at)
                for at, name in enumerate(order, start=1)
            ),
            side_effects=SideEffects(total=1, files_lost=1, examples=("Documents/old.txt: removed",)),
            trajectory_id="recording-1",
            seconds=1.5,
        ),
        Rejection(
            item_kind="subtask",
            item_id="notes.fly",
            stage="cross_verification",
            reason="not_reproducible",
            message="It failed twice.",
            details={"rounds": "3"},
            provenance=MADE,
        ),
        RunRecord(
            run_id="run-1",
            flow="build_dataset",
            started_at="2026-01-01T00:00:00+00:00",
            settings={"applications": ["notes"], "limits": {"steps": 15, "budget": None}},
            stage_seconds={"exploration": 1.5},
            core_seconds={"exploration": {"browsers": 2.5, "taskloom": 0.5}},
        ),
        ModelCallRecord(
            call_id="call-1",
            run_id="run-1",
            stage="exploration",
            item_id="notes",
            role="explorer",
            provider="offline",
            model="rules",
            input_tokens=100,
            output_tokens=20,
            cost_usd=0.01,
            latency_seconds=0.2,
        ),
    ]
