"""`taskloom match`: compares predicted actions with recorded ones, without an environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskloom.cli.answer_printing import print_json
from taskloom.cli.options import DataOption, JsonOption, VersionOption, WarehouseOption


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("match")(match)


def match(
    file: Annotated[Path, typer.Argument(help="Predictions, one JSON object per line.")],
    version: VersionOption = None,
    warehouse: WarehouseOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare predicted actions with recorded ones: OmniACT's sequence and action score, next-action match,
    grounding accuracy.

    A line is `{"trajectory_id": …, "actions": "pyautogui.click(3, 4)"}` for a whole recording, in pixels of
    its pictures; with a "step" it is for that step's action. Use `task_id` instead for a task imported from
    OmniACT. The code is read, never run.

    Examples:
      taskloom match predictions.jsonl --json
    """
    from taskloom.cli.predictions import examples_of, read_predictions
    from taskloom.flows.settings import load_settings
    from taskloom.omnieval.lookup import action_measures
    from taskloom.warehouse.store import Warehouse

    predictions = read_predictions(file)
    settings = load_settings(data=data, warehouse=warehouse)
    with Warehouse(settings.warehouse_location, read_only=True, version=version) as store:
        examples = examples_of(predictions, store)
    values = action_measures(examples)
    if as_json:
        print_json({"examples": len(examples), **values})
        return
    typer.echo(f"{'examples':22}{len(examples)}")
    for name, value in values.items():
        typer.echo(f"{name.replace('_', ' '):22}" + ("undefined" if value is None else f"{value:.4f}"))
