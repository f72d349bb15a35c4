"""`taskloom tools`: the links between a collection's tools, derived from what they exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.shared_options import WarehouseOption
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tools")(tools)


def tools(
    file: Annotated[
        Path | None,
        typer.Argument(
            help=(
                "TaskBench's resource graph of a domain, graph_desc.json; without it, the subtasks of the"
                " warehouse are"
                " the tools and the categories of their resources the types."
            ),
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the graph with the derived links to this new file, in TaskBench's layout."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of links shown of each kind.")] = 20,
    warehouse: WarehouseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all links as JSON.")] = False,
) -> None:
    """Derive from their types which tool can follow which, and compare these links with the published ones.

    A tool can follow another if it takes a type that the other returns; without types, any tool may follow
    any. The exit code is 1 if the two sets of links differ.

    Examples:
      taskloom tools data_huggingface/graph_desc.json

      taskloom tools --out own_graph_desc.json
    """
    import json

    from taskloom.cli.answer_printing import print_json, print_table
    from taskloom.flows.errors import CommandError
    from taskloom.flows.places import load_places
    from taskloom.taskgraph.records.subtask import Subtask
    from taskloom.warehouse.importing.tool_graphs import (
        compared,
        derived_graph,
        read_tool_graph,
        tool_graph_of,
    )
    from taskloom.warehouse.store import Warehouse

    if file is not None:
        graph = read_tool_graph(file)
    else:
        with Warehouse(load_places(warehouse=warehouse).warehouse_location, read_only=True) as opened:
            graph = tool_graph_of(opened.read(Subtask))
    derived = derived_graph(graph)
    if out is not None:
        if out.exists():
            raise CommandError(f"{out} exists already; name another file.")
        text = derived.model_dump_json(by_alias=True, exclude_none=True, indent=2)
        out.write_text(f"{text}\n", encoding="utf-8")
    if file is None:
        if as_json:
            print_json(json.loads(derived.model_dump_json(by_alias=True, exclude_none=True)))
        else:
            typer.echo(
                f"{len(graph.nodes)} subtasks; {len(derived.links)} links derived from their resources"
            )
        return
    found = compared(graph)
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
