"""`taskloom export`: writes test sets and training sets in formats used in the field."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.options import VersionOption, WarehouseOption
from taskloom.flows.errors import CommandError
from taskloom.resources.dimensions import EXAMPLE_CHOICE
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings
    from taskloom.warehouse.exporting.exporting import ExportOptions, Manifest
    from taskloom.warehouse.sets.selection import Selection, SetRequest, Shortfall
    from taskloom.warehouse.sets.splits import LeakageReport

_MAX_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Export format; --list names them.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder to create; it must not exist.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
    where: Annotated[str, typer.Option(help="SQL condition over the columns of tasks.")] = "",
    level: Annotated[str, typer.Option(help=f"Levels, such as {EXAMPLE_CHOICE}.")] = "",
    cell: Annotated[
        list[str] | None, typer.Option(help=f"Quota, such as {EXAMPLE_CHOICE}:50; may be repeated.")
    ] = None,
    capability: Annotated[str, typer.Option(help="Capability of Table 12 that every task must test.")] = "",
    preset: Annotated[str, typer.Option(help="Reading of Table 12: repaired or as_printed.")] = "repaired",
    scenario: Annotated[str, typer.Option(help="Scenario of every task.")] = "",
    application: Annotated[
        list[str] | None, typer.Option(help="Application that tasks use; with several, at least one of them.")
    ] = None,
    accepted: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Only tasks accepted by any, the majority or all of their reviewers; majority:3 requires at"
            " least three reviewers.",
        ),
    ] = "",
    size: Annotated[int | None, typer.Option(min=1, help="Maximum number of tasks.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the sets.")] = 0,
    split: Annotated[
        str, typer.Option(help="Shares of the sets, such as train=0.8,validation=0.1,test=0.1.")
    ] = "",
    leak: Annotated[
        str,
        typer.Option(help="What sets may share: template, value, intent, instruction, separated by commas."),
    ] = "",
    hold_out: Annotated[
        list[str] | None,
        typer.Option(help="Test set: application=NAME or scenario=NAME; --split then divides the rest."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out tasks that resemble any in: a published collection as FORMAT:PATH, such as"
            " osworld:evaluation_examples; a table (Parquet, JSON, CSV) as FILE or FILE:COLUMN; or a text"
            " file, one instruction per line."
        ),
    ] = None,
    coordinates: Annotated[
        str, typer.Option(help="Points in pixels (absolute), 0 to 1 (unit) or 0 to 1000 (thousand).")
    ] = "absolute",
    granularity: Annotated[str, typer.Option(help="A record per step or per trajectory.")] = "step",
    instructions: Annotated[str, typer.Option(help="low (subtasks) or high (whole tasks).")] = "low",
    window: Annotated[
        int, typer.Option(min=0, help="Maximum steps per record, with --granularity trajectory; 0 for all.")
    ] = 0,
    pictures: Annotated[
        int, typer.Option(min=0, help="Maximum screens per openai_chat record, the last ones; 0 for all.")
    ] = 0,
    attempts: Annotated[
        str,
        typer.Option(
            help="Agents' attempts at the tasks, with scores, instead of verified work: successful or all."
        ),
    ] = "",
    agent: Annotated[str, typer.Option(help="Only this agent's attempts, if given.")] = "",
    image_urls: Annotated[
        str,
        typer.Option(
            help="Pictures of openai_chat: data (inline), or the address at which you serve the folder."
        ),
    ] = "data",
    licence: Annotated[str, typer.Option(help="Licence on the dataset card.")] = "apache-2.0",
    replay_all: Annotated[
        bool,
        typer.Option(
            "--replay-all",
            help="Replay every selected task that was not replayed yet, and export those that work.",
        ),
    ] = False,
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Export tasks with everything they refer to. The folder is complete or absent.

    With --split, sets share no subtask template, resource value, intent or instruction, except what --leak
    permits; tasks that would connect two sets are left out and listed in left_out.jsonl. The exit code is 1
    if there are fewer tasks than requested, or a set misses its share by more than two points; what was
    found is exported.

    With --replay-all every task is performed again in the applications; one that works in no order is
    rejected and replaced.

    Examples:
      taskloom export openai_chat --out sets --split train=0.8,validation=0.1,test=0.1

      taskloom export osworld --out unseen --hold-out application=zotero --leak value

      taskloom export omnibench --out planning --capability long_range_planning --size 100

      taskloom export sharegpt --out distilled --attempts successful --agent my-model

      taskloom export hugging_face --out reviewed --accepted majority:2

      taskloom export omnibench --out testset --cell dependency=hard,branch=hard:50 --replay-all
    """
    if show_list:
        from taskloom.cli.answer_printing import print_records
        from taskloom.warehouse.lookup import EXPORTS

        print_records(EXPORTS.described(), as_json)
        return
    if not format_name:
        raise CommandError("name the export format; `taskloom export --list` describes them.")
    if out is None:
        raise CommandError("give --out, the folder to create.")
    from pydantic import ValidationError
    from rich.console import Console
    from rich.markup import escape

    from taskloom.evaluators_api.checks.declaration import check_facts
    from taskloom.flows.settings import describe_problems, load_settings
    from taskloom.warehouse.exporting.exporting import ExportOptions
    from taskloom.warehouse.exporting.exporting import export as run_export
    from taskloom.warehouse.importing.importing import instructions_in
    from taskloom.warehouse.reviews import parse_rule
    from taskloom.warehouse.sets.selection import Selection, parse_levels, parse_quota, parse_request
    from taskloom.warehouse.store import Warehouse

    try:
        selection = Selection.model_validate(
            {
                "where": where,
                "levels": parse_levels(level),
                "cells": tuple(parse_quota(text) for text in cell or ()),
                "capability": capability,
                "preset": preset,
                "scenario": scenario,
                "applications": tuple(application or ()),
                "accepted": parse_rule(accepted) if accepted else None,
                "size": size,
                "seed": seed,
            }
        )
        options = ExportOptions.model_validate(
            {
                "coordinates": coordinates,
                "granularity": granularity,
                "window": window,
                "pictures": pictures,
                "instruction_level": instructions,
                "attempts": attempts,
                "agent": agent,
                "image_urls": image_urls,
                "licence": licence,
            }
        )
    except ValidationError as error:
        raise CommandError(describe_problems(error).strip()) from None
    settings = load_settings(warehouse=warehouse)
    sets = parse_request(split, leak, hold_out or [])
    lists = {source: instructions_in(source) for source in against or ()}
    if replay_all:
        if version is not None:
            raise CommandError(
                "--replay-all and --version exclude each other: a published version cannot change."
            )
        manifest = _replay_and_export(settings, format_name, out, selection, options, sets, lists)
    else:
        with (
            Warehouse(settings.warehouse_location, read_only=True, version=version) as opened,
            Console(stderr=True).status(f"exporting to {escape(str(out))}"),
        ):
            manifest = run_export(
                opened,
                format_name,
                out,
                selection,
                options,
                sets=sets,
                named_lists=lists,
                checks=check_facts(),
            )
    _print_manifest(manifest, out, as_json)
    if manifest.shortfalls:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _replay_and_export(
    settings: Settings,
    format_name: str,
    out: Path,
    selection: Selection,
    options: ExportOptions,
    sets: SetRequest | None,
    named_lists: dict[str, list[str]],
) -> Manifest:
    import asyncio

    from taskloom.flows.preflight import check_settings
    from taskloom.flows.running.interruptions import interruptible
    from taskloom.flows.running.prefect_server import prefect_server, prepare_prefect, quiet_libraries

    check_settings(settings)
    prepare_prefect(settings.data)
    with interruptible("finished replays are kept."), prefect_server():
        from taskloom.flows.export_test_set import export_test_set

        quiet_libraries()
        exported = asyncio.run(
            export_test_set(
                str(out),
                format_name,
                selection,
                options,
                sets=sets,
                named_lists=named_lists,
                settings=settings,
                quiet=False,
            )
        )
    typer.echo(f"replayed {exported.replayed} tasks, rejected {exported.rejected}", err=True)
    return exported.manifest


