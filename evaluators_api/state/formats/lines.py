"""Any text, line by line."""

import re
from dataclasses import replace

from taskloom.evaluators_api.state.nodes import Node, group, leaf

SUFFIXES: frozenset[str] = frozenset([".txt", ".md", ".log", ".py", ".rst", ".tex"])
MOST_LINES = 10_000
"""Maximum number of lines that are read separately."""
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


def parse(text: str) -> Node:
    """One leaf per line, without its end; the text after the first `MOST_LINES` lines is one leaf."""
    lines: list[Node] = []
    for match in _LINE.finditer(text):
        if match.start() == len(text) and lines:
            break
        if match.start() == match.end():
            break
        if len(lines) == MOST_LINES:
            rest = (match.start(), len(text))
            lines.append(leaf(str(len(lines)), "position", rest, text[match.start() :], rest))
            break
        lines.append(leaf(str(len(lines)), "position", match.span(1), match.group(1), match.span()))
    return group("", "field", (0, len(text)), tuple(lines))


def lines_from(text: str, start: int, name: str) -> Node:
    """The lines of `text` from `start` on, as a group with this name."""
    lines = tuple(_shifted(node, start) for node in parse(text[start:]).children)
    return group(name, "field", (start, len(text)), lines)


def _shifted(node: Node, by: int) -> Node:
    begin, end = node.extent or node.raw
    return replace(node, raw=(node.raw[0] + by, node.raw[1] + by), extent=(begin + by, end + by))
