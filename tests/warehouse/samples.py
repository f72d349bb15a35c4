"""A small dataset with one record of every class, as a run would write it."""

from __future__ import annotations

import struct
import zlib

import pyarrow as pa

from resources.applications import (
    Application,
    ControlQuery,
    ExampleSubtask,
    Fixture,
    Launch,
    ResourceDeclaration,
    WorkedStep,
)
from resources.categories import ResourceKind
from resources.instances import Resource
from resources.record import Record
from taskgraph.complexity import DIMENSIONS
from taskgraph.evaluation_function import (
    CheckCall,
    EvalResult,
    Evaluation,
    EvaluationFunction,
    FamilyKills,
    FunctionQuality,
    VerificationRound,
)
from taskgraph.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskgraph.graph import Dependency, TaskGraph
from taskgraph.interaction import (
    Action,
    ClickInput,
    Control,
    DragInput,
    KeyboardInput,
    Rectangle,
    Screenshot,
    WaitInput,
    WheelMouseInput,
)
from taskgraph.provenance import Provenance
from taskgraph.subtask import BoundSubtask, Subtask, instance_id
from taskgraph.task import Complexity, Intent, Rejection, Replay, ReplayedSubtask, Task, Validation
from taskgraph.trajectory import Trajectory, TrajectoryStep
from warehouse.records import ModelCallRecord, RunRecord
from warehouse.schema import TABLE_NAMED

SOURCE = """def evaluate_agent_task_completion(csv_path: str) -> EvalResult:
    conditions = [
        (check_file_exists(csv_path), "there is no file"),
        (check_file_contains(csv_path, "a" + ",b"), "it is empty"),
    ]
    failed = [message for holds, message in conditions if not holds]
    progress = (len(conditions) - len(failed)) / len(conditions)
    if failed:
        return EvalResult(False, "; ".join(failed), progress)
    return EvalResult(True, "all conditions hold", progress)
"""
MADE = Provenance(run_id="run-1", stage="composition", provider="offline", model="rules", seed=7)


def png(width: int = 64, height: int = 48, shade: int = 200) -> bytes:
    """A valid grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + bytes([shade]) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(row * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


SCREENS = tuple(Screenshot.of(png(shade=shade)) for shade in (200, 120, 40))


def controls(count: int = 12) -> tuple[Control, ...]:
    return tuple(
        Control(
            label=str(index),
            text=f"Button {index} 'it' \"is\"",
            control_type="Button",
            parent_text="Toolbar",
            parent_type="Pane",
            rectangle=Rectangle(left=index * 4, top=4, right=index * 4 + 4, bottom=20),
            checked=None if index % 2 else True,
            application="notes",
        )
        for index in range(count)
    )


def file_resource(value: str, category: str = "csv_path") -> Resource:
    return Resource(category=category, kind=ResourceKind.FILE, value=value)


def subtask(
    name: str, application: str = "notes", category: str = "Note Management", **fields: object
) -> Subtask:
    values: dict[str, object] = {
        "subtask_id": f"{application}.{name}",
        "application": application,
        "application_category": category,
        "instruction_template": f"In {application}, {name} '{{csv_path}}'.",
        "available_parameters": ({"csv_path": "a.csv"}, {"csv_path": "b.csv"}),
        "inputs": (),
        "outputs": (ResourceDeclaration(category="csv_path", parameter="csv_path"),),
        "fresh": ("csv_path",),
        "worked_example": (WorkedStep(operation="click_input", control=ControlQuery(text="Save")),),
        "provenance": MADE,
    }
    return Subtask.model_validate({**values, **fields})


def node(item: Subtask, value: str, reads: tuple[Resource, ...] = ()) -> BoundSubtask:
    parameters = {"csv_path": value}
    return BoundSubtask(
        instance_id=instance_id(item.subtask_id, parameters),
        subtask_id=item.subtask_id,
        application=item.application,
        application_category=item.application_category,
        instruction=item.instruction_template.replace("{csv_path}", value),
        parameters=parameters,
        inputs=reads,
        outputs=() if reads else (file_resource(value),),
    )


def complexity(nodes: int, edges: int, depth: int, width: int, **levels: str) -> Complexity:
    chosen = {
        "dependency_level": "easy",
        "instruction_level": "easy",
        "knowledge_level": "easy",
        "hierarchy_level": "easy",
        "branch_level": "easy",
        **levels,
    }
    return Complexity.model_validate(
        {
            "edges": edges,
            "nodes": nodes,
            "application_categories": 2,
            "depth": depth,
            "width": width,
            "largest_layer": width,
            "components": 1,
            **chosen,
        }
    )


def evidence(step: int = 0, text: str = "a,b\n1,2\n") -> Evidence:
    return Evidence(
        step=step,
        inputs=tuple(
            InputEvent(
                step=number, kind="click", control=ControlQuery(text="Save"), application="notes", text="left"
            )
            for number in range(1, step + 1)
        ),
        screenshot=SCREENS[step % 3],
        controls=controls(),
        clipboard=ClipboardState(text="copied" if step else None),
        files=(
            FileState(path="a.csv", size=8, sha256="0" * 64, text=text),
            FileState(path="logo.bin", size=3, sha256="1" * 64),
        ),
        directories=("Documents",),
        active_application="notes",
        window_title="Notes",
        url="http://localhost/notes",
    )


ACTIONS: tuple[Action, ...] = (
    ClickInput(control_label="1", double=True, position=(0.25, 0.75)),
    KeyboardInput(control_label="2", keys="^a{DELETE}hello"),
    WheelMouseInput(wheel_distance=-3),
    DragInput(control_label="3", path=((0.0, 0.0), (1.0, 0.5))),
    WaitInput(seconds=0.5),
    ClickInput(control_label="4"),
)


def trajectory(
    trajectory_id: str = "trajectory-1", subtask_id: str = "notes.create", **fields: object
) -> Trajectory:
    first = controls()[1]
    box = (first.rectangle.left, first.rectangle.top, first.rectangle.right, first.rectangle.bottom)
    steps = tuple(
        TrajectoryStep(
            step=number,
            observation_screenshot=SCREENS[(number - 1) % 3],
            observation_controls=controls(),
            description=f"Screen {number}",
            thought=f"Do step {number}",
            action=action,
            target=None if action.operation in ("wait", "wheel_mouse_input") else first.describe(),
            target_rectangle=None if action.operation in ("wait", "wheel_mouse_input") else box,
            evidence=evidence(number),
        )
        for number, action in enumerate(ACTIONS, start=1)
    )
    values: dict[str, object] = {
        "trajectory_id": trajectory_id,
        "subtask_id": subtask_id,
        "instance_id": f"{subtask_id}:1",
        "parameters": {"csv_path": "a.csv"},
        "instruction": "In notes, create 'a.csv'.",
        "platform": "web_browser",
        "initial_evidence": evidence(),
        "steps": steps,
        "termination": "finished",
        "provenance": MADE,
    }
    return Trajectory.model_validate({**values, **fields})


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
        *functions,
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


def bare_tasks(*task_ids: str) -> pa.Table:
    """Tasks as columns, with little more than the levels, as another program may store them."""
    levels = {f"{name}_level": "easy" for name in DIMENSIONS}
    part = {"instance_id": "elsewhere.do:1", "subtask_id": "elsewhere.do", "application": "elsewhere"}
    rows = [
        {"task_id": name, "nodes": [part], "edges": [], "node_count": 1, "edge_count": 0, **levels}
        for name in task_ids
    ]
    return pa.Table.from_pylist(rows, schema=TABLE_NAMED["tasks"].arrow)
