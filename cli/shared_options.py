"""Options and arguments that several commands take, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WarehouseOption = Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")]
"""Where the datasets are."""
VersionOption = Annotated[str | None, typer.Option(help="Dataset version; the current state by default.")]
"""Which version of the dataset."""
SettingsOption = Annotated[
    Path | None,
    typer.Option("--settings", help="Settings file; by default taskloom.yaml in this folder, if it exists."),
]
"""The settings file."""
AssignmentsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting, such as composition.count=500. Repeatable."),
]
"""Single settings."""
DataOption = Annotated[Path | None, typer.Option(help="Data folder.")]
"""The data folder."""
CatalogOption = Annotated[Path | None, typer.Option(help="Folder with your own applications.")]
"""The user's catalogue folder."""
SeedOption = Annotated[int | None, typer.Option(help="Seed of every random choice.")]
"""The seed of a run."""
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""JSON instead of a table."""
GraphFile = Annotated[
    Path,
    typer.Argument(
        help="JSON: a task record, or `nodes` and `edges`; - reads standard input.",
        show_default=False,
    ),
]
"""A task graph."""
