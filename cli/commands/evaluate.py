"""`taskloom evaluate`: an agent attempts tasks and is scored by the graph (section 4.1)."""

from __future__ import annotations

from typing import Annotated

import typer

from taskloom.cli.answer_printing import print_records
from taskloom.cli.run_options import RunOptions, with_run_options
from taskloom.flows.errors import CommandError
from taskloom.flows.running.interruptions import interruptible
from taskloom.resources.dimensions import EXAMPLE_CHOICE


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(with_run_options(evaluate))


def evaluate(
    options: RunOptions,
    agent: Annotated[
        str,
        typer.Option(
            help=(
                "`module:factory` of your agent; `model` for the actor model of the settings; `recorded`"
                " for the"
                " verified trajectories, the upper bound."
            )
        ),
    ] = "model",
    size: Annotated[int, typer.Option(min=1, help="Maximum number of tasks.")] = 20,
    where: Annotated[str, typer.Option(help="SQL condition over the columns of tasks.")] = "",
    level: Annotated[str, typer.Option(help=f"Levels, such as {EXAMPLE_CHOICE}.")] = "",
    capability: Annotated[str, typer.Option(help="Capability of Table 12 that every task must test.")] = "",
    patience: Annotated[
        int,
        typer.Option(min=1, help="Steps without a newly completed subtask after which a task has failed."),
    ] = 20,
    instructions: Annotated[str, typer.Option(help="high (whole tasks) or low (subtasks).")] = "high",
) -> None:
    """Have an agent attempt validated tasks in real environments, and score it.

    Prints success rate, coverage rate and logical consistency: in total, per capability and per level.
    Attempts are stored in the table `agent_runs`, recordings in `trajectories`.

    Examples:
      taskloom evaluate --agent recorded --size 5

      taskloom evaluate --agent my_agents:make --level dependency=hard --json
    """
    import asyncio

    from taskloom.flows.hosting.preflight import check_keys, check_settings
    from taskloom.flows.running.log_setup import prepare_prefect, quiet_libraries
    from taskloom.flows.running.prefect_server import prefect_server
    from taskloom.flows.stages.agents import check_agent
    from taskloom.taskgraph.records.model_calls import ModelRole
    from taskloom.warehouse.sets.selection import Selection, parse_levels

    if instructions not in ("high", "low"):
        raise CommandError(f"--instructions is {instructions!r}; it is high or low.")
    settings = options.load()
    selection = Selection(
        where=where,
        levels=parse_levels(level),
        capability=capability,
        size=size,
        seed=settings.seed,
    )
    check_agent(agent)
    check_settings(settings)
    prepare_prefect(settings.data)
    with interruptible("attempts that ended are kept."), prefect_server():
        check_keys(settings, (ModelRole.ACTOR,) if agent == "model" else ())
        from taskloom.flows.evaluate_agent import evaluate_agent

        quiet_libraries()
        report = asyncio.run(
            evaluate_agent(
                agent,
                selection,
                "high" if instructions == "high" else "low",
                patience,
                settings=settings,
                quiet=options.quiet,
            )
        )
    if options.as_json:
        typer.echo(report.model_dump_json(indent=2))
        return
    rows = [row.model_dump() for row in report.rows]
    further = sorted({name for row in rows for name in row["further_metrics"]})
    for row in rows:
        values = row.pop("further_metrics")
        row.update({name: values.get(name) for name in further})
    print_records(rows, as_json=False)
    for line in report.remarks:
        typer.echo(line)
