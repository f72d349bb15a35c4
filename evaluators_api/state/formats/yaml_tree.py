"""YAML: members by their keys, items of lists by their ids or positions."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import (
    Naming,
    Node,
    Span,
    group,
    item_extents,
    leaf,
    named_items,
    uniquely_named,
)

SUFFIXES: frozenset[str] = frozenset([".yaml", ".yml"])
_LONGEST = 32_768
"""Maximum length in characters; longer texts are read as lines, because the parser is slow."""
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?|true|false|null")
_DEEPEST = 60


def parse(text: str) -> Node:
    """Groups for mappings and lists, leaves for scalars. Aliases and multiple documents are rejected."""
    if len(text) > _LONGEST:
        raise StateUnreadableError("too long")
    try:
        tree = YAML(typ="safe", pure=True).compose(text)
    except Exception as error:  # the parser raises errors of all kinds on broken texts
        raise StateUnreadableError(str(error)[:200]) from None
    if not isinstance(tree, MappingNode | SequenceNode):
        raise StateUnreadableError("no mapping and no list")
    return _Reader(text).node(tree, "", "field", 0)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._visited: set[int] = set()

    def node(self, item: YamlNode, name: str, naming: Naming, depth: int) -> Node:
        if id(item) in self._visited or depth > _DEEPEST:
            raise StateUnreadableError("an alias, or nested too deeply")
        self._visited.add(id(item))
        raw = self._span(item)
        if isinstance(item, ScalarNode):
            return leaf(name, naming, raw, str(item.value))
        if isinstance(item, MappingNode):
            return group(name, naming, raw, uniquely_named(self._members(item, raw, depth)))
        if isinstance(item, SequenceNode):
            return group(name, naming, raw, self._items(item, raw, depth))
        raise StateUnreadableError("a node of an unknown kind")

    def _span(self, item: YamlNode) -> Span:
        start, end = item.start_mark.index, item.end_mark.index
        if isinstance(item, MappingNode | SequenceNode) and not item.flow_style:
            # the end mark is just before what follows the block
            end = start + len(self._text[start:end].rstrip())
        return start, end

    def _after_mark(self, node: Node, mark: str, position: int) -> Node:
        """`node`; if empty, put right after `mark`, because the parser gives the start of the next node."""
        match = re.compile(rf"[ \t]*{mark}").match(self._text, position)
        if match is None or node.raw[0] != node.raw[1]:
            return node
        return replace(node, raw=(match.end(), match.end()))

    def _members(self, item: MappingNode, raw: Span, depth: int) -> Iterator[Node]:
        if not all(isinstance(key, ScalarNode) for key, _ in item.value):
            raise StateUnreadableError("a key that is not a scalar")
        nodes = [
            self._after_mark(self.node(value, str(key.value), "field", depth + 1), ":", key.end_mark.index)
            for key, value in item.value
        ]
        wholes = [
            (key.start_mark.index, max(node.raw[1], key.end_mark.index))
            for (key, _), node in zip(item.value, nodes, strict=True)
        ]
        extents = self._extents(wholes, raw, flow=bool(item.flow_style))
        for node, whole, extent in zip(nodes, wholes, extents, strict=True):
            yield replace(node, whole=whole, extent=extent)

    def _items(self, item: SequenceNode, raw: Span, depth: int) -> tuple[Node, ...]:
        nodes: list[Node] = []
        wholes: list[Span] = []
        flow = bool(item.flow_style)
        for index, value in enumerate(item.value):
            node = self.node(value, str(index), "position", depth + 1)
            start = node.raw[0] if flow else max(self._text.rfind("-", 0, max(node.raw[0], 1)), 0)
            nodes.append(node if flow else self._after_mark(node, "-", start))
            wholes.append((start, nodes[-1].raw[1]))
        return named_items(nodes, self._extents(wholes, raw, flow=flow), wholes)

    def _extents(self, wholes: list[Span], raw: Span, *, flow: bool) -> list[Span | None]:
        if flow:
            return list(item_extents(wholes))
        starts = [self._text.rfind("\n", 0, whole[0]) + 1 for whole in wholes]
        starts_line = [
            not self._text[start : whole[0]].strip() for start, whole in zip(starts, wholes, strict=True)
        ]
        # a block ends after its last line that is not empty
        last_line_end = self._text.find("\n", len(self._text[: raw[1]].rstrip()))
        ends = [*starts[1:], len(self._text) if last_line_end < 0 else last_line_end + 1]
        return [
            (start, end) if removable and end > start else None
            for start, end, removable in zip(starts, ends, starts_line, strict=True)
        ]
