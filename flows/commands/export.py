"""`taskloom export`: test sets and training sets in the formats of the field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.command_errors import NEGATIVE_ANSWER, CommandError

if TYPE_CHECKING:
    from warehouse.exporting import Manifest
    from warehouse.splits import SplitName


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Export format; --list names them.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder to make; it must not exist.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
    where: Annotated[str, typer.Option(help="SQL condition over the columns of tasks.")] = "",
    level: Annotated[str, typer.Option(help="Levels, such as dependency=hard,branch=easy.")] = "",
    cell: Annotated[
        list[str] | None, typer.Option(help="Quota, such as dependency=hard,branch=hard:50; may be repeated.")
    ] = None,
    capability: Annotated[str, typer.Option(help="Capability of Table 12 that every task must test.")] = "",
    preset: Annotated[str, typer.Option(help="Reading of Table 12: repaired or as_printed.")] = "repaired",
    scenario: Annotated[str, typer.Option(help="Scenario of every task.")] = "",
    application: Annotated[
        list[str] | None, typer.Option(help="Application of every task; may be repeated.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="Tasks at most.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the sets.")] = 0,
    split: Annotated[
        str, typer.Option(help="Shares of the sets, such as train=0.8,validation=0.1,test=0.1.")
    ] = "",
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Text file with one instruction per line that no task may resemble."),
    ] = None,
    coordinates: Annotated[str, typer.Option(help="absolute, unit or thousand.")] = "absolute",
    granularity: Annotated[str, typer.Option(help="step or trajectory.")] = "step",
    instructions: Annotated[str, typer.Option(help="low (subtasks) or high (whole tasks).")] = "low",
    licence: Annotated[str, typer.Option(help="Licence on the dataset card.")] = "apache-2.0",
    version: Annotated[
        str | None, typer.Option(help="Dataset version; the present state by default.")
    ] = None,
    warehouse: Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Export tasks with everything that belongs to them. The folder is complete or absent.

    Ends with exit code 1 when fewer tasks were found than wanted; what was found is exported.
    """
    from warehouse.lookup import export_formats

    if show_list or not format_name:
        typer.echo("\n".join(export_formats()))
        return
    if out is None:
        raise CommandError("--out names the folder to make.")
    from pydantic import ValidationError

    from flows.settings import describe_problems, load_settings
    from warehouse.exporting import ExportOptions
    from warehouse.exporting import export as run_export
    from warehouse.selection import Selection, parse_levels, parse_quota
    from warehouse.store import Warehouse

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
                "size": size,
                "seed": seed,
            }
        )
        options = ExportOptions.model_validate(
            {
                "coordinates": coordinates,
                "granularity": granularity,
                "instruction_level": instructions,
                "licence": licence,
            }
        )
    except ValidationError as error:
        raise CommandError(describe_problems(error)) from None
    settings = load_settings(warehouse=warehouse)
    with Warehouse(settings.warehouse_location, read_only=True, version=version) as opened:
        manifest = run_export(
            opened,
            format_name,
            out,
            selection,
            options,
            shares=_shares(split) if split else None,
            named_lists=_named_lists(against or []),
        )
    _print(manifest, out, as_json)
    if manifest.shortfalls:
        raise typer.Exit(NEGATIVE_ANSWER)


def _shares(text: str) -> dict[SplitName, float]:
    from warehouse.splits import SPLITS

    shares: dict[SplitName, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        known = next((item for item in SPLITS if item == name.strip()), None)
        try:
            share = float(value)
        except ValueError:
            raise CommandError(f"--split takes NAME=SHARE, not {part!r}.") from None
        if known is None:
            raise CommandError(f"there is no set {name!r}; known: {', '.join(SPLITS)}.")
        shares[known] = share
    return shares


def _named_lists(files: list[Path]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        try:
            found[file.name] = [
                line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
            ]
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"cannot read {file}: {error}") from None
    return found


def _print(manifest: Manifest, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(manifest.model_dump_json(indent=2))
        return
    for kind, count in manifest.outcome.counts.items():
        typer.echo(f"{kind}: {count}")
    reasons: dict[str, int] = {}
    for item in manifest.outcome.refused:
        reasons[item.reason] = reasons.get(item.reason, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1]):
        typer.echo(f"refused {count}: {reason}")
    for shortfall in manifest.shortfalls:
        typer.echo(
            f"short: {shortfall['levels'] or 'selection'}: wanted {shortfall['wanted']}, found {shortfall['found']}"
        )
    for note in manifest.outcome.notes:
        typer.echo(f"note: {note}")
    if manifest.leakage is not None:
        typer.echo(
            f"sets: {manifest.leakage.sizes}; left out {manifest.leakage.left_out}; leaks {len(manifest.leakage.leaks)}"
        )
    typer.echo(f"written to {out}")
