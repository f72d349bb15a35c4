"""Reads task graphs from parsed JSON in two forms: a *record*, taskloom's own `Task` or `TaskGraph` or a row
of the table `tasks`, and a *plain* graph with `nodes`, `edges`, and optionally `applications` and
`resources`."""

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
"""Category of the resource of an edge that names none."""


def read_task_graph(
    document: object, categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    """The task graph in `document`, in either form. Ids are opaque: they need not be UUIDs.

    A graph may be disconnected: its components are counted. All unknown applications count as one.

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
    content = dict(document)
    try:
        if _is_record(content):
            graph = _from_record(content)
        elif "nodes" in content:
            graph = _from_plain(PlainGraphForm.model_validate(content), categories, category_of)
        else:
            raise GraphInvalidError(
                "This is not a task graph: it has neither `graph` (a task record) nor `nodes` (a plain"
                f" graph). Its keys: {', '.join(sorted(map(str, content))) or 'none'}."
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

    Resources without a value are ignored, because they may differ.

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
    """Refuse control characters and lone surrogates, which no terminal or GraphML file can represent."""
    for node in graph.nodes:
        resources = [text for item in (*node.inputs, *node.outputs) for text in (item.category, item.value)]
        names = (node.instance_id, node.application, node.application_category, node.instruction)
        for text in (*names, *resources):
            bad = [letter for letter in text if letter not in "\n\r\t" and category(letter) in ("Cc", "Cs")]
            if bad:
                raise GraphInvalidError(
                    f"{text[:60]!a} of {node.instance_id!a} contains {bad[0]!a}, which cannot be printed."
                )


def _is_record(document: Mapping[str, object]) -> bool:
    nodes = document.get("nodes")
    if isinstance(nodes, Sequence) and not isinstance(nodes, str):
        return any(isinstance(node, Mapping) and "instance_id" in node for node in nodes)
    return "graph" in document


def _from_record(document: Mapping[str, object]) -> TaskGraph:
    if "graph" in document:
        is_task = "task_id" in document
        return Task.model_validate(document).graph if is_task else TaskGraph.model_validate(document["graph"])
    nodes = document["nodes"]
    assert isinstance(nodes, Sequence)
    row = {"nodes": [_node_of_row(node) for node in nodes], "edges": document.get("edges") or ()}
    return TaskGraph.model_validate(row)


def _node_of_row(node: object) -> object:
    """A node of a row of the warehouse, where parameters are lists of names and values."""
    parameters = node.get("parameters") if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or not isinstance(parameters, list):
        return node
    pairs = [item for item in parameters if isinstance(item, Mapping)]
    return {**node, "parameters": {str(item.get("name")): item.get("value") for item in pairs}}


def _from_plain(
    form: PlainGraphForm, categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    nodes = []
    for node in form.nodes:
        name = node.id
        application = node.application or form.applications.get(name, "")
        override = form.resources.get(name, SidesForm())
        sides = ("inputs", "outputs", "consumed")
        forms = (getattr(override if side in override.model_fields_set else node, side) for side in sides)
        inputs, outputs, consumed = (_bind_resources(side, name, application, categories) for side in forms)
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
        return _link(nodes, _matching_pairs(nodes), {})
    applications = {node.instance_id: node.application for node in nodes}
    named: dict[tuple[str, str], list[Resource]] = {}
    for edge in form.listed:
        if edge.resource is not None:
            owner = f"the edge {edge.producer} → {edge.consumer}"
            application = applications.get(edge.producer, "")
            resources = _bind_resources([edge.resource], owner, application, categories)
            named.setdefault((edge.producer, edge.consumer), []).extend(resources)
    return _link(nodes, form.pairs, named)


def _matching_pairs(nodes: Sequence[BoundSubtask]) -> list[tuple[str, str]]:
    return [
        (writer.instance_id, reader.instance_id)
        for reader in nodes
        for writer in nodes
        if writer is not reader and not {*writer.outputs}.isdisjoint(reader.inputs)
    ]


def _link(
    nodes: Sequence[BoundSubtask],
    pairs: Sequence[tuple[str, str]],
    named: Mapping[tuple[str, str], Sequence[Resource]],
) -> TaskGraph:
    """The graph with a dependency per resource of each pair; both ends get the resources that edges name."""
    by_name = {node.instance_id: node for node in nodes}
    for (producer_id, consumer_id), resources in named.items():
        if producer_id in by_name and consumer_id in by_name:
            by_name[producer_id] = _add_resources(by_name[producer_id], "outputs", resources)
            by_name[consumer_id] = _add_resources(by_name[consumer_id], "inputs", resources)
    edges = []
    for pair in dict.fromkeys(pairs):
        producer, consumer = by_name.get(pair[0]), by_name.get(pair[1])
        flowing = list(named.get(pair, ()))
        if producer and consumer and not flowing:
            read = {resource.category for resource in consumer.inputs}
            flowing = [resource for resource in producer.outputs if resource in consumer.inputs]
            flowing = flowing or [resource for resource in producer.outputs if resource.category in read]
        flowing = flowing or [Resource(category=UNNAMED_RESOURCE, kind=ResourceKind.FILE, value=pair[0])]
        edges += [Dependency(producer=pair[0], consumer=pair[1], resource=item) for item in flowing]
    return TaskGraph(nodes=tuple(by_name.values()), edges=tuple(edges))


def _add_resources(node: BoundSubtask, side: str, resources: Sequence[Resource]) -> BoundSubtask:
    return node.model_copy(update={side: tuple(dict.fromkeys((*getattr(node, side), *resources)))})


def _bind_resources(
    forms: Sequence[ResourceForm],
    owner: str,
    application: str,
    categories: Mapping[str, ResourceCategory],
) -> tuple[Resource, ...]:
    """The distinct resources of `owner`; unshared ones belong to its `application`."""
    resources = []
    for form in forms:
        known = categories.get(form.category)
        if known is None:
            if form.kind is None:
                raise GraphInvalidError(_describe_unknown_category(owner, form.category, categories))
            known = ResourceCategory(name=form.category, kind=form.kind, description="")
        resources.append(bind_resource(known, application, form.value.strip()))
    return tuple(dict.fromkeys(resources))


def _describe_unknown_category(owner: str, category: str, categories: Collection[str]) -> str:
    near = get_close_matches(category, categories, n=3) or sorted(categories)[:6]
    return (
        f"{owner} names the unknown resource category {category!r}. Use one of the catalogue"
        f" ({', '.join(near)}, …)"
        f' or give its kind: {{"category": …, "kind": one of {", ".join(ResourceKind)}}}.'
    )


def inconsistencies_of(graph: TaskGraph) -> tuple[str, ...]:
    """Inputs that lack a producer or an edge from it, according to the resources; composed tasks have none.

    A slot is empty after a reset, so its readers need a producer; a file or record may be a fixture.
    Resources without a value may differ, so they imply no edges.

    >>> from taskloom.resources.categories import ResourceCategory, ResourceKind
    >>> from taskloom.taskgraph.reading.task_graphs import read_task_graph
    >>> text = {"text": ResourceCategory(name="text", kind=ResourceKind.CLIPBOARD, description="")}
    >>> inconsistencies_of(read_task_graph({"nodes": ["a"], "resources": {"a": {"inputs": ["text:x"]}}}, text, str))
    ('a reads text x, which no subtask writes: it is empty after a reset',)
    """  # noqa: E501
    writers = {resource: node.instance_id for node in graph.nodes for resource in node.outputs}
    pairs = set(graph.pairs)
    met = {(edge.consumer, edge.resource.category) for edge in graph.edges}
    problems = []
    for node in graph.nodes:
        for resource in node.inputs:
            writer = writers.get(resource)
            if (node.instance_id, resource.category) in met or writer == node.instance_id:
                continue
            clause = f"{node.instance_id} reads {resource.category} {resource.value}".rstrip()
            if writer is None and resource.slot is not None:
                problems.append(f"{clause}, which no subtask writes: it is empty after a reset")
            elif writer is not None and resource.value and (writer, node.instance_id) not in pairs:
                problems.append(f"{clause}, which {writer} writes, but no edge says so")
    return tuple(problems)
