"""Reads a task graph from a user's file and looks up its applications in the catalogue."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path

from taskloom.flows.errors import CommandError
from taskloom.resources.errors import JsonInvalidError
from taskloom.resources.reading.json_text import parse_json
from taskloom.taskgraph.errors import TaskGraphError
from taskloom.taskgraph.reading.task_graphs import CategoryOf, read_task_graph
from taskloom.taskgraph.records.graph import TaskGraph

_MOST_BYTES = 16 << 20


def graph_in(file: Path) -> TaskGraph:
    """The task graph in a JSON file, in either form, or in a list of it alone; `-` reads standard input.

    Raises:
        CommandError: the file cannot be read, is not JSON, or does not contain a valid task graph.
    """
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.catalog import load_resource_categories

    catalog = load_settings().catalog
    document = _json_in(file)
    if isinstance(document, list):
        if len(document) != 1:
            raise CommandError(f"{file} is a list of {len(document)}; give one task graph.")
        document = document[0]
    try:
        return read_task_graph(document, load_resource_categories(catalog), application_categories(catalog))
    except TaskGraphError as error:
        raise CommandError(f"{file}: {error}") from None


def application_categories(catalog: Path | None = None) -> CategoryOf:
    """The category of an application, by its name or title, from the catalogue, in the folder `catalog` too,
    and the paper's Table 11; one that is in neither forms its own category."""
    from taskloom.resources.reading.catalog import load_applications, load_paper_applications

    printed = {
        name.casefold(): row.category for row in load_paper_applications() for name in row.applications
    }

    @cache
    def own() -> dict[str, str]:
        applications = load_applications(catalog).items()
        names = {name.casefold(): application.category for name, application in applications}
        return names | {application.title.casefold(): application.category for _, application in applications}

    return lambda name: printed.get(name.casefold()) or own().get(name.casefold(), name)


def _json_in(file: Path) -> object:
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
