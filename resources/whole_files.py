"""Files that another process may read at any moment: they are there whole, or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name, then give it its own; its folder must be there.

    Several threads and processes may write it at the same time: one of their contents stays. Where writing
    fails, the file is as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
