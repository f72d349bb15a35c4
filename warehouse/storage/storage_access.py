"""What the environment says about reaching object storage and Postgres; its secrets are never shown.

The variables are those that other programs read too: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
`AWS_SESSION_TOKEN`, `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ENDPOINT_URL_S3` (or `AWS_ENDPOINT_URL`) and
`PGPASSWORD`, which Postgres' client library reads by itself.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from taskloom.warehouse.errors import WarehouseUnavailableError

_SECRET: Final = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_DIALLED: Final = re.compile(r'Unable to connect to Postgres at ".*?": ')
_SHORTEST: Final = 4
"""Shorter secrets are not looked for in messages: they would be found in ordinary words."""


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
    """The access that the environment describes; refused where keys are missing or the address is invalid."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise WarehouseUnavailableError(f"Object storage needs {' and '.join(missing)} in the environment.")
    given = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or ""
    parts = urlsplit(given)
    if given and (parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc):
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
    """`text` with every secret of the environment replaced by stars, for messages of other programs."""
    for name in _SECRET:
        value = environment.get(name, "")
        if len(value) >= _SHORTEST:
            text = text.replace(value, "***")
    return text


def reason_of(error: Exception) -> str:
    """Another program's error message in one line, without secrets."""
    text = _DIALLED.sub("", without_secrets(str(error).strip()))
    return text.splitlines()[0] if text else type(error).__name__
