"""Locations of a warehouse, a local folder or a Postgres catalogue with object storage, and the access to
the latter that the environment describes; its secrets are never shown.

The variables are the usual ones: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
`AWS_SESSION_TOKEN`, `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ENDPOINT_URL_S3` (or `AWS_ENDPOINT_URL`)
and `PGPASSWORD`, which Postgres' client library reads by itself.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qs, unquote, urlsplit

from taskloom.warehouse.errors import WarehouseUnavailableError

ADDRESS_FORM: Final = "postgresql://user@host:5432/database?data=s3://bucket/prefix"
"""What the address of a remote warehouse looks like."""
_BUCKET: Final = re.compile(r"^s3://[a-z0-9][a-z0-9.-]*[a-z0-9](/[A-Za-z0-9._/-]*)?$")
_CLIENT_OPTIONS: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout")
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
    label: str
    """The address as messages show it, without a password."""

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
        """The folder of pictures and Parquet files; None if they are in object storage."""
        return None if self.data.startswith("s3://") else Path(self.data)

    @property
    def connection(self) -> str:
        """The connection string of a Postgres catalogue; empty for a local folder."""
        return "" if self.folder else self.catalogue.removeprefix("postgres:")


def parse_location(text: str | Path) -> Location:
    """The location that `text` names: a path, or `ADDRESS_FORM`, where `data` may be a shared folder.

    An unknown scheme or option is refused, and so is a Postgres address without `data` or with a password,
    which is never repeated.
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
    unknown = sorted(set(options) - set(_CLIENT_OPTIONS))
    if unknown:
        _refuse(f"has the option {unknown[0]!r}; known: data, {', '.join(_CLIENT_OPTIONS)}")
    if not _BUCKET.match(data) and not data.startswith("/"):
        _refuse("does not say where its data are: add ?data=s3://bucket/prefix, or a folder all writers see")
    settings = {"host": parts.hostname, "port": str(port or 5432), "dbname": database}
    if parts.username:
        settings["user"] = unquote(parts.username)
    settings |= {name: values[0] for name, values in options.items()}
    connection = " ".join(f"{name}={_conninfo(value)}" for name, value in settings.items())
    host = parts.hostname + (f":{port}" if port else "")
    label = f"postgresql://{host}/{database}?data={data}"
    return Location(f"postgres:{connection}", f"{data}/", None, label)


def _conninfo(value: str) -> str:
    """A value as Postgres' client library reads it in a connection string."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _refuse(problem: str) -> NoReturn:
    raise WarehouseUnavailableError(
        f"The address of the remote warehouse {problem}. It looks like {ADDRESS_FORM}."
    )


_SECRET_VARIABLES: Final = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_CONNECTION_STRING: Final = re.compile(r'Unable to connect to Postgres at ".*?": ')
_MIN_SECRET_LENGTH: Final = 4
"""Shorter secrets are not replaced in messages, because they occur in ordinary words."""


@dataclass(frozen=True, slots=True)
class StorageAccess:
    """How to reach S3-compatible object storage."""

    key: str
    secret: str = field(repr=False)
    token: str = field(repr=False)
    """Session token; empty for lasting keys."""
    region: str
    endpoint: str
    """Host and port of the service; empty for Amazon's own."""
    encrypted: bool
    """Whether the service is reached over TLS."""


def storage_access(environment: Mapping[str, str] = os.environ) -> StorageAccess:
    """The access that the environment describes; refused if keys are missing or the address is invalid."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise WarehouseUnavailableError(f"Object storage needs {' and '.join(missing)} in the environment.")
    url = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or ""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc):
        raise WarehouseUnavailableError(
            "AWS_ENDPOINT_URL must be the http:// or https:// address of an S3-compatible service."
        )
    return StorageAccess(
        key=environment["AWS_ACCESS_KEY_ID"],
        secret=environment["AWS_SECRET_ACCESS_KEY"],
        token=environment.get("AWS_SESSION_TOKEN", ""),
        region=environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1",
        endpoint=parts.netloc + parts.path.rstrip("/"),
        encrypted=parts.scheme != "http",
    )


def without_secrets(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` with every secret of the environment replaced by stars, for other programs' messages."""
    for name in _SECRET_VARIABLES:
        value = environment.get(name, "")
        if len(value) >= _MIN_SECRET_LENGTH:
            text = text.replace(value, "***")
    return text


def reason_of(error: Exception) -> str:
    """Another program's error message in one line, without secrets."""
    text = _CONNECTION_STRING.sub("", without_secrets(str(error).strip()))
    return text.splitlines()[0] if text else type(error).__name__
