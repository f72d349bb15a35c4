"""Texts with a header: YAML between two lines `---`, then lines."""

import re

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.formats import lines, yaml_tree
from taskloom.evaluators_api.state.formats.key_values import BODY
from taskloom.evaluators_api.state.nodes import Node, group, uniquely_named

SUFFIXES: frozenset[str] = lines.SUFFIXES
_HEADER = re.compile(r"(---[ \t]*\r?\n(?:.*?\n)??)---[ \t]*(?:\r?\n(?:[ \t]*\r?\n)?|\Z)", re.DOTALL)
"""The header as YAML, then its last line and an empty line before the text."""


def recognises(text: str) -> bool:
    """Whether the text begins with a header."""
    return _HEADER.match(text) is not None


def parse(text: str) -> Node:
    """`(key, …)` for the header, and `('text', line)` for the lines after it."""
    header = _HEADER.match(text)
    if header is None:
        raise StateUnreadableError("no header")
    tree = yaml_tree.parse(text[: header.end(1)])
    if not tree.children or any(node.naming != "field" for node in tree.children):
        raise StateUnreadableError("a header without keys")
    parts = (*tree.children, lines.lines_from(text, header.end(), BODY))
    return group("", "field", (0, len(text)), uniquely_named(parts))
