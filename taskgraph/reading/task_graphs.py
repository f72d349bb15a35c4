"""Task graphs out of parsed JSON, in the three forms that users have.

A *record* is taskloom's own `Task` or `TaskGraph`, or a row of the table `tasks`; *task metadata* is the paper's (App. C.4), with its subtasks' metadata
(C.1) under the key `subtasks`; a *plain* graph has `nodes`, `edges`, and where known `applications` and `resources`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from unicodedata import category

from pydantic import ValidationError

from resources.categories import ResourceCategory, ResourceKind
from resources.instances import Resource
from taskgraph.errors import GraphInvalidError, ParameterInvalidError
from taskgraph.measures.bitmasks import require_size
from taskgraph.reading.values import (
    adjacency,
    edges_with_resources,
    ids_of,
    json_kind,
    object_in,
    read_id,
    read_resources,
    refuse_unknown_keys,
    text_in,
)
from taskgraph.records.graph import Dependency, TaskGraph
from taskgraph.records.subtask import BoundSubtask, fill
from taskgraph.records.task import Task

CategoryOf = Callable[[str], str]
"""The application category of an application."""

UNNAMED_RESOURCE = "resource"
"""Category of what flows along an edge that names no resource."""

_SIDES = ("inputs", "outputs", "consumed")
_PLAIN_KEYS = ("nodes", "edges", "applications", "resources")
_NODE_KEYS = ("id", "application", "application_category", "instruction", "subtask", *_SIDES)


def read_task_graph(
    document: object, categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    """The task graph in `document`, whichever form it has. Ids are opaque: they need not be UUIDs.

    A disconnected graph is sound: its components are counted. Applications that are not given count as one.

    >>> read_task_graph({"nodes": ["a", "b"], "edges": [["a", "b"]]}, {}, str).pairs
    (('a', 'b'),)

    Raises:
        GraphInvalidError: the form is unknown, or the graph is empty, cyclic, has a self-loop, a duplicate id, an unknown
            subtask or resource category, text that cannot be printed, or two producers of one resource; the offending
            items are named.
        GraphTooLargeError: more than 30 subtasks.
    """
    if not isinstance(document, Mapping):
        raise GraphInvalidError(f"A task graph is a JSON object; this is {json_kind(document)}.")
    if "dag" in document:
        graph = _from_task_metadata(document, categories, category_of)
    elif _is_record(document):
        graph = _from_record(document)
    elif "nodes" in document:
        graph = _from_plain(document, categories, category_of)
    else:
        raise GraphInvalidError(
            "This is no task graph: it has neither `graph` (a task record), `dag` (task metadata of the paper) nor"
            f" `nodes` (a plain graph). Its keys: {', '.join(sorted(map(str, document))) or 'none'}."
        )
    if not graph.nodes:
        raise GraphInvalidError("The graph has no subtasks; it needs at least one.")
    require_size(graph.nodes)
    _require_printable(graph)
    require_single_producers(graph)
    return graph


def require_single_producers(graph: TaskGraph) -> None:
    """Refuse graphs in which two subtasks write one resource, or a subtask gets one from two others.

    Resources without a value, as the paper's metadata has them, may be several: only those with a value count.

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
                    f"{edge.consumer} gets {edge.resource.category} {edge.resource.value} from two producers, {first} and"
                    f" {edge.producer}; a resource has exactly one in a task."
                )
    writers: dict[Resource, str] = {}
    for node in graph.nodes:
        for resource in node.outputs:
            first = writers.setdefault(resource, node.instance_id)
            if resource.value and first != node.instance_id:
                raise GraphInvalidError(
                    f"{resource.category} {resource.value} has two producers, {first} and {node.instance_id}; a resource has"
                    " exactly one in a task."
                )


