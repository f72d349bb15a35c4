"""`taskloom versions` and `taskloom diff`: published dataset versions, and what changed between two."""

from __future__ import annotations

from typing import Annotated

import typer

WarehouseOption = Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("versions")(versions)
    app.command("diff")(diff)


def versions(warehouse: WarehouseOption = None, as_json: JsonOption = False) -> None:
    """List the published dataset versions, oldest first."""
    from cli.answer_printing import print_json, print_table
    from flows.settings import load_settings
    from warehouse.store import Warehouse

    with Warehouse(load_settings(warehouse=warehouse).warehouse_location, read_only=True) as opened:
        found = opened.versions()
    if as_json:
        print_json([version.model_dump(mode="json") for version in found])
        return
    if not found:
        typer.echo("no version is published yet; a completed `taskloom build` publishes one.", err=True)
        return
    columns = ("name", "published", "parent", "tasks", "subtasks", "models", "cost_usd", "description")
    rows = [
        (
            version.name,
            version.created_at[:19].replace("T", " "),
            version.parent,
            version.counts.get("tasks", 0),
            version.counts.get("subtasks", 0),
            ", ".join(version.models),
            version.cost_usd,
            version.description,
        )
        for version in found
    ]
    print_table(columns, rows)


def diff(
    earlier: Annotated[str, typer.Argument(help="A version.")],
    later: Annotated[str, typer.Argument(help="Another version.")],
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what changed from one version to another: rows added, removed and changed, per table."""
    from cli.answer_printing import print_records
    from flows.settings import load_settings
    from warehouse.store import Warehouse
    from warehouse.versions import differences

    with Warehouse(load_settings(warehouse=warehouse).warehouse_location, read_only=True) as opened:
        found = differences(opened, earlier, later)
    print_records([change.model_dump() for change in found], as_json)
    if not found:
        typer.echo(f"{earlier} and {later} hold the same records.", err=True)
