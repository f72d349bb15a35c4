"""XML, SVG, HTML and draw.io: elements by their id or tag, attributes as `@name`, texts as `text`."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import Node, Span, group, leaf, uniquely_named

SUFFIXES: frozenset[str] = frozenset([".xml", ".svg", ".html", ".htm", ".xhtml", ".drawio", ".opml", ".rss"])
_DEEPEST = 200
_OPENING = re.compile(r"<([A-Za-z_][^\s/>\"'<]*)")
_CLOSING = re.compile(r"</([^\s>]+)\s*>")
_ATTRIBUTE = re.compile(r"\s+([^\s=/>\"'<]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"'<]+))?")
_TAG_END = re.compile(r"\s*(/?)>")
_SKIPPED = (("<!--", "-->"), ("<?", "?>"), ("<!", ">"))
_CDATA = "<![CDATA["
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_VERBATIM = frozenset(["script", "style"])


def recognises(text: str) -> bool:
    """Whether the text begins with an XML declaration, a document type, or the tag of a known root."""
    head = text.lstrip("\ufeff \t\r\n")[:200].casefold()
    return head.startswith(("<?xml", "<!doctype html", "<html", "<svg", "<mxfile", "<mxgraphmodel"))


def parse(text: str) -> Node:
    """Elements as groups. HTML may leave out end tags; every end tag must have a start tag."""
    root = _OpenElement("", 0, 0)
    stack = [root]
    position = 0
    while position < len(text):
        position = _read_next(text, position, stack)
        if len(stack) > _DEEPEST:
            raise StateUnreadableError("nested too deeply")
    while len(stack) > 1:
        if stack[-1].tag.casefold() not in ("html", "body", "p", "li"):
            raise StateUnreadableError(f"<{stack[-1].tag}> is not closed")
        _close_element(stack, len(text))
    if not any(part.naming != "position" or part.children for part in root.parts):
        raise StateUnreadableError("no elements")
    return group("", "field", (0, len(text)), _named_parts(root.parts))


@dataclass(slots=True)
class _OpenElement:
    tag: str
    start: int
    inside: int
    parts: list[Node] = field(default_factory=list)


def _read_next(text: str, position: int, stack: list[_OpenElement]) -> int:
    if text[position] != "<":
        found = text.find("<", position)
        end = len(text) if found < 0 else found
        shown = text[position:end]
        if shown.strip() and len(stack) == 1:
            raise StateUnreadableError(f"text outside of elements, at {position}")
        if shown.strip():
            stack[-1].parts.append(_leaf((position, end), html.unescape(shown)))
        return end
    if text.startswith(_CDATA, position):
        end = _end_of(text, "]]>", position)
        stack[-1].parts.append(_leaf((position, end), text[position + len(_CDATA) : end - 3]))
        return end
    for opening, closing in _SKIPPED:
        if text.startswith(opening, position):
            return _end_of(text, closing, position + len(opening))
    closed = _CLOSING.match(text, position)
    if closed is not None:
        while stack[-1].tag.casefold() in ("p", "li") and stack[-1].tag != closed.group(1):
            _close_element(stack, position)
        if stack[-1].tag != closed.group(1) or len(stack) < 2:
            raise StateUnreadableError(f"</{closed.group(1)}> closes nothing")
        _close_element(stack, closed.end())
        return closed.end()
    return _open_element(text, position, stack)


def _open_element(text: str, position: int, stack: list[_OpenElement]) -> int:
    opened = _OPENING.match(text, position)
    if opened is None:
        raise StateUnreadableError(f"no tag at {position}")
    element = _OpenElement(opened.group(1), position, 0)
    end = opened.end()
    while (match := _ATTRIBUTE.match(text, end)) is not None:
        span = match.span(2) if match.group(2) is not None else (match.end(1), match.end(1))
        raw = match.group(2) or ""
        bare = raw[1:-1] if raw[:1] in ('"', "'") else raw
        element.parts.append(leaf("@" + match.group(1), "field", span, html.unescape(bare), match.span()))
        end = match.end()
    finished = _TAG_END.match(text, end)
    if finished is None:
        raise StateUnreadableError(f"unterminated tag at {position}")
    element.inside = finished.end()
    stack.append(element)
    name = element.tag.casefold()
    if finished.group(1) or name in _VOID:
        _close_element(stack, finished.end())
    elif name in _VERBATIM:
        closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, finished.end())
        if closing is None:
            raise StateUnreadableError(f"<{name}> is not closed")
        inside = text[finished.end() : closing.start()]
        if inside.strip():
            element.parts.append(_leaf((finished.end(), closing.start()), inside))
        _close_element(stack, closing.end())
        return closing.end()
    return finished.end()


def _leaf(span: Span, value: str) -> Node:
    return leaf("text", "position", span, value, span)


def _close_element(stack: list[_OpenElement], end: int) -> None:
    element = stack.pop()
    span = (element.start, end)
    node = group(element.tag, "position", span, _named_parts(element.parts), span)
    stack[-1].parts.append(replace(node, digest=hash((element.tag, node.digest))))


def _named_parts(parts: list[Node]) -> tuple[Node, ...]:
    """The parts with unique names: elements by id, or by tag if no other has the same tag."""
    names = [part.name for part in parts]
    counts = Counter(names)
    numbers = dict.fromkeys(counts, 0)
    named: list[Node] = []
    for part in parts:
        identity = next((child.value for child in part.children if child.name in ("@id", "@xml:id")), None)
        if part.name.startswith("@"):
            named.append(part)
        elif identity:
            named.append(replace(part, name=f"{part.name}#{identity}", naming="record"))
        elif counts[part.name] == 1:
            named.append(replace(part, naming="field"))
        else:
            named.append(replace(part, name=f"{part.name}[{numbers[part.name]}]"))
            numbers[part.name] += 1
    return uniquely_named(named)


def _end_of(text: str, mark: str, position: int) -> int:
    end = text.find(mark, position)
    if end < 0:
        raise StateUnreadableError(f"{mark} is missing after {position}")
    return end + len(mark)
