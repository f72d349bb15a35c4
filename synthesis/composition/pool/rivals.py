"""Instances of a pool that nobody would ask for together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import cache, reduce
from itertools import chain, combinations, product
from operator import or_
from pathlib import PurePosixPath

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.worlds import stem_of
from taskloom.synthesis.composition.pool.instances import Instance
from taskloom.synthesis.composition.pool.sense import Sense, own_values
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.subtask import stem_of as subtask_stem_of

_Pairs = Iterator[tuple[int, int]]
_ObjectKey = tuple[str, str]
"""The category and name of an object; a file's name lacks its folder and its export mark."""


def exclude_rivals(instances: Sequence[Instance], sense: Sense) -> list[Instance]:
    """The instances, with clashes between those that make no sense together.

    No subtask reads what another moves, renames or deletes, since no dependency would order the two, nor a
    file that another makes a new version of. Files are moved to one place in one application only.
    """
    excluded = [0] * len(instances)
    for first, second in chain(
        _lost_work(instances, sense),
        _work_done_twice(instances),
        _movers_to_one_place(instances),
        _copies_in_other_applications(instances),
        _takers_and_readers(instances, sense),
        _catalogue_exclusions(instances, sense),
    ):
        excluded[first] |= 1 << second
        excluded[second] |= 1 << first
    return [
        replace(
            instance,
            clashes=instance.clashes | rivals,
            needs=tuple(replace(need, producers=need.producers & ~rivals) for need in instance.needs),
        )
        for instance, rivals in zip(instances, excluded, strict=True)
    ]


