"""Which instances of a pool nobody would ask for together."""

from collections import Counter, defaultdict
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
from taskloom.synthesis.composition.pool.sense import Sense, own_values, turns_back
from taskloom.taskgraph.bitmasks import bits
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.subtask import stem_of as subtask_stem_of

_Pairs = Iterator[tuple[int, int]]
_Thing = tuple[str, str]
"""The category of a thing and its name, for a file without its folder and the mark of an export."""


def sensible(instances: Sequence[Instance], sense: Sense) -> list[Instance]:
    """The instances, with those excluded from each other that make no sense together.

    What one subtask moves, renames or deletes no other one reads beside it: no dependency would say which
    comes first. Nor does one read the file of which another one makes a new version. Files are moved to one
    place in one application.
    """
    excluded = [0] * len(instances)
    for one, other in chain(
        _lost_work(instances, sense),
        _work_done_twice(instances),
        _movers_to_one_place(instances),
        _copied_elsewhere(instances),
        _takers_beside_readers(instances, sense),
        _not_with(instances, sense),
    ):
        excluded[one] |= 1 << other
        excluded[other] |= 1 << one
    return [
        replace(
            instance,
            clashes=instance.clashes | rivals,
            needs=tuple(replace(need, producers=need.producers & ~rivals) for need in instance.needs),
        )
        for instance, rivals in zip(instances, excluded, strict=True)
    ]


