"""The members of an archive as a table, so that they can be checked without unpacking it."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

HEADER = "member\tsize\tchecksum"
"""First line of the table."""
_MOST_MEMBERS = 1_000
_MOST_BYTES = 32 * 1024 * 1024
"""Unpacked bytes of a tar archive that are read; what follows is left out."""
_LARGEST_ARCHIVE = 64 * 1024 * 1024


def list_members(content: bytes) -> str | None:
    """One line per file in a zip or tar archive (compressed or not): name, size, checksum. None for anything
    else.

    Office documents are zip archives. The checksum of a member of a zip archive is its CRC-32 as the archive
    states it, that of a tar archive a part of its SHA-256; nothing is unpacked to the disk.
    """
    if len(content) > _LARGEST_ARCHIVE:
        return None
    try:
        if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            members = _zip_members(content)
        elif content[257:262] == b"ustar" or content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
            members = _tar_members(content)
        else:
            return None
        lines = [line for line, _ in zip(members, range(_MOST_MEMBERS), strict=False)]
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        NotImplementedError,
    ):
        return None
    return "\n".join([HEADER, *sorted(lines), ""])


def _zip_members(content: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield _line(member.filename, member.file_size, f"{member.CRC:08x}")


def _tar_members(content: bytes) -> Iterator[str]:
    read = 0
    with tarfile.open(fileobj=io.BytesIO(content), mode="r|*") as archive:
        for member in archive:
            read += member.size
            if read > _MOST_BYTES:
                return
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield _line(member.name, member.size, hashlib.sha256(file.read()).hexdigest()[:16])


def _line(name: str, size: int, checksum: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"' if any(mark in name for mark in '\t\r\n"') else name
    return f"{quoted}\t{size}\t{checksum}"
