"""`taskloom sql`: queries the warehouse, by SQL or by the name of a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from taskloom.cli.options import JsonOption, WarehouseOption
from taskloom.flows.errors import CommandError
from taskloom.resources.errors import ExitCode

if TYPE_CHECKING:
    from taskloom.flows.places import Places
    from taskloom.warehouse.querying import QueryResult

MOST_ROWS: Final = 100_000
"""Maximum rows printed by default."""
MOST_SECONDS: Final = 300.0
"""Maximum duration of a query by default."""
_MOST_BYTES: Final = 512 << 20
"""Maximum memory of a printed result."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sql")(sql)


def sql(
    query: Annotated[
        str,
        typer.Argument(help="One SELECT, or the name of a query; --list names them.", show_default=False),
    ] = "",
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="NAME=VALUE, used as $NAME; may be repeated.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the named queries.")] = False,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    parquet: Annotated[Path | None, typer.Option(help="Write the result to this Parquet file.")] = None,
    version: Annotated[
        str | None, typer.Option(help="Query this dataset version instead of the current state.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Stop the query after this many seconds; 0 for no limit.")
    ] = MOST_SECONDS,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=f"Print at most this many rows ({MOST_ROWS:,} by default; if that cuts CSV or JSON, the"
            " exit code is 1); 0 for all. --parquet writes all.",
        ),
    ] = None,
    warehouse: WarehouseOption = None,
) -> None:
    """Query the warehouse. A query can read everything in it and change nothing.

    Examples:
      taskloom sql funnel

      taskloom sql "SELECT task_id, instruction FROM tasks ORDER BY depth DESC LIMIT 5"

      taskloom sql agent_runs --param run=20261122-083000-1a2b3c --csv
    """
    from taskloom.flows.places import load_places

    if show_list:
        _list_queries(as_json)
        return
    if as_json + as_csv + (parquet is not None) > 1:
        raise CommandError("give one of --json, --csv and --parquet.")
    if not query:
        raise CommandError("give one SELECT, or the name of a query; `taskloom sql --list` describes them.")
    places = load_places(warehouse=warehouse)
    parameters = _parse_parameters(param or [])
    bindings: Mapping[str, object] = parameters
    if query.replace("_", "").isalnum():
        from taskloom.warehouse.queries import named_query

        named = named_query(query)
        query, bindings = named.sql, named.bind(parameters)
    row_limit = MOST_ROWS if max_rows is None else max_rows
    most_rows = None if parquet is not None else row_limit or None
    result, cut = _run_query(places, version, query, bindings, timeout or None, most_rows)
    _print_result(result, as_json, as_csv, parquet)
    if cut:
        typer.echo(
            f"There are more rows: only the first {result.row_count:,} are printed. --max-rows changes this"
            f" (up to {_MOST_BYTES >> 20} MB); --parquet FILE writes all.",
            err=True,
        )
        if (as_json or as_csv) and max_rows is None:
            raise typer.Exit(ExitCode.NEGATIVE_ANSWER)


def _run_query(
    places: Places,
    version: str | None,
    sql: str,
    bindings: Mapping[str, object],
    seconds: float | None,
    most_rows: int | None,
) -> tuple[QueryResult, bool]:
    from taskloom.warehouse.querying import open_quickly

    most_bytes = None if most_rows is None else _MOST_BYTES
    quick = open_quickly(places.warehouse_location) if version is None else None
    if quick is not None:
        return quick.first_rows(sql, bindings, seconds, most_rows, most_bytes)
    from taskloom.warehouse.store import Warehouse

    with Warehouse(places.warehouse_location, read_only=True, version=version) as opened:
        return opened.first_rows(sql, bindings, seconds, most_rows, most_bytes)


def _list_queries(as_json: bool) -> None:
    from taskloom.cli.answer_printing import print_records
    from taskloom.warehouse.queries import named_queries

    print_records(
        [
            {
                "name": query.name,
                "parameters": ", ".join(
                    item.name if item.default is None else f"{item.name}={item.default}"
                    for item in query.parameters
                ),
                "description": query.description,
            }
            for query in named_queries().values()
        ],
        as_json,
    )


def _parse_parameters(texts: Iterable[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CommandError(f"--param takes NAME=VALUE, not {text!r}.")
        parameters[name] = value
    return parameters


def _print_result(result: QueryResult, as_json: bool, as_csv: bool, parquet: Path | None) -> None:
    from taskloom.cli.answer_printing import print_json, print_table

    if parquet is not None:
        result.write_parquet(parquet)
        typer.echo(f"{_count_rows(result)} written to {parquet}", err=True)
    elif as_json:
        print_json(result.as_dicts())
    elif as_csv:
        typer.echo(result.to_csv(), nl=False)
    else:
        print_table(result.columns, result.rows())
        typer.echo(_count_rows(result), err=True)


def _count_rows(result: QueryResult) -> str:
    return "1 row" if result.row_count == 1 else f"{result.row_count} rows"