def _lost_work(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Makers and readers where the one's work is lost on the other, and those between which a thing comes
    back, by way of a third, to the form it had."""
    for instance in instances:
        for number in bits(instance.sources):
            maker = instances[number]
            if sense.is_lost_work(maker.node, instance.node):
                yield number, instance.number
            for first in bits(maker.sources):
                if turns_back([instances[first].node, maker.node], instance.node):
                    yield first, instance.number


def _work_done_twice(instances: Sequence[Instance]) -> _Pairs:
    """Two instances of one subtask, or two that make the same kind of thing, with the same object: nobody
    exports one table twice, attaches one file to two pages or packs it into two archives, pastes one copy
    into two files, or writes to one person twice. Nor is a thing sent both by itself and in an archive, taken
    from two places, such as the export of a table and the file that a job writes, or pasted twice into what
    becomes one file; but what was made of it is another thing."""
    before = cache(lambda number: _come_of(instances, instances[number].sources))

    def are_apart(one: int, other: int) -> bool:
        return not (before(one) >> other & 1 or before(other) >> one & 1)

    workers, things = defaultdict[object, list[int]](list), defaultdict[object, list[int]](list)
    pasted = Counter[Resource]()
    for instance in instances:
        node, number = instance.node, instance.number
        for made in {item for item in node.outputs if item.kind is ResourceKind.FILE and item.value}:
            things[_thing(made)].append(number)
        for item in {item for item in node.inputs if item.is_transient}:
            pasted[item] |= 1 << number
        kinds, objects = _kinds_of_work(instance), _objects(node)
        for work in product(kinds, objects):
            workers[work].append(number)
        for item in _pasted_into_files(node):
            workers["pasted", item].append(number)
        for value, made in product(own_values(node), node.outputs):
            workers[node.application, value, made.category].append(number)
        for key in product(kinds, {*map(_thing, objects), *_packed(instance, instances)}):
            things[key].append(number)
    for numbers in workers.values():
        yield from combinations(numbers, 2)
    for numbers in things.values():
        yield from (pair for pair in combinations(numbers, 2) if are_apart(*pair))
    for instance in instances:
        for need in (need for need in instance.needs if need.resource in pasted):
            others = reduce(or_, (other.producers for other in instance.needs if other is not need), 0)
            again = _come_of(instances, others) & pasted[need.resource]
            yield from ((number, instance.number) for number in bits(again))


def _come_of(instances: Sequence[Instance], makers: int) -> int:
    """The `makers` and everything that what they read can come of."""
    found = 0
    while makers:
        found |= makers
        makers = reduce(or_, (instances[one].sources for one in bits(makers)), 0) & ~found
    return found


def _kinds_of_work(instance: Instance) -> list[int | str]:
    """What is done once with one thing: a subtask, and each kind of thing it makes."""
    made = {item.category for item in instance.node.outputs if item.slot is None}
    return [instance.template, *sorted(made)]


def _pasted_into_files(node: BoundSubtask) -> set[Resource]:
    """What is taken from the clipboard into a file, which is done once with one copy."""
    makes_files = any(item.kind is ResourceKind.FILE for item in node.outputs)
    return {item for item in node.inputs if item.is_transient} if makes_files else set()


def _objects(node: BoundSubtask) -> Set[Resource]:
    """What is worked on: what is read first, and every other file, but not the place of what is made."""
    made = {item.value for item in node.outputs if item.kind is ResourceKind.FILE}
    places = {*made, *(str(parent) for value in made for parent in PurePosixPath(value).parents)}
    files = {item for item in node.inputs if item.kind is ResourceKind.FILE and item.value not in places}
    return {*node.inputs[:1], *files}


def _thing(item: Resource) -> _Thing:
    if item.kind is not ResourceKind.FILE:
        return item.category, item.value
    return item.category, stem_of(item.value) + PurePosixPath(item.value).suffix


def _packed(instance: Instance, instances: Sequence[Instance]) -> set[_Thing]:
    """What is in what an instance reads first, where others put it there."""
    makers = bits(instance.needs[0].producers) if instance.needs else ()
    read = chain.from_iterable(instances[number].node.inputs for number in makers)
    return {_thing(item) for item in read if item.slot is None or item.is_transient}


def _movers_to_one_place(instances: Sequence[Instance]) -> _Pairs:
    """Instances of several applications that move files to one place."""
    movers = defaultdict[Resource, list[Instance]](list)
    for instance in instances:
        node = instance.node
        taken = {item for item in node.consumed if item.kind is ResourceKind.FILE} - set(node.outputs)
        for place in set(node.inputs) - taken if taken and node.outputs else ():
            movers[place].append(instance)
    for group in movers.values():
        for one, other in combinations(group, 2):
            if one.node.application != other.node.application:
                yield one.number, other.number


def _copied_elsewhere(instances: Sequence[Instance]) -> _Pairs:
    """Makers and copiers of a file in two applications, where that of the maker copies such files too."""
    copiers = [
        (item, item.node.inputs[0].category)
        for item in instances
        if item.node.inputs and any(made.is_transient for made in item.node.outputs)
    ]
    known = {(item.node.application, category) for item, category in copiers}
    for copier, category in copiers:
        for number in bits(copier.sources):
            application = instances[number].node.application
            if application != copier.node.application and (application, category) in known:
                yield number, copier.number


def _takers_beside_readers(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Instances that take a file or record away or make a new version of a file, each with another one that
    reads it."""
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
    """Files that a subtask reads and makes another one of the same kind from; also one in another format of
    the same thing, where a value of its own goes into it."""
    made = {resource.category for resource in node.outputs if resource.kind is ResourceKind.FILE}
    if set(node.parameters.values()) - {resource.value for resource in (*node.inputs, *node.outputs)}:
        made = made.union(*(sense.formats.get(category, ()) for category in made))
    return {
        resource
        for resource in node.inputs
        if resource.kind is ResourceKind.FILE and resource.category in made and resource not in node.outputs
    }


def _not_with(instances: Sequence[Instance], sense: Sense) -> _Pairs:
    """Instances that the catalogue excludes from each other."""
    by_stem = defaultdict[str, list[int]](list)
    for instance in instances:
        by_stem[subtask_stem_of(instance.node.subtask_id)].append(instance.number)
    for instance in instances:
        for stem in sense.not_with.get(instance.node.subtask_id, ()):
            yield from ((instance.number, rival) for rival in by_stem[stem] if rival != instance.number)
