"""Options and arguments that several commands take, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WarehouseOption = Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")]
"""Where the datasets are."""
VersionOption = Annotated[str | None, typer.Option(help="Dataset version; the present state by default.")]
"""Which version of the dataset."""
CatalogOption = Annotated[
    Path | None, typer.Option(help="Folder with further applications, beside the built-in ones.")
]
"""The user's catalogue folder."""
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""JSON instead of a table."""
GraphFile = Annotated[
    Path,
    typer.Argument(
        help="JSON: a task record, the paper's task metadata, or `nodes` and `edges`; - reads standard input.",
        show_default=False,
    ),
]
"""A task graph."""
SubtasksOption = Annotated[
    Path | None, typer.Option(help="Subtask metadata (a JSON list) for the paper's task metadata.")
]
"""What the paper keeps beside a task."""
