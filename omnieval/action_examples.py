"""What is compared: actions as PyAutoGUI statements, the recorded ones with the boxes that they lie in;
and which actions are right at a step of a replay.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from taskloom.omnieval.replies.arguments import numbers
from taskloom.omnieval.replies.calls import Call, calls_in
from taskloom.taskgraph.records.gestures import PointedGesture
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Replay
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the action space of OmniACT (its Table 2)."""

    name: str
    """What is called, such as `click` or `hotkey`."""
    point: tuple[float, float] | None = None
    """Where, in pixels."""
    keys: tuple[str, ...] = ()
    text: str = ""
    box: Box | None = None
    """Where a point counts as right; known of recorded statements alone."""

    def holds(self, point: tuple[float, float] | None) -> bool:
        """Whether a point lies in the box, its edges included."""
        return self.point is None or (point is not None and distance(self, point) == 0)


@dataclass(frozen=True, slots=True)
class Example:
    """One comparison: a whole script, or the next action alone."""

    gold: tuple[Statement, ...]
    """What was recorded."""
    predicted: tuple[Statement, ...]
    """What the agent said."""
    whole: bool = True
    """Whether all actions of a task are compared; else one step of it."""
    also_right: tuple[tuple[Statement, ...], ...] = ()
    """What would have been right at that step instead, derived from the task's graph."""


def statements_in(code: str) -> tuple[Statement, ...]:
    """The statements of a script, read and never run.

    >>> [(item.name, item.point, item.keys) for item in statements_in("pyautogui.click(3, 4)")]
    [('click', (3.0, 4.0), ())]
    """
    return tuple(_statement(call) for call in calls_in(code, ("code",)))


def statements_of(steps: Iterable[TrajectoryStep]) -> tuple[Statement, ...]:
    """Recorded steps as statements; a place counts as right anywhere in the control that was acted on.

    Steps that were not carried out, slips and what takes them back are left out.

    >>> statements_of(())
    ()
    """
    found: list[Statement] = []
    for step in steps:
        if step.problem or step.slip:
            continue
        action = step.action
        points = list(getattr(action, "points", ()) or ())
        place = step.target_rectangle
        if not points and isinstance(action, PointedGesture):
            middle = ((place[0] + place[2]) // 2, (place[1] + place[3]) // 2) if place else None
            points = [found_at for found_at in [action.point or middle] if found_at is not None]
        for item in statements_in("\n".join(action.statements(points))):
            first = item.point is not None and points and item.point == tuple(map(float, points[0]))
            found.append(_in_box(item, place if first else None))
    return tuple(found)


def distance(gold: Statement, point: tuple[float, float]) -> float:
    """The least distance from a point to the box of a recorded statement, in pixels; 0 inside of it.

    >>> gold = boxed(statements_in("click(5, 5)"), [[4, 4, 6, 6]])[0]
    >>> distance(gold, (5, 5)), distance(gold, (9, 10))
    (0.0, 5.0)
    """
    left, top, right, bottom = gold.box or (0, 0, 0, 0)
    across = max(left - point[0], 0.0, point[0] - right)
    down = max(top - point[1], 0.0, point[1] - bottom)
    return float((across**2 + down**2) ** 0.5)


def boxed(script: Sequence[Statement], boxes: JsonValue) -> tuple[Statement, ...]:
    """The statements, each with the smallest of the boxes that hold its point; without one, the pixel itself.

    >>> boxed(statements_in("click(5, 5)"), [[0, 0, 9, 9], [4, 4, 6, 6], "?"])[0].box
    (4, 4, 6, 6)
    """
    rows = [numbers(box) for box in boxes] if isinstance(boxes, list) else []
    known = [(int(row[0]), int(row[1]), int(row[2]), int(row[3])) for row in rows if len(row) == 4]
    found: list[Statement] = []
    for item in script:
        around = [box for box in known if item.point and distance(_in_box(item, box), item.point) == 0]
        smallest = min(around, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]), default=None)
        found.append(_in_box(item, smallest))
    return tuple(found)


def _in_box(item: Statement, box: Box | None) -> Statement:
    """The statement with its box: the control's, or the pixel itself."""
    if item.point is None:
        return item
    x, y = round(item.point[0]), round(item.point[1])
    return Statement(item.name, item.point, item.keys, item.text, box or (x, y, x, y))


def _statement(call: Call) -> Statement:
    values = [*call.positional, *call.arguments.values()]
    if call.name in ("press", "hotkey", "keyDown", "keyUp"):
        flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
        return Statement(call.name, keys=tuple(str(item).lower() for item in flat if isinstance(item, str)))
    if call.name in ("write", "typewrite"):
        return Statement("write", text=next((item for item in values if isinstance(item, str)), ""))
    given = [call.arguments.get(name) for name in ("x", "y")]
    place = numbers(given if None not in given else list(call.positional[:2]))
    pointed = len(place) == 2 and call.name not in ("scroll", "hscroll", "sleep")
    return Statement(call.name, point=(place[0], place[1]) if pointed else None)


def also_right(
    graph: TaskGraph, replay: Replay, step: int, replays: Iterable[Replay], recorded: Mapping[str, Trajectory]
) -> tuple[tuple[Statement, ...], ...]:
    """What may be done at `step` of `replay` instead of what was; nothing in the middle of a subtask. The
    `recorded` trajectories of all replays of the task, by id, say how its subtasks begin.

    Of two independent subtasks whose first steps are 1 and 2, the other may come first:

    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> from taskloom.taskgraph.records.interaction import ClickInput
    >>> from taskloom.taskgraph.records.task import ReplayedSubtask
    >>> from taskloom.taskgraph.records.trajectory import TrajectoryStep
    >>> parts = [
    ...     ReplayedSubtask(instance_id=name, success=True, first_step=step, last_step=step)
    ...     for step, name in enumerate("ab", start=1)
    ... ]
    >>> replay = Replay(
    ...     replay_id="1(0)", task_id="1", order=("a", "b"), success=True, subtasks=parts, trajectory_id="t"
    ... )
    >>> steps = [
    ...     TrajectoryStep.model_construct(step=step, action=ClickInput(point=(10 * step, 5)))
    ...     for step in (1, 2)
    ... ]
    >>> recorded = {"t": Trajectory.model_construct(steps=steps)}
    >>> graph = read_task_graph({"nodes": ["a", "b"]}, {}, str)
    >>> [item.point for (item,) in also_right(graph, replay, 1, [replay], recorded)]
    [(20.0, 5.0)]
    """
    if any(node.first_step < step <= node.last_step for node in replay.subtasks):
        return ()
    done = {node.instance_id for node in replay.subtasks if node.last_step < step}
    now = {node.instance_id for node in replay.subtasks if node.first_step == step}
    needs: dict[str, set[str]] = {node.instance_id: set() for node in graph.nodes}
    for edge in graph.edges:
        needs[edge.consumer].add(edge.producer)
    free = {name for name, needed in needs.items() if name not in done | now and needed <= done}
    found: list[tuple[Statement, ...]] = []
    for other in replays:
        trajectory = recorded.get(other.trajectory_id)
        steps = trajectory.steps if trajectory is not None else ()
        for node in other.subtasks:
            if node.instance_id in free:
                found.append(statements_of([item for item in steps if item.step >= node.first_step][:1]))
    return tuple(dict.fromkeys(item for item in found if item))
