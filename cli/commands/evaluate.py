"""`taskloom evaluate`: lets agents attempt tasks and scores them by the graph (section 4.1)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskloom.cli.answer_printing import print_table
from taskloom.cli.options import RunOptions, with_run_options
from taskloom.flows.errors import CommandError
from taskloom.flows.running.interruptions import interruptible
from taskloom.resources.dimensions import EXAMPLE_CHOICE
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.flows.experimenting.finishing import ExperimentReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(with_run_options(evaluate))


def evaluate(
    options: RunOptions,
    experiment: Annotated[
        Path | None,
        typer.Argument(help="YAML file of an experiment; without one, the options define the experiment."),
    ] = None,
    agent: Annotated[
        str,
        typer.Option(help="A built-in agent, such as `recorded` or `model`, or your own `module:factory`."),
    ] = "model",
    name: Annotated[str, typer.Option(help="Name of the experiment and of its folder.")] = "",
    protocol: Annotated[str, typer.Option(help="Evaluation protocol: paper or notes.")] = "paper",
    size: Annotated[int, typer.Option(min=1, help="Maximum tasks.")] = 20,
    where: Annotated[str, typer.Option(help="SQL condition over the columns of tasks.")] = "",
    level: Annotated[str, typer.Option(help=f"Levels, such as {EXAMPLE_CHOICE}.")] = "",
    capability: Annotated[str, typer.Option(help="Capability of Table 12 that every task must test.")] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Attempts at each task, each with its own seed.")] = 1,
    patience: Annotated[
        int,
        typer.Option(
            min=0,
            help="Steps without a newly completed subtask that end an attempt; 0 for the protocol's value.",
        ),
    ] = 0,
    instructions: Annotated[
        str,
        typer.Option(
            help="Instructions given: high (whole tasks), low (subtasks), orders, intent, ask, news."
        ),
    ] = "high",
) -> None:
    """Let agents attempt validated tasks in real environments, and score what they completed.

    Prints the agents' figures with intervals, and how attempts ended. Everything is kept: the tables
    `experiments`, `agent_runs`, `agent_steps` and `agent_scores`, and a folder with the report. After an
    interruption, the same command resumes. `--seed` applies to the agents; it never changes the tasks.

    Examples:
      taskloom evaluate experiment.yaml

      taskloom evaluate --agent recorded --size 5

      taskloom evaluate --agent my_agents:make --level dependency=hard --repeats 4 --json
    """
    import asyncio

    from taskloom.flows.experimenting.checking import (
        check_experiment,
        check_tasks,
        experiment_of,
        read_experiment,
    )
    from taskloom.flows.running.prefect_server import prepare_prefect, quiet_libraries, require_server
    from taskloom.flows.stages.agents import is_person
    from taskloom.warehouse.sets.selection import parse_levels

    settings = options.load()
    if experiment is not None:
        definition = read_experiment(experiment)
    else:
        content: dict[str, Any] = {
            "name": name,
            "protocol": protocol,
            "agents": [agent],
            "tasks": {"where": where, "levels": parse_levels(level), "capability": capability, "size": size},
            "variants": [instructions],
            "repeats": repeats,
            "seed": settings.seed,
            "limits": {"patience": patience},
        }
        definition = experiment_of(content, "the experiment of these options")
    check_experiment(definition, settings)
    check_tasks(definition, settings)
    if any(is_person(entry.agent) for entry in definition.agents):
        typer.echo("a person plays: open Agents, Play in `taskloom view --browser`", err=True)
    prepare_prefect(settings.data)
    with interruptible("finished attempts are kept."):
        from taskloom.flows.run_experiment import run_experiment

        quiet_libraries()
        if os.environ.get("PREFECT_API_URL"):  # otherwise no server is needed
            require_server()
            report = asyncio.run(run_experiment(definition, settings=settings, quiet=options.quiet))
        else:
            report = asyncio.run(run_experiment.fn(definition, settings=settings, quiet=options.quiet))
    print_report(report, as_json=options.as_json)


def print_report(report: ExperimentReport, *, as_json: bool) -> None:
    """Print the results of an experiment.

    Raises:
        CommandError: too many attempts are invalid.
    """
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        for table in (report.leaderboard, report.ends):
            if len(table) > 1:
                print_table(table[0], table[1:])
        for line in (*report.remarks, f"report: {report.folder}/report.html"):
            typer.echo(line)
    if not report.holds:
        raise CommandError(
            f"{report.invalid} of {report.attempts} attempts are invalid: the figures do not hold",
            exit_code=ExitCode.NEGATIVE_ANSWER,
        )
