"""Files that another process may read at any moment: they are complete or absent."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically, by renaming a temporary one; its folder must exist.

    Several threads and processes may write it at the same time: the content of one remains. If writing
    fails, the file is unchanged.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
