"""`taskloom graph`: measures and draws a task graph."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import GraphFile, JsonOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from taskloom.taskgraph.reading.task_graphs import CategoryOf
    from taskloom.taskgraph.records.graph import TaskGraph

_MOST_BYTES = 16 << 20


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

    Ids may be any text. A graph may be disconnected. Refused, with the items named: no subtasks or more
    than 30, a duplicate id, an edge to an unknown subtask or to itself, a cycle, an unknown resource
    category, two producers of one resource, and unprintable text. A note is printed where edges and
    resources disagree.

    Examples:
      taskloom graph task.json

      taskloom graph task.json --json
    """
    from taskloom.taskgraph.drawing import draw_svg, draw_text

    task_graph = graph_in(file)
    facts = measures(task_graph)
    try:
        if svg is not None:
            svg.write_text(draw_svg(task_graph), encoding="utf-8")
        if graphml is not None:
            import networkx

            networkx.write_graphml(task_graph.to_networkx(), graphml)
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None
    if as_json:
        print_json(facts | {"drawing": draw_text(task_graph)})
        return
    typer.echo(draw_text(task_graph) + "\n")
    typer.echo(_table(facts))


def measures(task_graph: TaskGraph) -> dict[str, Any]:
    """Everything that `taskloom graph` reports about a graph, as JSON values."""
    from taskloom.resources.reading.catalog import load_capabilities
    from taskloom.synthesis.composition.building import describe_clash
    from taskloom.taskgraph.errors import GraphTooLargeError
    from taskloom.taskgraph.measures.coherency import maximum_coherency_of
    from taskloom.taskgraph.measures.complexity import capabilities_met, cell_of, complexity_of
    from taskloom.taskgraph.measures.interference import clash_of, orders_of

    complexity = complexity_of(task_graph)
    notes = notes_on(task_graph)
    orders, maximum = None, None
    try:
        orders = orders_of(task_graph, cap=1)
        if all(node.application for node in task_graph.nodes):
            maximum = maximum_coherency_of(task_graph)
    except GraphTooLargeError as error:
        notes.append(str(error))
    capabilities = load_capabilities()
    cell = cell_of(complexity)
    return {
        "subtasks": [node.instance_id for node in task_graph.nodes],
        "edges": [list(pair) for pair in task_graph.pairs],
        "complexity": complexity.model_dump(),
        "orders": orders.count if orders else None,
        "successful_orders": orders.successful_count if orders else None,
        "first_successful_order": [
            task_graph.nodes[index].instance_id
            for order in (orders.successful[:1] if orders else ())
            for index in order
        ],
        "clash": describe_clash(clash_of(task_graph)) if orders and not orders.successful_count else "",
        "maximum_coherency": maximum,
        "notes": notes,
        "capabilities": {
            "repaired": list(capabilities_met(cell, capabilities, "repaired")),
            "as_printed": list(capabilities_met(cell, capabilities, "as_printed")),
        },
    }


def notes_on(task_graph: TaskGraph) -> list[str]:
    """Notes for a reader of the graph's measures."""
    from taskloom.taskgraph.reading.task_graphs import inconsistencies_of

    notes = list(inconsistencies_of(task_graph))
    if not all(node.application for node in task_graph.nodes):
        notes.append("some applications are not given: knowledge means little and coherency is undefined")
    return notes


def _table(facts: dict[str, Any]) -> str:
    from taskloom.resources.dimensions import TABLE

    complexity, capabilities, notes = facts["complexity"], facts["capabilities"], facts["notes"]
    rows = [
        *((row.name, row.in_words(complexity[row.measure]), complexity[row.level_column]) for row in TABLE),
        ("largest layer", str(complexity["largest_layer"]), ""),
        ("components", str(complexity["components"]), ""),
        ("orders", _text_or_default(facts["orders"], "not counted"), ""),
        ("successful orders", _text_or_default(facts["successful_orders"], "not counted"), ""),
        ("clash", str(facts["clash"]), ""),
        ("maximum coherency", _text_or_default(facts["maximum_coherency"]), ""),
        ("capabilities (repaired)", ", ".join(capabilities["repaired"]) or "none", ""),
        ("capabilities (as printed)", ", ".join(capabilities["as_printed"]) or "none", ""),
    ]
    rows += [("note", note, "") for note in notes]
    return "\n".join(
        f"{name:26}{value}{'  ' + level if level else ''}" for name, value, level in rows if value
    )


def _text_or_default(value: object, default: str = "undefined") -> str:
    return default if value is None else str(value)


def graph_in(file: Path) -> TaskGraph:
    """The task graph in a JSON file, in either form, or alone in a list; `-` reads standard input.

    Raises:
        CommandError: the file cannot be read, is not JSON, or does not contain a valid task graph.
    """
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.catalog import load_resource_categories
    from taskloom.taskgraph.errors import TaskGraphError
    from taskloom.taskgraph.reading.task_graphs import read_task_graph

    catalog = load_settings().catalog
    document = _read_json(file)
    if isinstance(document, list):
        if len(document) != 1:
            raise CommandError(f"{file} is a list of {len(document)}; give one task graph.")
        document = document[0]
    try:
        return read_task_graph(document, load_resource_categories(catalog), _category_of(catalog))
    except TaskGraphError as error:
        raise CommandError(f"{file}: {error}") from None


def _category_of(catalog: Path | None) -> CategoryOf:
    """Maps the name or title of an application to its category in the paper's Table 11 or in the catalogue,
    the folder `catalog` included; an application in neither forms its own category."""
    from taskloom.resources.reading.catalog import load_applications, load_paper_applications

    paper = {name.casefold(): row.category for row in load_paper_applications() for name in row.applications}

    @cache
    def own() -> dict[str, str]:
        applications = load_applications(catalog).items()
        names = {name.casefold(): application.category for name, application in applications}
        return names | {application.title.casefold(): application.category for _, application in applications}

    return lambda name: paper.get(name.casefold()) or own().get(name.casefold(), name)


def _read_json(file: Path) -> object:
    from taskloom.resources.errors import JsonInvalidError
    from taskloom.resources.reading.json_text import parse_json

    piped = str(file) == "-"
    name = "standard input" if piped else str(file)
    if piped and sys.stdin is None:
        raise CommandError("there is no standard input; name a file.")
    try:
        with nullcontext(sys.stdin.buffer) if piped else file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise CommandError(
                f"{name} is larger than {_MOST_BYTES >> 20} MiB, which no task graph of up to 30 subtasks"
                " needs."
            )
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CommandError(f"{name} cannot be read: {reason}.") from None
    try:
        return parse_json(text)
    except JsonInvalidError as error:
        raise CommandError(error.of(name)) from None
