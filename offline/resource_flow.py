"""Which subtasks of a pool can be linked, seen from their resources alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from prompts.inputs import ResourceInView, SubtaskInPool

_EVERYWHERE = ("file", "clipboard")
_BY_VALUE = ("file", "record")

Key = tuple[str, str, str]


Flow = tuple[str, str]
"""Category and value of what flows; the category's name stands for the value of a bare slot."""


def flow_graph(subtasks: Sequence[SubtaskInPool]) -> dict[str, dict[str, Flow]]:
    """For each subtask its neighbours, with what flows in either direction."""
    readers: dict[Key, list[str]] = defaultdict(list)
    for subtask in subtasks:
        for key, _ in _keys(subtask, subtask.inputs, reading=True):
            readers[key].append(subtask.subtask_id)
    neighbours: dict[str, dict[str, Flow]] = {subtask.subtask_id: {} for subtask in subtasks}
    for subtask in subtasks:
        for key, name in _keys(subtask, subtask.outputs, reading=False):
            for reader in readers[key]:
                if reader != subtask.subtask_id:
                    neighbours[subtask.subtask_id].setdefault(reader, name)
                    neighbours[reader].setdefault(subtask.subtask_id, name)
    return neighbours


def _keys(
    subtask: SubtaskInPool, resources: Iterable[ResourceInView], *, reading: bool
) -> Iterable[tuple[Key, Flow]]:
    for resource in resources:
        place = "" if resource.kind in _EVERYWHERE else subtask.application
        name = resource.category, resource.value or resource.category
        if reading or resource.kind in _BY_VALUE:
            yield (resource.category, place, resource.value), name
        else:
            for value in dict.fromkeys((resource.value, "")):
                yield (resource.category, place, value), name
