"""`taskloom install`: the browser, the optional tools and the applications."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.shared_options import CatalogOption
from flows.errors import CommandError
from resources.errors import ExitCode

if TYPE_CHECKING:
    from environments.installing.applications import InstallationResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("install")(install)


def install(
    only: Annotated[
        str, typer.Option(help="Names of the applications to install, separated by commas; all by default.")
    ] = "",
    browser_only: Annotated[bool, typer.Option("--browser-only", help="Install only the browser.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder everything is installed into.")] = None,
    catalog: CatalogOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Install what environments need: a browser, and each application in a place of its own.

    What is there is skipped. An application that cannot be installed is reported with the reason and left out.
    Exit codes: 0 all is there, 1 an application is missing, 4 there is no browser.

    Examples:
      taskloom install

      taskloom install --only drawio,tiddlywiki
    """
    from environments.errors import BrowserMissingError
    from environments.installing.applications import install_applications
    from environments.installing.browser_finding import install_browser
    from environments.installing.machine_commands import CommandRunner
    from environments.installing.system_packages import OPTIONAL_TOOLS, install_optional_tools
    from flows.running.log_setup import prepare_prefect
    from flows.running.prefect_server import prepare_database
    from flows.settings import load_settings
    from resources.reading.catalog import load_applications

    def say(message: str) -> None:
        typer.echo(message, err=True)

    settings = load_settings(data=data, catalog=catalog)
    known = load_applications(settings.catalog)
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise CommandError(
            f"there is no application named {unknown[0]!r}; known: {', '.join(sorted(known))}.",
            ExitCode.BAD_INPUT,
        )
    if browser_only and wanted:
        raise CommandError("--browser-only and --only exclude each other.", ExitCode.BAD_INPUT)

    missing_tools = install_optional_tools(CommandRunner())
    for reason in dict.fromkeys(missing_tools.values()):
        uses = dict.fromkeys(OPTIONAL_TOOLS[name] for name, why in missing_tools.items() if why == reason)
        say(f"going on without what {', '.join(uses)}: {reason}")
    browser_error = ""
    executable = ""
    try:
        executable = str(install_browser(settings.data, on_progress=say).executable)
        say(f"browser: {executable}")
    except BrowserMissingError as error:
        browser_error = str(error)
        say(f"error: {browser_error}")

    say("preparing the database of runs")
    prepare_prefect(settings.data)
    try:
        prepare_database()
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"going on without it, the first run will prepare it: {error}")

    results: list[InstallationResult] = []
    if not browser_only:
        results = install_applications(
            [known[name] for name in wanted] or list(known.values()),
            settings.data,
            on_start=lambda name: say(f"{name}: installing"),
            on_result=lambda result: say(_in_words(result)),
            on_wait=lambda: say(f"waiting for another installation into {settings.data}"),
        )
    if as_json:
        import json

        answer = {
            "browser": executable,
            "browser_error": browser_error,
            "missing_tools": missing_tools,
            "applications": [result.model_dump(mode="json") for result in results],
        }
        typer.echo(json.dumps(answer, indent=2))
    else:
        _print_table(results)
    if browser_error:
        raise typer.Exit(ExitCode.MISSING_REQUIREMENT)
    if any(result.outcome == "failed" for result in results):
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _in_words(result: InstallationResult) -> str:
    words = f"{result.application}: {result.outcome}"
    if result.outcome == "installed":
        words += f" in {result.seconds:.0f} s, {result.size_bytes / 1e6:.0f} MB"
    return f"{words}: {result.reason}" if result.reason else words


def _print_table(results: list[InstallationResult]) -> None:
    for result in results:
        typer.echo(
            f"{result.application:<14} {result.outcome:<9} {result.seconds:>6.1f} s {result.size_bytes / 1e6:>6.0f} MB"
            f"  {result.reason}".rstrip()
        )
