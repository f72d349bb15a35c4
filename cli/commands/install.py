"""`taskloom install`: installs the browser, the optional tools and the applications."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import CatalogOption, DataOption, JsonOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskloom.environments.lookup import InstallationResult
    from taskloom.resources.applications import Application


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("install")(install)


def install(
    only: Annotated[
        str, typer.Option(help="Names of the applications to install, separated by commas; all by default.")
    ] = "",
    browser_only: Annotated[bool, typer.Option("--browser-only", help="Install only the browser.")] = False,
    platform: Annotated[
        str | None,
        typer.Option(help="Platform to install: web_browser (default), linux_desktop, or both, joined by +."),
    ] = None,
    data: DataOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Install what environments need: a browser, and each application in its own folder; or, for Linux
    desktops, the image of a machine with the applications in it.

    Skips what is already installed. An application that cannot be installed is reported with the reason.
    Exit codes: 0 everything is installed, 1 an application is missing, 4 the platform cannot run here.

    Examples:
      taskloom install

      taskloom install --only drawio,tiddlywiki

      taskloom install --platform linux_desktop
    """
    from taskloom.environments import lookup
    from taskloom.environments.errors import EnvironmentFailureError
    from taskloom.flows.settings import load_settings
    from taskloom.flows.wiring import catalogue

    settings = load_settings(data=data, catalog=catalog, platform=platform)
    platforms = {name: lookup.platform(name) for name in lookup.platforms_in(settings.platform)}
    chosen = _choose_applications(only, catalogue(settings))
    if browser_only and only:
        raise CommandError("--browser-only and --only exclude each other.")

    missing_tools = _install_tools()
    prepared, failures = list[str](), dict[str, EnvironmentFailureError]()
    results: list[InstallationResult] = []
    for module in platforms.values():
        try:
            prepared.append(module.prepare(settings.data, _say))
            _say(prepared[-1])
        except EnvironmentFailureError as error:
            failures[str(error)] = error
    _prepare_database(settings.data)
    for name, module in platforms.items() if not browser_only else ():
        own = [application for application in chosen if application.platform == name]
        try:
            results += module.install(own, settings.data, _say) if own else []
        except EnvironmentFailureError as error:
            failures[str(error)] = error
    for message in failures:
        _say(f"error: {message}")
    if as_json:
        answer = {
            "prepared": "; ".join(prepared),
            "errors": list(failures),
            "missing_tools": missing_tools,
            "applications": [result.model_dump(mode="json") for result in results],
        }
        print_json(answer)
    else:
        _print_table(results)
    if failures:
        raise typer.Exit(next(iter(failures.values())).exit_code)
    if any(result.outcome == "failed" for result in results):
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _choose_applications(only: str, known: Mapping[str, Application]) -> list[Application]:
    names = [name.strip() for name in only.split(",") if name.strip()]
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise CommandError(
            f"there is no application named {unknown[0]!r}; known: {', '.join(sorted(known))}."
        )
    return [known[name] for name in names] or list(known.values())


def _install_tools() -> dict[str, str]:
    """Install the optional system packages; returns the missing ones, with the reason."""
    from taskloom.environments.installing.packages import (
        OPTIONAL_TOOLS,
        CommandRunner,
        install_optional_tools,
    )

    missing = install_optional_tools(CommandRunner())
    for reason in dict.fromkeys(missing.values()):
        uses = dict.fromkeys(OPTIONAL_TOOLS[name] for name, why in missing.items() if why == reason)
        _say(f"continuing without what {', '.join(uses)}: {reason}")
    return missing


def _prepare_database(data: Path) -> None:
    """Create the database of runs now, so that the first run does not have to."""
    from taskloom.flows.running.prefect_server import prepare_database, prepare_prefect

    _say("preparing the database of runs")
    prepare_prefect(data)
    try:
        prepare_database()
    except (OSError, subprocess.CalledProcessError) as error:
        _say(f"continuing without it; the first run will prepare it: {error}")


def _print_table(results: list[InstallationResult]) -> None:
    for result in results:
        typer.echo(
            f"{result.application:<14} {result.outcome:<9} {result.seconds:>6.1f} s"
            f" {result.size_bytes / 1e6:>6.0f} MB  {result.reason}".rstrip()
        )
