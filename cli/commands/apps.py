"""`taskloom apps`: the catalogue's applications, and starting one to see whether it works here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.errors import CommandError
from resources.errors import ExitCode

if TYPE_CHECKING:
    from flows.settings import Settings
    from resources.applications import Application
    from taskgraph.records.interaction import Observation

DataOption = Annotated[Path | None, typer.Option(help="Folder the applications are installed in.")]
CatalogOption = Annotated[
    Path | None, typer.Option(help="Folder with further applications, beside the built-in ones.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the command and the one below it."""
    group = typer.Typer(
        help="List the applications of the catalogue, or check one.", invoke_without_command=True
    )
    group.callback()(list_applications)
    group.command("check")(check)
    app.add_typer(group, name="apps")


def list_applications(
    context: typer.Context,
    data: DataOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the applications of the catalogue: name, title, category, version, installed or not, subtasks."""
    if context.invoked_subcommand is not None:
        return
    from environments.installing.applications import missing_for_start
    from flows.settings import load_settings
    from resources.reading.catalog import load_applications

    settings = load_settings(data=data, catalog=catalog)
    rows: list[dict[str, object]] = [
        {
            "name": application.name,
            "title": application.title,
            "category": application.category,
            "platform": application.platform,
            "version": application.version,
            "licence": application.licence,
            "installed": not missing_for_start(application, settings.data),
            "subtasks": len(application.example_subtasks),
            "parameter_sets": sum(len(item.parameter_sets) for item in application.example_subtasks),
        }
        for application in load_applications(settings.catalog).values()
    ]
    if as_json:
        _print_json(rows)
        return
    columns = ("name", "title", "category", "version", "installed", "subtasks")
    cells = [columns, *(tuple(_cell(row[column]) for column in columns) for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    for line in cells:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def check(
    name: Annotated[str, typer.Argument(help="Name of the application.")],
    screenshot: Annotated[
        Path | None, typer.Option(help="Where the screenshot goes; <data>/checks/<name>.png by default.")
    ] = None,
    controls: Annotated[bool, typer.Option("--controls", help="Print every control too.")] = False,
    data: DataOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start an application in a clean environment, look at it, and print what is there and how long it took.

    Exit codes: 0 it came up and shows controls, 1 it did not, 2 there is no such application, 4 it is not installed.
    """
    import asyncio
    import time

    from environments.errors import ApplicationStartFailedError, EnvironmentBrokenError
    from environments.machines.bubblewrap import is_confined
    from flows.settings import load_settings
    from resources.reading.catalog import load_applications

    settings = load_settings(data=data, catalog=catalog)
    known = load_applications(settings.catalog)
    if name not in known:
        raise CommandError(
            f"there is no application named {name!r}; known: {', '.join(sorted(known))}.", ExitCode.BAD_INPUT
        )
    started = time.monotonic()
    try:
        observation, reset_seconds = asyncio.run(_observe(known[name], settings))
    except (ApplicationStartFailedError, EnvironmentBrokenError) as error:
        raise CommandError(str(error), ExitCode.NEGATIVE_ANSWER) from error
    file = screenshot or settings.data / "checks" / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(observation.screenshot.png)
    answer: dict[str, object] = {
        "name": name,
        "controls": len(observation.controls),
        "named_controls": sum(1 for control in observation.controls if control.text),
        "reset_seconds": round(reset_seconds, 2),
        "total_seconds": round(time.monotonic() - started, 2),
        "window_title": observation.window_title,
        "url": observation.url,
        "confined": is_confined(settings.isolation),
        "screenshot": str(file),
    }
    if as_json:
        listed = [control.model_dump(mode="json") for control in observation.controls]
        _print_json(answer | ({"control_list": listed} if controls else {}))
    else:
        for key, value in answer.items():
            typer.echo(f"{key:<15} {value}")
        for control in observation.controls if controls else ():
            parent = f"  in {control.parent_type} {control.parent_text!r}" if control.parent_type else ""
            typer.echo(f"{control.label:>4} {control.control_type:<10} {control.text!r}{parent}")
    if not observation.controls:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


async def _observe(application: Application, settings: Settings) -> tuple[Observation, float]:
    """The first observation of `application`, and how long it took to get there, in seconds."""
    import time

    from flows.wiring import create_environment

    environment = create_environment(settings, application.platform)
    started = time.monotonic()
    try:
        observation = await environment.reset([application])
        return observation, time.monotonic() - started
    finally:
        await environment.close()


def _cell(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _print_json(content: object) -> None:
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
