"""Where the edges of a task graph and the resources of its subtasks do not agree."""

from taskloom.taskgraph.records.graph import TaskGraph


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
