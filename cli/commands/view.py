"""`taskloom view`: look at a dataset in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.shared_options import DataOption, VersionOption, WarehouseOption
from flows.errors import CommandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("view")(view)


def view(
    port: Annotated[
        int, typer.Option(help="Port on this machine; 0 takes a free one.", min=0, max=65535)
    ] = 0,
    version: VersionOption = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = False,
    warehouse: WarehouseOption = None,
    data: DataOption = None,
) -> None:
    """Show a dataset as a web page on this machine: tasks, graphs, replays, evaluation functions, costs and SQL.

    Examples:
      taskloom view --port 8000 --version v2
    """
    from flows.settings import load_settings
    from warehouse.store import Warehouse
    from warehouse.viewer.server import LOOPBACK, listen, serve

    settings = load_settings(data=data, warehouse=warehouse)
    with Warehouse(settings.warehouse_location, read_only=True, version=version) as store:
        try:
            opened = listen(port)
        except OSError as error:
            raise CommandError(
                f"port {port} cannot be used ({error.strerror}); `--port 0` takes a free one."
            ) from None
        with opened:
            address = f"http://{LOOPBACK}:{opened.getsockname()[1]}/"
            typer.echo(address)
            typer.echo("Ctrl-C ends it.", err=True)
            if browser:
                typer.launch(address)
            try:
                serve(store, opened)
            except KeyboardInterrupt:
                typer.echo("ended", err=True)
