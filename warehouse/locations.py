"""Where a warehouse lives: a local folder, or a Postgres catalogue with object storage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

from warehouse.errors import WarehouseUnavailable

_OBJECT_STORAGE = re.compile(r"^(s3|gs|gcs|r2|az|abfss)://[^/]+/?.*$")


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of a warehouse's address."""

    catalogue: str
    """What DuckLake attaches: `sqlite:<path>` or `postgres:<connection string>`."""
    data: str
    """Folder or object-storage prefix of the Parquet files, with a final slash."""
    folder: Path | None
    """The local folder; None for a remote warehouse."""
    shown: str
    """The address without password, for messages."""

    @property
    def screenshots(self) -> str:
        """Folder or prefix of the pictures, with a final slash."""
        return f"{self.folder / 'screenshots'}/" if self.folder else f"{self.data}screenshots/"

    @property
    def tables(self) -> str:
        """Folder or prefix of the Parquet files, with a final slash."""
        return f"{self.folder / 'data'}/" if self.folder else f"{self.data}data/"


def parse_location(text: str | Path) -> Location:
    """The location that `text` names.

    A path is a local folder. `postgresql://user:password@host/database?data=s3://bucket/prefix` is a Postgres
    catalogue whose data lie in object storage, or in a folder that every writer sees (`data=/mnt/shared`).

    Raises:
        WarehouseUnavailable: a Postgres address without `data`, or an unknown scheme.
    """
    if isinstance(text, str) and re.match(r"^postgres(ql)?://", text):
        return _remote(text)
    if isinstance(text, str) and re.match(r"^[a-z][a-z0-9+]*://", text):
        raise WarehouseUnavailable(
            f"Cannot open a warehouse at {text!r}: give a local folder, or"
            " postgresql://user@host/database?data=s3://bucket/prefix."
        )
    folder = Path(text).expanduser().absolute()
    return Location(f"sqlite:{folder / 'catalog.sqlite'}", f"{folder}/", folder, str(folder))


def _remote(text: str) -> Location:
    parts = urlsplit(text)
    options = parse_qs(parts.query)
    data = options.pop("data", [""])[0]
    shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}?data={data}"
    if not data or not (_OBJECT_STORAGE.match(data) or data.startswith("/")):
        raise WarehouseUnavailable(
            f"The Postgres warehouse {shown} does not say where its data lie: add ?data=s3://bucket/prefix."
        )
    query = "&".join(f"{key}={value}" for key, values in options.items() for value in values)
    connection = urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))
    return Location(f"postgres:{connection}", data.rstrip("/") + "/", None, shown)