def _require_printable(graph: TaskGraph) -> None:
    """Refuse control characters and halves of surrogate pairs: no terminal, drawing or GraphML file can hold them."""
    for node in graph.nodes:
        flowing = [text for item in (*node.inputs, *node.outputs) for text in (item.category, item.value)]
        for text in (
            node.instance_id,
            node.application,
            node.application_category,
            node.instruction,
            *flowing,
        ):
            wrong = [letter for letter in text if letter not in "\n\r\t" and category(letter) in ("Cc", "Cs")]
            if wrong:
                raise GraphInvalidError(
                    f"{text[:60]!a} of {node.instance_id!a} holds {wrong[0]!a}, which cannot be printed."
                )


def _is_record(document: Mapping[str, object]) -> bool:
    """Whether a document is one of taskloom's own records rather than a plain graph."""
    nodes = document.get("nodes")
    if isinstance(nodes, Sequence) and not isinstance(nodes, str):
        return any(isinstance(node, Mapping) and "instance_id" in node for node in nodes)
    return "graph" in document


def _from_record(document: Mapping[str, object]) -> TaskGraph:
    try:
        if "task_id" in document and "graph" in document:
            return Task.model_validate(document).graph
        if "graph" in document:
            return TaskGraph.model_validate(document["graph"])
        return TaskGraph.model_validate(_row(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise GraphInvalidError(
            f"{place + ': ' if place else ''}{first['msg'].removeprefix('Value error, ')}"
        ) from None


def _row(document: Mapping[str, object]) -> dict[str, object]:
    """Nodes and edges of a row of the warehouse, where parameters are lists of names and values."""
    nodes = document["nodes"]
    assert isinstance(nodes, Sequence)
    return {"nodes": [_node_of_row(node) for node in nodes], "edges": document.get("edges") or ()}


def _node_of_row(node: object) -> object:
    given = node.get("parameters") if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping) or not isinstance(given, list):
        return node
    pairs = [item for item in given if isinstance(item, Mapping)]
    return {**node, "parameters": {str(item.get("name")): item.get("value") for item in pairs}}


def _from_task_metadata(
    document: Mapping[str, object], categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    dag = document["dag"]
    if not isinstance(dag, Mapping) or "nodes" not in dag:
        raise GraphInvalidError(
            "`dag` has no `nodes`; the paper's task metadata has `nodes` and `edges` there."
        )
    names = ids_of(dag["nodes"], "dag.nodes")
    subtasks = _subtasks_of(document.get("subtasks"), names)
    told = text_in(document, "task_instruction", "the task")
    nodes = []
    for name in names:
        subtask = subtasks.get(name, {})
        application = text_in(subtask, "application", name)
        template = text_in(subtask, "instruction", name) or text_in(subtask, "instruction_template", name)
        values = _parameters(subtask.get("available_parameters"), told)
        try:
            instruction = fill(template, values)
        except ParameterInvalidError:
            instruction = template
        sides = {
            side: read_resources(
                subtask.get(f"{side}_resources", ()), name, application, categories, values=values, guess=True
            )
            for side in ("input", "output")
        }
        nodes.append(
            BoundSubtask(
                instance_id=name,
                subtask_id=name,
                application=application,
                application_category=category_of(application) if application else "",
                instruction=instruction or name,
                inputs=sides["input"],
                outputs=sides["output"],
            )
        )
    return _linked(nodes, adjacency(dag.get("edges", {})), {})


def _subtasks_of(listed: object, names: Sequence[str]) -> dict[str, Mapping[str, object]]:
    """The metadata of the subtasks by id; empty where none is given."""
    if listed is None:
        return {}
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise GraphInvalidError(
            f"`subtasks` is {json_kind(listed)}; it must be a list of the paper's subtask metadata."
        )
    found: dict[str, Mapping[str, object]] = {}
    for position, item in enumerate(listed, start=1):
        if not isinstance(item, Mapping):
            raise GraphInvalidError(
                f"Number {position} of `subtasks` is {json_kind(item)}, not an object with an `id`."
            )
        name = read_id(item.get("id"), f"Number {position} of `subtasks`")
        if name in found:
            raise GraphInvalidError(f"`subtasks` has metadata for {name} twice.")
        found[name] = item
    unknown = sorted(set(names) - found.keys())
    if unknown and found:
        raise GraphInvalidError(f"`subtasks` has no metadata for these nodes: {', '.join(unknown)}.")
    return found


def _parameters(given: object, told: str) -> dict[str, str]:
    """The parameter set that the instruction tells of, or the only one."""
    sets = [item for item in given if isinstance(item, Mapping)] if isinstance(given, list | tuple) else []
    texts = [{str(name): str(value) for name, value in item.items()} for item in sets]
    if len(texts) == 1:
        return texts[0]
    return next((item for item in texts if all(value in told for value in item.values())), {})


def _from_plain(
    document: Mapping[str, object], categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    given = document["nodes"]
    names = ids_of(given, "nodes")
    refuse_unknown_keys(document, _PLAIN_KEYS, "a plain graph")
    assert isinstance(given, Sequence)
    details = {name: item for name, item in zip(names, given, strict=True) if isinstance(item, Mapping)}
    applications, resources = object_in(document, "applications"), object_in(document, "resources")
    for key, named in (("applications", applications), ("resources", resources)):
        unknown = sorted(set(named) - set(names))
        if unknown:
            raise GraphInvalidError(f"`{key}` names subtasks that are not in `nodes`: {', '.join(unknown)}.")
    nodes = []
    for name in names:
        own = dict(details.get(name, {}))
        refuse_unknown_keys(own, _NODE_KEYS, f"the node {name}")
        flows = object_in(resources, name)
        refuse_unknown_keys(flows, _SIDES, f"the resources of {name}", strict=True)
        own |= flows
        application = text_in(own, "application", name) or text_in(applications, name, "`applications`")
        sides = {side: read_resources(own.get(side, ()), name, application, categories) for side in _SIDES}
        nodes.append(
            BoundSubtask(
                instance_id=name,
                subtask_id=text_in(own, "subtask", name) or name,
                application=application,
                application_category=text_in(own, "application_category", name)
                or (category_of(application) if application else ""),
                instruction=text_in(own, "instruction", name) or name,
                inputs=tuple(dict.fromkeys((*sides["inputs"], *sides["consumed"]))),
                outputs=sides["outputs"],
                consumed=sides["consumed"],
            )
        )
    if "edges" not in document:
        return _linked(nodes, _matching(nodes), {})
    applied = {node.instance_id: node.application for node in nodes}
    return _linked(
        nodes, adjacency(document["edges"]), edges_with_resources(document["edges"], categories, applied)
    )


def _matching(nodes: Sequence[BoundSubtask]) -> list[tuple[str, str]]:
    """Dependencies that follow from the resources alone."""
    return [
        (writer.instance_id, reader.instance_id)
        for reader in nodes
        for writer in nodes
        if writer is not reader and set(writer.outputs) & set(reader.inputs)
    ]


def _linked(
    nodes: Sequence[BoundSubtask],
    pairs: Sequence[tuple[str, str]],
    named: Mapping[tuple[str, str], Sequence[Resource]],
) -> TaskGraph:
    """The graph with a dependency per resource that flows along each pair; what edges name, their ends read and write."""
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
        unnamed = Resource(category=UNNAMED_RESOURCE, kind=ResourceKind.FILE, value=pair[0])
        edges += [
            Dependency(producer=pair[0], consumer=pair[1], resource=resource)
            for resource in flows or [unnamed]
        ]
    try:
        graph = TaskGraph(nodes=tuple(by_name.values()), edges=tuple(edges))
    except ValidationError as error:
        raise GraphInvalidError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return graph


def _with(node: BoundSubtask, side: str, flowing: Sequence[Resource]) -> BoundSubtask:
    return node.model_copy(update={side: tuple(dict.fromkeys((*getattr(node, side), *flowing)))})
