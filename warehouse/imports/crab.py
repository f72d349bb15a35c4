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
    checked,
    items_of,
)
from taskloom.warehouse.importing.json_reading import as_text, collection_files


def _single(value: JsonValue) -> JsonValue:
    if isinstance(value, (dict, list)):
        raise ValueError(f"must be a value or null, not {json_kind(value)}")
    return value


class _Subtask(ForeignModel):
    task: Text
    attribute: dict[str, JsonValue]
    output: Annotated[JsonValue, AfterValidator(_single)] = None


def _some(value: list[_Subtask]) -> list[_Subtask]:
    if not value:
        raise ValueError("must name at least one subtask")
    return value


class _Task(ForeignModel):
    id: Identifier
    description: Text
    tasks: Annotated[list[_Subtask], AfterValidator(_some)]
    adjlist: Text


def read(path: Path) -> Records:
    """The tasks of a file or of a folder with its subfolders."""
    files = collection_files(path)
    folders = {shown: file.absolute().parent.name for file, shown in files}
    yield from checked(
        items_of(files, one_each=True),
        lambda item: f"crab:{item.named('id')}",
        lambda item, task_id: _records(item, task_id, folders[item.file]),
    )


def _records(item: Item, task_id: str, environment: str) -> Iterator[Record]:
    task = item.parsed(_Task)
    nodes = [
        _node(subtask, f"{task_id}#{position}", environment) for position, subtask in enumerate(task.tasks)
    ]
    edges: list[Dependency] = []
    for producer, consumer in _adjacency(item, task.adjlist, len(nodes)):
        made, taken = nodes[producer], nodes[consumer]
        nothing = Resource(category="completion", kind=ResourceKind.RECORD)
        resource = next(iter(made.outputs), nothing)
        edges.append(Dependency(producer=made.instance_id, consumer=taken.instance_id, resource=resource))
        nodes[consumer] = taken.model_copy(update={"inputs": (*taken.inputs, resource)})
    yield build_task(task_id, nodes, edges, task.description, lambda reason: item.refused("adjlist", reason))
    yield item.original(task_id, place=f"{environment}/{Path(item.file).name}")


def _node(subtask: _Subtask, instance: str, environment: str) -> BoundSubtask:
    attributes = {name: as_text(value) for name, value in subtask.attribute.items()}
    made = [] if subtask.output is None else [as_text(subtask.output)]
    given = ", ".join(f"{name} = {value!r}" for name, value in attributes.items())
    return BoundSubtask(
        instance_id=instance,
        subtask_id=f"crab:{subtask.task}",
        application=environment or "crab",
        application_category=UNKNOWN_CATEGORY,
        instruction=f"Do CRAB subtask {subtask.task}" + (f" with {given}." if given else "."),
        parameters=attributes,
        outputs=tuple(
            Resource(category="crab_output", kind=ResourceKind.RECORD, value=value) for value in made
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
            reason = f"line {number} holds something else than numbers: {line!r}"
            raise item.refused("adjlist", reason) from None
        for name in (node, *successors):
            if not 0 <= name < count:
                reason = f"line {number} names node {name}, but there are {count} subtasks"
                raise item.refused("adjlist", reason)
        if node in seen:
            raise item.refused("adjlist", f"node {node} has two lines")
        seen.add(node)
        for successor in dict.fromkeys(successors):
            yield node, successor
