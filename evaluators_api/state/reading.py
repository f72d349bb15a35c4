"""Finds the format of a file and reads its text; what a format cannot read is read as lines."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Protocol, cast

from taskloom.evaluators_api.errors import StateUnreadableError
from taskloom.evaluators_api.state.nodes import Node, group
from taskloom.resources.plugins import PluginKind
from taskloom.taskgraph.records.evidence import Evidence

MOST_NODES = 20_000
"""Nodes of one file that are looked at; a file with more is read as lines."""
_FORMATS: PluginKind["Format"] = PluginKind(
    "format of state", StateUnreadableError, folder="taskloom.evaluators_api.state.formats"
)
FALLBACK = "lines"
"""Format of every text that no other format reads."""


class Format(Protocol):
    """What a module in `formats` defines."""

    SUFFIXES: frozenset[str]
    """File name suffixes that announce it, in lower case, with the dot."""

    def parse(self, text: str) -> Node:
        """The tree of `text`. Anything may be thrown at it.

        Raises:
            StateUnreadableError: the text is not of this format.
        """
        ...

    # A format may also define:
    # `recognises(text)`: whether a text whose name announces nothing is of this format, certainly and quickly
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
    known = all_formats()
    announced = [name for name, item in known.items() if suffix in item.SUFFIXES]
    certain = {name: getattr(item, "recognises", None) for name, item in known.items()}
    for name in announced or [name for name, told in certain.items() if told is not None and told(text)]:
        try:
            tree = known[name].parse(text)
        except (StateUnreadableError, RecursionError):
            continue
        if sum(1 for _ in tree.walk()) <= MOST_NODES:
            return name, tree
    return FALLBACK, known[FALLBACK].parse(text)


def tree_at(evidence: Evidence, path: str) -> Node | None:
    """The tree of the file at `path`; None where there is none or it holds no text."""
    file = evidence.file(path)
    return None if file is None or file.text is None else read(file.path, file.text)[1]


def finished(name: str, before: str, after: str) -> str:
    """`after`, an edit of `before`, with what the format `name` writes itself: the number of rows."""
    finish = getattr(all_formats()[name], "finish", None)
    return after if finish is None else str(finish(before, after))


def meaning(name: str, tree: Node) -> Node:
    """`tree` without what only its writing adds in the format `name`; to compare, not to edit."""
    plain = getattr(all_formats()[name], "without_layout", None)
    return tree if plain is None else cast("Node", plain(tree))


def says_itself(path: str, text: str, address: tuple[str, ...]) -> bool:
    """Whether the format of the file says by itself what stands at `address` in `text`."""
    name, tree = read(path, text)
    known = hasattr(all_formats()[name], "without_layout")
    return known and meaning(name, _without(tree, address)).digest == meaning(name, tree).digest


def _without(node: Node, address: tuple[str, ...]) -> Node:
    left = (
        _without(child, address[1:]) if child.name == address[0] and address[1:] else child
        for child in node.children
        if (child.name,) != address
    )
    return group(node.name, node.naming, node.raw, tuple(left), node.extent)
