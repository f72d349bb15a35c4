"""What must be there before the first step of a whole task."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.resources.instances import Resource
from taskloom.resources.matching import provides
from taskloom.taskgraph.records.subtask import BoundSubtask


def first_needs(nodes: Sequence[BoundSubtask]) -> list[Resource]:
    """What must exist at the start: everything that some of `nodes` read and no other one provides."""
    made = [output for node in nodes for output in node.outputs]
    return [
        needed
        for node in nodes
        for needed in node.inputs
        if not any(provides(output, needed) for output in made)
    ]
