"""Controls whose containers no cache holds are found in their places all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from taskloom.environments.platforms.linux_desktop.server.accessibility import Accessibility
from taskloom.environments.platforms.linux_desktop.server.trees import Node, Reference, Role, State

ROOT: Reference = (":7", "/root")
NOWHERE: Reference = (":7", "/org/a11y/atspi/null")
SHOWN = 1 << State.SHOWING


def node(place: Reference, parent: Reference, states: int = SHOWN) -> Node:
    return Node(place, parent, 0, "", Role.LABEL, states, frozenset())


class Program(Accessibility):
    """A program that knows what stands above each of its elements."""

    def __init__(self, above: dict[Reference, Reference]) -> None:
        super().__init__()
        self.above, self.asked = above, list[Reference]()

    async def _try_property(self, *arguments: Any) -> list[Any]:
        self.asked.append(arguments[0])
        return [self.above[arguments[0]]] if arguments[0] in self.above else []

    async def _node(self, reference: Reference, parent: Reference, index: int) -> Node | None:
        return node(reference, parent)


def between(program: Program, *known: Node) -> dict[Reference, Reference]:
    found = asyncio.run(program._uncached_ancestors(ROOT, [node(ROOT, (":1", "/desktop")), *known]))
    return {item.reference: item.parent for item in found}


@given(st.integers(0, 12), st.sampled_from([ROOT, NOWHERE, (":1", "/desktop")]))
def test_all_that_stands_between_a_shown_element_and_the_root_is_found(depth: int, top: Reference) -> None:
    chain: list[Reference] = [(":7", f"/{number}") for number in range(depth)]
    above = dict(zip(chain, [*chain[1:], top], strict=True)) if chain else {}
    found = between(Program(above), node((":7", "/leaf"), chain[0] if chain else ROOT))
    expected = {**above, **({chain[-1]: ROOT} if chain and top == NOWHERE else {})}
    assert found == expected


def test_nothing_is_asked_for_what_is_hidden_or_known() -> None:
    program = Program({})
    bar = node((":7", "/bar"), ROOT)
    assert not between(program, bar, node((":7", "/a"), bar.reference), node((":7", "/b"), (":7", "/x"), 0))
    assert not program.asked


def test_circles_end() -> None:
    one, other = (":7", "/1"), (":7", "/2")
    assert set(between(Program({one: other, other: one}), node((":7", "/leaf"), one))) == {one, other}


class Window(Accessibility):
    """A program whose elements hold what `inside` says, whatever its cache has."""

    def __init__(self, inside: dict[Reference, list[Reference]]) -> None:
        super().__init__()
        self.inside = inside

    async def _children(self, node: Node) -> list[Reference]:
        return self.inside.get(node.reference, [])

    async def _node(self, reference: Reference, parent: Reference, index: int) -> Node | None:
        return node(reference, parent)


def place(name: str) -> Reference:
    return (":7", f"/{name}")


def up_to_date(
    inside: dict[str, str], *cached: Node, between: Sequence[Node] = ()
) -> dict[Reference, Reference]:
    told = {place(name): [place(child) for child in children] for name, children in inside.items()}
    found = asyncio.run(Window(told)._with_reported_children(cached, between))
    return {item.reference: item.parent for item in found}


def holding(name: str, parent: Reference, children: int, role: int = Role.LABEL, states: int = SHOWN) -> Node:
    return replace(node(place(name), parent, states), children=children, role=role)


def test_what_a_cache_leaves_out_is_walked_with_all_below_it() -> None:
    cached = [holding("w", ROOT, 1, Role.FRAME), holding("a", place("w"), 2), holding("b", place("a"), 0)]
    found = up_to_date({"w": "a", "a": "bc", "c": "de"}, *cached)
    assert found == {
        place("w"): ROOT,
        **{place(child): place(above) for child, above in ("aw", "ba", "ca", "dc", "ec")},
    }


def test_what_is_hidden_large_or_whole_is_not_asked() -> None:
    large = SHOWN | 1 << State.MANAGES_DESCENDANTS
    cached = [
        holding("a", ROOT, 3, states=0),
        holding("b", ROOT, 3, states=large),
        holding("c", ROOT, 1),
        holding("d", place("c"), 0),
    ]
    found = up_to_date({"a": "xyz", "b": "xyz", "c": "x"}, *cached)
    assert set(found) == {place(name) for name in "abcd"}


def test_a_dialog_in_the_place_of_all_that_a_window_held_takes_it_away() -> None:
    cached = [holding("w", ROOT, 1, Role.FRAME), holding("a", place("w"), 0)]
    assert set(up_to_date({"w": "d"}, *cached)) == {place("w"), place("d")}
    assert set(up_to_date({"w": "ad"}, *cached)) == {place("w"), place("a"), place("d")}
    assert set(up_to_date({}, *cached)) == {place("w"), place("a")}, "what does not answer takes nothing away"
    bar = holding("a", place("w"), 0)
    found = up_to_date({"w": "d"}, cached[0], between=[bar])
    assert set(found) == {place("w"), place("a"), place("d")}, "what just said where it is stays"
