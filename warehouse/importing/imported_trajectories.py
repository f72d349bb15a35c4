"""Trajectories of App. C.2 and C.5 as records. They carry no evidence, so evaluation functions cannot run on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from resources.applications import ControlQuery
from resources.record import Record
from taskgraph.records.evidence import Evidence
from taskgraph.records.interaction import Action, Screenshot
from taskgraph.records.subtask import Subtask, instance_id
from taskgraph.records.task import Replay, Task
from taskgraph.records.trajectory import Trajectory, TrajectoryStep
from warehouse.errors import ImportRefusedError
from warehouse.importing.import_fields import Fields
from warehouse.importing.imported_tasks import IMPORTED

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_RENAMED = {"wheel_dist": "wheel_distance"}


def read_trajectory(
    fields: Fields, root: Path, subtasks: Mapping[str, Subtask], default_id: str
) -> Trajectory:
    """A subtask's trajectory (C.2).

    Raises:
        ImportRefusedError: a field, a picture or the subtask is missing or wrong.
    """
    subtask_id = fields.text("subtask_id")
    if subtask_id not in subtasks:
        raise fields.refused("subtask_id", f"names {subtask_id!r}, which is not there")
    instruction = fields.text("instruction")
    sets = subtasks[subtask_id].available_parameters or ({},)
    parameters = next(
        (item for item in sets if all(value in instruction for value in item.values())), sets[0]
    )
    return Trajectory(
        trajectory_id=fields.optional_text("trajectory_id", default_id) or default_id,
        subtask_id=subtask_id,
        instance_id=instance_id(subtask_id, parameters),
        parameters=parameters,
        instruction=instruction,
        platform="imported",
        initial_evidence=Evidence(step=0),
        steps=_steps(fields, root),
        termination="finished",
        provenance=IMPORTED,
    )


def read_task_trajectory(
    fields: Fields, root: Path, tasks: Mapping[str, Task], names: Callable[[Task], dict[str, str]]
) -> list[Record]:
    """A task's trajectory (C.5): the replay and its recording.

    Raises:
        ImportRefusedError: a field, a picture or the task is missing or wrong.
    """
    task_id = fields.text("task_id")
    task = tasks.get(task_id)
    if task is None:
        raise fields.refused("task_id", f"names {task_id!r}, which is not there")
    instances = names(task)
    order = fields.texts("topological_order")
    if sorted(order) != sorted(instances):
        raise fields.refused("topological_order", "is no order of the task's nodes")
    replay_id = fields.text("trajectory_id")
    recording = Trajectory(
        trajectory_id=f"{replay_id}:recording",
        subtask_id=f"task:{task_id}",
        instance_id=f"task:{task_id}",
        parameters={},
        instruction=fields.text("instruction", empty=True),
        platform="imported",
        initial_evidence=Evidence(step=0),
        steps=_steps(fields, root),
        termination="finished",
        provenance=IMPORTED,
    )
    replay = Replay(
        replay_id=replay_id,
        task_id=task_id,
        order=tuple(instances[name] for name in order),
        success=True,
        trajectory_id=recording.trajectory_id,
        provenance=IMPORTED,
    )
    return [recording, replay]


def _steps(fields: Fields, root: Path) -> tuple[TrajectoryStep, ...]:
    observations = fields.texts("observations")
    actions = list(fields.each("actions"))
    if len(observations) != len(actions):
        raise fields.refused("observations", f"are {len(observations)}, but there are {len(actions)} actions")
    steps = []
    for number, (name, action) in enumerate(zip(observations, actions, strict=True), start=1):
        rectangle = _rectangle(action)
        text = action.optional_text("control_text")
        steps.append(
            TrajectoryStep(
                step=number,
                observation_screenshot=_picture(fields, root, name, number - 1),
                description=action.optional_text("description"),
                thought=action.optional_text("thought"),
                action=read_action(action),
                target=ControlQuery(text=text) if text else None,
                target_rectangle=rectangle,
                evidence=Evidence(step=number),
            )
        )
    return tuple(steps)


def read_action(fields: Fields) -> Action:
    """An action of C.2.

    Raises:
        ImportRefusedError: an unknown function, or arguments that it does not take.
    """
    arguments = fields.fields("args").values
    values: dict[str, object] = {_RENAMED.get(name, name): value for name, value in arguments.items()}
    values["operation"] = fields.text("function")
    if values["operation"] in ("click_input", "drag_input"):
        values["control_label"] = ""
    try:
        return _ACTION.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise fields.refused(f"args.{place}" if place else "function", first["msg"]) from None


def _rectangle(fields: Fields) -> tuple[int, int, int, int] | None:
    if fields.values.get("rect") is None:
        return None
    corners = fields.items("rect")
    numbers = [int(item) for item in corners if isinstance(item, (int, float)) and not isinstance(item, bool)]
    if len(corners) != 4 or len(numbers) != 4 or numbers[0] > numbers[2] or numbers[1] > numbers[3]:
        raise fields.refused("rect", "must be left, top, right, bottom")
    return (numbers[0], numbers[1], numbers[2], numbers[3])


def _picture(fields: Fields, root: Path, name: str, position: int) -> Screenshot:
    """The picture of an observation, which must lie inside the imported folder."""
    target = (root / name).resolve()
    refused: ImportRefusedError | None = None
    if not target.is_relative_to(root.resolve()):
        refused = fields.refused(f"observations[{position}]", f"leaves the folder: {name!r}")
    elif not target.is_file():
        refused = fields.refused(f"observations[{position}]", f"the picture {name!r} is not there")
    if refused is not None:
        raise refused
    png = target.read_bytes()
    if not png.startswith(b"\x89PNG\r\n"):
        raise fields.refused(f"observations[{position}]", f"{name!r} is no PNG")
    return Screenshot(sha256=hashlib.sha256(png).hexdigest(), png=png)
