"""`taskloom calls`: summarises model calls and their cost; prunes the ledger that stores them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json, print_table
from taskloom.cli.options import DataOption, JsonOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskloom.model_clients.ledger.ledger import Ledger
    from taskloom.model_clients.ledger.upkeep import CallSummary


def register(app: typer.Typer) -> None:
    """Add the command and its subcommand."""
    group = typer.Typer(
        help="Summarize model calls by stage, model and outcome."
        "\n\nExamples:\n  taskloom calls\n\n  taskloom calls prune --failed",
        invoke_without_command=True,
    )
    group.callback()(calls)
    group.command("prune")(prune)
    app.add_typer(group, name="calls")


def calls(
    context: typer.Context,
    data: DataOption = None,
    run: Annotated[str | None, typer.Option(help="Only calls paid for by this run.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sum up the model calls in the ledger.

    With the ledger of a run, `ledger.sqlite`, copied into a data folder, `taskloom build --replay` repeats
    that run byte for byte without a key or network.
    """
    if context.invoked_subcommand is not None:
        return
    from taskloom.model_clients.ledger.upkeep import summarise_calls

    with _open_ledger(data) as ledger:
        _print_summaries(summarise_calls(ledger, run), as_json)


def prune(
    data: DataOption = None,
    older_than: Annotated[
        float | None,
        typer.Option(min=0, help="Delete calls older than this many days; they would be paid for again."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Delete calls without a reply.")] = False,
    requests: Annotated[
        bool,
        typer.Option("--requests", help="Delete messages and pictures; replies are kept and still reused."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Shrink the ledger: delete the selected calls, and pictures that no call needs.

    Examples:
      taskloom calls prune --failed --older-than 30
    """
    from taskloom.model_clients.ledger.upkeep import prune_ledger

    with _open_ledger(data) as ledger:
        pruned = prune_ledger(ledger, older_than_days=older_than, failed=failed, requests=requests)
    fields = asdict(pruned)
    if as_json:
        print_json(fields)
    else:
        for name, value in fields.items():
            typer.echo(f"{name.replace('_', ' ')}: {value}")


def _open_ledger(data: Path | None) -> Ledger:
    from taskloom.flows.places import load_places
    from taskloom.model_clients.ledger.ledger import Ledger

    path = load_places(data=data).data / "ledger.sqlite"
    if not path.exists():
        raise CommandError(
            f"there is no ledger at {path}; name its folder with --data, or run: taskloom build"
        )
    return Ledger(path)


def _print_summaries(summaries: Sequence[CallSummary], as_json: bool) -> None:
    if as_json:
        print_json([summary.model_dump(mode="json") for summary in summaries])
        return
    headings = (
        "stage",
        "model",
        "outcome",
        "calls",
        "retries",
        "input",
        "cached",
        "output",
        "usd",
        "seconds",
    )
    rows = [
        (
            item.stage,
            item.model,
            item.outcome,
            item.calls,
            item.retries,
            item.input_tokens,
            f"{item.cached_share:.0%}",
            item.output_tokens,
            "unknown" if item.calls_without_price else f"{item.cost_usd:.4f}",
            f"{item.mean_latency_seconds:.2f}",
        )
        for item in summaries
    ]
    print_table(headings, rows)
    calls_made = sum(summary.calls for summary in summaries)
    typer.echo(f"{calls_made} calls, ${sum(summary.cost_usd for summary in summaries):.4f}")
