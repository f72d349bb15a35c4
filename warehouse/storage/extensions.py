"""DuckDB's extensions, loaded from installed wheels.

DuckDB checks its own signature when it loads one. For a local warehouse DuckDB fetches an extension itself where a
wheel is absent; those for remote warehouses are an optional part of the installation, and are never fetched unasked.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import duckdb

from warehouse.errors import WarehouseUnavailableError
from warehouse.storage.locations import Location
from warehouse.storage.sql_text import quoted
from warehouse.storage.storage_access import reason_of

LOCAL: Final = ("ducklake", "sqlite_scanner")
"""Extensions that a local warehouse needs."""
_EXTRA: Final = "remote-warehouse"


def needed_by(location: Location) -> tuple[str, ...]:
    """Names of the extensions that a location needs."""
    if location.folder is not None:
        return LOCAL
    return ("ducklake", "postgres_scanner", *(() if location.data_folder else ("httpfs",)))


def load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension of DuckDB: from its own Python package, so that nothing is fetched, or from where DuckDB keeps them.

    Raises:
        WarehouseUnavailableError: it is not installed, or built for another version of DuckDB; the message says what to install.
    """
    try:
        wheel = find_spec(f"duckdb_extension_{name}")
        if wheel is not None and wheel.origin:
            found = sorted(Path(wheel.origin).parent.rglob("*.duckdb_extension"))
            if found:
                connection.execute(f"LOAD '{quoted(str(found[0]))}'")
                return
        if name in LOCAL:
            connection.execute(f"INSTALL {name}")
        connection.execute(f"LOAD {name}")
    except duckdb.Error as error:
        package = f"duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}"
        install = (
            f"the Python package {package}"
            if name in LOCAL
            else f"the extra: pip install 'taskloom[{_EXTRA}]'"
        )
        raise WarehouseUnavailableError(
            f"DuckDB's extension {name!r} cannot be loaded ({reason_of(error)}). Install {install}."
        ) from None
