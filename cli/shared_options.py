"""Options and arguments that several commands take, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WarehouseOption = Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")]
VersionOption = Annotated[str | None, typer.Option(help="Dataset version; the current state by default.")]
SettingsOption = Annotated[
    Path | None,
    typer.Option("--settings", help="Settings file; by default taskloom.yaml in this folder, if it exists."),
]
AssignmentsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting, such as composition.count=500. Repeatable."),
]
DataOption = Annotated[Path | None, typer.Option(help="Data folder.")]
CatalogOption = Annotated[Path | None, typer.Option(help="Folder with your own applications.")]
SeedOption = Annotated[int | None, typer.Option(help="Seed of every random choice.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
GraphFile = Annotated[
    Path,
    typer.Argument(
        help="JSON: a task record, or `nodes` and `edges`; - reads standard input.",
        show_default=False,
    ),
]
