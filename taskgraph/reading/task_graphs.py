"""Task graphs out of parsed JSON, in the two forms that users have: a *record*, taskloom's own `Task` or
`TaskGraph` or a row of the table `tasks`, and a *plain* graph with `nodes`, `edges`, and where known
`applications` and `resources`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from unicodedata import category

from pydantic import ValidationError

from taskloom.resources.categories import ResourceCategory, ResourceKind
from taskloom.resources.instances import Resource, bind_resource
from taskloom.taskgraph.bitmasks import require_size
from taskloom.taskgraph.errors import GraphInvalidError
from taskloom.taskgraph.reading.faults import describe_faults, json_kind
from taskloom.taskgraph.reading.forms import PlainGraphForm, ResourceForm, SidesForm
from taskloom.taskgraph.records.graph import Dependency, TaskGraph
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.taskgraph.records.task import Task

CategoryOf = Callable[[str], str]
"""The application category of an application."""

UNNAMED_RESOURCE = "resource"
"""Category of what flows along an edge that names no resource."""


def read_task_graph(
    document: object, categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    """The task graph in `document`, whichever form it has. Ids are opaque: they need not be UUIDs.

    A disconnected graph is sound: its components are counted. Applications that are not given count as one.

    >>> read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str).pairs
    (('a', 'b'),)

    Raises:
        GraphInvalidError: the form is unknown, or the graph is empty, cyclic, has a self-loop, a duplicate
            id, an unknown subtask or resource category, text that cannot be printed, or two producers of one
            resource; the offending items are named.
        GraphTooLargeError: more than 30 subtasks.
    """
    if not isinstance(document, Mapping):
        raise GraphInvalidError(f"A task graph is a JSON object; this is {json_kind(document)}.")
    whole = dict(document)
    try:
        if _is_record(whole):
            graph = _from_record(whole)
        elif "nodes" in whole:
            graph = _from_plain(PlainGraphForm.model_validate(whole), categories, category_of)
        else:
            raise GraphInvalidError(
                "This is not a task graph: it has neither `graph` (a task record) nor `nodes` (a plain"
                f" graph). Its keys: {', '.join(sorted(map(str, whole))) or 'none'}."
            )
    except ValidationError as error:
        raise GraphInvalidError(describe_faults(error, "The graph")) from None
    if not graph.nodes:
        raise GraphInvalidError("The graph has no subtasks; it needs at least one.")
    require_size(graph.nodes)
    _require_printable(graph)
    require_single_producers(graph)
    return graph


def require_single_producers(graph: TaskGraph) -> None:
    """Refuse graphs in which two subtasks write one resource, or a subtask gets one from two others.

    Resources without a value may be several: only those with a value count.

    >>> require_single_producers(TaskGraph(nodes=()))

    Raises:
        GraphInvalidError: naming the resource, the producers and the consumer.
    """
    producers: dict[tuple[str, Resource], str] = {}
    for edge in graph.edges:
        if edge.resource.category != UNNAMED_RESOURCE and edge.resource.value:
            first = producers.setdefault((edge.consumer, edge.resource), edge.producer)
            if first != edge.producer:
                raise GraphInvalidError(
                    f"{edge.consumer} gets {edge.resource.category} {edge.resource.value} from two producers,"
                    f" {first} and {edge.producer}; a resource has exactly one in a task."
                )
    writers: dict[Resource, str] = {}
    for node in graph.nodes:
        for resource in node.outputs:
            first = writers.setdefault(resource, node.instance_id)
            if resource.value and first != node.instance_id:
                raise GraphInvalidError(
                    f"{resource.category} {resource.value} has two producers, {first} and {node.instance_id};"
                    " a resource has exactly one in a task."
                )


def _require_printable(graph: TaskGraph) -> None:
    """Refuse control characters and halves of surrogate pairs: no terminal or GraphML file can hold them."""
    for node in graph.nodes:
        flowing = [text for item in (*node.inputs, *node.outputs) for text in (item.category, item.value)]
        named = (node.instance_id, node.application, node.application_category, node.instruction)
        for text in (*named, *flowing):
            wrong = [letter for letter in text if letter not in "\n\r\t" and category(letter) in ("Cc", "Cs")]
            if wrong:
                raise GraphInvalidError(
                    f"{text[:60]!a} of {node.instance_id!a} holds {wrong[0]!a}, which cannot be printed."
                )


def _is_record(document: Mapping[str, object]) -> bool:
    nodes = document.get("nodes")
    if isinstance(nodes, Sequence) and not isinstance(nodes, str):
        return any(isinstance(node, Mapping) and "instance_id" in node for node in nodes)
    return "graph" in document


def _from_record(document: Mapping[str, object]) -> TaskGraph:
    if "graph" in document:
        whole = "task_id" in document
        return Task.model_validate(document).graph if whole else TaskGraph.model_validate(document["graph"])
    nodes = document["nodes"]
    assert isinstance(nodes, Sequence)
    row = {"nodes": [_node_of_row(node) for node in nodes], "edges": document.get("edges") or ()}
    return TaskGraph.model_validate(row)


def _node_of_row(node: object) -> object:
    """A node of a row of the warehouse, where parameters are lists of names and values."""
    given = node.get("parameters") if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or not isinstance(given, list):
        return node
    pairs = [item for item in given if isinstance(item, Mapping)]
    return {**node, "parameters": {str(item.get("name")): item.get("value") for item in pairs}}


def _from_plain(
    form: PlainGraphForm, categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    nodes = []
    for node in form.nodes:
        name = node.id
        application = node.application or form.applications.get(name, "")
        flows = form.resources.get(name, SidesForm())
        sides = ("inputs", "outputs", "consumed")
        given = (getattr(flows if side in flows.model_fields_set else node, side) for side in sides)
        inputs, outputs, consumed = (_bound_resources(side, name, application, categories) for side in given)
        known = category_of(application) if application and not node.application_category else ""
        bound = BoundSubtask(
            instance_id=name,
            subtask_id=node.subtask or name,
            application=application,
            application_category=node.application_category or known,
            instruction=node.instruction or name,
            inputs=tuple(dict.fromkeys((*inputs, *consumed))),
            outputs=outputs,
            consumed=consumed,
        )
        nodes.append(bound)
    if "listed" not in form.model_fields_set:
        return _linked(nodes, _matching(nodes), {})
    applied = {node.instance_id: node.application for node in nodes}
    named: dict[tuple[str, str], list[Resource]] = {}
    for edge in form.listed:
        if edge.resource is not None:
            place = f"the edge {edge.producer} → {edge.consumer}"
            found = _bound_resources([edge.resource], place, applied.get(edge.producer, ""), categories)
            named.setdefault((edge.producer, edge.consumer), []).extend(found)
    return _linked(nodes, form.pairs, named)


def _matching(nodes: Sequence[BoundSubtask]) -> list[tuple[str, str]]:
    pairs = ((writer, reader) for reader in nodes for writer in nodes if writer is not reader)
    flowing = ((one, two) for one, two in pairs if not {*one.outputs}.isdisjoint(two.inputs))
    return [(writer.instance_id, reader.instance_id) for writer, reader in flowing]


def _linked(
    nodes: Sequence[BoundSubtask],
    pairs: Sequence[tuple[str, str]],
    named: Mapping[tuple[str, str], Sequence[Resource]],
) -> TaskGraph:
    """A dependency per resource that flows along each pair; what edges name, their ends read and write."""
    by_name = {node.instance_id: node for node in nodes}
    for (first, second), flowing in named.items():
        if first in by_name and second in by_name:
            by_name[first] = _with(by_name[first], "outputs", flowing)
            by_name[second] = _with(by_name[second], "inputs", flowing)
    edges = []
    for pair in dict.fromkeys(pairs):
        producer, consumer = by_name.get(pair[0]), by_name.get(pair[1])
        flows = list(named.get(pair, ()))
        if producer and consumer and not flows:
            read = {resource.category for resource in consumer.inputs}
            flows = [resource for resource in producer.outputs if resource in consumer.inputs]
            flows = flows or [resource for resource in producer.outputs if resource.category in read]
        flows = flows or [Resource(category=UNNAMED_RESOURCE, kind=ResourceKind.FILE, value=pair[0])]
        edges += [Dependency(producer=pair[0], consumer=pair[1], resource=item) for item in flows]
    return TaskGraph(nodes=tuple(by_name.values()), edges=tuple(edges))


def _with(node: BoundSubtask, side: str, flowing: Sequence[Resource]) -> BoundSubtask:
    return node.model_copy(update={side: tuple(dict.fromkeys((*getattr(node, side), *flowing)))})


def _bound_resources(
    given: Sequence[ResourceForm],
    name: str,
    application: str,
    categories: Mapping[str, ResourceCategory],
) -> tuple[Resource, ...]:
    """The resources of `name`, each once; those that live in an application live in this one."""
    found = []
    for item in given:
        known = categories.get(item.category)
        if known is None:
            if item.kind is None:
                raise GraphInvalidError(_unknown_category(name, item.category, categories))
            known = ResourceCategory(name=item.category, kind=item.kind, description="")
        found.append(bind_resource(known, application, item.value.strip()))
    return tuple(dict.fromkeys(found))


def _unknown_category(name: str, category: str, categories: Collection[str]) -> str:
    near = get_close_matches(category, categories, n=3) or sorted(categories)[:6]
    return (
        f"{name} names the unknown resource category {category!r}. Use one of the catalogue"
        f" ({', '.join(near)}, …)"
        f' or give its kind: {{"category": …, "kind": one of {", ".join(ResourceKind)}}}.'
    )


def inconsistencies_of(graph: TaskGraph) -> tuple[str, ...]:
    """What the resources say and the edges do not; composed tasks have none.

    A slot is empty at a reset, so whoever reads one needs a producer; a file or record may be a fixture.
    Resources without a value may be several and say nothing about edges.

    >>> from taskloom.resources.categories import ResourceCategory, ResourceKind
    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> text = {"text": ResourceCategory(name="text", kind=ResourceKind.CLIPBOARD, description="")}
    >>> inconsistencies_of(read_task_graph({"nodes": ["a"], "resources": {"a": {"inputs": ["text:x"]}}}, text, str))
    ('a reads text x, which no subtask writes: it is empty after a reset',)
    """  # noqa: E501
    writers = {resource: node.instance_id for node in graph.nodes for resource in node.outputs}
    pairs = set(graph.pairs)
    met = {(edge.consumer, edge.resource.category) for edge in graph.edges}
    found = []
    for node in graph.nodes:
        for resource in node.inputs:
            writer = writers.get(resource)
            if (node.instance_id, resource.category) in met or writer == node.instance_id:
                continue
            reads = f"{node.instance_id} reads {resource.category} {resource.value}".rstrip()
            if writer is None and resource.slot is not None:
                found.append(f"{reads}, which no subtask writes: it is empty after a reset")
            elif writer is not None and resource.value and (writer, node.instance_id) not in pairs:
                found.append(f"{reads}, which {writer} writes, but no edge says so")
    return tuple(found)
