"""TaskBench: `data.json` with one task per line, beside `graph_desc.json` with the tools and what they exchange.

Nodes and links may be JSON or text that holds JSON. Links name tools, and tools repeat within a task, so a link by
name can mean several pairs: the argument references `<node-k>` say which. Where neither the references nor the order
of the nodes make the links clear and acyclic, the task is kept as a rejection with the reason, and the others go in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

from resources.categories import ResourceKind
from resources.instances import Resource
from resources.record import Record
from taskgraph.records.graph import Dependency
from taskgraph.records.subtask import BoundSubtask
from taskgraph.records.task import Rejection
from warehouse.errors import ImportRefusedError
from warehouse.exporting.application_aliases import UNKNOWN_CATEGORY
from warehouse.importing.import_fields import Fields, json_files, kind_of, parse_json, read_lines, read_object
from warehouse.importing.imported_tasks import IMPORTED, build_task
from warehouse.records import ImportedItem

_REFERENCE = re.compile(r"<node-(\d+)>")


def read(path: Path) -> Iterator[Record]:
    """The records of a `data.json`, of a domain's folder, or of several domains.

    Raises:
        ImportRefusedError: a file that breaks the format; nothing of it may be stored.
    """
    root = path if path.is_dir() else path.parent
    data = [file for file in json_files(path) if file.name == "data.json" or file == path]
    if not data:
        raise ImportRefusedError(str(path), "", "holds no data.json")
    for file in data:
        domain = file.parent.name
        tools: dict[str, tuple[str, str]] = {}
        description = file.parent / "graph_desc.json"
        if description.is_file():
            fields = read_object(description, description.relative_to(root).as_posix())
            tools = _tools(fields)
            yield ImportedItem(
                item_id=f"taskbench:{domain}/graph_desc",
                format="taskbench",
                item_kind="file",
                place=f"{domain}/graph_desc.json",
                content=dict(fields.values),
            )
        seen: set[str] = set()
        for number, fields in read_lines(file, file.relative_to(root).as_posix()):
            task_id = f"taskbench:{domain}/{fields.text('id')}"
            if task_id in seen:
                raise fields.refused("id", "stands twice in this file")
            seen.add(task_id)
            yield from _records(fields, task_id, f"{domain}/{file.name}:{number}", tools)


def _tools(fields: Fields) -> dict[str, tuple[str, str]]:
    """Input and output type of every tool; empty where its description gives parameters instead."""
    found: dict[str, tuple[str, str]] = {}
    for node in fields.each("nodes"):
        types = [node.texts(name) if name in node.values else [] for name in ("input-type", "output-type")]
        found[node.text("id")] = (types[0][0] if types[0] else "", types[1][0] if types[1] else "")
    for link in fields.each("links"):
        for end in ("source", "target"):
            if link.text(end) not in found:
                raise link.refused(end, f"names the tool {link.text(end)!r}, which nodes do not")
    return found


def _records(fields: Fields, task_id: str, place: str, tools: dict[str, tuple[str, str]]) -> Iterator[Record]:
    instruction = fields.text("instruction" if "instruction" in fields.values else "user_request")
    nodes_name = "tool_nodes" if "tool_nodes" in fields.values else "task_nodes"
    links_name = "tool_links" if "tool_links" in fields.values else "task_links"
    steps_name = "tool_steps" if "tool_steps" in fields.values else "task_steps"
    steps = [str(item) for item in _listed(fields, steps_name)] if steps_name in fields.values else []
    names: list[str] = []
    arguments: list[dict[str, str]] = []
    for position, item in enumerate(_listed(fields, nodes_name)):
        if not isinstance(item, dict):
            raise fields.refused(f"{nodes_name}[{position}]", f"must be an object, not {kind_of(item)}")
        node = Fields(item, fields.file, f"{fields.place}.{nodes_name}[{position}]")
        names.append(node.text("task"))
        arguments.append(_arguments(node))
    if not names:
        raise fields.refused(nodes_name, "must name at least one tool")
    links: list[tuple[str, str]] = []
    for position, item in enumerate(_listed(fields, links_name)):
        if not isinstance(item, dict):
            raise fields.refused(f"{links_name}[{position}]", f"must be an object, not {kind_of(item)}")
        link = Fields(item, fields.file, f"{fields.place}.{links_name}[{position}]")
        for end in ("source", "target"):
            if link.text(end) not in names:
                raise link.refused(end, f"names {link.text(end)!r}, which is no node of the task")
        links.append((link.text("source"), link.text("target")))
    original = ImportedItem(
        item_id=task_id, format="taskbench", item_kind="task", place=place, content=dict(fields.values)
    )
    try:
        pairs = _pairs(names, arguments, links)
        if isinstance(pairs, str):
            raise fields.refused(links_name, pairs)
        nodes, edges = _graph(task_id, names, arguments, steps, pairs, tools)
        task = build_task(
            task_id, nodes, edges, instruction, lambda reason: fields.refused(links_name, reason)
        )
    except ImportRefusedError as error:
        yield Rejection(
            item_kind="task",
            item_id=task_id,
            stage="import",
            reason="links_unclear",
            message=str(error),
            provenance=IMPORTED,
        )
        return
    yield task
    yield original


def _listed(fields: Fields, name: str) -> list[JsonValue]:
    value = fields.values.get(name)
    if isinstance(value, str):
        value = parse_json(value, fields.file, f"{fields.place}.{name}")
    if not isinstance(value, list):
        reason = "is missing" if name not in fields.values else f"must be a list, not {kind_of(value)}"
        raise fields.refused(name, reason)
    return value


def _arguments(node: Fields) -> dict[str, str]:
    """Arguments by name; arguments without names are numbered."""
    value = node.values.get("arguments", [])
    if not isinstance(value, list):
        raise node.refused("arguments", f"must be a list, not {kind_of(value)}")
    found: dict[str, str] = {}
    for position, item in enumerate(value):
        if isinstance(item, dict) and "name" in item:
            given = item.get("value")
            found[str(item["name"])] = (
                given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            )
        else:
            found[f"argument_{position}"] = (
                item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            )
    return found


def _pairs(
    names: list[str], arguments: list[dict[str, str]], links: list[tuple[str, str]]
) -> set[tuple[int, int]] | str:
    """Dependent pairs of node positions, or why they are not clear."""
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
