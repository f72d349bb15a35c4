"""Files that belong to catalogue entries: fixtures that are too long for YAML, or not text."""

import io
import json
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from taskloom.resources.applications import Application
from taskloom.resources.errors import UnknownCatalogEntryError

ASSET_PREFIX = "asset:"
"""Marks a text of the catalogue as the name of an asset."""

PACKED_PREFIX = "packed:"
"""Marks a text of the catalogue as a zip archive: a JSON object of names and contents."""
_ARCHIVE_TIME = (2026, 3, 2, 9, 0, 0)


def catalog_folder() -> Traversable:
    """The catalogue that ships with taskloom."""
    return files("taskloom.resources") / "catalog"


def content_of(text: str, application: Application | None = None) -> bytes:
    """The bytes of a content field of the catalogue: the text itself, the asset that it names, or a zip
    archive of such contents.

    Assets of a user's own catalogue take precedence over shipped ones.

    Raises:
        UnknownCatalogEntryError: there is no such asset (names the known ones).
        ValueError: the content of an archive is not a JSON object of texts.
    """
    if text.startswith(PACKED_PREFIX):
        return _make_archive(
            {name: content_of(content, application) for name, content in packed_contents(text).items()}
        )
    if not text.startswith(ASSET_PREFIX):
        return text.encode()
    name = text.removeprefix(ASSET_PREFIX).strip()
    folders: list[Traversable] = [catalog_folder() / "assets"]
    if application is not None and application.catalog_folder:
        folders.insert(0, Path(application.catalog_folder) / "assets")
    for folder in folders:
        if name and "/" not in name and (folder / name).is_file():
            return (folder / name).read_bytes()
    known = {item.name for folder in folders if folder.is_dir() for item in folder.iterdir()}
    raise UnknownCatalogEntryError("asset", name, known)


def packed_contents(text: str) -> Mapping[str, str]:
    """Names and contents of an archive's members; a `ValueError` if `text` is not a JSON object of texts."""
    contents = json.loads(text.removeprefix(PACKED_PREFIX))
    if not isinstance(contents, dict) or not all(isinstance(content, str) for content in contents.values()):
        raise ValueError(f"{PACKED_PREFIX} needs a JSON object of names and contents, not {text[:80]!r}")
    return contents


def _make_archive(contents: Mapping[str, bytes]) -> bytes:
    """A zip archive, reproducible for equal contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in contents.items():
            member = zipfile.ZipInfo(name, _ARCHIVE_TIME)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return stream.getvalue()
