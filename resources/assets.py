"""Files that belong to catalogue entries: fixtures that are too long, or too binary, for YAML."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from taskloom.resources.applications import Application
from taskloom.resources.errors import UnknownCatalogEntryError

ASSET_PREFIX = "asset:"
"""Marks a text of the catalogue as the name of an asset."""


def catalog_folder() -> Traversable:
    """The catalogue that ships with taskloom."""
    return files("taskloom.resources") / "catalog"


def content_of(text: str, application: Application | None = None) -> bytes:
    """The bytes that a content field of the catalogue stands for: the text itself, or the asset it names.

    Assets of a user's own catalogue come before the shipped ones.

    Raises:
        UnknownCatalogEntryError: there is no such asset (names the known ones).
    """
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
