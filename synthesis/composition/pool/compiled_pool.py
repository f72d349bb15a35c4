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
from taskloom.synthesis.composition.pool.rivals import exclude_rivals
from taskloom.synthesis.composition.pool.sense import Sense, combines_files, converts
from taskloom.taskgraph.bitmasks import bits, mask_of
from taskloom.taskgraph.records.subtask import BoundSubtask, instance_id

Fixtures = Mapping[str, Set[Resource]]
"""Resources that exist after a reset, by application in a world; under "" those that always exist."""


def fixture_key(application: str, world: str = "") -> str:
    """The key in `Fixtures` of an application in a world.

    >>> fixture_key("trac"), fixture_key("trac", "bakery-1")
    ('trac', 'bakery-1/trac')
    """
    return f"{world}/{application}" if world else application


FEWEST_GATHERED = 2
"""Minimum number of things for which a place, such as a folder, is made."""
_INHERITANCE_ROUNDS = 4
_EVERY_OCCASION = -1
"""The mask of an instance that suits every occasion."""
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
    """For every instance, per output that is only a means, the instances that read it."""
    originals: list[int]
    """For every instance, the bit of the first instance of the same bound subtask; they differ in the
    documents they carry."""
    occasions: list[int]
    """For every instance, the occasions it suits, as a bitmask."""
    outdated: list[tuple[tuple[int, int], ...]]
    """For every instance, per fixture file that it reads: the instances that write its content anew in
    another form, and those that write the file itself. With one of the former, the file is outdated unless
    one of the latter writes it."""
    has_sense: bool = False
    """Whether only sets that people would ask for are wanted, not all that are possible."""
    adds_nothing: int = 0
    """Instances that only open, show or convert what they read, or combine files."""
    gatherers: int = 0
    """Instances that make a place for several things, which at least two must use."""

    def producer(self, need: Need, members: int) -> int | None:
        """The member that writes what is needed, or None if the fixture is used."""
        found = need.producers & members
        return found.bit_length() - 1 if found else None

    def links(self, members: int) -> Iterator[tuple[int, int, Resource]]:
        """The links between members: producer, consumer and resource."""
        for number in bits(members):
            for need in self.instances[number].needs:
                if (source := self.producer(need, members)) is not None:
                    yield source, number, need.resource

    def bound_subtasks(self, members: int) -> int:
        """The bound subtasks of a set, each as the bit of its first instance, whatever documents the slots
        carry."""
        return reduce(or_, (self.originals[number] for number in bits(members)), 0)

    def pattern(self, members: int) -> tuple[int, ...]:
        """The sorted subtasks of a set, without their values."""
        return tuple(sorted(self.instances[number].template for number in bits(members)))

    def members_with(self, nodes: Sequence[BoundSubtask]) -> int:
        """The set of the instances of these bound subtasks; 0 if the pool lacks one of them."""
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
    """Number the pool, bind its slots to documents, and find which instances feed or exclude each other.

    With `sense`, subtasks that nobody would ask for together exclude each other too.

    The order of `pool` does not matter; an instance given twice counts once. A slot output without a document
    inherits the document that the subtask works on or that its slot input carries. A slot input without a
    document becomes one variant per document that some producer puts there.

    Instances of different worlds never feed each other or share a task. When tasks are compared, the same
    parameters in two worlds count as one bound subtask.
    """
    unique = {node.instance_id: node for node in sorted(pool, key=lambda node: node.instance_id)}
    nodes = _variants([_inherit_document(node) for node in unique.values()])
    if sense is not None:
        nodes = [node for node in nodes if sense.occasions(node) != ()]
    templates = {name: number for number, name in enumerate(sorted({node.subtask_id for node in nodes}))}
    categories = sorted({node.application_category for node in nodes})
    instances = _instances(nodes, templates, categories, fixtures)
    if sense is not None:
        instances = exclude_rivals(instances, sense)
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
        has_sense=sense is not None,
    )
    if sense is not None:
        gatherers = [number for number, node in enumerate(nodes) if node.subtask_id in sense.gatherers]
        compiled.gatherers = mask_of(gatherers)
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
    occasions = [sense.occasions(node) if sense is not None else None for node in nodes]
    distinct = sorted({name for names in occasions for name in names or ()})
    bit = {name: 1 << position for position, name in enumerate(distinct)}
    return [_EVERY_OCCASION if names is None else sum(bit[name] for name in names) for names in occasions]


