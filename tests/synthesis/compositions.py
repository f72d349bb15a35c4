"""Pools to compose from, and composition in one call."""

from __future__ import annotations

from synthesis.composition.composition import compose
from synthesis.composition.request import CompositionRequest
from taskgraph.records.task import Intent
from tests.taskgraph.small_graphs import file, node


def composed(pool, **wishes):
    """The tasks of a pool and the account; near-duplicates are allowed unless the test is about them."""
    nodes, intents, fixtures = pool
    request = CompositionRequest(**{"near_duplicate_share": 1, **wishes})
    result = compose(nodes, intents, request, fixtures=fixtures)
    return list(result), result.account


def chain_pool(*applications):
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
