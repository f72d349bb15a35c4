"""The control trees of all applications, by AT-SPI over D-Bus: one call per application fetches what it keeps
at hand, places and texts follow for what shows, all calls at once; others are walked level by level."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Sequence
from itertools import product
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from taskloom.environments.platforms.linux_desktop.server.trees import (
    Box,
    Forest,
    Node,
    Reference,
    Role,
    State,
    cached_node,
    short_names,
    state_bits,
)

_PREFIX = "org.a11y.atspi."
_PROPERTIES = "org.freedesktop.DBus.Properties"
_REGISTRY = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_EVENTS = ("object:children-changed", "object:state-changed", "object:property-change", "window")
_AT_ONCE = 64
"""Calls under way; more fill the socket."""
_ANSWER_SECONDS = 3.0
"""How long an application may take to answer; one that takes longer hangs."""
_LONGEST_TEXT = 20_000
_LABELLED_BY = 2
_OBJECT = "\ufffc"
"""What stands in a text for what is no text."""
_FIELDS = frozenset({Role.TEXT, Role.ENTRY, Role.COMBO_BOX, Role.SPIN_BUTTON, Role.SLIDER})
_MOST_CHILDREN = 400
_MOST_CELLS = 900
_MOST_ROWS = 120
_DEEPEST = 40

_Child = tuple[Reference, Reference, int]  # an element, what it is in, its place there
_Refused = LookupError
"""What an application answers where an element is gone, or cannot do that."""


class Accessibility:
    """A connection to the accessibility bus."""

    def __init__(self) -> None:
        self._bus: Any = None
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._processes: dict[str, int] = {}

    async def connect(self) -> None:
        """Turn accessibility on, and have applications keep their trees up to date."""
        session: Any = await MessageBus().connect()
        bus = ("org.a11y.Bus", "/org/a11y/bus")
        answer = await _answer(session, bus, bus[0], "GetAddress")
        on = ["org.a11y.Status", "IsEnabled", Variant("b", True)]
        await _answer(session, bus, _PROPERTIES, "Set", "ssv", on)
        session.disconnect()
        self._bus = await MessageBus(bus_address=answer.body[0]).connect()
        registry = (_REGISTRY[0], "/org/a11y/atspi/registry")
        for event in _EVENTS:
            await self._call(registry, "Registry", "RegisterEvent", "sass", [event, [], ""])

    async def forest(self) -> Forest:
        """The trees of all applications, with places and texts of what shows."""
        (applications,) = await self._call(_REGISTRY, "Accessible", "GetChildren")
        silent: list[int] = []
        trees = await asyncio.gather(*(self._tree((name, path), silent) for name, path in applications))
        return Forest({node.reference: node for tree in trees for node in tree}, tuple(silent))

    async def _tree(self, application: Reference, silent: list[int]) -> list[Node]:
        process = 0
        try:
            process = await self._process(application[0])
            nodes = await self._cached(application)
            if len(nodes) < 3:
                nodes = await self._walked(application)
            nodes = await self._brought_up_to_date(nodes, await self._between(application, nodes))
            await self._fill(nodes)
            for open_one in [node for node in nodes if _makes_children_when_asked(node)]:
                if "Table" in open_one.interfaces:
                    nodes += await self._cells(open_one)
                else:
                    inside = (await self._walked(open_one.reference))[1:]
                    await self._fill(inside)
                    nodes += inside
        except TimeoutError:
            silent.append(process)
            return []
        except _Refused:
            return []
        for node in nodes:
            node.process = process
        return nodes

    async def _process(self, name: str) -> int:
        if name not in self._processes:
            bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
            asked = _answer(self._bus, bus, bus[0], "GetConnectionUnixProcessID", "s", [name])
            answer = await asyncio.wait_for(asked, _ANSWER_SECONDS)
            known = answer.message_type is MessageType.METHOD_RETURN
            self._processes[name] = int(answer.body[0]) if known else 0
        return self._processes[name]

    async def _cached(self, application: Reference) -> list[Node]:
        try:
            (items,) = await self._call((application[0], "/org/a11y/atspi/cache"), "Cache", "GetItems")
        except _Refused:
            return []
        return [cached_node(item) for item in items]

    async def _between(self, application: Reference, nodes: Sequence[Node]) -> list[Node]:
        """What stands between the root and shown nodes and is in no cache: popups, and bars that hold others
        inside of themselves. What has nothing above it hangs at the root."""
        known, found = {node.reference for node in nodes}, list[Node]()
        pending = {node.parent for node in nodes if node.has(State.SHOWING)} - known
        for _ in range(_DEEPEST):
            places = [place for place in pending if place[0] == application[0] and _is_there(place)]
            if not places:
                break
            above = await _all(self._maybe_property(place, "Accessible", "Parent") for place in places)
            parents = [tuple(item[0]) if item and _is_there(item[0]) else application for item in above]
            made = await _all(self._node(*pair, 0) for pair in zip(places, parents, strict=True))
            found += [node for node in made if node is not None]
            known |= set(places)
            pending = {node.parent for node in made if node is not None} - known
        return found

    async def _brought_up_to_date(self, cached: Sequence[Node], between: Sequence[Node]) -> list[Node]:
        """Cached nodes, those `between` them, and what shown ones say they hold and is in no cache, with all
        below it: pages of a browser, what was put into a window later. What stands in the place of all that a
        window held, such as a dialog, takes it away, but not what just said itself that it is there."""
        nodes = [*cached, *between]
        known = {node.reference for node in nodes}
        held: dict[Reference, set[Reference]] = defaultdict(set)
        for node in nodes:
            if node.parent != node.reference:
                held[node.parent].add(node.reference)
        open_ones = [
            node
            for node in nodes
            if node.has(State.SHOWING) and not node.has(State.MANAGES_DESCENDANTS)
            if node.children > len(held[node.reference]) or node.role == Role.FRAME
        ]
        told = list(zip(open_ones, await _all(map(self._children, open_ones)), strict=True))
        gone = {
            child
            for node, children in told
            if children and held[node.reference].isdisjoint(children)
            for child in held[node.reference]
        }.difference(node.reference for node in between)
        more = [
            (child, node.reference, index)
            for node, children in told
            for index, child in enumerate(children)
            if child not in known
        ]
        return [node for node in nodes if node.reference not in gone] + await self._below(more)

    async def _walked(self, root: Reference) -> list[Node]:
        return await self._below([(root, root, 0)])

    async def _below(self, level: list[_Child]) -> list[Node]:
        """These nodes, and all that is shown in them, level by level."""
        found: list[Node] = []
        for depth in range(_DEEPEST if level else 0):
            nodes = [node for node in await _all(self._node(*place) for place in level) if node is not None]
            found += nodes
            level = []
            open_ones = [node for node in nodes if depth < 2 or node.has(State.SHOWING)]
            for node, children in zip(
                open_ones, await _all(self._children(node) for node in open_ones), strict=True
            ):
                level += [(child, node.reference, index) for index, child in enumerate(children)]
            if not level:
                break
        return found

    async def _node(self, reference: Reference, parent: Reference, index: int) -> Node | None:
        try:
            (name,), (role,), (states,), (interfaces,) = await asyncio.gather(
                self._property(reference, "Accessible", "Name"),
                self._call(reference, "Accessible", "GetRole"),
                self._call(reference, "Accessible", "GetState"),
                self._call(reference, "Accessible", "GetInterfaces"),
            )
        except _Refused:
            return None
        return Node(reference, parent, index, name, role, state_bits(states), short_names(interfaces))

    async def _children(self, node: Node) -> list[Reference]:
        try:
            (count,) = await self._property(node.reference, "Accessible", "ChildCount")
            if not 0 < count <= _MOST_CHILDREN:
                return []
            (children,) = await self._call(node.reference, "Accessible", "GetChildren")
        except _Refused:
            return []
        return [(name, path) for name, path in children]

    async def _fill(self, nodes: Sequence[Node]) -> None:
        shown = [node for node in nodes if node.has(State.SHOWING) and "Component" in node.interfaces]
        texts = [node for node in shown if "Text" in node.interfaces]
        values = [node for node in shown if "Value" in node.interfaces]
        nameless = [node for node in shown if node.role in _FIELDS and not node.name]
        boxes, written, numbers, relations = await asyncio.gather(
            _all(self._maybe(node.reference, "Component", "GetExtents", "u", [0]) for node in shown),
            _all(self._maybe(node.reference, "Text", "GetText", "ii", [0, _LONGEST_TEXT]) for node in texts),
            _all(self._maybe_property(node.reference, "Value", "CurrentValue") for node in values),
            _all(self._maybe(node.reference, "Accessible", "GetRelationSet") for node in nameless),
        )
        for node, box in zip(shown, boxes, strict=True):
            node.box = tuple(box[0]) if box else None
        for node, text in zip(texts, written, strict=True):
            node.text = text[0].replace(_OBJECT, "") if text else None
        for node, number in zip(values, numbers, strict=True):
            node.value = float(number[0]) if number else None
        for node, related in zip(nameless, relations, strict=True):
            for kind, targets in related[0] if related else ():
                if kind == _LABELLED_BY and targets:
                    node.label = (targets[0][0], targets[0][1])

    async def _cells(self, table: Node) -> list[Node]:
        """The visible cells of a table that does not keep them at hand."""
        here, box = table.reference, table.box
        (rows,), (columns,) = await asyncio.gather(
            self._property(here, "Table", "NRows"), self._property(here, "Table", "NColumns")
        )
        if not rows or not columns or box is None or min(box[2:]) < 8:
            return []
        span = await self._visible_span(here, box, rows, columns)
        if span is None:
            return []
        places = list(product(range(span[0], span[2] + 1), range(span[1], span[3] + 1)))[:_MOST_CELLS]
        found = await _all(
            self._maybe(here, "Table", "GetAccessibleAt", "ii", [row, column]) for row, column in places
        )
        cells = [
            (place, (cell[0][0], cell[0][1]))
            for place, cell in zip(places, found, strict=True)
            if cell and _is_there(cell[0])
        ]
        edge = [(place, cell) for place, cell in cells if place[0] == span[0] or place[1] == span[1]]
        boxes, names, texts, states = await asyncio.gather(
            _all(self._maybe(cell, "Component", "GetExtents", "u", [0]) for _, cell in edge),
            _all(self._maybe_property(cell, "Accessible", "Name") for _, cell in cells),
            _all(self._maybe(cell, "Text", "GetText", "ii", [0, _LONGEST_TEXT]) for _, cell in cells),
            _all(
                self._maybe(cell, "Accessible", "GetState") if len(cells) <= 240 else _given([])
                for _, cell in cells
            ),
        )
        names = await _all(
            _given(name) if name and name[0] else self._name_inside(cell)
            for (_, cell), name in zip(cells, names, strict=True)
        )
        places_of = {place: tuple(box[0]) for (place, _), box in zip(edge, boxes, strict=True) if box}
        made = []
        for ((row, column), cell), name, text, state in zip(cells, names, texts, states, strict=True):
            across, down = places_of.get((span[0], column)), places_of.get((row, span[1]))
            if across is None or down is None:
                continue
            node = Node(
                cell,
                here,
                index=row * columns + column,
                name=name[0] if name else "",
                role=Role.TABLE_CELL,
                states=state_bits(state[0]) if state else 1 << State.SHOWING | 1 << State.SENSITIVE,
                interfaces=frozenset(("Component",)),
                box=(across[0], down[1], across[2], down[3]),
                text=text[0] if text else None,
                row=row,
                column=column,
            )
            made.append(node)
        return made

    async def _visible_span(
        self, table: Reference, box: Box, rows: int, columns: int
    ) -> tuple[int, int, int, int] | None:
        """First row and column and last row and column to ask for; None if no cell is visible."""
        left, top, width, height = box
        if rows * columns <= _MOST_CELLS and rows <= _MOST_ROWS:
            return (0, 0, rows - 1, columns - 1)
        first = await self._cell_at(table, left + 6, top + 6)
        last = await self._cell_at(table, left + width - 6, top + height - 6)
        if first is None:
            return None
        last = last or (min(rows, first[0] + _MOST_ROWS) - 1, min(columns, first[1] + 30) - 1)
        return (*first, min(last[0], first[0] + _MOST_ROWS), min(last[1], first[1] + 60))

    async def _name_inside(self, cell: Reference) -> list[Any]:
        """The name of a cell that is made of several, such as a picture and a text."""
        children = await self._maybe(cell, "Accessible", "GetChildren")
        names = await _all(
            self._maybe_property((name, path), "Accessible", "Name") for name, path in (children or [[]])[0]
        )
        return next((name for name in names if name and name[0]), [""])

    async def _cell_at(self, table: Reference, x: int, y: int) -> tuple[int, int] | None:
        hit = await self._maybe(table, "Component", "GetAccessibleAtPoint", "iiu", [x, y, 0])
        if not hit or not _is_there(hit[0]) or tuple(hit[0]) == table:
            return None
        index = await self._maybe((hit[0][0], hit[0][1]), "Accessible", "GetIndexInParent")
        if not index or index[0] < 0:
            return None
        row, column = await asyncio.gather(
            self._maybe(table, "Table", "GetRowAtIndex", "i", [index[0]]),
            self._maybe(table, "Table", "GetColumnAtIndex", "i", [index[0]]),
        )
        return (row[0], column[0]) if row and column and row[0] >= 0 <= column[0] else None

    async def _call(
        self, place: Reference, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
    ) -> list[Any]:
        name = interface if interface == _PROPERTIES else _PREFIX + interface
        async with self._free:
            asked = _answer(self._bus, place, name, member, signature, body)
            answer = await asyncio.wait_for(asked, _ANSWER_SECONDS)
        if answer.message_type is not MessageType.METHOD_RETURN:
            raise _Refused(member)
        return list(answer.body)

    async def _property(self, place: Reference, interface: str, name: str) -> list[Any]:
        (found,) = await self._call(place, _PROPERTIES, "Get", "ss", [_PREFIX + interface, name])
        return [found.value]

    async def _maybe(self, *arguments: Any) -> list[Any]:
        try:
            return await self._call(*arguments)
        except _Refused:
            return []

    async def _maybe_property(self, *arguments: Any) -> list[Any]:
        try:
            return await self._property(*arguments)
        except _Refused:
            return []


async def _answer(
    bus: Any, place: Reference, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
) -> Any:
    return await bus.call(Message(*place, interface, member, signature=signature, body=list(body)))


def _makes_children_when_asked(node: Node) -> bool:
    """As large tables do, which keep nothing at hand."""
    return node.has(State.SHOWING) and node.has(State.MANAGES_DESCENDANTS) and node.box is not None


def _is_there(place: Reference) -> bool:
    return not place[1].endswith("/null")


async def _all(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    return list(await asyncio.gather(*calls))


async def _given(answer: list[Any]) -> list[Any]:
    return answer
