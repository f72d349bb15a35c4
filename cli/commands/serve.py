"""`taskloom serve` and `taskloom setup-prefect`: scheduled runs on a Prefect server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.answer_printing import print_records
from taskloom.cli.shared_options import AssignmentsOption, JsonOption, SettingsOption
from taskloom.flows.errors import CommandError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("serve")(serve)
    app.command("setup-prefect")(setup_prefect)


def serve(
    settings: SettingsOption = None,
    cron: Annotated[str, typer.Option(help="Cron schedule of builds.")] = "0 2 * * *",
    timezone: Annotated[str, typer.Option(help="Time zone of --cron.")] = "UTC",
    export_to: Annotated[
        str,
        typer.Option(
            help=(
                "Folder for the test set of each new version, such as exported/{version}; nothing is exported"
                " if empty."
            )
        ),
    ] = "",
    export_format: Annotated[str, typer.Option(help="Format of that test set.")] = "omnibench",
) -> None:
    """Build a dataset on a schedule from this process, without a work pool, until Ctrl-C.

    Needs a Prefect server (`PREFECT_API_URL`), whose UI shows and starts runs. For workers on several
    machines see docs/scheduling.md.

    Examples:
      taskloom serve --settings taskloom.yaml --cron "30 1 * * *" --export-to "exported/{version}"
    """
    from taskloom.flows.hosting.preflight import check_settings
    from taskloom.flows.places import settings_file
    from taskloom.flows.running.prefect_server import named_server, require_server
    from taskloom.flows.settings import load_settings
    from taskloom.warehouse.lookup import EXPORTS

    named_server()
    if export_format not in EXPORTS:
        raise CommandError(f"--export-format is {export_format!r}; choose from {', '.join(EXPORTS.names())}.")
    named = settings_file(settings)
    chosen = load_settings(named)
    check_settings(chosen)
    if not chosen.data.is_absolute():
        raise CommandError(
            f"`data` is {chosen.data} in the settings; scheduled runs need an absolute path, because each"
            " starts in a folder of its own."
        )
    if export_to and not Path(export_to).is_absolute():
        export_to = str(Path(export_to).absolute())
    require_server()
    _prepare(chosen.data)
    from taskloom.flows.deploying.serving import Schedule, serve_schedule

    typer.echo(
        f"build_dataset/nightly runs at {cron} ({timezone}); Ctrl-C stops serving, runs in progress end"
        " with it."
    )
    serve_schedule(Schedule(cron, timezone, str(named.absolute()) if named else "", export_to, export_format))


def setup_prefect(
    settings: SettingsOption = None, assignments: AssignmentsOption = None, as_json: JsonOption = False
) -> None:
    """Create what deployments need on the Prefect server of `PREFECT_API_URL`: a work pool, and limits that
    runs share.

    Call it again to update the limits from the settings. Runs observe them if `shared_limits` is true.

    Examples:
      taskloom setup-prefect --settings taskloom.yaml
    """
    from taskloom.flows.running.prefect_server import require_server

    require_server()
    import asyncio

    from taskloom.flows.settings import load_settings

    chosen = load_settings(settings, assignments=assignments or ())
    _prepare(chosen.data)
    from taskloom.flows.deploying.prefect_setup import WORK_POOL, set_up

    limits = asyncio.run(set_up(chosen))
    if not as_json:
        typer.echo(
            f"work pool {WORK_POOL}; next: prefect --no-prompt deploy --all, prefect worker start --pool"
            f" {WORK_POOL}"
        )
    print_records([item.model_dump() for item in limits], as_json=as_json)


def _prepare(data: Path) -> None:
    from taskloom.flows.running.log_setup import prepare_prefect, quiet_libraries

    prepare_prefect(data)
    quiet_libraries()
