"""Which parameter sets come first, as only those are performed: ones that can be, and that others need."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from taskloom.resources.categories import ResourceCategory
from taskloom.resources.instances import Resource
from taskloom.taskgraph.records.subtask import Subtask

Named = tuple[str, str]
"""A resource by category and value."""
_EXISTS = ""


class _Set(NamedTuple):
    values: Mapping[str, str]
    reads: frozenset[Named]
    makes: frozenset[Named]


_Sets = dict[str, list[_Set]]


def performable_first(
    subtasks: Sequence[Subtask],
    categories: Mapping[str, ResourceCategory],
    *,
    performed: int,
    existing: Collection[Named] = (),
) -> tuple[Subtask, ...]:
    """`subtasks` with those parameter sets first that can be performed, and among them those whose products
    most others read.

    A set can be performed where all that it reads is among `existing` or made by one of the first `performed`
    sets of another subtask. Where none of the first reads what another subtask makes and a later one does,
    that one leads: without it nothing links the subtask to others. Equal ones stay in their order.
    """
    sets = {item.subtask_id: _sets(item, categories) for item in subtasks}
    _most_read_first(sets)
    for _ in subtasks:
        makers = _makers(sets, performed, existing)
        before = {name: list(items) for name, items in sets.items()}
        for name, items in sets.items():
            fit = [item for item in items if _is_performable(item, name, makers)]
            linked = [item for item in fit if any(made not in existing for made in item.reads)]
            if performed > 1 and linked and not any(item in linked for item in fit[:performed]):
                fit.insert(0, fit.pop(fit.index(linked[0])))
            items[:] = [*fit, *(item for item in items if item not in fit)]
        if sets == before:
            break
    ordered = {name: tuple(dict(item.values) for item in items) for name, items in sets.items()}
    return tuple(
        item.model_copy(update={"available_parameters": ordered[item.subtask_id]}) for item in subtasks
    )


def _sets(subtask: Subtask, categories: Mapping[str, ResourceCategory]) -> list[_Set]:
    bound = ((values, subtask.bind(values, categories)) for values in subtask.available_parameters)
    return [_Set(values, _named(item.inputs), _named(item.outputs)) for values, item in bound]


def _named(resources: Iterable[Resource]) -> frozenset[Named]:
    return frozenset((item.category, item.value) for item in resources if item.value)


def _most_read_first(sets: _Sets) -> None:
    readers: defaultdict[Named, set[str]] = defaultdict(set)
    for name, items in sets.items():
        for needed in (needed for item in items for needed in item.reads):
            readers[needed].add(name)
    for name, items in sets.items():
        wanted = [len(set[str]().union(*map(readers.__getitem__, item.makes)) - {name}) for item in items]
        places = sorted(range(len(items)), key=lambda place: -wanted[place])
        items[:] = [items[place] for place in places]


def _makers(sets: _Sets, performed: int, existing: Collection[Named]) -> dict[Named, set[str]]:
    """Who makes what exists when the first `performed` sets of each are performed."""
    makers = {item: {_EXISTS} for item in existing}
    while True:
        before = sum(map(len, makers.values()))
        for name, items in sets.items():
            for item in items[:performed]:
                if _is_performable(item, name, makers):
                    for made in item.makes:
                        makers.setdefault(made, set()).add(name)
        if sum(map(len, makers.values())) == before:
            return makers


def _is_performable(item: _Set, name: str, makers: Mapping[Named, set[str]]) -> bool:
    return all(makers.get(needed, set()) - {name} for needed in item.reads)
