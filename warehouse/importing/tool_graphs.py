"""TaskBench's resource graphs (`graph_desc.json`): tools, and which can follow which because of what they
exchange."""

from __future__ import annotations

from typing import Self

from pydantic import Field, JsonValue, model_validator

from taskloom.warehouse.importing.items import ForeignModel, Text


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
