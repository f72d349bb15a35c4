"""DuckDB's extensions, loaded from installed wheels; DuckDB checks their signatures.

If a wheel is absent, DuckDB downloads what a local warehouse needs, and nothing else.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import duckdb

from taskloom.warehouse.errors import WarehouseUnavailableError
from taskloom.warehouse.storage.locations import Location, reason_of

LOCAL: Final = ("ducklake", "sqlite_scanner")
_EXTRA: Final = "remote-warehouse"
_CHECKED: Final[set[tuple[str, int, int, int] | None]] = set()
"""Files of extensions whose signatures this process has checked."""


def needed_by(location: Location) -> tuple[str, ...]:
    """Names of the extensions that a location needs."""
    if location.folder is not None:
        return LOCAL
    return ("ducklake", "postgres_scanner", *(() if location.data_folder else ("httpfs",)))


def connect_with(names: tuple[str, ...]) -> duckdb.DuckDBPyConnection:
    """A connection to a database in memory that has the extensions `names` and accepts only signed ones.

    DuckDB checks the signature of an extension's file, 0.1 s each, for every connection; a file that this
    process has loaded is not checked again while it stays the same.
    """
    files = {_file_identity(name) for name in names}
    checked = None not in files and files <= _CHECKED
    connection = duckdb.connect(":memory:", config={"allow_unsigned_extensions": True} if checked else {})
    for name in names:
        load(connection, name)
    if checked:
        connection.execute("SET allow_unsigned_extensions = false")
    _CHECKED.update(files)
    return connection


def load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension from its own Python package, or from DuckDB's folder of extensions; if it is not
    installed, or is for another DuckDB, the `WarehouseUnavailableError` says what to install."""
    try:
        if (path := _packaged_file(name)) is not None:
            connection.execute(f"LOAD '{quoted(str(path))}'")
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


def _packaged_file(name: str) -> Path | None:
    wheel = find_spec(f"duckdb_extension_{name}")
    if wheel is None or not wheel.origin:
        return None
    return min(Path(wheel.origin).parent.rglob("*.duckdb_extension"), default=None)


def _file_identity(name: str) -> tuple[str, int, int, int] | None:
    """What identifies an extension's file and its content; None if it is not packaged."""
    path = _packaged_file(name)
    if path is None:
        return None
    state = path.stat()
    return str(path), state.st_ino, state.st_size, state.st_mtime_ns


def quoted(text: str) -> str:
    """`text` escaped for use between single quotes.

    >>> quoted("the user's folder")
    "the user''s folder"
    """
    return text.replace("'", "''")
