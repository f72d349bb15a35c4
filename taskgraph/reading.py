"""Task graphs out of parsed JSON, in the three forms that users have.

A *record* is taskloom's own `Task` or `TaskGraph`, or a row of the table `tasks`; *task metadata* is the paper's (App. C.4), with its subtasks' metadata
(C.1) under the key `subtasks`; a *plain* graph has `nodes`, `edges`, and where known `applications` and `resources`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from resources.categories import ResourceCategory, ResourceKind
from resources.instances import Resource, bind_resource
from taskgraph.errors import GraphInvalid
from taskgraph.graph import Dependency, TaskGraph
from taskgraph.subtask import BoundSubtask
from taskgraph.task import Task

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
        GraphInvalid: the form is unknown, or the graph is empty, cyclic, has a self-loop, a duplicate id, an unknown
            subtask or resource category, or two producers of one resource; the offending items are named.
    """
    if not isinstance(document, Mapping):
        raise GraphInvalid(f"A task graph is a JSON object; this is a {type(document).__name__}.")
    if "dag" in document:
        graph = _from_task_metadata(document, categories, category_of)
    elif "graph" in document or _are_records(document.get("nodes")):
        graph = _from_record(document)
    elif "nodes" in document:
        graph = _from_plain(document, categories, category_of)
    else:
        raise GraphInvalid(
            "This is no task graph: it has neither `graph` (a task record), `dag` (task metadata of the paper) nor"
            f" `nodes` (a plain graph). Its keys: {sorted(map(str, document))}."
        )
    if not graph.nodes:
        raise GraphInvalid("The graph has no subtasks; it needs at least one.")
    require_single_producers(graph)
    return graph


def require_single_producers(graph: TaskGraph) -> None:
    """Refuse graphs in which a subtask gets one resource from two others.

    >>> require_single_producers(TaskGraph(nodes=()))

    Raises:
        GraphInvalid: naming the resource, the producers and the consumer.
    """
    producers: dict[tuple[str, Resource], str] = {}
    for edge in graph.edges:
        first = producers.setdefault((edge.consumer, edge.resource), edge.producer)
        if first != edge.producer and edge.resource.category != UNNAMED_RESOURCE:
            raise GraphInvalid(
                f"{edge.consumer} gets {edge.resource.category} {edge.resource.value}".rstrip()
                + f" from two producers, {first} and {edge.producer}; a resource has exactly one in a task."
            )


def _are_records(nodes: object) -> bool:
    return isinstance(nodes, Sequence) and any(
        isinstance(node, Mapping) and "instance_id" in node for node in nodes
    )


