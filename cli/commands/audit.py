"""`taskloom audit`: faults in stored or foreign tasks, with an exit code for continuous integration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.shared_options import DataOption, SettingsOption, VersionOption, WarehouseOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.resources.record import Record
    from taskloom.warehouse.importing.audit import Finding

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
    critic: Annotated[
        bool,
        typer.Option(
            "--critic", help="Also have the critic's model compare each task with how it is judged."
        ),
    ] = False,
    settings_file: SettingsOption = None,
    data: DataOption = None,
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
) -> None:
    """Find defects: placeholders, values that the instruction lacks or contradicts, duplicates, unknown
    metrics.

    Rules find few of the faults that people find. With --critic a model reads each task and its evaluator
    and names, as warnings with a quote, what is unsaid, contradicted, ambiguous or wrong.

    The exit code is 1 if a finding has the severity of --fail-on or a higher one.

    Examples:
      taskloom audit --where "status = 'validated'" --fail-on warning

      taskloom audit downloaded/tasks --format osworld

      taskloom audit downloaded/tasks --format osworld --critic --settings models.yaml
    """
    if fail_on not in _WORST:
        raise CommandError(f"--fail-on takes error, warning or note, not {fail_on!r}.")
    if path is not None and not format_name:
        raise CommandError("--format says how to read the files.")
    from taskloom.cli.answer_printing import print_json, print_table
    from taskloom.flows.places import load_places
    from taskloom.taskgraph.records.task import Task
    from taskloom.warehouse.importing.audit import audit_reading, audit_warehouse
    from taskloom.warehouse.importing.importing import survey_import
    from taskloom.warehouse.records import ImportedItem
    from taskloom.warehouse.store import Warehouse

    if path is not None:
        reading = survey_import(format_name, path)
        findings = audit_reading(reading)
        kept: Sequence[Record] = reading.records if critic else ()
    else:
        location = load_places(warehouse=warehouse).warehouse_location
        with Warehouse(location, read_only=True, version=version) as opened:
            findings = audit_warehouse(opened, where)
            kept = [*opened.read(Task, where), *opened.read(ImportedItem)] if critic else ()
    if critic:
        findings += _read_again(kept, settings_file, data)
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


def _read_again(kept: Sequence[Record], settings_file: Path | None, data: Path | None) -> list[Finding]:
    import asyncio

    from taskloom.flows.settings import load_settings
    from taskloom.flows.stages.second_reading import read_again
    from taskloom.taskgraph.records.task import Task
    from taskloom.warehouse.records import ImportedItem

    tasks = [item for item in kept if isinstance(item, Task)]
    originals = [item for item in kept if isinstance(item, ImportedItem)]
    done = asyncio.run(read_again(load_settings(settings_file, data=data), tasks, originals))
    unread = f", {done.unread} got no answer" if done.unread else ""
    typer.echo(
        f"read by the critic: {done.read} tasks{unread}; {done.calls} calls, ${done.cost_usd:.2f}", err=True
    )
    return list(done.findings)
