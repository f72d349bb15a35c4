"""The `taskloom` command: finds the command modules, runs one, and turns errors into one clear line."""

from __future__ import annotations

import os
import pkgutil
import sys
import traceback
from importlib import import_module
from importlib.metadata import version as distribution_version

import typer

import cli.commands
from flows.errors import (
    BAD_INPUT,
    BUDGET_EXHAUSTED,
    INTERRUPTED,
    MISSING_REQUIREMENT,
    WAITING_FOR_REPLIES,
    CommandError,
)

_EXIT_CODES = {
    "BrowserMissing": MISSING_REQUIREMENT,
    "ApplicationUnavailable": MISSING_REQUIREMENT,
    "KeyMissing": MISSING_REQUIREMENT,
    "KeyRejected": MISSING_REQUIREMENT,
    "BudgetExhausted": BUDGET_EXHAUSTED,
}


def create_app() -> typer.Typer:
    """The application with every command found in `cli/commands/`."""
    app = typer.Typer(
        name="taskloom",
        help="Turns applications into datasets of verified, graph-structured tasks for computer-use agents.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done, 1 the answer is no, 2 bad input, 3 budget used up, 4 something is missing on"
        " this machine, 5 requests were written to a file and wait for replies, 130 interrupted, 143 terminated.",
    )

    @app.callback(invoke_without_command=True)
    def root(
        version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    ) -> None:
        if version:
            typer.echo(distribution_version("taskloom"))
            raise typer.Exit

    for module in sorted(pkgutil.iter_modules(cli.commands.__path__), key=lambda found: found.name):
        import_module(f"cli.commands.{module.name}").register(app)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    Errors that taskloom raises on purpose are shown in one line; anything else is a fault of taskloom and is shown
    with its trace only when `TASKLOOM_DEBUG` is set.
    """
    try:
        create_app()(arguments, standalone_mode=True)
    except CommandError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted; what was finished is kept, and the same command continues.", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("TASKLOOM_DEBUG"):
            traceback.print_exc()
        if type(error).__name__ == "BatchPending":
            _end(str(error), WAITING_FOR_REPLIES)
        if hasattr(error, "transient"):
            _fail(str(error), _EXIT_CODES.get(type(error).__name__, BAD_INPUT))
        _fail(f"{type(error).__name__}: {error} (TASKLOOM_DEBUG=1 shows the trace)", 1)


def _fail(message: str, exit_code: int) -> None:
    _end(f"error: {message}", exit_code)


def _end(message: str, exit_code: int) -> None:
    print(message, file=sys.stderr)  # noqa: T201 - the one place that prints errors
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