def _from_record(document: Mapping[str, object]) -> TaskGraph:
    try:
        if "task_id" in document and "graph" in document:
            return Task.model_validate(document).graph
        return TaskGraph.model_validate(document.get("graph") or _row(document))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise GraphInvalid(
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
        raise GraphInvalid("`dag` has no `nodes`; the paper's task metadata has `nodes` and `edges` there.")
    listed = document.get("subtasks", ())
    subtasks = {
        _id(item.get("id")): item
        for item in (listed if isinstance(listed, Sequence) else ())
        if isinstance(item, Mapping)
    }
    names = _names(dag["nodes"])
    if subtasks:
        unknown = sorted(set(names) - subtasks.keys())
        if unknown:
            raise GraphInvalid(f"`subtasks` has no metadata for these nodes: {', '.join(unknown)}.")
    nodes = []
    for name in names:
        subtask = subtasks.get(name, {})
        application = str(subtask.get("application", ""))
        nodes.append(
            BoundSubtask(
                instance_id=name,
                subtask_id=name,
                application=application,
                application_category=category_of(application) if application else "",
                instruction=str(subtask.get("instruction") or subtask.get("instruction_template") or name),
                inputs=_resources(subtask.get("input_resources", ()), name, application, categories),
                outputs=_resources(subtask.get("output_resources", ()), name, application, categories),
            )
        )
    return _linked(nodes, _pairs(dag.get("edges", {})), {})


def _from_plain(
    document: Mapping[str, object], categories: Mapping[str, ResourceCategory], category_of: CategoryOf
) -> TaskGraph:
    given = document["nodes"]
    details = {
        _id(item.get("id")): item
        for item in (given if isinstance(given, Sequence) and not isinstance(given, str) else ())
        if isinstance(item, Mapping)
    }
    applications, resources = _object(document, "applications"), _object(document, "resources")
    names = _names(given)
    for key, named in (("applications", applications), ("resources", resources)):
        unknown = sorted(set(named) - set(names))
        if unknown:
            raise GraphInvalid(f"`{key}` names subtasks that are not in `nodes`: {', '.join(unknown)}.")
    nodes = []
    for name in names:
        own = dict(details.get(name, {}))
        flows = resources.get(name)
        own |= flows if isinstance(flows, Mapping) else {}
        application = str(own.get("application") or applications.get(name, ""))
        sides = {
            side: _resources(own.get(side, ()), name, application, categories)
            for side in ("inputs", "outputs", "consumed")
        }
        nodes.append(
            BoundSubtask(
                instance_id=name,
                subtask_id=str(own.get("subtask", name)),
                application=application,
                application_category=str(
                    own.get("application_category") or (category_of(application) if application else "")
                ),
                instruction=str(own.get("instruction", name)),
                inputs=tuple(dict.fromkeys((*sides["inputs"], *sides["consumed"]))),
                outputs=sides["outputs"],
                consumed=sides["consumed"],
            )
        )
    if "edges" not in document:
        return _linked(nodes, _matching(nodes), {})
    return _linked(nodes, _pairs(document["edges"]), _edge_resources(document["edges"], categories, nodes))


def _object(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key, {})
    if not isinstance(value, Mapping):
        raise GraphInvalid(
            f"`{key}` is a {type(value).__name__}; it must be an object with one entry per subtask."
        )
    return value


def _id(given: object) -> str:
    """An id as text, whole again where a printed page broke it: the paper's own example has such ids."""
    return re.sub(r"\s*\n\s*", "", str(given))


def _names(nodes: object) -> list[str]:
    if not isinstance(nodes, Sequence) or isinstance(nodes, str):
        raise GraphInvalid(
            f"`nodes` is a {type(nodes).__name__}; it must be a list of ids or of objects with an `id`."
        )
    names = []
    for position, node in enumerate(nodes):
        name = node.get("id") if isinstance(node, Mapping) else node
        if not isinstance(name, str | int) or name == "":
            raise GraphInvalid(f"Number {position + 1} of `nodes` has no id: {node!r}.")
        names.append(_id(name))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise GraphInvalid(f"These ids stand twice in `nodes`: {', '.join(twice)}.")
    return names


def _pairs(edges: object) -> list[tuple[str, str]]:
    """Edges as (producer, consumer), from an adjacency object or a list of pairs or objects."""
    if isinstance(edges, Mapping):
        wrong = [f"{name}: {found!r}" for name, found in edges.items() if not isinstance(found, list | tuple)]
        if wrong:
            raise GraphInvalid(
                f"`edges` has no list of consumers for {wrong[0]}; write {{producer: [consumer, …]}}."
            )
        return [(_id(producer), _id(consumer)) for producer, found in edges.items() for consumer in found]
    if not isinstance(edges, Sequence) or isinstance(edges, str):
        raise GraphInvalid(
            f"`edges` is a {type(edges).__name__}; it must be a list of pairs or an adjacency object."
        )
    pairs = []
    for edge in edges:
        if isinstance(edge, Mapping):
            ends = [
                edge.get(name)
                for names in (("producer", "source", "from"), ("consumer", "target", "to"))
                for name in names
            ]
            found = [end for end in ends if end is not None]
        else:
            found = list(edge) if isinstance(edge, Sequence) and not isinstance(edge, str) else []
        if len(found) != 2:
            raise GraphInvalid(f"This edge has no two ends: {edge!r}. Write [producer, consumer].")
        pairs.append((_id(found[0]), _id(found[1])))
    return pairs


def _edge_resources(
    edges: object, categories: Mapping[str, ResourceCategory], nodes: Sequence[BoundSubtask]
) -> dict[tuple[str, str], list[Resource]]:
    """Resources that edges given as objects name."""
    applications = {node.instance_id: node.application for node in nodes}
    named: dict[tuple[str, str], list[Resource]] = {}
    if isinstance(edges, Sequence):
        for edge, pair in zip(edges, _pairs(edges), strict=True):
            if isinstance(edge, Mapping) and edge.get("resource"):
                found = _resources([edge["resource"]], pair[1], applications.get(pair[1], ""), categories)
                named.setdefault(pair, []).extend(found)
    return named


def _resources(
    given: object, name: str, application: str, categories: Mapping[str, ResourceCategory]
) -> tuple[Resource, ...]:
    """Resources written `category`, `category:value` or as objects with `category`, `value` and `kind`."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise GraphInvalid(f"The resources of {name} are a {type(given).__name__}; they must be a list.")
    found = []
    for item in given:
        if isinstance(item, Mapping):
            category, value, kind = item.get("category"), str(item.get("value", "")), item.get("kind")
        else:
            category, _, value = str(item).partition(":")
            kind = None
        known = categories.get(str(category))
        if known is None and kind in {member.value for member in ResourceKind}:
            known = ResourceCategory(name=str(category), kind=ResourceKind(str(kind)), description="")
        if known is None:
            raise GraphInvalid(
                f"{name} names the unknown resource category {category!r}. Use one of the catalogue"
                f" ({', '.join(sorted(categories)[:6])}, …) or give its `kind`: {', '.join(ResourceKind)}."
            )
        found.append(bind_resource(known, application, value.strip()))
    return tuple(dict.fromkeys(found))


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
    by_name = {node.instance_id: node for node in nodes}
    edges = []
    for pair in dict.fromkeys(pairs):
        producer, consumer = by_name.get(pair[0]), by_name.get(pair[1])
        flowing = list(named.get(pair, ()))
        if producer and consumer and not flowing:
            flowing = [resource for resource in producer.outputs if resource in consumer.inputs]
        unnamed = Resource(category=UNNAMED_RESOURCE, kind=ResourceKind.FILE, value=pair[0])
        edges += [
            Dependency(producer=pair[0], consumer=pair[1], resource=resource)
            for resource in flowing or [unnamed]
        ]
    try:
        graph = TaskGraph(nodes=tuple(nodes), edges=tuple(edges))
    except ValidationError as error:
        raise GraphInvalid(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return graph
