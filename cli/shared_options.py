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
        help=(
            "JSON: a task record, the paper's task metadata, or `nodes` and `edges`; - reads standard input."
        ),
        show_default=False,
    ),
]
"""A task graph."""
SubtasksOption = Annotated[
    Path | None, typer.Option(help="Subtask metadata (a JSON list) for the paper's task metadata.")
]
"""What the paper keeps beside a task."""
WhereOption = Annotated[str, typer.Option(help="SQL condition over the columns of tasks.")]
"""Which tasks leave the warehouse."""
SizeOption = Annotated[int | None, typer.Option(min=1, help="Maximum number of tasks.")]
"""How many of them."""
SplitOption = Annotated[
    str, typer.Option(help="Shares of the sets, such as train=0.8,validation=0.1,test=0.1.")
]
"""The sets they are divided into."""
LeakOption = Annotated[
    str, typer.Option(help="What sets may share: template, value, intent, instruction, separated by commas.")
]
"""What these sets may have in common."""
DrawSeedOption = Annotated[int, typer.Option(help="Seed of the draw and of the sets.")]
"""The seed of that choice, which is not the seed of a run."""
LicenceOption = Annotated[str, typer.Option(help="Licence on the dataset card.")]
"""The licence of what is written."""
ManifestOption = Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")]
"""JSON instead of a summary of what was written."""
