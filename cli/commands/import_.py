"""`taskloom import`: imports other people's tasks, all or none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import JsonOption, WarehouseOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskloom.taskgraph.records.task import Rejection

_MAX_SHOWN = 20
"""Maximum number of rejections printed."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_data)


def import_data(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Import format; --list names them.")
    ] = "",
    path: Annotated[Path | None, typer.Argument(help="File or folder to import.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Import valid items; record the others as rejections.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")] = False,
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import tasks, all or none.

    Every fault of a broken item is printed with file, field and reason. With --skip-broken the other items
    are imported, and broken ones become rejections that keep the original. Ten or more items
    that are all broken are taken for another format and refused in one line.

    Examples:
      taskloom import osworld downloaded/evaluation_examples

      taskloom import --list
    """
    if show_list:
        from taskloom.cli.answer_printing import print_records
        from taskloom.warehouse.lookup import IMPORTS

        print_records(IMPORTS.described(), as_json)
        return
    if not format_name:
        raise CommandError("name the import format; `taskloom import --list` describes them.")
    if path is None:
        raise CommandError("name the file or folder to import.")
    from taskloom.flows.places import load_places
    from taskloom.taskgraph.records.task import Rejection
    from taskloom.warehouse.importing.importing import read_import, store_import
    from taskloom.warehouse.store import Warehouse

    records = read_import(format_name, path, skip_broken=skip_broken)
    if dry_run:
        checked = tuple(records)
        rejected = [record for record in checked if isinstance(record, Rejection)]
        kinds = Counter(type(record).__name__ for record in checked if not isinstance(record, Rejection))
        if as_json:
            faults = [rejection.message for rejection in rejected]
            print_json({"records": dict(sorted(kinds.items())), "rejected": faults, "stored": False})
        else:
            typer.echo(f"{kinds.total()} records are valid; nothing was stored.")
            _print_rejected(rejected)
        return
    with Warehouse(load_places(warehouse=warehouse).warehouse_location) as opened:
        summary = store_import(opened, format_name, records)
    if as_json:
        typer.echo(summary.model_dump_json(indent=2))
        return
    for table, count in summary.counts.items():
        typer.echo(f"{table}: {count}")
    if summary.infeasible:
        typer.echo(f"infeasible by declaration: {summary.infeasible}")
    _print_rejected(summary.rejected)


def _print_rejected(rejected: Sequence[Rejection]) -> None:
    for rejection in rejected[:_MAX_SHOWN]:
        typer.echo(f"rejected: {rejection.message}")
    if len(rejected) > _MAX_SHOWN:
        typer.echo(f"… and {len(rejected) - _MAX_SHOWN} more")
