"""Finds the format of a file and reads its text, as lines if no other format can read it."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Protocol, cast

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import Node, group
from taskloom.resources.plugins import PluginKind
from taskloom.taskgraph.records.evidence import Evidence

MOST_NODES = 20_000
"""Maximum number of nodes in one file; a file with more is read as lines."""
_FORMATS: PluginKind["Format"] = PluginKind(
    "format of state", StateUnreadableError, folder="taskloom.evaluators_api.state.formats"
)
FALLBACK = "lines"
"""Format of every text that no other format can read."""


class Format(Protocol):
    """What a module in `formats` must define."""

    SUFFIXES: frozenset[str]
    """File name suffixes of the format, in lower case, with the dot."""

    def parse(self, text: str) -> Node:
        """The tree of `text`, which may be any text.

        Raises:
            StateUnreadableError: the text is not of this format.
        """
        ...

    # A format may also define:
    # `recognises(text)`: whether a text without a known suffix certainly is of this format; must be quick
    # `finish(before, after)`: see `finished`
    # `without_layout(tree)`: see `meaning`


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name."""
    return dict(_FORMATS.each())


@lru_cache(maxsize=96)
def read(path: str, text: str) -> tuple[str, Node]:
    """Name of the format of the file at `path`, and the tree of its `text`. Never raises."""
    suffix = PurePosixPath(path).suffix.casefold()
    formats = all_formats()
    candidates = [name for name, item in formats.items() if suffix in item.SUFFIXES] or [
        name
        for name, item in formats.items()
        if (recognises := getattr(item, "recognises", None)) is not None and recognises(text)
    ]
    for name in candidates:
        try:
            tree = formats[name].parse(text)
        except (StateUnreadableError, RecursionError):
            continue
        if sum(1 for _ in tree.walk()) <= MOST_NODES:
            return name, tree
    return FALLBACK, formats[FALLBACK].parse(text)


def tree_at(evidence: Evidence, path: str) -> Node | None:
    """The tree of the file at `path`; None if there is no file or it holds no text."""
    file = evidence.file(path)
    return None if file is None or file.text is None else read(file.path, file.text)[1]


def finished(name: str, before: str, after: str) -> str:
    """`after`, an edit of `before`, with what the format `name` computes updated: the number of rows."""
    finish = getattr(all_formats()[name], "finish", None)
    return after if finish is None else str(finish(before, after))


def meaning(name: str, tree: Node) -> Node:
    """`tree` without the layout of the format `name`; for comparison, not for editing."""
    without_layout = getattr(all_formats()[name], "without_layout", None)
    return tree if without_layout is None else cast("Node", without_layout(tree))


def is_redundant(path: str, text: str, address: tuple[str, ...]) -> bool:
    """Whether the node at `address` in `text` follows from the rest by the rules of the file's format."""
    name, tree = read(path, text)
    has_layout = hasattr(all_formats()[name], "without_layout")
    return has_layout and meaning(name, _without(tree, address)).digest == meaning(name, tree).digest


def _without(node: Node, address: tuple[str, ...]) -> Node:
    children = (
        _without(child, address[1:]) if child.name == address[0] and address[1:] else child
        for child in node.children
        if (child.name,) != address
    )
    return group(node.name, node.naming, node.raw, tuple(children), node.extent)
