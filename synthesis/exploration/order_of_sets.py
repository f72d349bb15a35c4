"""Which parameter sets come first, and so are performed: those that can be, and those that others need."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from taskloom.resources.categories import ResourceCategory
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.subtask import Subtask

ResourceKey = tuple[str, str]
"""A resource's category and value."""
_PRESENT_AT_START = ""


class _BoundSet(NamedTuple):
    values: Mapping[str, str]
    reads: frozenset[ResourceKey]
    makes: frozenset[ResourceKey]


_Sets = dict[str, list[_BoundSet]]


def performable_first(
    subtasks: Sequence[Subtask],
    categories: Mapping[str, ResourceCategory],
    *,
    performed: int,
    existing: Collection[ResourceKey] = (),
) -> tuple[Subtask, ...]:
    """`subtasks` with performable parameter sets first; among these, those whose products the most others
    read.

    A set can be performed if all that it reads is among `existing` or made by one of the first `performed`
    sets of another subtask. If none of the first sets reads what another subtask makes and a later one does,
    the later one leads: without it nothing links the subtask to others. Ties keep their order.
    """
    sets = {item.subtask_id: _bind_sets(item, categories) for item in subtasks}
    _most_read_first(sets)
    for _ in subtasks:
        makers = _makers(sets, performed, existing)
        before = {name: list(items) for name, items in sets.items()}
        for name, items in sets.items():
            performable = [item for item in items if _is_performable(item, name, makers)]
            linked = [item for item in performable if any(made not in existing for made in item.reads)]
            if performed > 1 and linked and not any(item in linked for item in performable[:performed]):
                performable.insert(0, performable.pop(performable.index(linked[0])))
            items[:] = [*performable, *(item for item in items if item not in performable)]
        if sets == before:
            break
    ordered = {name: tuple(dict(item.values) for item in items) for name, items in sets.items()}
    return tuple(
        item.model_copy(update={"available_parameters": ordered[item.subtask_id]}) for item in subtasks
    )


def _bind_sets(subtask: Subtask, categories: Mapping[str, ResourceCategory]) -> list[_BoundSet]:
    bound = ((values, subtask.bind(values, categories)) for values in subtask.available_parameters)
    return [_BoundSet(values, _keys(item.inputs), _keys(item.outputs)) for values, item in bound]


def _keys(resources: Iterable[Resource]) -> frozenset[ResourceKey]:
    return frozenset((item.category, item.value) for item in resources if item.value)


def _most_read_first(sets: _Sets) -> None:
    readers: defaultdict[ResourceKey, set[str]] = defaultdict(set)
    for name, items in sets.items():
        for item in items:
            for needed in item.reads:
                readers[needed].add(name)
    for name, items in sets.items():
        counts = [len(set[str]().union(*map(readers.__getitem__, item.makes)) - {name}) for item in items]
        order = sorted(range(len(items)), key=lambda index: -counts[index])
        items[:] = [items[index] for index in order]


def _makers(sets: _Sets, performed: int, existing: Collection[ResourceKey]) -> dict[ResourceKey, set[str]]:
    """Which subtasks make each resource that exists when the first `performed` sets of each are performed."""
    makers = {item: {_PRESENT_AT_START} for item in existing}
    while True:
        before = sum(map(len, makers.values()))
        for name, items in sets.items():
            for item in items[:performed]:
                if _is_performable(item, name, makers):
                    for made in item.makes:
                        makers.setdefault(made, set()).add(name)
        if sum(map(len, makers.values())) == before:
            return makers


def _is_performable(item: _BoundSet, name: str, makers: Mapping[ResourceKey, set[str]]) -> bool:
    return all(makers.get(needed, set()) - {name} for needed in item.reads)
