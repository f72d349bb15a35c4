"""`taskloom worlds`: lists the kinds of worlds, shows a world, checks a kind."""

from __future__ import annotations

from typing import Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import CatalogOption, JsonOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command and its subcommands."""
    group = typer.Typer(
        help="List the kinds of worlds, or show or check one."
        "\n\nExamples:\n  taskloom worlds\n\n  taskloom worlds show bakery-3",
        invoke_without_command=True,
    )
    group.callback()(list_kinds)
    group.command("show")(show)
    group.command("check")(check)
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
    from taskloom.resources.reading.catalog import load_applications, load_resource_categories
    from taskloom.resources.reading.translation import world_problems
    from taskloom.resources.reading.worlds import load_rules

    extra = load_settings(catalog=catalog).catalog
    problems = world_problems(
        load_rules(kind, extra), load_rules(), load_applications(extra), load_resource_categories(extra)
    )
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise CommandError(f"{kind} does not pass: {len(problems)} problems.", ExitCode.NEGATIVE_ANSWER)
    typer.echo(f"{kind} passes")
