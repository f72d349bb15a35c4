"""`taskloom graph`: measure and draw a task graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.shared_options import GraphFile, JsonOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from taskloom.taskgraph.records.graph import TaskGraph


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("graph")(graph)


def graph(
    file: GraphFile,
    svg: Annotated[Path | None, typer.Option(help="Write the drawing to this SVG file.")] = None,
    graphml: Annotated[Path | None, typer.Option(help="Write the graph to this GraphML file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a task graph's five complexity dimensions, its orders, its capabilities, and a drawing of it.

    Ids are any text. A disconnected graph is valid. These are refused, naming the items: no subtasks or more
    than 30, a duplicate id, an edge to an unknown subtask or to itself, a cycle, an unknown resource
    category, two producers of one resource, and unprintable text. A note is printed where edges and
    resources disagree.

    Examples:
      taskloom graph task.json

      taskloom graph task.json --json
    """
    from taskloom.cli.graph_files import graph_in
    from taskloom.taskgraph.drawing import draw_svg, draw_text

    found = graph_in(file)
    facts = measures(found)
    try:
        if svg is not None:
            svg.write_text(draw_svg(found), encoding="utf-8")
        if graphml is not None:
            import networkx

            networkx.write_graphml(found.to_networkx(), graphml)
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None
    if as_json:
        print_json(facts | {"drawing": draw_text(found)})
        return
    typer.echo(draw_text(found) + "\n")
    typer.echo(_table(facts))


def measures(found: TaskGraph) -> dict[str, Any]:
    """Everything that `taskloom graph` reports about a graph, ready for JSON."""
    from taskloom.resources.reading.catalog import load_capabilities
    from taskloom.synthesis.composition.building import describe_clash
    from taskloom.taskgraph.errors import GraphTooLargeError
    from taskloom.taskgraph.measures.coherency import maximum_coherency_of
    from taskloom.taskgraph.measures.complexity import capabilities_met, cell_of, complexity_of
    from taskloom.taskgraph.measures.interference import clash_of, orders_of

    complexity = complexity_of(found)
    notes = notes_on(found)
    orders, maximum = None, None
    try:
        orders = orders_of(found, cap=1)
        if all(node.application for node in found.nodes):
            maximum = maximum_coherency_of(found)
    except GraphTooLargeError as error:
        notes.append(str(error))
    capabilities = load_capabilities()
    cell = cell_of(complexity)
    return {
        "subtasks": [node.instance_id for node in found.nodes],
        "edges": [list(pair) for pair in found.pairs],
        "complexity": complexity.model_dump(),
        "orders": orders.count if orders else None,
        "successful_orders": orders.successful_count if orders else None,
        "first_successful_order": [
            found.nodes[index].instance_id
            for order in (orders.successful[:1] if orders else ())
            for index in order
        ],
        "clash": describe_clash(clash_of(found)) if orders and not orders.successful_count else "",
        "maximum_coherency": maximum,
        "notes": notes,
        "capabilities": {
            "repaired": list(capabilities_met(cell, capabilities, "repaired")),
            "as_printed": list(capabilities_met(cell, capabilities, "as_printed")),
        },
    }


def notes_on(found: TaskGraph) -> list[str]:
    """Notes on the graph that a reader of its measures should know."""
    from taskloom.taskgraph.reading.task_graphs import inconsistencies_of

    notes = list(inconsistencies_of(found))
    if not all(node.application for node in found.nodes):
        notes.append("some applications are not given: knowledge says little and coherency is undefined")
    return notes


def _table(facts: dict[str, Any]) -> str:
    from taskloom.resources.dimensions import TABLE

    complexity, capabilities, notes = facts["complexity"], facts["capabilities"], facts["notes"]
    rows = [
        *((row.name, row.in_words(complexity[row.measure]), complexity[row.level_column]) for row in TABLE),
        ("largest layer", str(complexity["largest_layer"]), ""),
        ("components", str(complexity["components"]), ""),
        ("orders", _known(facts["orders"], "not counted"), ""),
        ("successful orders", _known(facts["successful_orders"], "not counted"), ""),
        ("clash", str(facts["clash"]), ""),
        ("maximum coherency", _known(facts["maximum_coherency"]), ""),
        ("capabilities (repaired)", ", ".join(capabilities["repaired"]) or "none", ""),
        ("capabilities (as printed)", ", ".join(capabilities["as_printed"]) or "none", ""),
    ]
    rows += [("note", note, "") for note in notes]
    return "\n".join(
        f"{name:26}{value}{'  ' + level if level else ''}" for name, value, level in rows if value
    )


def _known(value: object, otherwise: str = "undefined") -> str:
    return otherwise if value is None else str(value)
