"""`taskloom plan`: how many tasks of the requested levels the pool can supply, and what to explore next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.options import (
    AssignmentsOption,
    CatalogOption,
    DataOption,
    JsonOption,
    SeedOption,
    SettingsOption,
    WarehouseOption,
)
from taskloom.flows.errors import CommandError
from taskloom.resources.dimensions import DIMENSIONS, EXAMPLE_LEVELS, EXAMPLE_RANGE
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings
    from taskloom.synthesis.composition.request import CompositionAccount, Quota
    from taskloom.taskgraph.measures.per_dimension import MeasureRanges
    from taskloom.taskgraph.records.subtask import Subtask
    from taskloom.taskgraph.records.task import Intent

_MAX_SHOWN = 10
_VERIFIED = "subtask_id IN (SELECT subtask_id FROM evaluation_functions WHERE accepted)"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    want: Annotated[
        str | None,
        typer.Option(
            help=f"Levels or ranges of values, such as {EXAMPLE_LEVELS},{EXAMPLE_RANGE}.",
            show_default=False,
        ),
    ] = None,
    capability: Annotated[
        list[str] | None,
        typer.Option(help="A capability of Table 12, such as long_range_planning. Repeatable."),
    ] = None,
    preset: Annotated[str, typer.Option(help="Reading of Table 12: repaired or as_printed.")] = "repaired",
    count: Annotated[
        int | None,
        typer.Option(
            "--tasks",
            "--count",
            help="Tasks requested (per capability); composition.count by default.",
            min=1,
        ),
    ] = None,
    warehouse: WarehouseOption = None,
    settings_file: SettingsOption = None,
    assignments: AssignmentsOption = None,
    data: DataOption = None,
    catalog: CatalogOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print how many requested tasks the pool can supply, the bottleneck, and what to explore next.

    The plan is for a run with the same settings; --want and --capability replace the quotas of the settings,
    and --set any other limit (`composition` in docs/settings.md). The exit code is 1 if the pool cannot
    supply the request. What a build adds is not counted: links between subtasks that no catalogue entry
    names (`composition.links`), and further worlds.

    Examples:
      taskloom plan --capability long_range_planning --count 100

      taskloom plan --set composition.maximum_size=12 --set 'applications=[drawio,tiddlywiki]'
    """
    from taskloom.flows.planning.composition_planning import (
        parse_quota_and_ranges,
        plan_composition,
        quotas_of_capabilities,
        request_of,
    )
    from taskloom.flows.settings import load_settings

    if want is not None and capability:
        raise CommandError("give one of --want and --capability.")
    settings = load_settings(
        settings_file,
        assignments=assignments or (),
        data=data,
        warehouse=warehouse,
        catalog=catalog,
        seed=seed,
    )
    wanted = count or settings.composition.count
    quotas: tuple[Quota, ...] = ()
    ranges: MeasureRanges | None = None
    if want is not None:
        quota, ranges = parse_quota_and_ranges(want, wanted)
        quotas = (quota,)
    elif capability:
        quotas = quotas_of_capabilities(capability, preset, wanted)
    request = request_of(settings, quotas, ranges=ranges, count=count)
    subtasks, intents, name = _load_pool(settings)
    if not subtasks:
        raise CommandError("the pool has no subtasks; run `taskloom build` or `taskloom explore` first.")
    account = plan_composition(subtasks, intents, request, catalog=settings.catalog, seed=settings.seed)
    typer.echo(
        account.model_dump_json(indent=2)
        if as_json
        else _describe_account(account, f"{len(subtasks)} {name}, {len(intents)} intents")
    )
    if account.shortfalls:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _load_pool(settings: Settings) -> tuple[list[Subtask], list[Intent], str]:
    """The subtasks and intents that a run with these settings would compose from, and what to call the
    subtasks."""
    from taskloom.taskgraph.records.subtask import Subtask
    from taskloom.taskgraph.records.task import Intent
    from taskloom.warehouse.store import Warehouse

    with Warehouse(settings.warehouse_location, read_only=True) as opened:
        verified = list(opened.read(Subtask, _VERIFIED))
        wanted = settings.applications
        subtasks = [
            subtask
            for subtask in verified or opened.read(Subtask)
            if not wanted or subtask.application in wanted
        ]
        present = {subtask.subtask_id for subtask in subtasks}
        intents = [intent for intent in opened.read(Intent) if present.issuperset(intent.subtask_ids)]
        return subtasks, intents, "verified subtasks" if verified else "subtasks, none verified"


def _describe_account(account: CompositionAccount, pool: str) -> str:
    lines = [
        f"pool              {pool}",
        f"wanted            {account.wanted} tasks",
        f"can be supplied   {account.composed}{'' if account.shortfalls else ' or more'}",
        "  not counted     what a build adds: links between subtasks (composition.links), further worlds",
        f"cells             {len(account.per_cell)} ({'/'.join(DIMENSIONS)})",
        *(f"  {cell:42}{number:>7}" for cell, number in account.per_cell.items()),
    ]
    if account.without_successful_order:
        lines.append(
            f"left out          {account.without_successful_order} groups without a successful order,"
            f" such as: {account.example_clash}"
        )
    if account.uncountable:
        lines.append(
            f"left out          {account.uncountable} groups with too many orders to be counted exactly"
        )
    for item in account.shortfalls:
        lines += [
            f"missing           {item.missing} of {item.wanted} ({item.kind.replace('_', ' ')})",
            f"  reason          {item.reason}",
        ]
        if item.bottleneck:
            lines.append(f"  explore next    {item.bottleneck}")
        if item.nearest:
            lines.append(f"  nearest cell    {'/'.join(item.nearest)}, which the pool reaches")
    lines += [f"goal not served   {item.goal}: {item.reason}" for item in account.not_composed[:_MAX_SHOWN]]
    lines += [
        f"link missing      {item.application}: {item.advice}" for item in account.missing_links[:_MAX_SHOWN]
    ]
    return "\n".join(lines)
