"""`taskloom build`, `explore` and `compose`: runs that make records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.command_errors import INTERRUPTED, CommandError

SettingsOption = Annotated[
    Path | None, typer.Option("--settings", help="Settings file; taskloom.yaml here, where there is one.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="One setting, such as composition.count=500. Repeatable."
    ),
]
DataOption = Annotated[Path | None, typer.Option(help="Folder of everything a run keeps.")]
ApplicationsOption = Annotated[
    str, typer.Option(help="Applications to use, separated by commas; all installed ones by default.")
]
BudgetOption = Annotated[
    str, typer.Option(help="What the run may spend, such as 25usd or 2Mtok; it stops cleanly before.")
]
MistakesOption = Annotated[
    float | None,
    typer.Option(help="Share of its answers in which the offline provider errs on purpose, 0 to 1."),
]
ReplayOption = Annotated[
    bool,
    typer.Option("--replay", help="Answer every model call from the ledger; a missing reply is an error."),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the plan with expected model calls and cost, and change nothing."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

FlowName = Literal["build_dataset", "explore_applications", "verify_subtasks", "compose_tasks"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("build")(build)
    app.command("explore")(explore)
    app.command("compose")(compose)


def build(
    settings: SettingsOption = None,
    assignments: SetOption = None,
    data: DataOption = None,
    applications: ApplicationsOption = "",
    tasks: Annotated[int | None, typer.Option(help="Tasks to compose.", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice.")] = None,
    budget: BudgetOption = "",
    offline_mistakes: MistakesOption = None,
    replay: ReplayOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Explore, verify, compose, validate, replay, and publish a dataset version.

    Everything finished is kept: the same command goes on after an interruption, and adds to the pool later.
    Exit codes: 0 a version was published, 1 nothing came through, 3 the budget is used up, 4 something is missing.
    """
    more = [f"composition.count={tasks}"] if tasks is not None else []
    run_flow(
        "build_dataset",
        settings,
        [*(assignments or ()), *more],
        data,
        applications,
        seed=seed,
        budget=budget,
        offline_mistakes=offline_mistakes,
        replay=replay,
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )


def explore(
    settings: SettingsOption = None,
    assignments: SetOption = None,
    data: DataOption = None,
    applications: ApplicationsOption = "",
    budget: BudgetOption = "",
    offline_mistakes: MistakesOption = None,
    replay: ReplayOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Explore applications: propose subtasks and keep those that are well formed."""
    run_flow(
        "explore_applications",
        settings,
        assignments or (),
        data,
        applications,
        seed=None,
        budget=budget,
        offline_mistakes=offline_mistakes,
        replay=replay,
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )


def compose(
    settings: SettingsOption = None,
    assignments: SetOption = None,
    data: DataOption = None,
    tasks: Annotated[int | None, typer.Option(help="Tasks to compose.", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice.")] = None,
    budget: BudgetOption = "",
    offline_mistakes: MistakesOption = None,
    replay: ReplayOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compose tasks from the verified subtasks of the warehouse, and write, validate and replay them."""
    more = [f"composition.count={tasks}"] if tasks is not None else []
    run_flow(
        "compose_tasks",
        settings,
        [*(assignments or ()), *more],
        data,
        "",
        seed=seed,
        budget=budget,
        offline_mistakes=offline_mistakes,
        replay=replay,
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )


def run_flow(
    flow: FlowName,
    settings_file: Path | None,
    assignments: Iterable[str],
    data: Path | None,
    applications: str,
    *,
    seed: int | None,
    budget: str,
    offline_mistakes: float | None,
    replay: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Put the options into the settings, run the flow (or print its plan) and print the summary."""
    from flows.settings import load_settings

    names = [name.strip() for name in applications.split(",") if name.strip()]
    given = [
        *assignments,
        *([f"applications=[{', '.join(names)}]"] if names else []),
        *([f"models.budget={budget}"] if budget else []),
        *(["models.replay=true"] if replay else []),
    ]
    settings = load_settings(
        settings_file, assignments=given, data=data, seed=seed, offline_mistakes=offline_mistakes
    )
    if dry_run:
        from flows.planning import plan_run

        plan = plan_run(settings, flow)
        typer.echo(plan.model_dump_json(indent=2) if as_json else plan.describe())
        return

    from flows.wiring import choose_applications

    choose_applications(settings)

    import asyncio
    from importlib import import_module

    from flows.log_setup import prepare_prefect, quiet_libraries

    prepare_prefect(settings.data)
    module = import_module(f"flows.{flow}")
    quiet_libraries()
    try:
        summary = asyncio.run(getattr(module, flow)(settings=settings, quiet=quiet))
    except KeyboardInterrupt:
        raise CommandError(
            "interrupted; what is finished is kept, and the same command goes on.", INTERRUPTED
        ) from None
    typer.echo(summary.model_dump_json(indent=2) if as_json else summary.describe())
    raise typer.Exit(summary.exit_code)
