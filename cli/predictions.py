"""Predicted actions from a file, paired with the recordings that they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from taskloom.flows.errors import CommandError
from taskloom.omnieval.action_metrics import (
    Example,
    Statement,
    also_right,
    boxed,
    statements_in,
    statements_of,
)
from taskloom.resources.record import Record
from taskloom.taskgraph.records.task import Replay, Task
from taskloom.taskgraph.records.trajectory import Trajectory
from taskloom.warehouse.records import ImportedItem
from taskloom.warehouse.store import Warehouse

R = TypeVar("R", bound=Record)


class Prediction(Record):
    """One line of a file of predictions."""

    trajectory_id: str = ""
    """The recording it belongs to."""
    task_id: str = ""
    """Instead of a recording: a task that was imported from OmniACT, whose script and boxes are compared."""
    actions: str
    """PyAutoGUI code, in pixels of its pictures."""
    step: int | None = Field(default=None, ge=1)
    """The step of the recording whose action is predicted; None for all of them."""

    @model_validator(mode="after")
    def _check_reference(self) -> Self:
        if bool(self.trajectory_id) == bool(self.task_id) or (self.task_id and self.step):
            raise ValueError("name trajectory_id, with or without step, or task_id alone")
        return self


def read_predictions(file: Path) -> tuple[Prediction, ...]:
    """The predictions of a file.

    Raises:
        CommandError: it cannot be read, is empty, or a line is not a prediction; the line is named.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"the predictions {file} cannot be read: {error}.") from None
    predictions: list[Prediction] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            predictions.append(Prediction.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise CommandError(
                f"{file}, line {number}: {place}: {first['msg']}; a line has actions, and trajectory_id"
                " (step optional) or task_id."
            ) from None
    if not predictions:
        raise CommandError(f"{file} holds no predictions; one JSON object per line.")
    return tuple(predictions)


def examples_of(predictions: Sequence[Prediction], store: Warehouse) -> list[Example]:
    """Every prediction, with the recorded actions and the alternatives that the task's graph allows.

    Raises:
        CommandError: there is no such recording or step.
    """
    names = sorted({item.trajectory_id for item in predictions if item.trajectory_id})
    scripts = _scripts(store, sorted({item.task_id for item in predictions if item.task_id}))
    recorded = {item.trajectory_id: item for item in _read(store, Trajectory, "trajectory_id", names)}
    missing = [name for name in names if name not in recorded]
    if missing:
        raise CommandError(
            f"there is no trajectory {missing[0]!r} ({len(missing)} of {len(names)} are missing); see"
            " taskloom sql trajectories."
        )
    replay_of = {item.trajectory_id: item for item in _read(store, Replay, "trajectory_id", names)}
    tasks = {
        item.task_id: item
        for item in _read(store, Task, "task_id", [item.task_id for item in replay_of.values()])
    }
    replays = list(_read(store, Replay, "task_id", list(tasks)))
    others = [item.trajectory_id for item in replays if item.trajectory_id not in recorded]
    trajectories = recorded | {
        item.trajectory_id: item for item in _read(store, Trajectory, "trajectory_id", others)
    }
    examples: list[Example] = []
    for item in predictions:
        if item.task_id:
            examples.append(Example(scripts[item.task_id], statements_in(item.actions)))
            continue
        trajectory = recorded[item.trajectory_id]
        steps = [step for step in trajectory.steps if item.step in (None, step.step)]
        if not steps:
            raise CommandError(f"the trajectory {item.trajectory_id!r} has no step {item.step}.")
        replay = replay_of.get(item.trajectory_id)
        task = tasks.get(replay.task_id) if replay is not None else None
        alternatives: tuple[tuple[Statement, ...], ...] = ()
        if item.step is not None and replay is not None and task is not None:
            task_replays = [other for other in replays if other.task_id == task.task_id]
            alternatives = also_right(task.graph, replay, item.step, task_replays, trajectories)
        predicted = statements_in(item.actions)
        examples.append(Example(statements_of(steps), predicted, item.step is None, alternatives))
    return examples


def _scripts(store: Warehouse, names: Sequence[str]) -> dict[str, tuple[Statement, ...]]:
    """The scripts of imported tasks, with the boxes of their screens."""
    scripts: dict[str, tuple[Statement, ...]] = {}
    for item in _read(store, ImportedItem, "item_id", names):
        content = item.content if isinstance(item.content, dict) else {}
        if item.item_kind == "task" and item.format == "omniact":
            _, _, script = str(content.get("task_text", "")).partition("Output Script:")
            scripts[item.item_id] = boxed(statements_in(script), content.get("boxes"))
    missing = [name for name in names if name not in scripts]
    if missing:
        raise CommandError(f"the task {missing[0]!r} was not imported from OmniACT; name a trajectory_id.")
    return scripts


def _read(store: Warehouse, record: type[R], column: str, values: Sequence[str]) -> Iterator[R]:
    return store.read(record, f"list_contains(?, {column})", (list(values),))
