"""`taskloom apps`: lists the applications of the catalogue, checks whether one works here, adds one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import CatalogOption, DataOption, JsonOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings
    from taskloom.resources.applications import Application
    from taskloom.taskgraph.records.interaction import Observation

_WALK_ACTIONS = 80
"""Maximum number of actions to look for what a manual names."""


def register(app: typer.Typer) -> None:
    """Add the command and its subcommands."""
    group = typer.Typer(
        help="List the applications of the catalogue, check one, or write the entry of a new one."
        "\n\nExamples:\n  taskloom apps --json\n\n  taskloom apps check drawio",
        invoke_without_command=True,
    )
    group.callback()(list_applications)
    group.command("check")(check)
    group.command("new")(new)
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
    from taskloom.environments.lookup import missing_for_start
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.catalog import load_applications

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
        print_json(rows)
        return
    columns = ("name", "title", "category", "version", "installed", "subtasks")
    cells = [columns, *(tuple(_cell(row[column]) for column in columns) for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    for line in cells:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def check(
    name: Annotated[str, typer.Argument(help="Name of the application.")],
    screenshot: Annotated[
        Path | None, typer.Option(help="Screenshot file; <data>/checks/<name>.png by default.")
    ] = None,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls", help="Also print every control, and what the manual names but no screen shows."
        ),
    ] = False,
    data: DataOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start an application in a clean environment and print what it shows and how long it took.

    Exit codes: 0 it started and shows controls, 1 it did not, 2 there is no such application, 4 it is not
    installed.

    Examples:
      taskloom apps check drawio --controls
    """
    import asyncio
    import time

    from taskloom.environments.errors import ApplicationStartFailedError, EnvironmentBrokenError
    from taskloom.environments.machines.bubblewrap import is_confined
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.catalog import load_applications
    from taskloom.resources.whole_files import write_whole

    settings = load_settings(data=data, catalog=catalog)
    known = load_applications(settings.catalog)
    if name not in known:
        raise CommandError(f"there is no application named {name!r}; known: {', '.join(sorted(known))}.")
    started = time.monotonic()
    try:
        observation, reset_seconds, unseen, cached_files, fallback = asyncio.run(
            _observe(known[name], settings, walk=controls)
        )
    except (ApplicationStartFailedError, EnvironmentBrokenError) as error:
        raise CommandError(str(error), ExitCode.NEGATIVE_ANSWER) from error
    file = screenshot or settings.data / "checks" / f"{name}.png"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, observation.screenshot.png)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None
    answer: dict[str, object] = {
        "name": name,
        "controls": len(observation.controls),
        "named_controls": sum(1 for control in observation.controls if control.text),
        "reset_seconds": round(reset_seconds, 2),
        "total_seconds": round(time.monotonic() - started, 2),
        "window_title": observation.window_title,
        "url": observation.url,
        "cached_files": cached_files,
        "fallback_fonts": fallback,
        "confined": is_confined(settings.isolation),
        "screenshot": str(file),
    }
    if controls:
        answer["only_in_manual"] = unseen
    if as_json:
        listed = [control.model_dump(mode="json") for control in observation.controls]
        print_json(answer | ({"control_list": listed} if controls else {}))
    else:
        for key, value in answer.items():
            typer.echo(f"{key:<15} {', '.join(value) or 'none' if isinstance(value, list) else value}")
        for control in observation.controls if controls else ():
            parent = f"  in {control.parent_type} {control.parent_text!r}" if control.parent_type else ""
            typer.echo(f"{control.label:>4} {control.control_type:<10} {control.text!r}{parent}")
    if not observation.controls:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def new(
    name: Annotated[str, typer.Argument(help="Name: lowercase letters, digits, underscores.")],
    from_pypi: Annotated[
        str, typer.Option("--from-pypi", help="Python package, as name or name==version.")
    ] = "",
    from_npm: Annotated[str, typer.Option("--from-npm", help="npm package, as name or name@version.")] = "",
    url: Annotated[
        str, typer.Option("--url", help="First page of an application that already runs on this machine.")
    ] = "",
    category: Annotated[str, typer.Option(help="Application category (Table 11).")] = "Utility Tools",
    title: Annotated[str, typer.Option(help="Display name; derived from NAME by default.")] = "",
    command: Annotated[
        str,
        typer.Option(help="Command that starts its server, with {venv}, {install}, {state} and {port}."),
    ] = "",
    reset_command: Annotated[
        str,
        typer.Option(help="With --url: command that restores its clean state before every attempt."),
    ] = "",
    data_folder: Annotated[
        str, typer.Option(help="With --url: its data folder, which evaluation functions read.")
    ] = "",
    try_it: Annotated[bool, typer.Option("--try/--no-try", help="Install and start it.")] = True,
    data: DataOption = None,
    catalog: Annotated[Path, typer.Option(help="Folder of your catalogue; created if missing.")] = Path(
        "catalog"
    ),
) -> None:
    """Write the catalogue entry of a new application, install it and start it once.

    Next steps: docs/adding-an-application.md.
    Exit codes: 0 it started, 1 it did not (edit the entry), 2 bad input.

    Examples:
      taskloom apps new datasette --from-pypi datasette --command "{venv}/bin/datasette -p {port}"

      taskloom apps new svgedit --from-npm svgedit

      taskloom apps new tracker --url http://127.0.0.1:5000/ --reset-command "docker compose restart tracker"
    """
    from taskloom.cli.application_skeleton import (
        npm_facts,
        pypi_facts,
        running_entry,
        skeleton,
        write_entry,
    )
    from taskloom.resources.reading.catalog import load_application_categories, load_applications

    if [bool(from_pypi), bool(from_npm), bool(url)].count(True) != 1:
        raise CommandError("say where the application comes from: one of --from-pypi, --from-npm and --url.")
    if not url and (reset_command or data_folder):
        raise CommandError("--reset-command and --data-folder are for applications that already run (--url).")
    if url and command:
        raise CommandError("--command starts an application; one that runs at a --url needs none.")
    if category not in load_application_categories():
        raise CommandError(
            f"{category!r} is not an application category; known: {', '.join(load_application_categories())}."
        )
    file = catalog / "applications" / f"{name}.yaml"
    if file.exists():
        raise CommandError(
            f"{file} already exists. For another version, change `installation` and `version` in it, then:"
            f" taskloom install --only {name} --catalog {catalog}"
        )
    if name in load_applications(catalog if catalog.is_dir() else None):
        raise CommandError(f"there is already an application named {name!r}; choose another name.")
    title = title or name.replace("_", " ").capitalize()
    if url:
        entry = running_entry(
            name, title, category, url, reset_command=reset_command, data_folder=data_folder
        )
    else:
        facts = npm_facts(from_npm) if from_npm else pypi_facts(from_pypi)
        entry = skeleton(name, title, category, facts, from_npm=bool(from_npm), command=command)
    write_entry(file, entry)
    typer.echo(f"wrote {file}")
    if try_it:
        _try(name, data, catalog, file)
    typer.echo(f"next: write its manual in {file}, then: taskloom apps check {name} --catalog {catalog}")


