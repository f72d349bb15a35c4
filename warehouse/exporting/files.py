"""Files of an export: JSON, pictures, and names that every file system accepts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from taskloom.taskgraph.records.interaction import Screenshot


def write_json(path: Path, value: object) -> None:
    """Write one JSON file; equal values give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def write_lines(path: Path, values: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object per line."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def write_picture(folder: Path, screenshot: Screenshot) -> str:
    """Write a picture once; returns its path relative to the export."""
    name = f"images/{screenshot.sha256}.png"
    target = folder / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(screenshot.png)
    return name


def safe_name(item_id: str) -> str:
    """A file name for an id: letters, digits, `._-` and parentheses stay, everything else is percent-encoded;
    `unquote` restores the id.

    >>> safe_name("notes.create:ab/../c"), safe_name("12(0)"), safe_name("..")
    ('notes.create%3Aab%2F..%2Fc', '12(0)', '%2E%2E')
    """
    name = quote(item_id, safe="()")
    return name.replace(".", "%2E") if set(name) == {"."} else name
