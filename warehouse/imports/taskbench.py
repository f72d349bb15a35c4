"""TaskBench: `data.json` with one task per line, beside `graph_desc.json` with the tools and what they
exchange.

Nodes and links may be JSON or text that holds JSON. Links name tools, and tools repeat within a task, so a
link by name can mean several pairs: the argument references `<node-k>` say which. A task of which neither the
references nor the order of the nodes make the links clear and acyclic is broken, with the reason
`links_unclear`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from taskloom.resources.categories import ResourceKind
from taskloom.resources.instances import Resource
from taskloom.resources.record import Record
from taskloom.taskgraph.records.graph import Dependency
from taskloom.taskgraph.records.subtask import BoundSubtask
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.exporting.application_aliases import UNKNOWN_CATEGORY
from taskloom.warehouse.importing.imported_tasks import build_task
from taskloom.warehouse.importing.items import (
    BrokenItem,
    ForeignModel,
    Identifier,
    Item,
    Text,
    checked,
    file_items,
    line_items,
)
from taskloom.warehouse.importing.json_reading import inner_json, json_files

_REFERENCE = re.compile(r"<node-(\d+)>")
_UNCLEAR = "links_unclear"
_SPELLINGS = {
    "user_request": "instruction",
    "task_nodes": "tool_nodes",
    "task_links": "tool_links",
    "task_steps": "tool_steps",
}
"""Names of fields in files that use the older ones, and the present names."""


def _json_text(value: object) -> object:
    """The value of a JSON text; other values as they are."""
    return inner_json(value) if isinstance(value, str) else value


class _Node(ForeignModel):
    task: Text
    arguments: list[JsonValue] = Field(default_factory=list)


class _Link(ForeignModel):
    source: Text
    target: Text


class _Tool(ForeignModel):
    """A tool: the types it takes and gives; None for both if its parameters are described instead."""

    id: Text
    """Name."""
    input_types: list[str] | None = Field(default=None, alias="input-type")
    """What it takes; None where its parameters are described."""
    output_types: list[str] | None = Field(default=None, alias="output-type")
    """What it gives; None where its parameters are described."""
    parameters: list[JsonValue] = Field(default_factory=list)
    """Its parameters, where it has no types."""


class _ToolLink(ForeignModel):
    """A tool that can follow another."""

    source: Text
    """The earlier tool."""
    target: Text
    """The later tool."""
    type: str = ""
    """What passes between them, or `complete` where the later one merely follows."""


class _ToolGraph(ForeignModel):
    """A whole file."""

    nodes: list[_Tool]
    """The tools."""
    links: list[_ToolLink]
    """The links between them."""

    @model_validator(mode="after")
    def _links_name_tools(self) -> Self:
        known = {tool.id for tool in self.nodes}
        strange = [name for link in self.links for name in (link.source, link.target) if name not in known]
        if strange:
            raise ValueError(f"links name the tool {strange[0]!r}, which nodes do not")
        return self

    def types(self) -> dict[str, tuple[str, str]]:
        """The first input type and output type of every tool; empty texts where it has none."""
        return {
            tool.id: ((tool.input_types or [""])[0], (tool.output_types or [""])[0]) for tool in self.nodes
        }


class _Task(ForeignModel):
    id: Identifier
    instruction: Text
    tool_nodes: Annotated[list[_Node], BeforeValidator(_json_text)]
    tool_links: Annotated[list[_Link], BeforeValidator(_json_text)]
    tool_steps: Annotated[list[JsonValue], BeforeValidator(_json_text)] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            (_SPELLINGS[name] if _SPELLINGS.get(name, name) not in value else name): item
            for name, item in value.items()
        }


def read(path: Path) -> Iterator[Record | BrokenItem]:
    """The tasks of a `data.json`, of a domain's folder, or of several domains.

    Raises:
        ImportRefusedError: nothing is there.
    """
    root = path if path.is_dir() else path.parent
    data = [file for file in json_files(path) if file.name == "data.json" or file == path]
    if not data:
        raise ImportRefusedError(str(path), "", "holds no data.json")
    for file in data:
        yield from _domain(file, root)


def _domain(file: Path, root: Path) -> Iterator[Record | BrokenItem]:
    domain = file.absolute().parent.name
    tools: dict[str, tuple[str, str]] = {}
    description = file.parent / "graph_desc.json"
    found = file_items(
        [(description, description.relative_to(root).as_posix())] if description.is_file() else []
    )

    def tool_records(item: Item, item_id: str) -> Iterator[Record]:
        tools.update(item.parsed(_ToolGraph).types())
        yield item.original(item_id, "file", place=f"{domain}/graph_desc.json")

    yield from checked(found, lambda item: f"taskbench:{domain}/graph_desc", tool_records)
    yield from checked(
        line_items(file, file.relative_to(root).as_posix()),
        lambda item: f"taskbench:{domain}/{item.named('id')}",
        lambda item, task_id: _records(item, task_id, f"{domain}/{file.name}", tools),
    )


def _records(item: Item, task_id: str, file: str, tools: dict[str, tuple[str, str]]) -> Iterator[Record]:
    task = item.parsed(_Task)
    if not task.tool_nodes:
        raise item.refused("tool_nodes", "must name at least one tool")
    names = [node.task for node in task.tool_nodes]
    for position, link in enumerate(task.tool_links):
        for end in (link.source, link.target):
            if end not in names:
                raise item.refused(
                    f"tool_links[{position}]", f"names {end!r}, which is not a node of the task"
                )
    arguments = [_arguments(node) for node in task.tool_nodes]
    pairs = _pairs(names, arguments, [(link.source, link.target) for link in task.tool_links])
    if isinstance(pairs, str):
        raise item.refused("tool_links", pairs, _UNCLEAR)
    nodes, edges = _graph(task_id, names, arguments, [str(step) for step in task.tool_steps], pairs, tools)
    yield build_task(
        task_id,
        nodes,
        edges,
        task.instruction,
        lambda reason: item.refused("tool_links", reason, _UNCLEAR),
    )
    yield item.original(task_id, place=f"{file}:{item.place.strip('[]').removeprefix('line ')}")


def _arguments(node: _Node) -> dict[str, str]:
    """Arguments by name; arguments without names are numbered."""
    found: dict[str, str] = {}
    for position, item in enumerate(node.arguments):
        named = isinstance(item, dict) and "name" in item
        name = str(item["name"]) if isinstance(item, dict) and named else f"argument_{position}"
        value = item.get("value") if isinstance(item, dict) and named else item
        found[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


def _pairs(
    names: list[str], arguments: list[dict[str, str]], links: list[tuple[str, str]]
) -> set[tuple[int, int]] | str:
    """Dependent pairs of node positions, or why they are ambiguous."""
    references: set[tuple[int, int]] = set()
    for consumer, given in enumerate(arguments):
        for value in given.values():
            for match in _REFERENCE.finditer(value):
                producer = int(match[1])
                if producer >= len(names):
                    return f"<node-{producer}> is referred to, but there are {len(names)} nodes"
                if producer != consumer:
                    references.add((producer, consumer))
    uses = Counter(names)
    pairs = set(references)
    for source, target in links:
        if any(names[first] == source and names[second] == target for first, second in references):
            continue
        if uses[source] == 1 and uses[target] == 1:
            pairs.add((names.index(source), names.index(target)))
            continue
        forward = [
            (first, second)
            for first, name in enumerate(names)
            for second in range(first + 1, len(names))
            if name == source and names[second] == target
        ]
        if len(forward) != 1:
            return f"the link {source} → {target} can mean {len(forward)} pairs of nodes"
        pairs.add(forward[0])
    return pairs


def _graph(
    task_id: str,
    names: list[str],
    arguments: list[dict[str, str]],
    steps: list[str],
    pairs: set[tuple[int, int]],
    tools: dict[str, tuple[str, str]],
) -> tuple[list[BoundSubtask], list[Dependency]]:
    made = [
        Resource(
            category=tools.get(name, ("", ""))[1] or "tool_output",
            kind=ResourceKind.RECORD,
            value=f"<node-{position}>",
        )
        for position, name in enumerate(names)
    ]
    nodes = [
        BoundSubtask(
            instance_id=f"{task_id}#{position}",
            subtask_id=f"taskbench:{name}",
            application=name,
            application_category=UNKNOWN_CATEGORY,
            instruction=steps[position] if len(steps) == len(names) else f"Use {name}.",
            parameters=arguments[position],
            inputs=tuple(made[producer] for producer, consumer in sorted(pairs) if consumer == position),
            outputs=(made[position],),
        )
        for position, name in enumerate(names)
    ]
    edges = [
        Dependency(
            producer=nodes[producer].instance_id,
            consumer=nodes[consumer].instance_id,
            resource=made[producer],
        )
        for producer, consumer in sorted(pairs)
    ]
    return nodes, edges