def _try(name: str, data: Path | None, catalog: Path, file: Path) -> None:
    from taskloom.cli.application_skeleton import limits_of
    from taskloom.environments.installing.applications import install_applications, needs_installation
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.catalog import load_application

    settings = load_settings(data=data, catalog=catalog)
    application = load_application(name, catalog)
    if needs_installation(application):
        result = install_applications([application], settings.data)[0]
        if result.outcome == "failed":
            raise CommandError(
                f"{name} cannot be installed: {result.reason}. Edit the installation in {file}.",
                ExitCode.NEGATIVE_ANSWER,
            )
        typer.echo(f"installed in {result.seconds:.0f} s, {result.size_bytes / 1e6:.0f} MB")
    for sentence in limits_of(application):
        typer.echo(f"note: {sentence}")
    try:
        check(name, data=data, catalog=catalog)
    except CommandError as error:
        raise CommandError(
            f"{error} Edit the launch in {file}, then: taskloom apps check {name} --catalog {catalog}",
            error.exit_code,
        ) from error


async def _observe(
    application: Application, settings: Settings, *, walk: bool
) -> tuple[Observation, float, list[str], str, list[str]]:
    """The first observation of `application`, and the seconds it took to get there; the names in the manual
    that no screen showed, after a `walk` through them; and, after a second reset, whether cached files stay,
    and which texts fall back to other fonts."""
    import time

    from taskloom.environments.environment import WithProfile
    from taskloom.environments.errors import EnvironmentFailureError
    from taskloom.flows.wiring import create_environment
    from taskloom.synthesis.exploration.walking import Walk, named_in, never_shown
    from taskloom.taskgraph.records.provenance import Provenance

    environment = create_environment(settings, application.platform)
    started = time.monotonic()
    try:
        observation = await environment.reset([application])
        seconds = time.monotonic() - started
        names = named_in(application.manual) if walk else ()
        walked = Walk(environment, application, _WALK_ACTIONS, [], Provenance(), manual_first=True)
        if names:
            with contextlib.suppress(EnvironmentFailureError):
                await walked.go()
        unseen = list(never_shown(names, walked.seen)) if names else []
        if not isinstance(environment, WithProfile):
            return observation, seconds, unseen, "none", []
        await environment.reset([application])
        reason = environment.without_cache.get(application.name)
        cached = f"fresh at every reset: {reason}" if reason else "stay between resets"
        return observation, seconds, unseen, cached, await environment.fallback_fonts()
    finally:
        await environment.close()


def _cell(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
