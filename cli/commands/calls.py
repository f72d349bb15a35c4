"""`taskloom calls`: what the model calls were, cost and brought; moves and prunes the ledger that keeps
them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.shared_options import DataOption, JsonOption
from taskloom.flows.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskloom.model_clients.ledger.call_summaries import CallSummary
    from taskloom.model_clients.ledger.ledger import Ledger


def register(app: typer.Typer) -> None:
    """Add the command and the one below it."""
    group = typer.Typer(
        help="Summarize model calls by stage, model and outcome; export or import the ledger."
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
    export: Annotated[Path | None, typer.Option(help="Write the calls to this new file.")] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Add the calls of an exported file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Sum up the model calls in the ledger, or move them between machines.

    With an imported ledger, `taskloom build --replay` repeats a run byte for byte without key or network.
    """
    if context.invoked_subcommand is not None:
        return
    from taskloom.model_clients.ledger.call_summaries import summarise_calls
    from taskloom.model_clients.ledger.transfer import export_ledger, import_ledger

    with _open_ledger(data, must_exist=import_ is None) as ledger:
        if import_ is not None:
            imported = import_ledger(ledger, import_)
            _print_fields({"added": imported.added, "present": imported.present}, as_json)
        if export is not None:
            _print_fields({"exported": export_ledger(ledger, export, run), "file": str(export)}, as_json)
        if import_ is None and export is None:
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
        typer.Option("--requests", help="Delete messages and pictures; replies stay and still save calls."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Shrink the ledger: delete the selected calls, and pictures that no call needs.

    Examples:
      taskloom calls prune --failed --older-than 30
    """
    from taskloom.model_clients.ledger.transfer import prune_ledger

    with _open_ledger(data, must_exist=True) as ledger:
        pruned = prune_ledger(ledger, older_than_days=older_than, failed=failed, requests=requests)
    _print_fields(
        {
            "calls": pruned.calls,
            "requests": pruned.requests,
            "contents": pruned.contents,
            "bytes_before": pruned.bytes_before,
            "bytes_after": pruned.bytes_after,
        },
        as_json,
    )


@contextmanager
def _open_ledger(data: Path | None, *, must_exist: bool) -> Iterator[Ledger]:
    from taskloom.flows.places import load_places
    from taskloom.model_clients.errors import LedgerBrokenError
    from taskloom.model_clients.ledger.ledger import Ledger

    path = load_places(data=data).data / "ledger.sqlite"
    if must_exist and not path.exists():
        raise CommandError(
            f"there is no ledger at {path}; name its folder with --data, or run: taskloom build"
        )
    try:
        with Ledger(path) as ledger:
            yield ledger
    except LedgerBrokenError as error:
        raise CommandError(str(error)) from error


def _print_fields(fields: dict[str, int | str], as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps(fields))
    else:
        for name, value in fields.items():
            typer.echo(f"{name.replace('_', ' ')}: {value}")


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
        headings,
        *(
            (
                summary.stage,
                summary.model,
                summary.outcome,
                str(summary.calls),
                str(summary.retries),
                str(summary.input_tokens),
                f"{summary.cached_share:.0%}",
                str(summary.output_tokens),
                "unknown" if summary.calls_without_price else f"{summary.cost_usd:.4f}",
                f"{summary.mean_latency_seconds:.2f}",
            )
            for summary in summaries
        ),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    for row in rows:
        cells = [
            cell.ljust(width) if column < 3 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())
    calls_made = sum(summary.calls for summary in summaries)
    typer.echo(f"{calls_made} calls, ${sum(summary.cost_usd for summary in summaries):.4f}")
