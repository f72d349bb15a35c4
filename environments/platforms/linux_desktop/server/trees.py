"""Control trees as AT-SPI tells them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taskloom.environments.platforms.linux_desktop.server.roles import Role, State

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
    children: int = 0
    """How many it says it has; of cached nodes only."""
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
        place, _, parent, children, interfaces, name, role, description, states = item
        index, count = 0, len(children)
    else:
        place, _, parent, index, count, interfaces, name, role, description, states = item
    return Node(
        tuple(place),
        tuple(parent),
        index,
        name,
        role,
        state_bits(states),
        short_names(interfaces),
        description,
        count,
    )


def cell_node(
    cell: Reference,
    table: Reference,
    place: tuple[int, int],
    columns: int,
    box: tuple[int, int, int, int],
    told: tuple[list[Any], list[Any], list[Any]],
) -> Node:
    """A cell at `place` (row, column), of which `told` is what it answered about name, text and state."""
    name, text, state = told
    return Node(
        cell,
        table,
        place[0] * columns + place[1],
        name[0] if name else "",
        Role.TABLE_CELL,
        state_bits(state[0]) if state else 1 << State.SHOWING | 1 << State.SENSITIVE,
        frozenset(("Component",)),
        box=box,
        text=text[0] if text else None,
        row=place[0],
        column=place[1],
    )
