"""Parts of sample records: pictures, controls, subtasks, evidence, trajectories."""

from __future__ import annotations

import struct
import zlib

import pyarrow as pa

from taskloom.resources.applications import (
    Application,
    ControlQuery,
    Fixture,
    Launch,
    Preparation,
    ResourceDeclaration,
    WorkedStep,
)
from taskloom.resources.categories import ResourceKind
from taskloom.resources.dimensions import DIMENSIONS
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.evidence import ClipboardState, Evidence, FileState, InputEvent
from taskloom.taskgraph.records.interaction import (
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
from taskloom.taskgraph.records.provenance import Provenance
from taskloom.taskgraph.records.subtask import BoundSubtask, Subtask, instance_id
from taskloom.taskgraph.records.task import Complexity
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.schema import TABLE_NAMED

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


def shop(preparation: Preparation, launch: Launch, fixture: Fixture) -> Application:
    """An application of which only the way to start it matters."""
    return Application(
        name="shop",
        title="Shop",
        category="Office",
        version="1",
        licence="MIT",
        description="",
        manual="",
        preparation=preparation,
        launch=launch,
        fixtures=(fixture,),
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


def bare_tasks(*task_ids: str) -> pa.Table:
    """Tasks as columns, with little more than the levels, as another program may store them."""
    levels = {f"{name}_level": "easy" for name in DIMENSIONS}
    part = {"instance_id": "elsewhere.do:1", "subtask_id": "elsewhere.do", "application": "elsewhere"}
    rows = [
        {"task_id": name, "nodes": [part], "edges": [], "node_count": 1, "edge_count": 0, **levels}
        for name in task_ids
    ]
    return pa.Table.from_pylist(rows, schema=TABLE_NAMED["tasks"].arrow)
