"""`taskloom worlds`: the kinds of worlds, what one would look like, whether one passes, and having a further
one written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.shared_options import CatalogOption, JsonOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command and the three below it."""
    group = typer.Typer(
        help="List the kinds of worlds, show or check one, or have a model write a new one."
        "\n\nExamples:\n  taskloom worlds\n\n  taskloom worlds show bakery-3",
        invoke_without_command=True,
    )
    group.callback()(list_kinds)
    group.command("show")(show)
    group.command("check")(check)
    group.command("new")(new)
    app.add_typer(group, name="worlds")


def list_kinds(context: typer.Context, catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """List the kinds of worlds; a world's name is its kind and a seed."""
    if context.invoked_subcommand is not None:
        return
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.worlds import load_rules, world_kinds

    extra = load_settings(catalog=catalog).catalog
    rows = {kind: load_rules(kind, extra).description for kind in world_kinds(extra)}
    if as_json:
        print_json([{"kind": kind, "description": text} for kind, text in rows.items()])
        return
    for kind, text in rows.items():
        typer.echo(f"{kind:<12} {text}")


def show(
    name: Annotated[str, typer.Argument(help="World: kind and seed, such as bakery-3.")],
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the names and values of a world.

    Examples:
      taskloom worlds show bakery-3
    """
    from taskloom.flows.settings import load_settings
    from taskloom.resources.reading.worlds import load_world

    world = load_world(name, load_settings(catalog=catalog).catalog)
    if as_json:
        typer.echo(world.model_dump_json(indent=2))
        return
    typer.echo(f"{world.title}\n{world.description}")
    for place, text in {**world.terms, **world.labels}.items():
        typer.echo(f"  {place:<32} {text}")


def check(
    kind: Annotated[str, typer.Argument(help="Kind of world, such as bakery.")],
    catalog: CatalogOption = None,
) -> None:
    """Draw worlds of a kind, translate the catalogue into some of them, and print every inconsistency.

    Exit codes: 0 it passes, 1 it does not, 2 there is no such kind, or its file is wrong.

    Examples:
      taskloom worlds check bakery
    """
    from taskloom.flows.settings import load_settings
    from taskloom.flows.write_world import problems_of
    from taskloom.resources.reading.worlds import load_rules

    extra = load_settings(catalog=catalog).catalog
    problems = problems_of(load_rules(kind, extra), extra)
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise CommandError(f"{kind} does not pass: {len(problems)} problems.", ExitCode.NEGATIVE_ANSWER)
    typer.echo(f"{kind} passes")


def new(
    kind: Annotated[str, typer.Argument(help="Name of the kind: small letters, digits, underscores.")],
    about: Annotated[str, typer.Option(help="Short description, such as: a vet with two rooms.")],
    rounds: Annotated[int, typer.Option(min=1, help="Maximum number of rounds.")] = 5,
    settings_file: Annotated[
        Path | None,
        typer.Option(
            "--settings", help="Settings file; by default taskloom.yaml in this folder, if it exists."
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting, such as models.budget=1usd. Repeatable."
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the ledger.")] = None,
    catalog: Annotated[Path, typer.Option(help="Folder of your catalogue; created if missing.")] = Path(
        "catalog"
    ),
    as_json: JsonOption = False,
) -> None:
    """Have a model (role world_writer) write a kind of world, check it like the shipped ones, and store it.

    Problems go back to the model, which corrects single places in the next round.
    Exit codes: 0 it is stored, 1 it did not pass, 2 bad input.

    Examples:
      taskloom worlds new vet --about "a vet with two rooms and a kennel" --settings taskloom.yaml
    """
    import asyncio
    import re

    from taskloom.flows.hosting.preflight import check_files, check_keys
    from taskloom.flows.settings import load_settings
    from taskloom.flows.write_world import write_kind_of_world
    from taskloom.taskgraph.records.model_calls import ModelRole

    if not re.fullmatch(r"[a-z][a-z0-9_]*", kind):
        raise CommandError(
            f"{kind!r} is not a name: use small letters, digits and underscores, a letter first."
        )
    settings = load_settings(settings_file, assignments=assignments or (), data=data)
    check_files(settings)
    check_keys(settings, (ModelRole.WORLD_WRITER,))
    stored = asyncio.run(write_kind_of_world(kind, about, settings, catalog, rounds=rounds))
    if as_json:
        typer.echo(stored.model_dump_json(indent=2))
        return
    typer.echo(
        f"wrote {stored.file} in {stored.rounds} rounds, {stored.model_calls} calls, ${stored.cost_usd:.2f}"
    )
    typer.echo(f"next: taskloom build --catalog {catalog} --set 'worlds=[\"{kind}-1\"]'")
