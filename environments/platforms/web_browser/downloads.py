"""Names of downloads."""

import re
from pathlib import Path, PurePosixPath

_LONGEST_NAME = 255
_ENDINGS = re.compile(r"(\.tar)?\.[^. ]{1,16}$")


def free_path(folder: Path, suggested: str) -> Path:
    """Where a download goes: its suggested name, shortened to what a disk takes, numbered where it is taken.

    >>> free_path(Path("/nowhere"), "../a/notes.tar.gz").name
    'notes.tar.gz'
    """
    name = PurePosixPath(suggested.replace("\\", "/")).name.replace("\0", "").strip(". ") or "download"
    endings = _ENDINGS.search(name)
    ending = endings.group() if endings and endings.start() else ""
    stem = name.removesuffix(ending)
    room = _LONGEST_NAME - len(f" (99){ending}".encode())
    stem = stem.encode()[:room].decode(errors="ignore")
    path, number = folder / f"{stem}{ending}", 0
    while path.exists():
        number += 1
        path = folder / f"{stem} ({number}){ending}"
    return path
