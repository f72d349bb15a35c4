"""`taskloom verify`: the verification stage; or a new examination of evaluation functions, from recorded
evidence alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.options import RunOptions, VersionOption, WarehouseOption, with_run_options
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskloom.flows.examination import FunctionExamination
    from taskloom.flows.settings import Settings


_SHOWN_EFFECTS = 40


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(with_run_options(verify))


def verify(
    options: RunOptions,
    function: Annotated[
        Path | None,
        typer.Option(help="With --subtask: examine the evaluation function in this file instead."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Examine all accepted functions of the warehouse again.")
    ] = False,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="After verifying, perform pairs of subtasks that may affect each other, in both orders.",
        ),
    ] = False,
    again: Annotated[
        str,
        typer.Option(
            help=(
                "Try these rejected proposals again, unchanged; ids separated by commas, * matches any text."
            )
        ),
    ] = "",
    subtask: Annotated[str, typer.Option(help="Examine the accepted function of this subtask again.")] = "",
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
) -> None:
    """Verify subtasks; or, with --subtask or --all, examine evaluation functions without a browser or model.

    Verified subtasks are not verified again; rejected proposals are tried again only with --again.

    An examination prints the kill matrix: how many wrong and right cases of each family the function judges
    correctly and, for each other case, what was done and what the function answered. The exit code is 1 if a
    function is not acceptable.

    Examples:
      taskloom verify --applications drawio

      taskloom verify --again 'drawio.*'

      taskloom verify --pairs

      taskloom verify --subtask drawio.add_shape

      taskloom verify --subtask drawio.add_shape --function mine.py
    """
    if function is not None and not subtask:
        raise CommandError(
            "--function needs --subtask: the function is examined with the recordings of that subtask."
        )
    modes = {"--all": every, "--subtask": subtask, "--pairs": pairs, "--again": again}
    chosen = [name for name, value in modes.items() if value]
    if len(chosen) > 1 and chosen != ["--pairs", "--again"]:
        raise CommandError(f"{' and '.join(chosen[:2])} exclude each other.")
    settings = options.load(warehouse=warehouse)
    if not every and not subtask:
        changes: dict[str, object] = {}
        if pairs:
            changes["replay"] = settings.replay.model_copy(update={"pairs": True})
        if again:
            patterns = tuple(name.strip() for name in again.split(",") if name.strip())
            _require_rejected(settings, patterns)
            changes["verification"] = settings.verification.model_copy(update={"again": patterns})
        from taskloom.cli.commands.build import run_flow

        run_flow("verify_subtasks", options, settings.model_copy(update=changes))
    else:
        examined = _examine_stored(settings, version, subtask, function, options.quiet)
        _print_examinations(examined, options.as_json, in_full=bool(subtask))


def _require_rejected(settings: Settings, patterns: tuple[str, ...]) -> None:
    """Refuse a pattern that names no rejected proposal."""
    from taskloom.flows.pool import matches_any, rejected_proposals
    from taskloom.warehouse.store import Warehouse

    with Warehouse(settings.warehouse_location, read_only=True) as store:
        rejected = rejected_proposals(store)
    for pattern in patterns:
        if not any(matches_any(name, [pattern]) for name in rejected):
            known = ", ".join(rejected) or "none"
            raise CommandError(
                f"--again {pattern!r} names no rejected proposal. Rejected and not verified since: {known}."
            )


def _examine_stored(
    settings: Settings, version: str | None, subtask: str, function: Path | None, quiet: bool
) -> list[FunctionExamination]:
    from taskloom.evaluators_api.interpreter.sandbox import EvaluationSandbox
    from taskloom.flows.examination import examine_stored, stored_functions
    from taskloom.flows.wiring import sandbox_settings
    from taskloom.resources.reading.catalog import load_resource_categories
    from taskloom.warehouse.store import Warehouse

    categories = load_resource_categories(settings.catalog)
    examined: list[FunctionExamination] = []
    with (
        Warehouse(settings.warehouse_location, read_only=True, version=version) as store,
        EvaluationSandbox(sandbox_settings(settings)) as sandbox,
    ):
        for stored in stored_functions(store, subtask):
            thresholds = settings.verification.thresholds
            examined.append(examine_stored(stored, sandbox, thresholds, categories, function))
            if not quiet and len(examined) % 50 == 0:
                typer.echo(f"{len(examined)} functions examined", err=True)
    if not examined:
        where = f"of the subtask {subtask!r}" if subtask else "at all"
        raise CommandError(
            f"The warehouse {settings.warehouse_location} holds no accepted evaluation function {where}."
        )
    return examined


def _print_examinations(examined: Sequence[FunctionExamination], as_json: bool, *, in_full: bool) -> None:
    from taskloom.cli.answer_printing import print_json, print_records

    rejected = [item for item in examined if not item.acceptable]
    if as_json:
        print_json([item.model_dump(mode="json") for item in examined])
    elif in_full:
        for item in examined:
            _print_matrix(item)
    else:
        rows = [
            {
                "subtask": item.subtask_id,
                "cases": sum(kills.total for kills in item.quality.families),
                "judged correctly": sum(kills.killed for kills in item.quality.families),
                "mutation score": item.quality.mutation_score,
                "route dependence": item.quality.route_dependence,
                "acceptable": "yes" if item.acceptable else item.reasons[0],
            }
            for item in examined
        ]
        print_records(rows, as_json=False)
        typer.echo(f"{len(examined) - len(rejected)} of {len(examined)} functions are acceptable", err=True)
    if rejected:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _print_matrix(item: FunctionExamination) -> None:
    from taskloom.cli.answer_printing import print_table
    from taskloom.taskgraph.records.evaluation_function import GENUINE_FAMILIES

    quality = item.quality
    rows: list[tuple[object, ...]] = [("positive", "right", 1, int(quality.passes_positive), 0)]
    for kills in quality.families:
        work = "right" if kills.family in GENUINE_FAMILIES else "wrong"
        rows.append((kills.family, work, kills.total, kills.killed, kills.excused))
    print_table(("family", "work", "cases", "judged correctly", "excused"), rows)
    score = "none" if quality.mutation_score is None else f"{quality.mutation_score:.0%}"
    typer.echo(
        f"\nmutants detected: {score} ({quality.mutants_killed} of {quality.mutants});"
        f" right work accepted: {quality.variants_accepted} of {quality.variants} variants;"
        f" routes: {quality.routes}; checks of the route: {quality.route_dependence:.0%}"
    )
    for title, effects in (
        ("Changed by every performance", item.essential),
        ("Changed by only some", item.incidental),
    ):
        if effects:
            typer.echo(f"\n{title}:")
            for line in effects[:_SHOWN_EFFECTS]:
                typer.echo(f"  {line}")
            if len(effects) > _SHOWN_EFFECTS:
                typer.echo(f"  and {len(effects) - _SHOWN_EFFECTS} more")
    for change in quality.unguarded_changes:
        typer.echo(f"not noticed: {change}")
    for check in quality.untested_checks:
        typer.echo(f"makes no difference: {check}")
    typer.echo("acceptable" if item.acceptable else f"\n{item.feedback}")
