"""A pool of bound subtasks in the form that enumeration works on: numbers and bitmasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from itertools import islice, product
from operator import or_

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.worlds import stem_of
from taskloom.synthesis.composition.pool.instances import Instance, Need
from taskloom.synthesis.composition.pool.rivals import sensible
from taskloom.synthesis.composition.pool.sense import Sense, converts, puts_together
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.records.subtask import BoundSubtask, instance_id

Fixtures = Mapping[str, Set[Resource]]
"""Resources that exist after a reset, by application in a world; under "" those that exist whatever takes
part."""


def fixture_key(application: str, world: str = "") -> str:
    """Under which key `Fixtures` holds what an application has in a world.

    >>> fixture_key("trac"), fixture_key("trac", "bakery-1")
    ('trac', 'bakery-1/trac')
    """
    return f"{world}/{application}" if world else application


FEWEST_GATHERED = 2
"""Fewest things for which somebody makes a place, such as a folder."""
_ROUNDS_OF_INHERITANCE = 4
_ANY = -1
"""The mask of an instance that goes with every occasion."""
_MAXIMUM_VARIANTS = 12


@dataclass(slots=True)
class CompiledPool:
    """All instances, and the links between them."""

    instances: list[Instance]
    """The instances, in a stable order."""
    application_categories: list[str]
    templates: dict[str, int]
    """Numbers by subtask id."""
    feeds: list[int]
    """For every instance, the instances that it feeds."""
    siblings: list[int]
    """For every template, its instances."""
    readers: list[tuple[int, ...]]
    """For every instance, per output that is a means and no end, the instances that read it."""
    originals: list[int]
    """For every instance, the bit of the first instance of the same bound subtask: others carry other
    documents."""
    occasions: list[int]
    """For every instance, the occasions it is wanted for, as a bitmask."""
    outdated: list[tuple[tuple[int, int], ...]]
    """For every instance, per file that is there from the start: the instances that write anew, in another
    form, what it is of, and those that make it; with one of the former it is out of date unless one of the
    latter makes it."""
    sensible: bool = False
    """Whether only what people would ask for is wanted, not all that can be done."""
    adds_nothing: int = 0
    """Instances that only open or show what they read, put it into another format or put files together."""
    gatherers: int = 0
    """Instances that make a place for several things, so that at least two must use it."""

    def producer(self, need: Need, members: int) -> int | None:
        """The member that writes what is needed, or None when the fixture serves."""
        found = need.producers & members
        return found.bit_length() - 1 if found else None

    def links(self, members: int) -> Iterator[tuple[int, int, Resource]]:
        """What flows between the members: from which to which, and what."""
        for number in bits(members):
            for need in self.instances[number].needs:
                if (maker := self.producer(need, members)) is not None:
                    yield maker, number, need.resource

    def bound_subtasks(self, members: int) -> int:
        """The bound subtasks of a set, whatever documents their slots carry, each as the bit of its first
        instance."""
        return reduce(or_, (self.originals[number] for number in bits(members)), 0)

    def pattern(self, members: int) -> tuple[int, ...]:
        """The subtasks of a set, whatever their values, sorted."""
        return tuple(sorted(self.instances[number].template for number in bits(members)))

    def members_with(self, nodes: Sequence[BoundSubtask]) -> int:
        """The set of the instances that these bound subtasks are; 0 if the pool lacks one of them."""
        numbers = [
            next(
                (number for number in bits(self.siblings[template]) if self.instances[number].node == node),
                -1,
            )
            for node in nodes
            if (template := self.templates.get(node.subtask_id)) is not None
        ]
        return mask_of(numbers) if len(numbers) == len(nodes) and -1 not in numbers else 0

    def members_of(self, subtask_ids: Sequence[str]) -> list[int]:
        """Instances of the named subtasks, in pool order."""
        chosen = {self.templates[name] for name in subtask_ids if name in self.templates}
        return [instance.number for instance in self.instances if instance.template in chosen]


def compile_pool(
    pool: Sequence[BoundSubtask], fixtures: Fixtures, sense: Sense | None = None
) -> CompiledPool:
    """Number the pool, bind its slots to documents, and find who feeds and who excludes whom.

    With `sense`, subtasks that nobody would ask for together exclude each other too.

    The order of `pool` does not matter; an instance given twice counts once. A slot output without a document
    inherits the document the subtask works on, or the one that its own slot input carries; a slot input
    without a document becomes one variant per document that some producer puts there.

    Instances of different worlds are never in one task, and none feeds one of another world. The same
    parameters in two worlds count as one bound subtask where tasks are compared.
    """
    unique = {node.instance_id: node for node in sorted(pool, key=lambda node: node.instance_id)}
    nodes = _variants([_inherit(node) for node in unique.values()])
    if sense is not None:
        nodes = [node for node in nodes if sense.occasions(node) != () and not _takes_one_thing_twice(node)]
    templates = {name: number for number, name in enumerate(sorted({node.subtask_id for node in nodes}))}
    categories = sorted({node.application_category for node in nodes})
    instances = _instances(nodes, templates, categories, fixtures)
    if sense is not None:
        instances = sensible(instances, sense)
    feeds, siblings = [0] * len(instances), [0] * len(templates)
    for instance in instances:
        siblings[instance.template] |= 1 << instance.number
        for source in bits(instance.sources):
            feeds[source] |= 1 << instance.number
    compiled = CompiledPool(
        instances=instances,
        application_categories=categories,
        templates=templates,
        feeds=feeds,
        siblings=siblings,
        readers=[_readers(instance, instances, feeds, sense) for instance in instances],
        originals=_originals(nodes),
        occasions=_occasions(nodes, sense),
        outdated=_outdated(instances) if sense is not None else [()] * len(instances),
        sensible=sense is not None,
    )
    if sense is not None:
        gathers = [number for number, node in enumerate(nodes) if node.subtask_id in sense.gatherers]
        compiled.gatherers = mask_of(gathers)
        compiled.adds_nothing = mask_of([number for number, node in enumerate(nodes) if _adds_nothing(node)])
    return compiled


def _originals(nodes: Sequence[BoundSubtask]) -> list[int]:
    first: dict[str, int] = {}
    return [
        first.setdefault(
            instance_id(node.subtask_id, node.parameters) if node.world else node.instance_id, 1 << number
        )
        for number, node in enumerate(nodes)
    ]


def _occasions(nodes: Sequence[BoundSubtask], sense: Sense | None) -> list[int]:
    wanted = [sense.occasions(node) if sense is not None else None for node in nodes]
    named = sorted({name for names in wanted for name in names or ()})
    bit = {name: 1 << place for place, name in enumerate(named)}
    return [_ANY if names is None else sum(bit[name] for name in names) for names in wanted]


def _outdated(instances: Sequence[Instance]) -> list[tuple[tuple[int, int], ...]]:
    writers = Counter[tuple[str, str]]()
    for instance in instances:
        read, made = (
            {stem_of(item.value) for item in side if item.kind is ResourceKind.FILE}
            for side in (instance.node.inputs, instance.node.outputs)
        )
        for thing in made - read:
            writers[instance.node.world, thing] |= 1 << instance.number
    return [
        tuple(
            (others, need.producers)
            for need in instance.needs
            if need.fixture
            and need.resource.kind is ResourceKind.FILE
            and (others := writers[instance.node.world, stem_of(need.resource.value)] & ~need.producers)
        )
        for instance in instances
    ]


def _takes_one_thing_twice(node: BoundSubtask) -> bool:
    """Whether the content of a file goes into another file of the same thing, such as its PDF."""
    names = [
        [stem_of(item.value) for item in dict.fromkeys(node.inputs) if item.value and chosen(item)]
        for chosen in (lambda item: item.is_transient, lambda item: item.kind is ResourceKind.FILE)
    ]
    return not set(names[0]).isdisjoint(names[1])


def _adds_nothing(node: BoundSubtask) -> bool:
    shows = node.inputs and all(item.slot is not None and not item.is_transient for item in node.outputs)
    return bool(shows and node.outputs) or converts(node) or puts_together(node)


def _instances(
    nodes: Sequence[BoundSubtask], templates: Mapping[str, int], categories: Sequence[str], fixtures: Fixtures
) -> list[Instance]:
    producers, consumers = Counter[tuple[str, Resource]](), Counter[tuple[str, Resource]]()
    copies, citizens = Counter[str](), Counter[str]()
    for number, node in enumerate(nodes):
        bit = 1 << number
        copies[node.instance_id] |= bit
        citizens[node.world] |= bit
        for resource in set(node.outputs):
            producers[node.world, resource] |= bit
        for resource in set(node.consumed) - set(node.outputs):
            if resource.slot is None:
                consumers[node.world, resource] |= bit
    everybody = (1 << len(nodes)) - 1
    instances = []
    for number, node in enumerate(nodes):
        bit = 1 << number
        clashes = copies[node.instance_id] | (everybody & ~citizens[node.world])
        for resource in node.outputs:
            clashes |= producers[node.world, resource]
        for resource in node.consumed:
            clashes |= consumers[node.world, resource]
        there = fixtures.get(fixture_key(node.application, node.world), frozenset())
        existing = there | fixtures.get("", frozenset())
        needs = [
            Need(
                resource,
                producers[node.world, resource] & ~clashes & ~bit,
                resource.slot is None and resource in existing,
            )
            for resource in dict.fromkeys(node.inputs)
        ]
        instances.append(
            Instance(
                number=number,
                node=node,
                template=templates[node.subtask_id],
                application_category=categories.index(node.application_category),
                needs=tuple(needs),
                clashes=clashes & ~bit,
            )
        )
    return instances


def _readers(
    instance: Instance, instances: Sequence[Instance], feeds: Sequence[int], sense: Sense | None
) -> tuple[int, ...]:
    """For each output of an instance that is a means and no end, the instances that read it."""
    unwanted = sense is not None and instance.node.subtask_id in sense.means
    means = {
        resource
        for resource in instance.node.outputs
        if resource.is_transient or (unwanted and resource.slot is None)
    }
    readers = Counter[Resource]()
    for number in bits(feeds[instance.number]):
        for need in instances[number].needs:
            if need.producers >> instance.number & 1:
                readers[need.resource] |= 1 << number
    return tuple(readers[resource] for resource in sorted(means, key=str))


def _inherit(node: BoundSubtask) -> BoundSubtask:
    """Give slot outputs without a document the one document that the subtask works on, where there is exactly
    one."""
    sides = ((node.inputs, False), (node.outputs, False), (node.inputs, True))
    documents = (
        {resource.value for resource in side if (resource.slot is not None) is carried and resource.value}
        for side, carried in sides
    )
    found = next(filter(None, documents), set[str]())
    if len(found) != 1:
        return node
    outputs = tuple(
        item if item.slot is None or item.value else item.model_copy(update={"value": min(found)})
        for item in node.outputs
    )
    return node if outputs == node.outputs else node.model_copy(update={"outputs": outputs})


def _variants(nodes: list[BoundSubtask]) -> list[BoundSubtask]:
    """Replace every slot input without a document by one variant per document it can carry."""
    current = nodes
    for _ in range(_ROUNDS_OF_INHERITANCE):
        carried: dict[tuple[str, str, str], dict[str, None]] = {}
        for node in current:
            for resource in node.outputs:
                if resource.slot is not None:
                    place = (node.world, resource.category, resource.application)
                    carried.setdefault(place, {})[resource.value] = None
        expanded = [variant for node in nodes for variant in _expand(node, carried)]
        if expanded == current:
            break
        current = expanded
    return current


def _expand(
    node: BoundSubtask, carried: Mapping[tuple[str, str, str], dict[str, None]]
) -> list[BoundSubtask]:
    open_inputs = [item for item in dict.fromkeys(node.inputs) if item.slot is not None and not item.value]
    if not open_inputs:
        return [node]
    places = [(node.world, item.category, item.application) for item in open_inputs]
    choices = [sorted(carried.get(place, {"": None})) for place in places]
    variants = []
    for documents in islice(product(*choices), _MAXIMUM_VARIANTS):
        bound = {
            resource: resource.model_copy(update={"value": document}) if document else resource
            for resource, document in zip(open_inputs, documents, strict=True)
        }
        sides = {"inputs": node.inputs, "consumed": node.consumed}
        update = {name: tuple(bound.get(item, item) for item in side) for name, side in sides.items()}
        variants.append(_inherit(node.model_copy(update=update)))
    return variants
