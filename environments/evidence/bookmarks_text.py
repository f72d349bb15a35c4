"""The bookmarks of Chromium as a list: what people see of them, not what the program counts or dates."""

from __future__ import annotations

import json
from collections.abc import Iterator

_DEEPEST = 50
_ROOTS = "roots"
_BAR = "bookmark_bar"
_KEYS = frozenset({"checksum", _ROOTS, "sync_metadata", "version"})
"""What a file of bookmarks holds; one with more is another file."""


def render_bookmarks(content: bytes) -> str | None:
    """JSON with a bookmark or folder per record, in their order: its `id`, by which it is the same one under
    another name, the `folder` that it is in, with those around it, its `name`, and of a bookmark the
    `address`. None for anything else than a file of bookmarks."""
    if not content.lstrip().startswith(b"{") or b'"roots"' not in content:
        return None
    try:
        held = json.loads(content)
        roots = held.get(_ROOTS)
        if not isinstance(roots, dict) or _BAR not in roots or not held.keys() <= _KEYS:
            return None
        told = [item for root in roots.values() if isinstance(root, dict) for item in _below(root, "", 0)]
    except (ValueError, RecursionError):
        return None
    return json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()


def _below(folder: dict[str, object], above: str, depth: int) -> Iterator[dict[str, str]]:
    place = f"{above}/{folder.get('name', '')}".lstrip("/")
    children = folder.get("children")
    for item in children if isinstance(children, list) and depth < _DEEPEST else ():
        if not isinstance(item, dict):
            continue
        told = {"id": str(item.get("guid", "")), "folder": place, "name": str(item.get("name", ""))}
        if item.get("type") != "folder":
            told["address"] = str(item.get("url", ""))
        yield told
        yield from _below(item, place, depth + 1)
