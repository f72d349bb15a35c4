"""A trajectory as a strip: for each step the screen with the control acted on, the thought, the action."""

from dataclasses import dataclass

from taskloom.taskgraph.records.task import ReplayedSubtask
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep
from taskloom.warehouse.errors import ScreenshotMissingError
from taskloom.warehouse.exporting.recordings import image_size, in_words, points_of
from taskloom.warehouse.store import Warehouse

_PNG_HEAD = 24


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
    """Where on the picture the action was, in pixels; several for a drag, none where it has no place."""


def step_of(text: str) -> int:
    """The number of a step in a page's parameters; 1 where it is none.

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
        action=in_words(step),
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
