"""`taskloom versions`, `publish` and `diff`: published dataset versions, and the changes between two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.options import JsonOption, WarehouseOption

if TYPE_CHECKING:
    from taskloom.warehouse.store import Warehouse


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(invoke_without_command=True)
    group.callback()(versions)
    group.command("tag")(tag)
    group.command("clean")(clean)
    group.command("scores")(scores)
    app.add_typer(group, name="versions")
    app.command("publish")(publish)
    app.command("diff")(diff)


def publish(
    name: Annotated[str, typer.Argument(help="Name; the next v<number> by default.")] = "",
    description: Annotated[str, typer.Option(help="Free-text description.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Publish even if a gate fails; this is recorded.")
    ] = False,
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish the current state, such as imported or composed tasks, as an immutable dataset version.

    If a gate fails (settings `gates`, docs/scheduling.md), nothing is published and the exit code is 6.

    Examples:
      taskloom publish 2026-11

      taskloom publish --force
    """
    from taskloom.flows.nights.gates import pass_gates
    from taskloom.flows.settings import load_settings

    settings = load_settings(warehouse=warehouse)
    with _open_warehouse(settings.warehouse_location, write=True) as opened:
        for line in pass_gates(opened, settings.gates, force=force):
            typer.echo(f"published anyway: {line}", err=True)
        version = opened.publish(name, description=description)
    if as_json:
        typer.echo(version.model_dump_json(indent=2))
        return
    held = ", ".join(f"{count} {table}" for table, count in version.counts.items() if count)
    typer.echo(f"published {version.name}: {held or 'nothing is stored yet'}")


def tag(
    name: Annotated[str, typer.Argument(help="The tag, such as stable.")],
    version: Annotated[str, typer.Argument(help="A published version.")],
    warehouse: WarehouseOption = None,
) -> None:
    """Give a version another name; the tag moves if another version has it. `--version` accepts tags.

    Examples:
      taskloom versions tag stable v3
    """
    from taskloom.warehouse.versions import tag as set_tag

    with _open_warehouse(warehouse, write=True) as opened:
        new_tag = set_tag(opened, name, version)
    typer.echo(f"{new_tag.tag} is {new_tag.version}")


def clean(
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="Newest versions to keep, besides tagged ones; all by default."),
    ] = None,
    hours: Annotated[float, typer.Option(min=0, help="Keep unpublished states younger than this.")] = 24.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove files of unfinished commits, old unpublished states, and versions beyond --keep.

    Examples:
      taskloom versions clean --keep 3
    """
    from taskloom.warehouse.versions import clean as clean_warehouse

    with _open_warehouse(warehouse, write=True) as opened:
        cleaning = clean_warehouse(opened, keep=keep, hours=hours, dry_run=dry_run)
    if as_json:
        typer.echo(cleaning.model_dump_json(indent=2))
        return
    verb = "would remove" if dry_run else "removed"
    typer.echo(f"{verb} {len(cleaning.orphan_files)} orphan files, {cleaning.states} old states", nl=False)
    typer.echo(f", versions: {', '.join(cleaning.versions) or 'none'}")


def scores(
    version: Annotated[str, typer.Argument(help="A published version; the newest by default.")] = "",
    since: Annotated[str, typer.Option(help="The earlier version; the one before by default.")] = "",
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print which scores of an earlier version no longer hold, because tasks, functions or starting files
    changed.

    The exit code is 1 if the scores of any task no longer hold.

    Examples:
      taskloom versions scores v3 --since v1
    """
    from taskloom.resources.errors import ExitCode
    from taskloom.warehouse.versions import REASONS, score_validity

    with _open_warehouse(warehouse) as opened:
        validity = score_validity(opened, version, since)
    if as_json:
        typer.echo(validity.model_dump_json(indent=2))
    else:
        typer.echo(
            f"{validity.later} makes the scores of {validity.earlier} invalid on {len(validity.changed)} of"
            f" {validity.tasks} tasks"
        )
        for name, count in validity.reasons.items():
            typer.echo(f"  {count}: {REASONS[name]}")
        for item in validity.agents:
            typer.echo(f"  {item.agent}: {item.invalid} of {item.attempts} attempts no longer count")
    if validity.changed:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def versions(context: typer.Context, warehouse: WarehouseOption = None, as_json: JsonOption = False) -> None:
    """List the published dataset versions, oldest first, with their tags.

    Examples:
      taskloom versions --json
    """
    if context.invoked_subcommand is not None:
        return
    from taskloom.cli.answer_printing import print_json, print_records
    from taskloom.warehouse.records import VersionTag

    with _open_warehouse(warehouse) as opened:
        published = opened.versions()
        tags: dict[str, list[str]] = {version.name: [] for version in published}
        for item in opened.read(VersionTag):
            tags.get(item.version, []).append(item.tag)
    if as_json:
        print_json([version.model_dump(mode="json") | {"tags": tags[version.name]} for version in published])
        return
    if not published:
        typer.echo("no version is published yet; a completed `taskloom build` publishes one.", err=True)
        return
    print_records(
        [
            {
                "name": version.name,
                "tags": ", ".join(tags[version.name]),
                "published": version.created_at[:19].replace("T", " "),
                "parent": version.parent,
                "tasks": version.counts.get("tasks", 0),
                "subtasks": version.counts.get("subtasks", 0),
                "models": ", ".join(version.models),
                "cost_usd": version.cost_usd,
                "description": version.description,
            }
            for version in published
        ],
        as_json=False,
    )


def diff(
    earlier: Annotated[str, typer.Argument(help="A version.")],
    later: Annotated[str, typer.Argument(help="Another version.")],
    warehouse: WarehouseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two versions: rows added, removed and changed, per table.

    Examples:
      taskloom diff v1 v2
    """
    from taskloom.cli.answer_printing import print_records
    from taskloom.warehouse.versions import differences

    with _open_warehouse(warehouse) as opened:
        changes = differences(opened, earlier, later)
    print_records([change.model_dump() for change in changes], as_json)
    if not changes:
        typer.echo(f"{earlier} and {later} hold the same records.", err=True)


def _open_warehouse(warehouse: str | None, *, write: bool = False) -> Warehouse:
    """Open the warehouse, which must already exist."""
    from taskloom.flows.places import load_places
    from taskloom.warehouse.store import Warehouse

    place = load_places(warehouse=warehouse).warehouse_location
    opened = Warehouse(place, read_only=True)
    if not write:
        return opened
    opened.close()
    return Warehouse(place)