def _print_manifest(manifest: Manifest, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(manifest.model_dump_json(indent=2))
        return
    for kind, count in manifest.outcome.counts.items():
        typer.echo(f"{kind}: {count}")
    for reason, count in Counter(item.reason for item in manifest.outcome.refused).most_common():
        typer.echo(f"refused {count}: {reason}")
    for shortfall in manifest.shortfalls:
        typer.echo(_describe_shortfall(shortfall))
    for note in manifest.outcome.notes:
        typer.echo(f"note: {note}")
    if manifest.leakage is not None:
        _print_leakage(manifest.leakage)
    typer.echo(f"written to {out}")


def _describe_shortfall(shortfall: Shortfall) -> str:
    cell = ",".join(f"{dimension}={level}" for dimension, level in shortfall.levels.items())
    place = " ".join(part for part in (shortfall.split, cell) if part)
    near = f"; the nearest cells with tasks: {shortfall.nearest}" if shortfall.nearest else ""
    return (
        f"short{f' in {place}' if place else ''}: wanted {shortfall.wanted} tasks, found"
        f" {shortfall.found}{near}"
    )


def _print_leakage(report: LeakageReport) -> None:
    typer.echo(f"sets: {', '.join(f'{name} {size}' for name, size in report.sizes.items())}")
    if report.asked and sum(report.sizes.values()):
        typer.echo(
            f"actual shares: {', '.join(f'{name} {share:.1%}' for name, share in report.given.items())}"
        )
    for reason, count in report.left_out_reasons.items():
        typer.echo(f"left out {count}: {reason}")
    for sentence in report.advice:
        typer.echo(f"note: {sentence}")
    for source, count in report.named.items():
        typer.echo(
            f"compared with {count} instructions of {source}: {report.resembling.get(source, 0)} tasks"
            " left out"
        )
    for leak in report.removed[:_MAX_SHOWN]:
        typer.echo(f"left out {leak.value}: it resembles {leak.found_in[1]}")
    if len(report.removed) > _MAX_SHOWN:
        typer.echo(
            f"left out {len(report.removed) - _MAX_SHOWN} more that resemble others; the manifest names them"
        )
    checked = ", ".join(f"{count} {kind}s" for kind, count in report.checked.items())
    typer.echo(f"leaks: {len(report.leaks)} (compared {checked})")
