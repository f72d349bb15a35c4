"""Control trees as AT-SPI tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taskloom.environments.platforms.linux_desktop.server.roles import State

Reference = tuple[str, str]
"""Bus name and object path."""
Box = tuple[int, int, int, int]


@dataclass(slots=True)
class Node:
    """One element of a control tree."""

    reference: Reference
    parent: Reference
    index: int
    name: str
    role: int
    states: int
    interfaces: frozenset[str]
    description: str = ""
    process: int = 0
    box: Box | None = None
    text: str | None = None
    value: float | None = None
    label: Reference = ("", "")
    row: int | None = None
    column: int | None = None

    def has(self, state: State) -> bool:
        """Whether it is in a state."""
        return bool(self.states >> state & 1)


@dataclass(frozen=True, slots=True)
class Forest:
    """All trees at one moment."""

    nodes: dict[Reference, Node]
    """By reference; children are found through their parents."""
    silent: tuple[int, ...]
    """Processes that did not answer in time."""


def state_bits(words: Sequence[int]) -> int:
    """States as one number, whose bits are the positions of `State`."""
    return words[0] | (words[1] << 32 if len(words) > 1 else 0)


def short_names(interfaces: Sequence[str]) -> frozenset[str]:
    """Interfaces without the prefix they share."""
    return frozenset(name.rpartition(".")[2] for name in interfaces)


def keeps_nothing_at_hand(node: Node) -> bool:
    """Whether it makes its children only when asked for them, as large tables do."""
    return node.has(State.SHOWING) and node.has(State.MANAGES_DESCENDANTS) and node.box is not None


def cached_node(item: Sequence[Any]) -> Node:
    """A node from either layout of the cache: with the number of children, or with their references."""
    if isinstance(item[3], list):
        place, _, parent, _, interfaces, name, role, description, states = item
        index = 0
    else:
        place, _, parent, index, _, interfaces, name, role, description, states = item
    return Node(
        tuple(place),
        tuple(parent),
        index,
        name,
        role,
        state_bits(states),
        short_names(interfaces),
        description,
    )