def _lost_work(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Producers with readers that make their work pointless."""
    for instance in instances:
        for number in bits(instance.sources):
            producer = instances[number]
            if sense.is_lost_work(producer.node, instance.node):
                yield number, instance.number


def _work_done_twice(instances: Sequence[Instance]) -> _Pairs:
    """Pairs of instances that are of one subtask, or make the same kind of thing, and have the same object:
    nobody exports a table twice, attaches a file to two pages or packs it into two archives, pastes a copy
    into two files, or writes to a person twice. Nor is an object sent both by itself and in an archive,
    or taken from two places, such as the export of a table and the file that a job writes. A product of it
    counts as another object."""
    ancestors = cache(lambda number: _ancestors(instances, instances[number].sources))

    def are_unrelated(first: int, second: int) -> bool:
        return not (ancestors(first) >> second & 1 or ancestors(second) >> first & 1)

    by_work, by_object = defaultdict[object, list[int]](list), defaultdict[object, list[int]](list)
    for instance in instances:
        node, number = instance.node, instance.number
        for made in {item for item in node.outputs if item.kind is ResourceKind.FILE and item.value}:
            by_object[_object_key(made)].append(number)
        kinds, objects = _kinds_of_work(instance), _objects(node)
        for item in _pasted_into_files(node):
            by_work["pasted", item].append(number)
        for value, made in product(own_values(node), node.outputs):
            by_work[node.application, value, made.category].append(number)
        for key in product(kinds, {*map(_object_key, objects), *_packed_keys(instance, instances)}):
            by_object[key].append(number)
    for numbers in by_work.values():
        yield from combinations(numbers, 2)
    for numbers in by_object.values():
        yield from (pair for pair in combinations(numbers, 2) if are_unrelated(*pair))


def _ancestors(instances: Sequence[Instance], producers: int) -> int:
    """The `producers` and all direct and indirect producers of their inputs."""
    found = 0
    while producers:
        found |= producers
        producers = reduce(or_, (instances[number].sources for number in bits(producers)), 0) & ~found
    return found


def _kinds_of_work(instance: Instance) -> list[int | str]:
    """The kinds of work done once per object: the subtask, and each category it makes."""
    made = {item.category for item in instance.node.outputs if item.slot is None}
    return [instance.template, *sorted(made)]


def _pasted_into_files(node: BoundSubtask) -> set[Resource]:
    """Clipboard contents that are pasted into files, which is done once per copy."""
    makes_files = any(item.kind is ResourceKind.FILE for item in node.outputs)
    return {item for item in node.inputs if item.is_transient} if makes_files else set()


def _objects(node: BoundSubtask) -> Set[Resource]:
    """The objects worked on: the first input, and every other file except the places of products."""
    made = {item.value for item in node.outputs if item.kind is ResourceKind.FILE}
    places = {*made, *(str(parent) for value in made for parent in PurePosixPath(value).parents)}
    files = {item for item in node.inputs if item.kind is ResourceKind.FILE and item.value not in places}
    return {*node.inputs[:1], *files}


def _object_key(item: Resource) -> _ObjectKey:
    if item.kind is not ResourceKind.FILE:
        return item.category, item.value
    return item.category, stem_of(item.value) + PurePosixPath(item.value).suffix


def _packed_keys(instance: Instance, instances: Sequence[Instance]) -> set[_ObjectKey]:
    """The contents of an instance's first input that other instances put there."""
    producers = bits(instance.needs[0].producers) if instance.needs else ()
    read = chain.from_iterable(instances[number].node.inputs for number in producers)
    return {_object_key(item) for item in read if item.slot is None or item.is_transient}


def _movers_to_one_place(instances: Sequence[Instance]) -> _Pairs:
    """Pairs of instances that move files to one place in different applications."""
    movers = defaultdict[Resource, list[Instance]](list)
    for instance in instances:
        node = instance.node
        moved = {item for item in node.consumed if item.kind is ResourceKind.FILE} - set(node.outputs)
        for place in set(node.inputs) - moved if moved and node.outputs else ():
            movers[place].append(instance)
    for group in movers.values():
        for first, second in combinations(group, 2):
            if first.node.application != second.node.application:
                yield first.number, second.number


def _copies_in_other_applications(instances: Sequence[Instance]) -> _Pairs:
    """Producers and copiers of a file in different applications, if the producer's copies such files too."""
    copiers = [
        (item, item.node.inputs[0].category)
        for item in instances
        if item.node.inputs and any(made.is_transient for made in item.node.outputs)
    ]
    copying = {(item.node.application, category) for item, category in copiers}
    for copier, category in copiers:
        for number in bits(copier.sources):
            application = instances[number].node.application
            if application != copier.node.application and (application, category) in copying:
                yield number, copier.number


def _takers_and_readers(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Instances that consume a file or record or make a new version of a file, each with another that reads
    it."""
    readers: dict[tuple[str, Resource], list[int]] = {}
    for instance in instances:
        for resource in set(instance.node.inputs):
            if resource.slot is None:
                readers.setdefault((instance.node.world, resource), []).append(instance.number)
    for taker in instances:
        taken = (set(taker.node.consumed) - set(taker.node.outputs)) | _revised(taker.node, sense)
        for resource in taken:
            for reader in readers.get((taker.node.world, resource), ()):
                if reader != taker.number:
                    yield taker.number, reader


def _revised(node: BoundSubtask, sense: Sense) -> set[Resource]:
    """Files that a subtask turns into another of their category or, if it adds a value of its own, into
    another format of the same content."""
    made = {resource.category for resource in node.outputs if resource.kind is ResourceKind.FILE}
    if set(node.parameters.values()) - {resource.value for resource in (*node.inputs, *node.outputs)}:
        made = made.union(*(sense.formats.get(category, ()) for category in made))
    return {
        resource
        for resource in node.inputs
        if resource.kind is ResourceKind.FILE and resource.category in made and resource not in node.outputs
    }


def _catalogue_exclusions(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Pairs of instances that the catalogue excludes."""
    by_stem = defaultdict[str, list[int]](list)
    for instance in instances:
        by_stem[subtask_stem_of(instance.node.subtask_id)].append(instance.number)
    for instance in instances:
        for stem in sense.not_with.get(instance.node.subtask_id, ()):
            yield from ((instance.number, rival) for rival in by_stem[stem] if rival != instance.number)
