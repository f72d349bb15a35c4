"""`taskloom tools`: the links between a collection's tools, derived from what they exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tools")(tools)


def tools(
    file: Annotated[
        Path,
        typer.Argument(help="TaskBench's resource graph of a domain, graph_desc.json.", show_default=False),
    ],
    limit: Annotated[int, typer.Option(min=1, help="Links shown at most of each kind.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print all links as JSON.")] = False,
) -> None:
    """Derive which tool can follow which from their types, and compare these links with the published ones.

    A tool can follow another when it takes a type that the other gives; where a tool has no types, any may follow any.
    Ends with exit code 1 when the two sets of links differ.

    Examples:
      taskloom tools data_huggingface/graph_desc.json
    """
    from cli.answer_printing import print_json, print_table
    from warehouse.importing.tool_graphs import compare_tool_graph

    found = compare_tool_graph(file)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        rows = [
            *(("only published", *link) for link in found.missing[:limit]),
            *(("only derived", *link) for link in found.extra[:limit]),
        ]
        if rows:
            print_table(("link", "from", "to"), rows)
        typer.echo(
            f"{found.tools} tools; {found.published} links published, {found.derived} derived from types,"
            f" {found.common} in both"
        )
    if found.missing or found.extra:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)
