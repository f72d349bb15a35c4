"""Which task a person reviews next: everybody goes through the same tasks in the same order, so that reviews
can be compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from taskloom.resources.dimensions import DIMENSIONS
from taskloom.warehouse.store import Warehouse
from taskloom.warehouse.viewer.pages.task_list import TaskFilter

MOST_TASKS: Final = 1000
"""Tasks of a queue at most."""
_FINISHED: Final = "status IN ('validated', 'imported')"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a person is in a queue."""

    done: int
    """Tasks of the queue that the person has reviewed."""
    total: int
    """Tasks of the queue."""
    task_id: str
    """The task to review next; empty when all are reviewed."""


def queue_of(warehouse: Warehouse, chosen: TaskFilter) -> list[str]:
    """Ids of the tasks that the filter allows: one of each combination of levels, then the others, as if
    drawn by lot.

    Only finished tasks, unless the filter names a status. The order depends on the ids alone.
    """
    condition, bound = chosen.condition()
    if not chosen.values["status"]:
        condition += f" AND {_FINISHED}"
    cell = ", ".join(f"{name}_level" for name in DIMENSIONS)
    rows = warehouse.query(
        f"SELECT task_id FROM (SELECT task_id, md5(task_id) AS lot, row_number() OVER (PARTITION BY {cell}"
        f" ORDER BY md5(task_id), task_id) AS place FROM tasks WHERE {condition}) ORDER BY place > 1, lot,"
        f" task_id LIMIT {MOST_TASKS}",
        bound,
    ).rows()
    return [str(row[0]) for row in rows]


def reviewed_by(warehouse: Warehouse, reviewer: str) -> set[str]:
    """Tasks with a review of this person that counts."""
    rows = warehouse.query(
        "SELECT r.task_id FROM latest_reviews AS r"
        " JOIN tasks AS t ON t.task_id = r.task_id AND t.instruction = r.instruction WHERE r.reviewer = ?",
        [reviewer],
    ).rows()
    return {str(row[0]) for row in rows}


def progress_of(queue: Sequence[str], reviewed: Collection[str], after: str = "") -> Progress:
    """What is done, and the first task after `after` that is not, from the beginning again at the end.

    >>> progress_of(["a", "b", "c"], {"b"}, after="a")
    Progress(done=1, total=3, task_id='c')
    >>> progress_of(["a", "b", "c"], {"b", "c"}, after="b").task_id
    'a'
    """
    start = queue.index(after) + 1 if after in queue else 0
    left = [name for name in (*queue[start:], *queue[:start]) if name not in reviewed]
    return Progress(done=len(queue) - len(left), total=len(queue), task_id=left[0] if left else "")
