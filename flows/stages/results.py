"""What steps pass to each other: plain records, so that a step may run anywhere; draws and rejections."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from taskloom.flows.wiring import Run
from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.taskgraph.records.task import Rejection, Task
from taskloom.warehouse.records import ExplorationChoice

ItemKind = Literal["task", "subtask", "composition", "dataset_version"]


class ExploredApplication(Record):
    """The result of exploring an application."""

    proposals: tuple[Subtask, ...] = ()
    """Subtasks still to be verified."""
    unchanged: tuple[str, ...] = ()
    """Ids of verified subtasks of earlier runs that are unchanged."""
    choice: ExplorationChoice | None = None
    """Why it was explored, marked complete once its proposals are verified; None if it was not explored or
    exploration failed."""


class ValidatedBatch(Record):
    """A batch of tasks whose instructions were written and judged."""

    passed: int = 0
    """Tasks that passed."""
    to_replay: tuple[Task, ...] = ()
    """Passed tasks that are to be replayed."""


def rejection(
    run: Run, stage: str, kind: ItemKind, item_id: str, reason: str, message: str, **details: str
) -> Rejection:
    """The rejection of an item by `stage` of `run`."""
    return Rejection(
        item_kind=kind,
        item_id=item_id,
        stage=stage,
        reason=reason,
        message=message,
        details=details,
        provenance=run.provenance(stage),
    )


def draw(name: str) -> float:
    """A pseudo-random number from 0 to 1 that depends on `name` alone.

    >>> draw("task") == draw("task") != draw("critic task")
    True
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64


def number_repetitions(rejections: Iterable[Rejection]) -> list[Rejection]:
    """The rejections, with repetitions numbered: a model may propose the same goal twice, but the warehouse
    keeps equal rows once, so that a resumed run may repeat itself."""
    counts: Counter[str] = Counter()
    numbered = []
    for item in rejections:
        content = item.model_dump_json()
        counts[content] += 1
        if counts[content] > 1:
            item = item.model_copy(update={"details": {**item.details, "occurrence": str(counts[content])}})
        numbered.append(item)
    return numbered
