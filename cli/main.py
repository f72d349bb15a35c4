"""The `taskloom` command: finds the command modules, runs one, and turns errors into one clear line."""

from __future__ import annotations

import inspect
import os
import re
import sys
import traceback
from typing import Any

import typer

from taskloom.resources.errors import ExitCode, TaskloomError
from taskloom.resources.plugins import PluginKind

COMMANDS: PluginKind[Any] = PluginKind("command", TaskloomError, folder="taskloom.cli.commands")
"""Modules with a function `register(app)`, which adds their commands."""
MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.NEGATIVE_ANSWER: "negative result",
    ExitCode.BAD_INPUT: "bad input",
    ExitCode.BUDGET_EXHAUSTED: "the budget is used up",
    ExitCode.MISSING_REQUIREMENT: "something is missing on this machine",
    ExitCode.GATE_FAILED: "a gate kept the next version from being published",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.TERMINATED: "terminated",
}
"""What each exit code means, in a few words."""


def exit_codes() -> str:
    """All exit codes and their meanings, in one sentence."""
    return f"Exit codes: {', '.join(f'{code.value} {text}' for code, text in MEANINGS.items())}."


def create_app() -> typer.Typer:
    """The application with every command found in `cli/commands/`."""
    app = typer.Typer(
        name="taskloom",
        help="Turns applications into datasets of verified, graph-structured tasks for computer-use agents.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # Rich takes longer to import than everything else that `--help` needs.
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
        epilog=exit_codes(),
    )

    @app.callback(invoke_without_command=True)
    def root(
        version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    ) -> None:
        if version:
            from importlib.metadata import version as distribution_version

            typer.echo(distribution_version("taskloom"))
            raise typer.Exit

    for _, command in COMMANDS.each():
        command.register(app)
    _keep_examples(app)
    return app


def _keep_examples(app: typer.Typer) -> None:
    """Preserve the lines of examples in the help of all commands."""
    for command in app.registered_commands:
        command.help = _with_preserved_lines(command.help, command.callback)
    group_callback = app.registered_callback
    if isinstance(app.info.help, str):
        app.info.help = _with_preserved_lines(app.info.help, None)
    elif group_callback is not None:
        group_callback.help = _with_preserved_lines(group_callback.help, group_callback.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _keep_examples(group.typer_instance)


def _with_preserved_lines(text: object, callback: object) -> str | None:
    """The help of a command, with the mark that preserves a paragraph's lines before each example."""
    help_text = text if isinstance(text, str) else inspect.getdoc(callback) or ""
    return re.sub(r"(?m)^(?=Examples:$|  +taskloom )", "\b\n", help_text) or None


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    Errors that taskloom raises deliberately are shown in one line; anything else is a bug, whose traceback is
    shown only if `TASKLOOM_DEBUG` is set.
    """
    try:
        create_app()(arguments, standalone_mode=True)
    except KeyboardInterrupt:
        _exit_with(
            "error: interrupted; finished work is kept; the same command resumes it.",
            ExitCode.INTERRUPTED,
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.DONE)
    except Exception as error:
        if os.environ.get("TASKLOOM_DEBUG"):
            traceback.print_exc()
        if isinstance(error, TaskloomError):
            _exit_with(f"error: {error}" + (f"\n{error.hint}" if error.hint else ""), error.exit_code)
        _exit_with(
            f"error: {type(error).__name__}: {error} (TASKLOOM_DEBUG=1 shows the trace)",
            ExitCode.NEGATIVE_ANSWER,
        )


def _exit_with(message: str, exit_code: ExitCode) -> None:
    print(message, file=sys.stderr)  # noqa: T201 - the one place that prints errors
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
