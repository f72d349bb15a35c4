"""Which actions are right at a step of a replayed task: the recorded one, and the first of every subtask
that the graph allows to begin there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from taskloom.omnieval.action_examples import Statement, statements_of
from taskloom.taskgraph.records.graph import TaskGraph
from taskloom.taskgraph.records.task import Replay
from taskloom.taskgraph.records.trajectory import Trajectory


def also_right(
    graph: TaskGraph, replay: Replay, step: int, replays: Iterable[Replay], recorded: Mapping[str, Trajectory]
) -> tuple[tuple[Statement, ...], ...]:
    """What may be done at `step` of `replay` instead of what was; nothing in the middle of a subtask.

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

    Args:
        graph: the task graph.
        replay: the order that is followed.
        step: a step of its recording.
        replays: all replays of the task, whose recordings say how its subtasks begin.
        recorded: recordings by id.
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
        for node in other.subtasks if trajectory is not None else ():
            if node.instance_id in free and trajectory is not None:
                begun = [item for item in trajectory.steps if item.step >= node.first_step]
                found.append(statements_of(begun[:1]))
    return tuple(dict.fromkeys(item for item in found if item))
