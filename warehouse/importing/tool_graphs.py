"""TaskBench's resource graphs (`graph_desc.json`): tools, and which can follow which because of what they
exchange."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, model_validator

from taskloom.resources.record import Record
from taskloom.taskgraph.records.subtask import Subtask
from taskloom.warehouse.errors import ImportRefusedError
from taskloom.warehouse.importing.items import ForeignModel, Text, parsed
from taskloom.warehouse.importing.json_reading import read_json


class Tool(ForeignModel):
    """A tool: the types it takes and gives; None for both if its parameters are described instead."""

    id: Text
    """Name."""
    input_types: list[str] | None = Field(default=None, alias="input-type")
    """What it takes; None where its parameters are described."""
    output_types: list[str] | None = Field(default=None, alias="output-type")
    """What it gives; None where its parameters are described."""
    parameters: list[JsonValue] = Field(default_factory=list)
    """Its parameters, where it has no types."""


class ToolLink(ForeignModel):
    """A tool that can follow another."""

    source: Text
    """The earlier tool."""
    target: Text
    """The later tool."""
    type: str = ""
    """What passes between them, or `complete` where the later one merely follows."""


class ToolGraph(ForeignModel):
    """A whole file."""

    nodes: list[Tool]
    """The tools."""
    links: list[ToolLink]
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


class GraphComparison(Record):
    """The links of a published graph beside those that follow from the types of its tools."""

    tools: int
    """Tools."""
    published: int
    """Distinct links of the file."""
    derived: int
    """Links that follow from types: one tool gives what the other takes."""
    common: int
    """Links in both."""
    missing: tuple[tuple[str, str], ...] = ()
    """Links of the file that do not follow from types, as (source, target)."""
    extra: tuple[tuple[str, str], ...] = ()
    """Links that follow from types and that the file lacks, as (source, target)."""


def derived_links(tools: Sequence[Tool]) -> list[tuple[str, str]]:
    """Every pair of different tools of which one gives a type that the other takes; tools without types,
    every pair.

    Where parameters are described instead of types (TaskBench's daily-life interfaces), nothing is known to
    pass between tools: any may follow any other.
    """
    return [
        (source.id, target.id)
        for source in tools
        for target in tools
        if source.id != target.id
        and (
            source.output_types is None
            or target.input_types is None
            or set(source.output_types) & set(target.input_types)
        )
    ]


def read_tool_graph(path: Path) -> ToolGraph:
    """The graph in a `graph_desc.json`.

    Raises:
        ImportRefusedError: the file is no resource graph.
    """
    if not path.is_file():
        raise ImportRefusedError(str(path), "", "does not exist")
    return parsed(ToolGraph, read_json(path, path.name), path.name)


def tool_graph_of(subtasks: Iterable[Subtask]) -> ToolGraph:
    """Subtasks as tools whose types are the categories of the resources that they read and write."""
    return ToolGraph(
        nodes=[
            Tool.model_validate(
                {
                    "id": item.subtask_id,
                    "input-type": [resource.category for resource in item.inputs],
                    "output-type": [resource.category for resource in item.outputs],
                }
            )
            for item in subtasks
        ],
        links=[],
    )


def derived_graph(graph: ToolGraph) -> ToolGraph:
    """The graph with the links that follow from the types: one for each type that passes between two
    tools."""
    tools = {tool.id: tool for tool in graph.nodes}
    links: list[ToolLink] = []
    for source, target in derived_links(graph.nodes):
        given, taken = tools[source].output_types, tools[target].input_types
        passing = ["complete"] if given is None or taken is None else sorted(set(given) & set(taken))
        links += [ToolLink(source=source, target=target, type=name) for name in passing]
    return graph.model_copy(update={"links": links})


def compared(graph: ToolGraph) -> GraphComparison:
    """The links of a graph beside those that follow from the types of its tools."""
    published = {(link.source, link.target) for link in graph.links}
    derived = set(derived_links(graph.nodes))
    return GraphComparison(
        tools=len(graph.nodes),
        published=len(published),
        derived=len(derived),
        common=len(published & derived),
        missing=tuple(sorted(published - derived)),
        extra=tuple(sorted(derived - published)),
    )
