"""`taskloom build`, `explore` and `compose`: runs that add records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from taskloom.cli.options import RunOptions, with_run_options
from taskloom.flows.running.interruptions import interruptible

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings

TasksOption = Annotated[int | None, typer.Option(help="Tasks to compose.", min=1)]

FlowName = Literal["build_dataset", "explore_applications", "verify_subtasks", "compose_tasks"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("build")(with_run_options(build))
    app.command("explore")(with_run_options(explore))
    app.command("compose")(with_run_options(compose))


def build(
    options: RunOptions,
    tasks: TasksOption = None,
    night: Annotated[
        bool,
        typer.Option(
            "--night", help="Scheduled build: explore only what is new or changed, compose what is missing."
        ),
    ] = False,
) -> None:
    """Explore, verify, compose, validate, replay, and publish a dataset version.

    Finished work is kept: the same command resumes after an interruption, and extends the dataset later.
    With --night, a share of the verified subtasks is performed again, and those that fail are retired; see
    docs/scheduling.md. Exit codes: 0 a version was published, or nothing was new, 1 nothing passed, 3 the
    budget is used up, 4 something is missing, 6 a gate failed and no version was published.

    Examples:
      taskloom build --tasks 500 --applications drawio,tiddlywiki

      taskloom build --budget 25usd --set models.default.provider=openai --set models.default.model=gpt-5
      --dry-run
    """
    assignments = ["nights.enabled=true"] if night else []
    run_flow("build_dataset", options, options.load(*_count(tasks), *assignments))


def explore(options: RunOptions) -> None:
    """Explore applications: propose subtasks and keep those that are well formed.

    Examples:
      taskloom explore --applications zotero --set exploration.subtasks_per_application=20
    """
    run_flow("explore_applications", options, options.load())


def compose(options: RunOptions, tasks: TasksOption = None) -> None:
    """Compose tasks from the verified subtasks of the warehouse, write their instructions, validate and
    replay them.

    Examples:
      taskloom compose --tasks 200 --seed 7
    """
    run_flow("compose_tasks", options, options.load(*_count(tasks)))


def _count(tasks: int | None) -> list[str]:
    return [] if tasks is None else [f"composition.count={tasks}"]


def run_flow(flow: FlowName, options: RunOptions, settings: Settings) -> None:
    """Run the flow (or print its plan) and print the summary."""
    from taskloom.flows.preflight import check_keys, check_settings, unpriced

    if options.dry_run:
        from taskloom.flows.planning.planning import plan_run
        from taskloom.model_clients.ledger.budget import Budget

        Budget.of(settings.models.budget)  # raises if it cannot be read
        plan = plan_run(settings, flow)
        typer.echo(plan.model_dump_json(indent=2) if options.as_json else plan.describe())
        return

    check_settings(settings)

    import asyncio

    from taskloom.flows.running.prefect_server import prefect_server, prepare_prefect, quiet_libraries

    prepare_prefect(settings.data)
    with interruptible("finished work is kept; the same command resumes."), prefect_server():
        check_keys(settings)
        if names := unpriced(settings):
            typer.echo(f"no price is known for {', '.join(names)}: the reported cost leaves it out", err=True)
        from taskloom.flows import build_dataset as flows

        quiet_libraries()
        summary = asyncio.run(getattr(flows, flow)(settings=settings, quiet=options.quiet))
    typer.echo(summary.model_dump_json(indent=2) if options.as_json else summary.describe())
    raise typer.Exit(summary.exit_code)
