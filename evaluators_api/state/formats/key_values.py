"""Settings and headers: `key: value` or `key = value`, sections in brackets, the text after a header."""

import re

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.formats import lines
from taskloom.evaluators_api.state.nodes import Node, group, leaf, trimmed, uniquely_named

SUFFIXES: frozenset[str] = frozenset([".ini", ".cfg", ".conf", ".properties", ".env", ".tid", ".desktop"])
BODY = "text"
"""Name of the text after the header, and an empty line, of a file without sections."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SECTION = re.compile(r"\[([^\]\n]+)\][ \t\r]*$")
_KEY = re.compile(r"[^\s=:#;!\[][^=:]*(?=[=:])")
_COMMENT = ("#", ";", "!")


def parse(text: str) -> Node:
    """`(key,)`, `(section, key)`, and `('text', line)` for the lines after a header."""
    sections: list[tuple[str, int, list[Node]]] = []
    pairs: list[Node] = []
    target = pairs
    body: Node | None = None
    for match in _LINE.finditer(text):
        (position, end), line = match.span(), match.group().rstrip("\r\n")
        if not line.strip() and pairs and not sections:
            body = lines.lines_from(text, end, BODY)
            break
        section, key = _SECTION.match(line), _KEY.match(line)
        if section is not None:
            target = []
            sections.append((section.group(1), position, target))
        elif key is not None:
            whole = (position, position + len(line))
            raw = trimmed(text, position + key.end() + 1, whole[1])
            value = text[raw[0] : raw[1]]
            target.append(leaf(key.group().rstrip(), "field", raw, value, (position, end), whole))
        elif line.strip() and not line.lstrip().startswith(_COMMENT) and not (target and line[:1] in " \t"):
            raise StateUnreadableError(f"no key at {position}")
    ends = [*(start for _, start, _ in sections[1:]), len(text)]
    for (name, first, members), end in zip(sections, ends, strict=False):
        pairs.append(group(name, "field", (first, end), uniquely_named(members), (first, end)))
    parts = (*uniquely_named(pairs), *([] if body is None else [body]))
    if not parts:
        raise StateUnreadableError("no keys")
    return group("", "field", (0, len(text)), parts)
