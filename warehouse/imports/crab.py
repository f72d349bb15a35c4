"""CRAB: one JSON per task with its subtasks (`task`, `attribute`, `output`) and an adjacency list.

`adjlist` has one line per node: its number, then the numbers of its successors. Ids are opaque: not all are
hexadecimal. Subtasks are programs of CRAB, so their instructions here name the program and its attributes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.record import Record
from taskloom.taskgraph.reading.faults import json_kind
from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.warehouse.importing.imported_tasks import UNKNOWN_CATEGORY, build_task
from taskloom.warehouse.importing.items import (
    ForeignModel,
    Identifier,
    Item,
    Records,
    Text,
    check_items,
    items_of,
)
from taskloom.warehouse.importing.json_reading import as_text, collection_files


def _check_scalar(value: JsonValue) -> JsonValue:
    if isinstance(value, (dict, list)):
        raise ValueError(f"must be a value or null, not {json_kind(value)}")
    return value


class _Subtask(ForeignModel):
    task: Text
    attribute: dict[str, JsonValue]
    output: Annotated[JsonValue, AfterValidator(_check_scalar)] = None


def _check_not_empty(value: list[_Subtask]) -> list[_Subtask]:
    if not value:
        raise ValueError("must name at least one subtask")
    return value


class _Task(ForeignModel):
    id: Identifier
    description: Text
    tasks: Annotated[list[_Subtask], AfterValidator(_check_not_empty)]
    adjlist: Text


def read(path: Path) -> Records:
    """The tasks of a file or of a folder with its subfolders."""
    files = collection_files(path)
    folders = {label: file.absolute().parent.name for file, label in files}
    yield from check_items(
        items_of(files, one_each=True),
        lambda item: f"crab:{item.read_id('id')}",
        lambda item, task_id: _records(item, task_id, folders[item.file]),
    )


def _records(item: Item, task_id: str, environment: str) -> Iterator[Record]:
    task = item.parse(_Task)
    nodes = [
        _node(subtask, f"{task_id}#{position}", environment) for position, subtask in enumerate(task.tasks)
    ]
    edges: list[Dependency] = []
    for producer, consumer in _adjacency(item, task.adjlist, len(nodes)):
        source, target = nodes[producer], nodes[consumer]
        nothing = Resource(category="completion", kind=ResourceKind.RECORD)
        resource = next(iter(source.outputs), nothing)
        edges.append(Dependency(producer=source.instance_id, consumer=target.instance_id, resource=resource))
        nodes[consumer] = target.model_copy(update={"inputs": (*target.inputs, resource)})
    yield build_task(task_id, nodes, edges, task.description, lambda reason: item.refusal("adjlist", reason))
    yield item.original(task_id, place=f"{environment}/{Path(item.file).name}")


def _node(subtask: _Subtask, instance: str, environment: str) -> BoundSubtask:
    attributes = {name: as_text(value) for name, value in subtask.attribute.items()}
    output_values = [] if subtask.output is None else [as_text(subtask.output)]
    listed = ", ".join(f"{name} = {value!r}" for name, value in attributes.items())
    return BoundSubtask(
        instance_id=instance,
        subtask_id=f"crab:{subtask.task}",
        application=environment or "crab",
        application_category=UNKNOWN_CATEGORY,
        instruction=f"Do CRAB subtask {subtask.task}" + (f" with {listed}." if listed else "."),
        parameters=attributes,
        outputs=tuple(
            Resource(category="crab_output", kind=ResourceKind.RECORD, value=value) for value in output_values
        ),
    )


def _adjacency(item: Item, text: str, count: int) -> Iterator[tuple[int, int]]:
    seen: set[int] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            node, *successors = (int(word) for word in words)
        except ValueError:
            reason = f"line {number} holds something other than numbers: {line!r}"
            raise item.refusal("adjlist", reason) from None
        for name in (node, *successors):
            if not 0 <= name < count:
                reason = f"line {number} names node {name}, but there are {count} subtasks"
                raise item.refusal("adjlist", reason)
        if node in seen:
            raise item.refusal("adjlist", f"node {node} has two lines")
        seen.add(node)
        for successor in dict.fromkeys(successors):
            yield node, successor
