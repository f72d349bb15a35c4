"""`taskloom runs`: what runs did and decided."""

from __future__ import annotations

from typing import Annotated

import typer

from taskloom.cli.options import JsonOption, WarehouseOption


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("runs")(runs)


def runs(
    run_id: Annotated[str, typer.Argument(help="Show this run in detail; all runs by default.")] = "",
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs, oldest first: what each explored, verified, retired, composed and published.

    With the id of a run: why each application was explored or not, what was retired, and every gate's
    figures, current and previous.

    Examples:
      taskloom runs

      taskloom runs 20261122-020000-3f2a1b --json
    """
    from taskloom.cli.answer_printing import print_json, print_records
    from taskloom.flows.errors import CommandError
    from taskloom.flows.nights.run_reports import run_reports
    from taskloom.flows.places import load_places
    from taskloom.warehouse.store import Warehouse

    with Warehouse(load_places(warehouse=warehouse).warehouse_location, read_only=True) as opened:
        reports = run_reports(opened, run_id)
    if run_id and not reports:
        raise CommandError(f"there is no run {run_id!r} in this warehouse; list them with: taskloom runs")
    if as_json:
        content = [
            {**item.model_dump(mode="json"), "outcome": item.outcome, "nothing_new": item.nothing_new}
            for item in reports
        ]
        print_json(content[0] if run_id else content)
        return
    if run_id:
        report = reports[0]
        typer.echo(f"{report.run_id}  {report.flow}{'  (night)' if report.night else ''}")
        typer.echo(f"started {report.started_at}, ended {report.finished_at or 'not yet'}")
        for line in report.lines():
            typer.echo(f"  {line}")
        return
    if not reports:
        typer.echo("no run has made records yet; begin with: taskloom build", err=True)
        return
    print_records(
        [
            {
                "run": item.run_id,
                "started": item.started_at[:16].replace("T", " "),
                "flow": "night" if item.night else item.flow,
                "explored": f"{len(item.explored)} of {len(item.choices)}",
                "verified": len(item.verified),
                "rechecked": len(item.rechecks),
                "retired": f"{len(item.retired_subtasks)} subtasks, {item.retired_tasks} tasks",
                "composed": item.composed,
                "outcome": item.outcome,
                "cost_usd": round(item.cost_usd, 2),
                "seconds": round(item.seconds),
            }
            for item in reports
        ],
        as_json=False,
    )
