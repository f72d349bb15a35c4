"""Recordings: trajectories as strips (for each step the screen with the control acted on, thought and
action), and the model calls for an item."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from pydantic import JsonValue

from taskloom.taskgraph.records.task import ReplayedSubtask
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import ScreenshotMissingError
from taskloom.warehouse.exporting.recordings import describe_step, image_size, points_of
from taskloom.warehouse.records import ModelCallRecord
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.website import Site

_PNG_HEAD = 24
_REPLAY_PREFIX = "task:"
"""Prefix of the task's id in the subtask id of a replay's trajectory."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a strip."""

    number: int
    subtask: int
    """Number of the subtask it belongs to, from 1; 0 where the trajectory is of one subtask."""
    action: str
    thought: str
    problem: str
    """Why it could not be carried out; empty when it was."""
    picture: str
    """Hash of the screen before it; empty where no picture is stored."""
    size: tuple[int, int]
    """Width and height of the picture, in pixels."""
    mark: tuple[int, int, int, int] | None
    """Left, top, width and height of the control, in pixels of the picture."""
    points: tuple[tuple[int, int], ...]
    """Points of the action on the picture, in pixels; several for a drag, none if it has no position."""


def step_of(text: str) -> int:
    """The number of a step in a page's parameters; 1 where it is not a number.

    >>> step_of("3"), step_of(""), step_of("-2"), step_of("x")
    (3, 1, 1, 1)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1


def read_strip(
    warehouse: Warehouse, trajectory: Trajectory, subtasks: tuple[ReplayedSubtask, ...] = ()
) -> tuple[Frame, ...]:
    """The frames of a trajectory; `subtasks` say which steps belong to which."""
    return tuple(_frame(warehouse, step, subtasks) for step in trajectory.steps)


def _frame(warehouse: Warehouse, step: TrajectoryStep, subtasks: tuple[ReplayedSubtask, ...]) -> Frame:
    size = _size(warehouse, step.observation_screenshot.sha256)
    mark = None
    if step.target_rectangle:
        left, top, right, bottom = step.target_rectangle
        mark = (left, top, max(0, right - left), max(0, bottom - top))
    owners = (
        number for number, node in enumerate(subtasks, 1) if node.first_step <= step.step <= node.last_step
    )
    return Frame(
        number=step.step,
        subtask=next(owners, 0),
        action=describe_step(step),
        thought=step.thought,
        problem=step.problem,
        picture=step.observation_screenshot.sha256 if size else "",
        size=size or (0, 0),
        mark=mark,
        points=tuple((round(x), round(y)) for x, y in points_of(step)) if size else (),
    )


def _size(warehouse: Warehouse, sha256: str) -> tuple[int, int] | None:
    try:
        head = warehouse.screenshots.head(sha256, _PNG_HEAD)
    except ScreenshotMissingError:
        return None
    return image_size(head) if len(head) >= _PNG_HEAD and head.startswith(b"\x89PNG") else None


_MAX_CALLS = 200
_CALLS_OF_ITEM = (
    "SELECT call_id, stage, role, provider, model, purpose, outcome, input_tokens, output_tokens, cost_usd,"
    " latency_seconds FROM model_calls WHERE item_id = ? ORDER BY finished_at, call_id"
    f" LIMIT {_MAX_CALLS}"
)


ReadCall = Callable[[str], object]
"""Finds, by its key, what the template shows of a call: its `messages` with `role` and `content`, and its
`reply`; None if unknown."""


def calls_for(warehouse: Warehouse, item_id: str) -> list[dict[str, JsonValue]]:
    """Calls first made for a subtask, task or application, oldest first; at most 200."""
    return warehouse.query(_CALLS_OF_ITEM, [item_id]).as_dicts()


def add_pages(application: FastAPI, site: Site, read_call: ReadCall | None) -> None:
    """Add the pages of one trajectory and of one call; `read_call` reads the messages of calls."""

    @application.get("/calls/{call_id:path}")
    def call(call_id: str, request: Request) -> HTMLResponse:
        record = site.find_record(ModelCallRecord, "call_id", call_id, "model call")
        return site.page(
            "call.html.jinja",
            call=record,
            conversation=read_call(record.key) if read_call else None,
            is_task=bool(
                site.store.query("SELECT 1 FROM tasks WHERE task_id = ?", [record.item_id]).scalar()
            ),
            is_subtask=bool(
                site.store.query("SELECT 1 FROM subtasks WHERE subtask_id = ?", [record.item_id]).scalar()
            ),
        )

    @application.get("/trajectories/{trajectory_id:path}")
    def trajectory(trajectory_id: str, request: Request) -> HTMLResponse:
        record = site.find_record(Trajectory, "trajectory_id", trajectory_id, "trajectory")
        return site.page(
            "trajectory.html.jinja",
            trajectory=record,
            task_id=_task_of(site.store, record),
            frames=read_strip(site.store, record),
            step=step_of(request.query_params.get("step", "")),
        )


def _task_of(store: Warehouse, trajectory: Trajectory) -> str:
    """The task of a replay or an attempt; empty for the trajectory of a subtask."""
    name = trajectory.subtask_id
    if name.startswith(_REPLAY_PREFIX):
        return name.removeprefix(_REPLAY_PREFIX)
    return str(store.query("SELECT coalesce(max(task_id), '') FROM tasks WHERE task_id = ?", [name]).scalar())