def _outdated(instances: Sequence[Instance]) -> list[tuple[tuple[int, int], ...]]:
    writers = Counter[tuple[str, str]]()
    for instance in instances:
        read, written = (
            {stem_of(item.value) for item in side if item.kind is ResourceKind.FILE}
            for side in (instance.node.inputs, instance.node.outputs)
        )
        for thing in written - read:
            writers[instance.node.world, thing] |= 1 << instance.number
    return [
        tuple(
            (newer_writers, need.producers)
            for need in instance.needs
            if need.fixture
            and need.resource.kind is ResourceKind.FILE
            and (
                newer_writers := writers[instance.node.world, stem_of(need.resource.value)] & ~need.producers
            )
        )
        for instance in instances
    ]


def _adds_nothing(node: BoundSubtask) -> bool:
    shows = node.inputs and all(item.slot is not None and not item.is_transient for item in node.outputs)
    return bool(shows and node.outputs) or converts(node) or combines_files(node)


def _instances(
    nodes: Sequence[BoundSubtask], templates: Mapping[str, int], categories: Sequence[str], fixtures: Fixtures
) -> list[Instance]:
    producers, consumers = Counter[tuple[str, Resource]](), Counter[tuple[str, Resource]]()
    same_instance, same_world = Counter[str](), Counter[str]()
    for number, node in enumerate(nodes):
        bit = 1 << number
        same_instance[node.instance_id] |= bit
        same_world[node.world] |= bit
        for resource in set(node.outputs):
            producers[node.world, resource] |= bit
        for resource in set(node.consumed) - set(node.outputs):
            if resource.slot is None:
                consumers[node.world, resource] |= bit
    everything = (1 << len(nodes)) - 1
    instances = []
    for number, node in enumerate(nodes):
        bit = 1 << number
        clashes = same_instance[node.instance_id] | (everything & ~same_world[node.world])
        for resource in node.outputs:
            clashes |= producers[node.world, resource]
        for resource in node.consumed:
            clashes |= consumers[node.world, resource]
        own_fixtures = fixtures.get(fixture_key(node.application, node.world), frozenset())
        existing = own_fixtures | fixtures.get("", frozenset())
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
    """For each output of an instance that is only a means, the instances that read it."""
    is_means = sense is not None and instance.node.subtask_id in sense.means
    means = {
        resource
        for resource in instance.node.outputs
        if resource.is_transient or (is_means and resource.slot is None)
    }
    readers = Counter[Resource]()
    for number in bits(feeds[instance.number]):
        for need in instances[number].needs:
            if need.producers >> instance.number & 1:
                readers[need.resource] |= 1 << number
    return tuple(readers[resource] for resource in sorted(means, key=str))


def _inherit_document(node: BoundSubtask) -> BoundSubtask:
    """Give slot outputs without a document the one document the subtask works on, if there is exactly one."""
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
    for _ in range(_INHERITANCE_ROUNDS):
        carried: dict[tuple[str, str, str], dict[str, None]] = {}
        for node in current:
            for resource in node.outputs:
                if resource.slot is not None:
                    slot = (node.world, resource.category, resource.application)
                    carried.setdefault(slot, {})[resource.value] = None
        expanded = [variant for node in nodes for variant in _document_variants(node, carried)]
        if expanded == current:
            break
        current = expanded
    return current


def _document_variants(
    node: BoundSubtask, carried: Mapping[tuple[str, str, str], dict[str, None]]
) -> list[BoundSubtask]:
    open_inputs = [item for item in dict.fromkeys(node.inputs) if item.slot is not None and not item.value]
    if not open_inputs:
        return [node]
    slots = [(node.world, item.category, item.application) for item in open_inputs]
    choices = [sorted(carried.get(slot, {"": None})) for slot in slots]
    variants = []
    for documents in islice(product(*choices), _MAXIMUM_VARIANTS):
        bound = {
            resource: resource.model_copy(update={"value": document}) if document else resource
            for resource, document in zip(open_inputs, documents, strict=True)
        }
        sides = {"inputs": node.inputs, "consumed": node.consumed}
        update = {name: tuple(bound.get(item, item) for item in side) for name, side in sides.items()}
        variants.append(_inherit_document(node.model_copy(update=update)))
    return variants
