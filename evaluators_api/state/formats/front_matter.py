"""Texts with a header: YAML between two lines `---`, then lines."""

import re

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.formats import lines, yaml_tree
from taskloom.evaluators_api.state.formats.key_values import BODY
from taskloom.evaluators_api.state.nodes import Node, called, group

SUFFIXES: frozenset[str] = lines.SUFFIXES
_HEADER = re.compile(r"(---[ \t]*\r?\n(?:.*?\n)??)---[ \t]*(?:\r?\n(?:[ \t]*\r?\n)?|\Z)", re.DOTALL)
"""The header as YAML, then what is between it and the text: the line that ends it and an empty one."""


def recognises(text: str) -> bool:
    """Whether it begins with a header."""
    return _HEADER.match(text) is not None


def parse(text: str) -> Node:
    """`(key, …)` for what is in the header, and `('text', line)` for the lines after it."""
    header = _HEADER.match(text)
    if header is None:
        raise StateUnreadableError("no header")
    tree = yaml_tree.parse(text[: header.end(1)])
    if not tree.children or any(node.naming != "field" for node in tree.children):
        raise StateUnreadableError("a header without keys")
    parts = (*tree.children, lines.behind(text, header.end(), BODY))
    return group("", "field", (0, len(text)), called(parts))
