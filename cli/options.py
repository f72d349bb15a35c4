"""Options and arguments shared by several commands, and those of all commands that start a run."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

if TYPE_CHECKING:
    from taskloom.flows.settings import Settings

WarehouseOption = Annotated[str | None, typer.Option(help="Folder or address of the warehouse.")]
VersionOption = Annotated[str | None, typer.Option(help="Dataset version; the current state by default.")]
SettingsOption = Annotated[
    Path | None,
    typer.Option("--settings", help="Settings file; by default taskloom.yaml in this folder, if it exists."),
]
AssignmentsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting, such as composition.count=500. Repeatable."),
]
DataOption = Annotated[Path | None, typer.Option(help="Data folder.")]
CatalogOption = Annotated[Path | None, typer.Option(help="Folder with your own applications.")]
SeedOption = Annotated[int | None, typer.Option(help="Seed of every random choice.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
GraphFile = Annotated[
    Path,
    typer.Argument(
        help="JSON: a task record, or `nodes` and `edges`; - reads standard input.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run; each field is an option of the command line."""

    settings: SettingsOption = None
    assignments: AssignmentsOption = None
    data: DataOption = None
    catalog: CatalogOption = None
    applications: Annotated[
        str, typer.Option(help="Applications to use, separated by commas; all installed ones by default.")
    ] = ""
    seed: SeedOption = None
    budget: Annotated[
        str, typer.Option(help="Spending limit, such as 25usd or 2Mtok; the run stops before exceeding it.")
    ] = ""
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Answer every model call from the ledger; a missing reply is an error."
        ),
    ] = False
    batch: Annotated[
        bool,
        typer.Option(
            "--batch", help="Use the provider's batches, at half price, for calls that need no live screen."
        ),
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the plan with expected model calls, tokens and cost by stage; change nothing.",
        ),
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False
    as_json: JsonOption = False

    def load(self, *more: str, warehouse: str | None = None) -> Settings:
        """The settings that result from these options; `more` are the command's own assignments.

        Raises:
            CommandError: invalid settings.
        """
        from taskloom.flows.settings import load_settings

        names = [name.strip() for name in self.applications.split(",") if name.strip()]
        assignments = [
            *(["models.batch={}"] if self.batch else []),
            *(self.assignments or ()),
            *more,
            *([f"applications=[{', '.join(names)}]"] if names else []),
            *([f"models.budget={self.budget}"] if self.budget else []),
            *(["models.replay=true"] if self.replay else []),
        ]
        return load_settings(
            self.settings,
            assignments=assignments,
            data=self.data,
            catalog=self.catalog,
            seed=self.seed,
            warehouse=warehouse,
        )


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace `command`'s first parameter with all options in `RunOptions`; its own come first in help."""
    hints = get_type_hints(RunOptions, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(RunOptions)
    ]
    own_hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=own_hints[name])
        for name, parameter in list(inspect.signature(command).parameters.items())[1:]
    ]

    @functools.wraps(command)
    def run(**given: object) -> None:
        options = {parameter.name: given.pop(parameter.name) for parameter in shared}
        command(RunOptions(**options), **given)  # type: ignore[arg-type]

    del run.__wrapped__
    parameters = [*own, *shared]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
