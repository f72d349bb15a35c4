"""Drawings of Excalidraw, draw.io and SVG as their shapes and texts, and the names of their pages. Each shape
is a record with the fields `shape` and, if it has one, `text`; fonts, colours and positions are left out."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.formats import json_tree, markup
from taskloom.evaluators_api.state.nodes import Naming, Node, group, leaf

SUFFIXES: frozenset[str] = frozenset([".excalidraw", ".drawio", ".svg"])
SHAPES, PAGES, SHAPE, TEXT = "shapes", "pages", "shape", "text"
"""Parts of a drawing, and fields of each shape."""
_SVG_SHAPES = {"rect": "rectangle", "circle": "ellipse", "polyline": "line"}
_SVG_SHAPES |= {tag: tag for tag in ("ellipse", "line", "polygon", "path", "image")}
_INVISIBLE_TAGS = frozenset(
    {"defs", "clipPath", "marker", "mask", "pattern", "symbol", "metadata", "title", "desc"}
)
_TEXT_TAGS = frozenset({"text", "foreignObject"})
_TAG = re.compile(r"<[^>]*>")
_BREAK = re.compile(r"<(?:br|/div|/p)\b[^>]*>", re.IGNORECASE)
_FIRST_STYLE = re.compile(r"(?:^|;)shape=([\w.]+)|^([a-zA-Z]\w*)(?:;|$)")


def recognises(text: str) -> bool:
    """Whether the text begins like a drawing of one of these kinds."""
    head = text.lstrip("\ufeff \t\r\n")[:200]
    return head.startswith(("<svg", "<mxfile")) or (head[:1] == "{" and '"excalidraw' in head)


def parse(text: str) -> Node:
    """The shapes in the order of the file, and the pages if they have names."""
    start = text.lstrip("\ufeff \t\r\n")[:1]
    pages: list[Node] = []
    if start == "{":
        shapes = list(_excalidraw_shapes(json_tree.parse(text)))
    elif start == "<":
        tree = markup.parse(text)
        root = next((child for child in tree.children if child.children), tree)
        tag = _tag(root)
        if tag == "svg":
            shapes = list(_svg_shapes(root))
        elif tag in ("mxfile", "mxGraphModel"):
            named = (child.at(("@name",)) for child in root.children if _tag(child) == "diagram")
            pages = [leaf("", "record", item.raw, item.value) for item in named if item and item.value]
            shapes = list(_cell_shapes(root))
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


def _shape(element: Node, shape: Node | None, kind: str, text: Node | None, content: str) -> Node:
    """The record of a shape; `shape` and `text` are the nodes with its kind and its text in the file."""
    raw = shape.raw if shape is not None else (element.raw[0], element.raw[0])
    parts = [leaf(SHAPE, "field", raw, kind)]
    if text is not None and content:
        parts.append(leaf(TEXT, "field", text.raw, content))
    return group("", "position", element.raw, tuple(parts), element.extent)


def _excalidraw_shapes(tree: Node) -> Iterator[Node]:
    elements = tree.at(("elements",))
    kind = tree.at(("type",))
    if elements is None or kind is None or not (kind.value or "").startswith("excalidraw"):
        raise StateUnreadableError("no elements of a drawing")
    for element in elements.children:
        shape, text, deleted = element.at(("type",)), element.at(("text",)), element.at(("isDeleted",))
        if shape is not None and shape.value and (deleted is None or deleted.value != "true"):
            yield _shape(element, shape, shape.value, text, "" if text is None else text.value or "")


def _cell_shapes(root: Node) -> Iterator[Node]:
    for _, cell in root.walk():
        if _tag(cell) != "mxCell":
            continue
        attributes = {child.name: child for child in cell.children}
        text = attributes.get("@value")
        content = _plain_text(text.value or "") if text is not None else ""
        if (edge := attributes.get("@edge")) is not None and edge.value == "1":
            yield _shape(cell, None, "arrow", text, content)
        elif (vertex := attributes.get("@vertex")) is not None and vertex.value == "1":
            style = attributes.get("@style")
            shape_name = _FIRST_STYLE.search(style.value or "" if style is not None else "")
            kind = "rectangle" if shape_name is None else (shape_name[1] or shape_name[2]).casefold()
            yield _shape(cell, style, kind, text, content)


def _svg_shapes(root: Node) -> Iterator[Node]:
    previous = ""
    for child in root.children:
        tag = _tag(child)
        if tag in _INVISIBLE_TAGS or child.name.startswith("@"):
            continue
        if tag == "switch":
            elements = tuple(part for part in child.children if not part.name.startswith("@"))
            first = next(_svg_shapes(replace(child, children=elements[:1])), None)
            if first is not None:
                yield replace(first, raw=child.raw, extent=child.extent)
        elif tag in ("g", "svg", "a"):
            yield from _svg_shapes(child)
        elif tag in _TEXT_TAGS:
            nodes = (node for _, node in child.walk() if node.name.startswith("text"))
            texts = [node for node in nodes if node.value is not None]
            content = " ".join((node.value or "").strip() for node in texts)
            if texts and content:
                yield _shape(child, None, TEXT, texts[0], content)
        elif tag in _SVG_SHAPES and not (tag == previous == "path") and not _is_background(child, root):
            yield _shape(child, None, _SVG_SHAPES[tag], None, "")
        previous = tag


def _is_background(element: Node, root: Node) -> bool:
    """Whether an element is a rectangle that covers the picture from its corner."""
    attributes, size = (
        {child.name: (child.value or "").removesuffix("px") for child in node.children}
        for node in (element, root)
    )
    at_corner = all(not attributes.get(name, "").strip("0.%") for name in ("@x", "@y"))
    covers = all(attributes.get(name) in (size.get(name), "100%") for name in ("@width", "@height"))
    return at_corner and covers and _tag(element) == "rect" and _tag(root) == "svg"


def _plain_text(value: str) -> str:
    if "<" not in value:
        return value.strip()
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", value))).strip()


def _tag(node: Node) -> str:
    return node.name.partition("#")[0].partition("[")[0].partition(" (")[0]
