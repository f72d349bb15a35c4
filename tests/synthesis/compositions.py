"""Pools to compose from, and composition in one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from taskloom.resources.dimensions import MAXIMUM_SUBTASKS
from taskloom.synthesis.composition.composition import compose
from taskloom.synthesis.composition.pool.compiled_pool import Fixtures
from taskloom.synthesis.composition.request import CompositionAccount, CompositionRequest
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Intent, Task
from tests.taskgraph.small_graphs import file, node

Pool = tuple[Sequence[BoundSubtask], Sequence[Intent], Fixtures]
"""Bound subtasks, intents and fixtures to compose from."""


def composed(
    pool: Pool, *, known: Collection[str] = (), seed: int = 0, **wishes: Any
) -> tuple[list[Task], CompositionAccount]:
    """The tasks of a pool and the account; what bounds the choice is off unless the test is about it."""
    nodes, intents, fixtures = pool
    unbounded = {
        "near_duplicate_share": 1,
        "pattern_share": 1,
        "maximum_size": 9,
        "maximum_ends": MAXIMUM_SUBTASKS,
        "maximum_readers": MAXIMUM_SUBTASKS,
    }
    request = CompositionRequest(**{**unbounded, **wishes})
    result = compose(nodes, intents, request, fixtures=fixtures, known=known, seed=seed)
    return list(result), result.account


def chain_pool(*applications: str) -> tuple[list[BoundSubtask], list[Intent], Fixtures]:
    """A chain: each subtask reads the file that the one before wrote."""
    nodes = [
        node(
            f"s{number}",
            application=application,
            category=f"category of {application}",
            inputs=(file(f"f{number}"),) if number else (),
            outputs=(file(f"f{number + 1}"),),
        )
        for number, application in enumerate(applications)
    ]
    intent = Intent(intent_id="i", text="All of it", subtask_ids=tuple(item.subtask_id for item in nodes))
    return nodes, [intent], {}
