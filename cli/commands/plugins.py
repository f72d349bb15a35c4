"""`taskloom plugins`: lists the plug-ins of other packages."""

from __future__ import annotations

import typer

from taskloom.cli.options import JsonOption
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plugins")(plugins)


def plugins(as_json: JsonOption = False) -> None:
    """List the plug-ins that other installed packages provide as entry points, and load each.

    The exit code is 1 if one of them cannot be used.

    Examples:
      taskloom plugins
    """
    from taskloom.cli.answer_printing import print_records
    from taskloom.environments.lookup import PLATFORMS
    from taskloom.evaluators_api.checks.declaration import CHECKS
    from taskloom.model_clients.client import PROVIDERS
    from taskloom.omnieval.lookup import ACTION_METRICS, AGENTS, METRICS
    from taskloom.warehouse.lookup import EXPORTS, IMPORTS
    from taskloom.warehouse.queries import QUERIES

    rows = []
    for kind in (EXPORTS, IMPORTS, METRICS, ACTION_METRICS, CHECKS, PLATFORMS, PROVIDERS, AGENTS, QUERIES):
        problems = dict(kind.problems())
        rows += [
            {
                "group": kind.group,
                "name": name,
                "package": kind.package_of(name),
                "problem": problems.get(name, ""),
            }
            for name in sorted(kind.brought())
        ]
    print_records(rows, as_json)
    if not rows and not as_json:
        typer.echo("No installed package provides a plug-in.", err=True)
    if any(row["problem"] for row in rows):
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)
