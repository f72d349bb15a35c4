"""States from which a subtask inside a task can be judged, so that work of other subtasks is not attributed
to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taskloom.resources.categories import ResourceKind
from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.subtask import BoundSubtask


def possible_starts(
    states: Sequence[Evidence], since_step: int, completed: Sequence[tuple[int, BoundSubtask]]
) -> Iterator[Evidence]:
    """The state in which the subtask became open, then that state with the products of `completed`, then
    later states.

    `states` are the states after each step, starting with the initial one; `completed` holds other subtasks
    and the steps at which they were completed. A function that compares with the start rejects work during
    which another subtask did its own, unless it is judged from a state in which that had already been done.
    """
    yield states[since_step]
    later = [(step, node) for step, node in completed if step > since_step]
    start = states[since_step]
    for step, node in later:
        start = _with_files_of(node, start, states[step])
    if later:
        yield start
    for step in dict.fromkeys(step for step, _ in reversed(later)):
        yield states[step]


def _with_files_of(node: BoundSubtask, start: Evidence, done: Evidence) -> Evidence:
    """`start` with the files that `node` reads or writes as they are in `done`."""
    paths = {
        item.value for item in (*node.inputs, *node.outputs) if item.kind is ResourceKind.FILE and item.value
    }
    files = [file for file in start.files if file.path not in paths]
    files += [file for file in done.files if file.path in paths]
    return start.model_copy(
        update={
            "files": tuple(sorted(files, key=lambda file: file.path)),
            "directories": tuple(sorted({*start.directories, *(paths & set(done.directories))})),
        }
    )
