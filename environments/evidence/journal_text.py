"""The pages of a Xournal++ journal as JSON: what stands on them, and nothing that the program chooses."""

from __future__ import annotations

import hashlib
import json
from xml.etree import ElementTree

_STROKE, _TEXT = "stroke", "text"


def render_journal(root: ElementTree.Element) -> str:
    """Per page its `background` (`plain`, `lined`, `pdf` and others), the `file` it shows, and what was put
    on it, in the order of its writing: a `text`, a `stroke` by its tool, or something else by a hash of its
    data.

    Fonts, colours, places and the preview are left out.
    """
    told = {"pages": [_page(page) for page in root.findall("page")]}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _page(page: ElementTree.Element) -> dict[str, object]:
    background = page.find("background")
    found: dict[str, object] = {}
    if background is not None:
        found["background"] = background.get("style") or background.get("type", "")
        shown = {"file": background.get("filename"), "page": background.get("pageno")}
        found |= {name: value for name, value in shown.items() if value}
    return found | {"content": [_item(item) for layer in page.findall("layer") for item in layer]}


def _item(item: ElementTree.Element) -> dict[str, str]:
    if item.tag == _TEXT:
        return {_TEXT: item.text or ""}
    if item.tag == _STROKE:
        return {_STROKE: item.get("tool", "")}
    return {item.tag: hashlib.sha256((item.text or "").strip().encode()).hexdigest()[:16]}
