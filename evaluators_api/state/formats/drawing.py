"""Drawings of Excalidraw, draw.io and SVG as their shapes and texts, and the names of their pages. Each shape
is a record with the fields `shape` and, where it has one, `text`; fonts, colours and places are left out."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.formats import json_tree, markup
from taskloom.evaluators_api.state.nodes import Naming, Node, group, leaf

SUFFIXES: frozenset[str] = frozenset([".excalidraw", ".drawio", ".svg"])
SHAPES, PAGES, SHAPE, TEXT = "shapes", "pages", "shape", "text"
"""What a drawing has, and what each of its shapes has."""
_DRAWN = {"rect": "rectangle", "circle": "ellipse", "polyline": "line"}
_DRAWN |= {tag: tag for tag in ("ellipse", "line", "polygon", "path", "image")}
_NEVER_DRAWN = frozenset(
    {"defs", "clipPath", "marker", "mask", "pattern", "symbol", "metadata", "title", "desc"}
)
_WRITTEN = frozenset({"text", "foreignObject"})
_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"<(?:br|/div|/p)\b[^>]*>", re.IGNORECASE)
_FIRST_STYLE = re.compile(r"(?:^|;)shape=([\w.]+)|^([a-zA-Z]\w*)(?:;|$)")


def recognises(text: str) -> bool:
    """Whether it begins as a drawing of one of these kinds does."""
    head = text.lstrip("\ufeff \t\r\n")[:200]
    return head.startswith(("<svg", "<mxfile")) or (head[:1] == "{" and '"excalidraw' in head)


def parse(text: str) -> Node:
    """The shapes in the order of the file, and the pages where they have names."""
    start = text.lstrip("\ufeff \t\r\n")[:1]
    pages: list[Node] = []
    if start == "{":
        shapes = list(_excalidraw(json_tree.parse(text)))
    elif start == "<":
        tree = markup.parse(text)
        root = next((child for child in tree.children if child.children), tree)
        tag = _tag(root)
        if tag == "svg":
            shapes = list(_svg(root))
        elif tag in ("mxfile", "mxGraphModel"):
            named = (child.at(("@name",)) for child in root.children if _tag(child) == "diagram")
            pages = [leaf("", "record", item.raw, item.value) for item in named if item and item.value]
            shapes = list(_cells(root))
            if not shapes and any(part.name == "text" for _, part in root.walk()):
                raise StateUnreadableError("a compressed diagram")
        else:
            raise StateUnreadableError(f"<{tag}> is not a drawing")
    else:
        raise StateUnreadableError("no drawing")
    parts = [_numbered(SHAPES, "field", text, shapes)]
    if pages:
        parts.append(_numbered(PAGES, "schema", text, pages))
    return group("", "field", (0, len(text)), tuple(parts))


def _numbered(name: str, naming: Naming, text: str, nodes: list[Node]) -> Node:
    parts = tuple(replace(node, name=str(index)) for index, node in enumerate(nodes))
    return group(name, naming, (0, len(text)), parts)


def _shape(element: Node, shape: Node | None, kind: str, text: Node | None, words: str) -> Node:
    """A record; `shape` and `text` are the nodes that hold its kind and its text in the file."""
    raw = shape.raw if shape is not None else (element.raw[0], element.raw[0])
    parts = [leaf(SHAPE, "field", raw, kind)]
    if text is not None and words:
        parts.append(leaf(TEXT, "field", text.raw, words))
    return group("", "position", element.raw, tuple(parts), element.extent)


def _excalidraw(tree: Node) -> Iterator[Node]:
    elements = tree.at(("elements",))
    kind = tree.at(("type",))
    if elements is None or kind is None or not (kind.value or "").startswith("excalidraw"):
        raise StateUnreadableError("no elements of a drawing")
    for element in elements.children:
        shape, text, deleted = element.at(("type",)), element.at(("text",)), element.at(("isDeleted",))
        if shape is not None and shape.value and (deleted is None or deleted.value != "true"):
            yield _shape(element, shape, shape.value, text, "" if text is None else text.value or "")


def _cells(root: Node) -> Iterator[Node]:
    for _, cell in root.walk():
        if _tag(cell) != "mxCell":
            continue
        held = {child.name: child for child in cell.children}
        text = held.get("@value")
        words = _plain(text.value or "") if text is not None else ""
        if (edge := held.get("@edge")) is not None and edge.value == "1":
            yield _shape(cell, None, "arrow", text, words)
        elif (vertex := held.get("@vertex")) is not None and vertex.value == "1":
            style = held.get("@style")
            first = _FIRST_STYLE.search(style.value or "" if style is not None else "")
            kind = "rectangle" if first is None else (first[1] or first[2]).casefold()
            yield _shape(cell, style, kind, text, words)


def _svg(root: Node) -> Iterator[Node]:
    previous = ""
    for child in root.children:
        tag = _tag(child)
        if tag in _NEVER_DRAWN or child.name.startswith("@"):
            continue
        if tag == "switch":
            elements = tuple(part for part in child.children if not part.name.startswith("@"))
            first = next(_svg(replace(child, children=elements[:1])), None)
            if first is not None:
                yield replace(first, raw=child.raw, extent=child.extent)
        elif tag in ("g", "svg", "a"):
            yield from _svg(child)
        elif tag in _WRITTEN:
            inside = (node for _, node in child.walk() if node.name.startswith("text"))
            held = [node for node in inside if node.value is not None]
            words = " ".join((node.value or "").strip() for node in held)
            if held and words:
                yield _shape(child, None, TEXT, held[0], words)
        elif tag in _DRAWN and not (tag == previous == "path") and not _is_background(child, root):
            yield _shape(child, None, _DRAWN[tag], None, "")
        previous = tag


def _is_background(element: Node, root: Node) -> bool:
    """Whether it is a rectangle as large as the picture, in its corner."""
    held, size = (
        {child.name: (child.value or "").removesuffix("px") for child in node.children}
        for node in (element, root)
    )
    whole = all(held.get(name) in (size.get(name), "100%") for name in ("@width", "@height"))
    return whole and _tag(element) == "rect" and _tag(root) == "svg"


def _plain(value: str) -> str:
    if "<" not in value:
        return value.strip()
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", value))).strip()


def _tag(node: Node) -> str:
    return node.name.partition("#")[0].partition("[")[0].partition(" (")[0]
