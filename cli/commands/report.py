"""`taskloom report`: writes a self-contained HTML page about a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.options import DataOption, VersionOption, WarehouseOption
from taskloom.flows.errors import CommandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    version: VersionOption = None,
    sample: Annotated[int, typer.Option(help="Tasks shown in full.", min=0, max=200)] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    warehouse: WarehouseOption = None,
    data: DataOption = None,
) -> None:
    """Write a report: funnel, complexity, scenarios, and sampled tasks with graph, subtasks and screenshots.

    Examples:
      taskloom report --out report.html --version v2
    """
    from taskloom.flows.places import load_places
    from taskloom.warehouse.store import Warehouse
    from taskloom.warehouse.viewer.report import write_report

    places = load_places(data=data, warehouse=warehouse)
    if out.is_dir():
        raise CommandError(f"{out} is a folder; name a file, such as {out / 'report.html'}.")
    with Warehouse(places.warehouse_location, read_only=True, version=version) as store:
        typer.echo(str(write_report(store, out, sample=sample, seed=seed)))
