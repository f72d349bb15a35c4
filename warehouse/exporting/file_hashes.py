"""Hashes of written files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hash_of(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
