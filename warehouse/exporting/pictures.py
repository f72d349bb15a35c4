"""Pictures as files of an export."""

from __future__ import annotations

from pathlib import Path

from taskloom.taskgraph.records.interaction import Screenshot


def write_picture(folder: Path, screenshot: Screenshot) -> str:
    """Write a picture once; its path relative to the export."""
    name = f"images/{screenshot.sha256}.png"
    target = folder / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(screenshot.png)
    return name
