"""`taskloom audit`: faults in stored or foreign tasks, with an exit code for continuous integration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.shared_options import VersionOption, WarehouseOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

_WORST = {"error": ("error",), "warning": ("error", "warning"), "note": ("error", "warning", "note")}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(
    path: Annotated[Path | None, typer.Argument(help="Files to audit without importing them.")] = None,
    format_name: Annotated[str, typer.Option("--format", help="Their import format.")] = "",
    where: Annotated[str, typer.Option(help="SQL condition on the stored tasks to audit.")] = "",
    fail_on: Annotated[
        str, typer.Option(help="Lowest severity that fails: error, warning or note.")
    ] = "error",
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of findings shown.")] = 50,
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
) -> None:
    """Find defects: placeholders, values that the instruction lacks or contradicts, duplicates, unknown
    metrics.

    The exit code is 1 if a finding has the severity of --fail-on or a higher one.

    Examples:
      taskloom audit --where "status = 'validated'" --fail-on warning

      taskloom audit downloaded/tasks --format osworld
    """
    if fail_on not in _WORST:
        raise CommandError(f"--fail-on takes error, warning or note, not {fail_on!r}.")
    if path is not None and not format_name:
        raise CommandError("--format says how to read the files.")
    from taskloom.cli.answer_printing import print_json, print_table
    from taskloom.flows.places import load_places
    from taskloom.warehouse.importing.audit import audit_reading, audit_warehouse
    from taskloom.warehouse.importing.importing import survey_import
    from taskloom.warehouse.store import Warehouse

    if path is not None:
        findings = audit_reading(survey_import(format_name, path))
    else:
        location = load_places(warehouse=warehouse).warehouse_location
        with Warehouse(location, read_only=True, version=version) as opened:
            findings = audit_warehouse(opened, where)
    if as_json:
        print_json([found.model_dump() for found in findings])
    else:
        rows = [
            (found.severity, found.file, found.item_id, found.field, found.message)
            for found in findings[:limit]
        ]
        if rows:
            print_table(("severity", "file", "item", "field", "message"), rows)
        counts = Counter(f"{found.severity} {found.check}" for found in findings)
        for name, count in sorted(counts.items()):
            typer.echo(f"{count} × {name}", err=True)
        typer.echo(f"{len(findings)} findings", err=True)
    if any(found.severity in _WORST[fail_on] for found in findings):
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)
