"""Where a warehouse lives: a local folder, or a Postgres catalogue with object storage."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qs, unquote, urlsplit

from taskloom.warehouse.errors import WarehouseUnavailableError

ADDRESS_FORM: Final = "postgresql://user@host:5432/database?data=s3://bucket/prefix"
"""What the address of a remote warehouse looks like."""
_BUCKET: Final = re.compile(r"^s3://[a-z0-9][a-z0-9.-]*[a-z0-9](/[A-Za-z0-9._/-]*)?$")
_PASSED_ON: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout")
"""Options of the address that are handed to Postgres' client library as they are."""


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of a warehouse's address."""

    catalogue: str
    """What DuckLake attaches: `sqlite:<path>` or `postgres:<connection string>`, never with a password."""
    data: str
    """Folder or object-storage prefix of everything but the catalogue, with a final slash."""
    folder: Path | None
    """The local folder; None for a remote warehouse."""
    shown: str

    @property
    def screenshots(self) -> str:
        """Folder or prefix of the pictures, with a final slash."""
        return f"{self.data}screenshots/"

    @property
    def tables(self) -> str:
        """Folder or prefix of the Parquet files, with a final slash."""
        return f"{self.data}data/"

    @property
    def data_folder(self) -> Path | None:
        """The folder of pictures and Parquet files; None where they lie in object storage."""
        return None if self.data.startswith("s3://") else Path(self.data)

    @property
    def connection(self) -> str:
        """The connection string of a Postgres catalogue; empty for a local folder."""
        return "" if self.folder else self.catalogue.removeprefix("postgres:")


def parse_location(text: str | Path) -> Location:
    """The location that `text` names: a path, or `ADDRESS_FORM`, also with a folder that all writers see.

    What it refuses is an unknown scheme or option, and a Postgres address without `data` or with a
    password, which is never repeated.
    """
    if isinstance(text, str) and re.match(r"^postgres(ql)?://", text):
        return _remote(text)
    if isinstance(text, str) and re.match(r"^[a-z][a-z0-9+]*://", text):
        scheme = text.split("://", 1)[0]
        raise WarehouseUnavailableError(
            f"Cannot open a warehouse at a {scheme}:// address: give a local folder, or {ADDRESS_FORM}."
        )
    folder = Path(text).expanduser().absolute()
    return Location(f"sqlite:{folder / 'catalog.sqlite'}", f"{folder}/", folder, str(folder))


def _remote(text: str) -> Location:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        _refuse("has a host or port that cannot be read")
    if parts.password is not None:
        _refuse("holds a password. Leave it out and set PGPASSWORD (or a password file, PGPASSFILE)")
    database = unquote(parts.path.strip("/"))
    if not parts.hostname or not database:
        _refuse("needs a host and the name of a database")
    options = parse_qs(parts.query, keep_blank_values=True)
    data = options.pop("data", [""])[0].rstrip("/")
    unknown = sorted(set(options) - set(_PASSED_ON))
    if unknown:
        _refuse(f"has the option {unknown[0]!r}; known: data, {', '.join(_PASSED_ON)}")
    if not _BUCKET.match(data) and not data.startswith("/"):
        _refuse("does not say where its data lie: add ?data=s3://bucket/prefix, or a folder all writers see")
    settings = {"host": parts.hostname, "port": str(port or 5432), "dbname": database}
    if parts.username:
        settings["user"] = unquote(parts.username)
    settings |= {name: values[0] for name, values in options.items()}
    connection = " ".join(f"{name}={_conninfo(value)}" for name, value in settings.items())
    host = parts.hostname + (f":{port}" if port else "")
    shown = f"postgresql://{host}/{database}?data={data}"
    return Location(f"postgres:{connection}", f"{data}/", None, shown)


def _conninfo(value: str) -> str:
    """A value as Postgres' client library reads it in a connection string."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _refuse(what: str) -> NoReturn:
    raise WarehouseUnavailableError(
        f"The address of the remote warehouse {what}. It looks like {ADDRESS_FORM}."
    )
