"""`taskloom push`: a dataset in a local folder laid out as the Hub has it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.shared_options import (
    DrawSeedOption,
    LeakOption,
    LicenceOption,
    ManifestOption,
    SizeOption,
    SplitOption,
    VersionOption,
    WarehouseOption,
    WhereOption,
)
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("push")(push)


def push(
    name: Annotated[str, typer.Argument(help="Name of the dataset, owner/name.")],
    hub: Annotated[
        Path, typer.Option(help="Folder of the hub; the dataset goes to datasets/owner/name below it.")
    ],
    where: WhereOption = "",
    split: SplitOption = "",
    leak: LeakOption = "",
    size: SizeOption = None,
    seed: DrawSeedOption = 0,
    licence: LicenceOption = "apache-2.0",
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
    as_json: ManifestOption = False,
) -> None:
    """Write a Hugging Face dataset into a local hub folder, with card and Croissant metadata; a second push
    replaces the first.

    Nothing is uploaded: the folder is what `datasets.load_dataset` reads and what `huggingface-cli upload`
    takes. The exit code is 1 if a set misses its share.

    Examples:
      taskloom push acme/office-tasks --hub hub --version v1 --split train=0.8,test=0.2
    """
    from taskloom.cli.activity import activity
    from taskloom.flows.places import load_places
    from taskloom.warehouse.exporting.exporting import ExportOptions
    from taskloom.warehouse.exporting.pushing import push as run_push
    from taskloom.warehouse.sets.requests import parse_request
    from taskloom.warehouse.sets.selection import Selection
    from taskloom.warehouse.store import Warehouse

    places = load_places(warehouse=warehouse)
    with (
        Warehouse(places.warehouse_location, read_only=True, version=version) as opened,
        activity(f"pushing {name}"),
    ):
        folder, manifest = run_push(
            opened,
            name,
            hub,
            Selection(where=where, size=size, seed=seed),
            ExportOptions(licence=licence),
            sets=parse_request(split, leak, []),
        )
    if as_json:
        typer.echo(manifest.model_dump_json(indent=2))
    else:
        for kind, count in manifest.outcome.counts.items():
            typer.echo(f"{kind}: {count}")
        typer.echo(f"written to {folder}")
    if manifest.shortfalls:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)
