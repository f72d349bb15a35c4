"""`taskloom view`: shows a dataset in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from taskloom.cli.options import DataOption, VersionOption, WarehouseOption
from taskloom.flows.errors import CommandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("view")(view)


def view(
    port: Annotated[
        int, typer.Option(help="Port on this machine; 0 picks a free one.", min=0, max=65535)
    ] = 0,
    version: VersionOption = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = False,
    review: Annotated[
        bool,
        typer.Option(
            "--review", help="Let people accept and reject tasks; otherwise the viewer is read-only."
        ),
    ] = False,
    warehouse: WarehouseOption = None,
    data: DataOption = None,
) -> None:
    """Browse a dataset in a local web viewer: tasks, graphs, replays, evaluation functions, costs and SQL.

    On the Play page, a person makes the attempts of the agent `human`.

    With --review, people accept or reject tasks by keyboard, under their names, using the rubric of
    docs/quality.md. `taskloom sql acceptance` prints the rates; `taskloom export --accepted` exports accepted
    tasks.

    Examples:
      taskloom view --port 8000 --version v2

      taskloom view --review --browser
    """
    from functools import partial

    from taskloom.flows.places import load_places
    from taskloom.model_clients.ledger.upkeep import read_call_text
    from taskloom.taskgraph.records.agent_run import FOLDER
    from taskloom.warehouse.store import Warehouse
    from taskloom.warehouse.viewer.server import LOOPBACK, listen, serve

    places = load_places(data=data, warehouse=warehouse)
    with Warehouse(places.warehouse_location, read_only=True, version=version) as store:
        try:
            opened = listen(port)
        except OSError as error:
            raise CommandError(
                f"port {port} cannot be used ({error.strerror}); `--port 0` takes a free one."
            ) from None
        with opened:
            address = f"http://{LOOPBACK}:{opened.getsockname()[1]}/"
            typer.echo(address)
            typer.echo("Press Ctrl-C to stop.", err=True)
            if browser:
                typer.launch(address)
            try:
                serve(
                    store,
                    opened,
                    review=review,
                    read_call=partial(read_call_text, places.data / "ledger.sqlite"),
                    people=places.data / FOLDER,
                )
            except KeyboardInterrupt:
                typer.echo("ended", err=True)
