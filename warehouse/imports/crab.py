"""CRAB: one JSON per task with its subtasks (`task`, `attribute`, `output`) and an adjacency list.

`adjlist` has one line per node: its number, then the numbers of its successors. Ids are opaque: not all are
hexadecimal. Subtasks are programs of CRAB, so their instructions here name the program and its attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

from resources.categories import ResourceKind
from resources.instances import Resource
from resources.record import Record
from taskgraph.records.graph import Dependency
from taskgraph.records.subtask import BoundSubtask
from warehouse.errors import ImportRefusedError
from warehouse.exporting.application_aliases import UNKNOWN_CATEGORY
from warehouse.importing.import_fields import Fields, json_files, kind_of, read_object
from warehouse.importing.imported_tasks import build_task
from warehouse.records import ImportedItem


def read(path: Path) -> Iterator[Record]:
    """The records of a file or of a folder with its subfolders.

    Raises:
        ImportRefusedError: a file that breaks the format; nothing of it may be stored.
    """
    root = path if path.is_dir() else path.parent
    seen: dict[str, str] = {}
    for file in json_files(path):
        if file.name == "manifest.json":
            continue
        shown = file.relative_to(root).as_posix()
        fields = read_object(file, shown)
        task_id = f"crab:{fields.text('id')}"
        if task_id in seen:
            raise fields.refused("id", f"stands in {seen[task_id]} too")
        seen[task_id] = shown
        yield from _records(fields, task_id, f"{file.parent.name}/{file.name}", file.parent.name)


def _records(fields: Fields, task_id: str, place: str, environment: str) -> Iterator[Record]:
    instruction = fields.text("description")
    nodes: list[BoundSubtask] = []
    for position, item in enumerate(fields.each("tasks")):
        nodes.append(_node(item, f"{task_id}#{position}", environment))
    if not nodes:
        raise fields.refused("tasks", "must name at least one subtask")
    edges: list[Dependency] = []
    for producer, consumer in _adjacency(fields, len(nodes)):
        outputs = nodes[producer].outputs
        resource = outputs[0] if outputs else Resource(category="completion", kind=ResourceKind.RECORD)
        edges.append(
            Dependency(
                producer=nodes[producer].instance_id, consumer=nodes[consumer].instance_id, resource=resource
            )
        )
        nodes[consumer] = nodes[consumer].model_copy(update={"inputs": (*nodes[consumer].inputs, resource)})

    def refused(reason: str) -> ImportRefusedError:
        return fields.refused("adjlist", reason)

    yield build_task(task_id, nodes, edges, instruction, refused)
    yield ImportedItem(
        item_id=task_id, format="crab", item_kind="task", place=place, content=dict(fields.values)
    )


def _node(item: Fields, instance: str, environment: str) -> BoundSubtask:
    program = item.text("task")
    attributes = {name: _as_text(value) for name, value in item.fields("attribute").values.items()}
    output = item.values.get("output")
    if output is not None and isinstance(output, (dict, list)):
        raise item.refused("output", f"must be a value or null, not {kind_of(output)}")
    made = (
        (Resource(category="crab_output", kind=ResourceKind.RECORD, value=_as_text(output)),)
        if output is not None
        else ()
    )
    given = ", ".join(f"{name} = {value!r}" for name, value in attributes.items())
    return BoundSubtask(
        instance_id=instance,
        subtask_id=f"crab:{program}",
        application=environment or "crab",
        application_category=UNKNOWN_CATEGORY,
        instruction=f"Do CRAB subtask {program}" + (f" with {given}." if given else "."),
        parameters=attributes,
        outputs=made,
    )


def _adjacency(fields: Fields, count: int) -> Iterator[tuple[int, int]]:
    seen: set[int] = set()
    for number, line in enumerate(fields.text("adjlist").splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            node, *successors = (int(word) for word in words)
        except ValueError:
            raise fields.refused(
                "adjlist", f"line {number} holds something else than numbers: {line!r}"
            ) from None
        for name in (node, *successors):
            if not 0 <= name < count:
                raise fields.refused(
                    "adjlist", f"line {number} names node {name}, but there are {count} subtasks"
                )
        if node in seen:
            raise fields.refused("adjlist", f"node {node} has two lines")
        seen.add(node)
        for successor in dict.fromkeys(successors):
            yield node, successor


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
