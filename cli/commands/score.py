"""`taskloom score`: scores an execution sequence on a task graph or rescores experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import DataOption, JsonOption, SettingsOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("score")(score)


def score(
    file: Annotated[
        str,
        typer.Argument(
            help="JSON of a task graph (- reads standard input); with --again, --critic or --people, the name"
            " of an experiment."
        ),
    ],
    completed: Annotated[
        str,
        typer.Option(
            help="Ids of the completed subtasks in order, separated by commas, or as a JSON list; empty for"
            " none.",
            show_default=False,
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option("--again", help="Judge the recorded attempts of an experiment with current functions."),
    ] = False,
    critic: Annotated[
        bool,
        typer.Option("--critic", help="Ask the critic's model about the attempts of an experiment."),
    ] = False,
    people: Annotated[
        Path | None,
        typer.Option(help="CSV of human scores: attempt, completion, alignment (percent)."),
    ] = None,
    settings: SettingsOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print coverage rate and logical consistency (section 4.1) of the completed subtasks.

    After functions or metrics change, `--again` recomputes all scores of an experiment from its recordings,
    without an environment or a model, and rewrites its report. `--critic` and `--people` add second opinions
    to the report, with their agreement and correlation (Figure 5).

    Examples:
      taskloom score task.json --completed a,b,c

      taskloom score baselines --again

      taskloom score baselines --critic --people scores.csv
    """
    if again or critic or people:
        from taskloom.flows.settings import load_settings

        if as_json and again and (critic or people):
            raise CommandError("--json prints one document; call --again first, then --critic or --people.")
        chosen = load_settings(settings, data=data)
        if again:
            _score_again(file, chosen, as_json=as_json)
        if critic or people:
            _add_opinions(file, people, chosen, critic=critic, as_json=as_json)
        return
    from taskloom.cli.commands.graph import graph_in, notes_on
    from taskloom.omnieval.errors import SequenceImpossibleError
    from taskloom.omnieval.scoring import score_of
    from taskloom.taskgraph.measures.coherency import maximum_coherency_of

    graph = graph_in(Path(file))
    sequence = _sequence(completed)
    try:
        result = score_of(graph, sequence)
    except SequenceImpossibleError as error:
        raise CommandError(str(error)) from None
    notes = notes_on(graph)
    if as_json:
        print_json(result.model_dump() | {"notes": notes})
        return
    undefined_because = ""
    if not all(node.application for node in graph.nodes):
        undefined_because = "applications are not given"
    elif maximum_coherency_of(graph) is None:
        undefined_because = "no order of the task is successful"
    consistency = (
        f"undefined ({undefined_because or 'no two subtasks of one application can be neighbours'})"
        if result.logical_consistency is None
        else f"{result.logical_consistency:.4f}"
    )
    typer.echo(f"{'coverage rate':22}{result.coverage_rate:.4f}")
    typer.echo(f"{'logical consistency':22}{consistency}")
    for name, value in result.further_metrics.items():
        typer.echo(f"{name.replace('_', ' '):22}{value:.4f}")
    if not undefined_because:
        typer.echo(f"{'coherency score':22}{result.coherency_score} of at most {result.maximum_coherency}")
    typer.echo(f"{'completed':22}{len(sequence)} of {len(graph.nodes)} subtasks")
    for note in notes:
        typer.echo(f"{'note':22}{note}")


def _score_again(name: str, settings: Settings, *, as_json: bool) -> None:
    from taskloom.cli.commands.evaluate import print_report
    from taskloom.flows.experimenting.judging_again import score_again

    rescored = score_again(settings, name)
    if as_json:
        typer.echo(rescored.model_dump_json(indent=2))
        return
    typer.echo(
        f"{rescored.attempts} attempts judged again, {len(rescored.changed)} with another result"
        + (f", {rescored.without_recording} left unchanged" if rescored.without_recording else "")
    )
    print_report(rescored.report, as_json=False)


def _add_opinions(name: str, people: Path | None, settings: Settings, *, critic: bool, as_json: bool) -> None:
    import asyncio

    from taskloom.cli.commands.evaluate import print_report
    from taskloom.flows.experimenting.judging_again import ask_critic, import_human_scores

    if people is not None:
        report = import_human_scores(settings, name, people)
    if critic:
        report = asyncio.run(ask_critic(settings, name))
    print_report(report, as_json=as_json)


def _sequence(completed: str) -> list[str]:
    """The ids in `completed`: a JSON list, or separated by commas."""
    import json

    if completed.lstrip().startswith("["):
        try:
            listed = json.loads(completed)
        except ValueError:
            listed = None
        if isinstance(listed, list) and all(type(name) in (str, int) for name in listed):
            return [str(name) for name in listed]
    return [name.strip() for name in completed.split(",") if name.strip()]
