"""`taskloom judge`: judges a home folder with the evaluation functions of an exported task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.options import JsonOption
from taskloom.resources.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("judge")(judge)


def judge(
    sheet: Annotated[
        Path, typer.Argument(help="Judging sheet of a task, as the exports harbor and cua_gym write it.")
    ],
    start: Annotated[Path, typer.Option(help="Copy of the home folder before the work.")],
    home: Annotated[Path, typer.Option(help="The home folder after the work.")],
    reward: Annotated[
        Path | None, typer.Option(help="Also write reward and coverage to this JSON file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge the files in a home folder; this is the grader of exported tasks.

    Only files count; the functions run in the sandbox. The exit code is 1 unless every subtask succeeded.

    Examples:
      taskloom judge tests/sheet.json --start /srv/start --home /home/user --reward /logs/reward.json
    """
    import json

    from taskloom.evaluators_api.judging_folders import judge_home, read_sheet

    result = judge_home(read_sheet(sheet), start, home)
    if reward is not None:
        reward.parent.mkdir(parents=True, exist_ok=True)
        reward.write_text(json.dumps({"reward": result.reward, "coverage": result.coverage}) + "\n", "utf-8")
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        for item in result.subtasks:
            typer.echo(f"{'done' if item.success else 'not done'}: {item.instance_id}: {item.message}")
        if result.side_effects is not None:
            typer.echo(f"side effects: {result.side_effects.describe()}")
        typer.echo(f"reward: {result.reward}")
    if result.reward < 1:
        raise typer.Exit(ExitCode.NEGATIVE_ANSWER)
