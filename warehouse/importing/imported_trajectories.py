"""Trajectories of App. C.2 and C.5 as records; without evidence, evaluation functions cannot run on them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, FiniteFloat, JsonValue, TypeAdapter, ValidationError

from taskloom.resources.applications import ControlQuery
from taskloom.resources.record import Record
from taskloom.taskgraph.reading.faults import reason_of
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Action, Screenshot
from taskloom.taskgraph.records.subtask import Subtask, instance_id
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.exports.omnibench import node_names
from taskloom.warehouse.importing.imported_tasks import IMPORTED, imported_trajectory
from taskloom.warehouse.importing.items import ForeignModel, Item, Text
from taskloom.warehouse.importing.json_reading import file_inside

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_RENAMED = {"wheel_dist": "wheel_distance"}


def _four_corners(corners: list[float]) -> list[float]:
    if len(corners) != 4 or corners[0] > corners[2] or corners[1] > corners[3]:
        raise ValueError("must be left, top, right, bottom")
    return corners


class PaperAction(ForeignModel):
    """An action of C.2."""

    function: Text
    args: dict[str, JsonValue]
    description: str | None = None
    thought: str | None = None
    control_text: str | None = None
    rect: Annotated[list[FiniteFloat], AfterValidator(_four_corners)] | None = None
    """Left, top, right and bottom of the control."""


class _Steps(ForeignModel):
    observations: list[str]
    actions: list[PaperAction]


class _SubtaskTrajectory(_Steps):
    trajectory_id: str | None = None
    subtask_id: Text
    instruction: Text


class _TaskTrajectory(_Steps):
    trajectory_id: Text
    task_id: Text
    topological_order: list[str]
    instruction: str


def read_trajectory(item: Item, root: Path, subtasks: Mapping[str, Subtask], default_id: str) -> Trajectory:
    """A subtask's trajectory (C.2); refused where a field, a picture or the subtask is missing or wrong."""
    found = item.parsed(_SubtaskTrajectory)
    if found.subtask_id not in subtasks:
        raise item.refused("subtask_id", f"names {found.subtask_id!r}, which does not exist")
    parameters = parameters_in(found.instruction, subtasks[found.subtask_id])
    return imported_trajectory(
        found.trajectory_id or default_id,
        found.subtask_id,
        found.instruction,
        _steps(found, item, root),
        instance_id=instance_id(found.subtask_id, parameters),
        parameters=parameters,
    )


def parameters_in(instruction: str, subtask: Subtask) -> Mapping[str, str]:
    """The first parameter set of a subtask whose values all stand in an instruction, else the first."""
    sets = subtask.available_parameters or ({},)
    return next((item for item in sets if all(value in instruction for value in item.values())), sets[0])


def read_task_trajectory(item: Item, root: Path, tasks: Mapping[str, Task]) -> list[Record]:
    """The replay and recording of C.5; refused where a field, a picture or the task is missing or wrong."""
    found = item.parsed(_TaskTrajectory)
    task = tasks.get(found.task_id)
    if task is None:
        raise item.refused("task_id", f"names {found.task_id!r}, which does not exist")
    instances = {name: instance for instance, name in node_names(task).items()}
    if sorted(found.topological_order) != sorted(instances):
        raise item.refused("topological_order", "is not an order of the task's nodes")
    recording = imported_trajectory(
        f"{found.trajectory_id}:recording",
        f"task:{found.task_id}",
        found.instruction,
        _steps(found, item, root),
    )
    replay = Replay(
        replay_id=found.trajectory_id,
        task_id=found.task_id,
        order=tuple(instances[name] for name in found.topological_order),
        success=True,
        trajectory_id=recording.trajectory_id,
        provenance=IMPORTED,
    )
    return [recording, replay]


def _steps(found: _Steps, item: Item, root: Path) -> tuple[TrajectoryStep, ...]:
    pictures, actions = len(found.observations), len(found.actions)
    if pictures != actions:
        raise item.refused("observations", f"are {pictures}, but there are {actions} actions")
    return tuple(
        TrajectoryStep(
            step=position + 1,
            observation_screenshot=_picture(item, root, name, position),
            description=action.description or "",
            thought=action.thought or "",
            action=read_action(action, item, f"actions[{position}]."),
            target=ControlQuery(text=action.control_text) if action.control_text else None,
            target_rectangle=_rectangle(action),
            evidence=Evidence(step=position + 1),
        )
        for position, (name, action) in enumerate(zip(found.observations, found.actions, strict=True))
    )


def read_action(action: PaperAction, item: Item, place: str = "") -> Action:
    """Our equivalent of `action`, at a place of `item`; refused where function or arguments are unknown."""
    values: dict[str, object] = {_RENAMED.get(name, name): value for name, value in action.args.items()}
    values["operation"] = action.function
    if action.function in ("click_input", "drag_input"):
        values["control_label"] = ""
    try:
        return _ACTION.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        raise item.refused(
            f"{place}args.{field}" if field else f"{place}function", reason_of(first)
        ) from None


def _rectangle(action: PaperAction) -> tuple[int, int, int, int] | None:
    if action.rect is None:
        return None
    left, top, right, bottom = (int(corner) for corner in action.rect)
    return (left, top, right, bottom)


def _picture(item: Item, root: Path, name: str, position: int) -> Screenshot:
    place = f"observations[{position}]"
    target = file_inside(root, name)
    try:
        png = target.read_bytes() if target is not None else b""
    except OSError:
        target = None
    if target is None:
        raise item.refused(place, f"{name[:200]!r} cannot be read, is not there, or leaves the folder")
    if not png.startswith(b"\x89PNG\r\n"):
        raise item.refused(place, f"{name!r} is not a PNG file")
    return Screenshot.of(png)
