"""The control trees of all applications, by AT-SPI over D-Bus. One call per application fetches its cache;
boxes and texts of visible nodes follow, in concurrent calls. Other trees are walked level by level."""

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
_MOST_CALLS = 64
"""Concurrent calls; more would fill the socket."""
_ANSWER_SECONDS = 3.0
"""How long an application may take to answer before it counts as hung."""
_LONGEST_TEXT = 20_000
_LABELLED_BY = 2
_OBJECT_CHARACTER = "\ufffc"
"""The character that stands for embedded objects in texts."""
_FIELD_ROLES = frozenset({Role.TEXT, Role.ENTRY, Role.COMBO_BOX, Role.SPIN_BUTTON, Role.SLIDER})
_MOST_CHILDREN = 400
_MOST_CELLS = 900
_MOST_ROWS = 120
_DEEPEST = 40

_Child = tuple[Reference, Reference, int]  # an element, its parent, and its index there
_CallRefused = LookupError
"""Raised when an element is gone or does not support a call."""


class Accessibility:
    """A connection to the accessibility bus."""

    def __init__(self) -> None:
        self._bus: Any = None
        self._slots = asyncio.Semaphore(_MOST_CALLS)
        self._processes: dict[str, int] = {}

    async def connect(self) -> None:
        """Turn accessibility on, and make applications keep their trees up to date."""
        session: Any = await MessageBus().connect()
        bus = ("org.a11y.Bus", "/org/a11y/bus")
        answer = await _send_call(session, bus, bus[0], "GetAddress")
        on = ["org.a11y.Status", "IsEnabled", Variant("b", True)]
        await _send_call(session, bus, _PROPERTIES, "Set", "ssv", on)
        session.disconnect()
        self._bus = await MessageBus(bus_address=answer.body[0]).connect()
        registry = (_REGISTRY[0], "/org/a11y/atspi/registry")
        for event in _EVENTS:
            await self._call(registry, "Registry", "RegisterEvent", "sass", [event, [], ""])

    async def forest(self) -> Forest:
        """The trees of all applications, with boxes and texts of visible nodes."""
        (applications,) = await self._call(_REGISTRY, "Accessible", "GetChildren")
        silent: list[int] = []
        trees = await asyncio.gather(*(self._tree((name, path), silent) for name, path in applications))
        return Forest({node.reference: node for tree in trees for node in tree}, tuple(silent))

    async def _tree(self, application: Reference, silent: list[int]) -> list[Node]:
        process = 0
        try:
            process = await self._process(application[0])
            nodes = await self._cached_nodes(application)
            if len(nodes) < 3:
                nodes = await self._walk(application)
            uncached = await self._uncached_ancestors(application, nodes)
            nodes = await self._with_reported_children(nodes, uncached)
            await self._fill(nodes)
            for table in [node for node in nodes if _creates_children_on_request(node)]:
                if "Table" in table.interfaces:
                    nodes += await self._cells(table)
                else:
                    descendants = (await self._walk(table.reference))[1:]
                    await self._fill(descendants)
                    nodes += descendants
        except TimeoutError:
            silent.append(process)
            return []
        except _CallRefused:
            return []
        for node in nodes:
            node.process = process
        return nodes

    async def _process(self, name: str) -> int:
        if name not in self._processes:
            bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
            call = _send_call(self._bus, bus, bus[0], "GetConnectionUnixProcessID", "s", [name])
            answer = await asyncio.wait_for(call, _ANSWER_SECONDS)
            known = answer.message_type is MessageType.METHOD_RETURN
            self._processes[name] = int(answer.body[0]) if known else 0
        return self._processes[name]

    async def _cached_nodes(self, application: Reference) -> list[Node]:
        try:
            (items,) = await self._call((application[0], "/org/a11y/atspi/cache"), "Cache", "GetItems")
        except _CallRefused:
            return []
        return [cached_node(item) for item in items]

    async def _uncached_ancestors(self, application: Reference, nodes: Sequence[Node]) -> list[Node]:
        """Ancestors of visible nodes that are missing in the cache, such as popups and nested bars. One
        without a parent becomes a child of the root."""
        known, found = {node.reference for node in nodes}, list[Node]()
        pending = {node.parent for node in nodes if node.has(State.SHOWING)} - known
        for _ in range(_DEEPEST):
            places = [place for place in pending if place[0] == application[0] and _exists(place)]
            if not places:
                break
            above = await _gather(self._try_property(place, "Accessible", "Parent") for place in places)
            parents = [tuple(item[0]) if item and _exists(item[0]) else application for item in above]
            made = await _gather(self._node(*pair, 0) for pair in zip(places, parents, strict=True))
            found += [node for node in made if node is not None]
            known |= set(places)
            pending = {node.parent for node in made if node is not None} - known
        return found

    async def _with_reported_children(self, cached: Sequence[Node], uncached: Sequence[Node]) -> list[Node]:
        """The cached nodes, the `uncached` ones, and children that visible nodes report but the cache lacks,
        with their descendants: pages of a browser, parts added to a window later. If none of a node's known
        children is reported any more, as when a dialog replaces them, only `uncached` ones are kept."""
        nodes = [*cached, *uncached]
        known = {node.reference for node in nodes}
        known_children: dict[Reference, set[Reference]] = defaultdict(set)
        for node in nodes:
            if node.parent != node.reference:
                known_children[node.parent].add(node.reference)
        parents = [
            node
            for node in nodes
            if node.has(State.SHOWING) and not node.has(State.MANAGES_DESCENDANTS)
            if node.children > len(known_children[node.reference]) or node.role == Role.FRAME
        ]
        reported = list(zip(parents, await _gather(map(self._children, parents)), strict=True))
        dropped = {
            child
            for node, children in reported
            if children and known_children[node.reference].isdisjoint(children)
            for child in known_children[node.reference]
        }.difference(node.reference for node in uncached)
        missing = [
            (child, node.reference, index)
            for node, children in reported
            for index, child in enumerate(children)
            if child not in known
        ]
        return [node for node in nodes if node.reference not in dropped] + await self._descend(missing)

    async def _walk(self, root: Reference) -> list[Node]:
        return await self._descend([(root, root, 0)])

    async def _descend(self, level: list[_Child]) -> list[Node]:
        """These nodes and their visible descendants, level by level."""
        found: list[Node] = []
        for depth in range(_DEEPEST if level else 0):
            made = await _gather(self._node(*place) for place in level)
            nodes = [node for node in made if node is not None]
            found += nodes
            level = []
            parents = [node for node in nodes if depth < 2 or node.has(State.SHOWING)]
            for node, children in zip(
                parents, await _gather(self._children(node) for node in parents), strict=True
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
        except _CallRefused:
            return None
        return Node(reference, parent, index, name, role, state_bits(states), short_names(interfaces))

    async def _children(self, node: Node) -> list[Reference]:
        try:
            (count,) = await self._property(node.reference, "Accessible", "ChildCount")
            if not 0 < count <= _MOST_CHILDREN:
                return []
            (children,) = await self._call(node.reference, "Accessible", "GetChildren")
        except _CallRefused:
            return []
        return [(name, path) for name, path in children]

    async def _fill(self, nodes: Sequence[Node]) -> None:
        shown = [node for node in nodes if node.has(State.SHOWING) and "Component" in node.interfaces]
        texts = [node for node in shown if "Text" in node.interfaces]
        values = [node for node in shown if "Value" in node.interfaces]
        nameless = [node for node in shown if node.role in _FIELD_ROLES and not node.name]
        boxes, written, numbers, relations = await asyncio.gather(
            _gather(self._try_call(node.reference, "Component", "GetExtents", "u", [0]) for node in shown),
            _gather(
                self._try_call(node.reference, "Text", "GetText", "ii", [0, _LONGEST_TEXT]) for node in texts
            ),
            _gather(self._try_property(node.reference, "Value", "CurrentValue") for node in values),
            _gather(self._try_call(node.reference, "Accessible", "GetRelationSet") for node in nameless),
        )
        for node, box in zip(shown, boxes, strict=True):
            node.box = tuple(box[0]) if box else None
        for node, text in zip(texts, written, strict=True):
            node.text = text[0].replace(_OBJECT_CHARACTER, "") if text else None
        for node, number in zip(values, numbers, strict=True):
            node.value = float(number[0]) if number else None
        for node, related in zip(nameless, relations, strict=True):
            for kind, targets in related[0] if related else ():
                if kind == _LABELLED_BY and targets:
                    node.label = (targets[0][0], targets[0][1])

    async def _cells(self, table: Node) -> list[Node]:
        """The visible cells of a table that does not cache them."""
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
        found = await _gather(
            self._try_call(here, "Table", "GetAccessibleAt", "ii", [row, column]) for row, column in places
        )
        cells = [
            (place, (cell[0][0], cell[0][1]))
            for place, cell in zip(places, found, strict=True)
            if cell and _exists(cell[0])
        ]
        edge = [(place, cell) for place, cell in cells if place[0] == span[0] or place[1] == span[1]]
        boxes, names, texts, states = await asyncio.gather(
            _gather(self._try_call(cell, "Component", "GetExtents", "u", [0]) for _, cell in edge),
            _gather(self._try_property(cell, "Accessible", "Name") for _, cell in cells),
            _gather(self._try_call(cell, "Text", "GetText", "ii", [0, _LONGEST_TEXT]) for _, cell in cells),
            _gather(
                self._try_call(cell, "Accessible", "GetState") if len(cells) <= 240 else _resolved([])
                for _, cell in cells
            ),
        )
        names = await _gather(
            _resolved(name) if name and name[0] else self._name_inside(cell)
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
        """First row and column, and last row and column, to read; None if no cell is visible."""
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
        """The name of a cell that consists of several parts, such as a picture and a text."""
        children = await self._try_call(cell, "Accessible", "GetChildren")
        names = await _gather(
            self._try_property((name, path), "Accessible", "Name") for name, path in (children or [[]])[0]
        )
        return next((name for name in names if name and name[0]), [""])

    async def _cell_at(self, table: Reference, x: int, y: int) -> tuple[int, int] | None:
        hit = await self._try_call(table, "Component", "GetAccessibleAtPoint", "iiu", [x, y, 0])
        if not hit or not _exists(hit[0]) or tuple(hit[0]) == table:
            return None
        index = await self._try_call((hit[0][0], hit[0][1]), "Accessible", "GetIndexInParent")
        if not index or index[0] < 0:
            return None
        row, column = await asyncio.gather(
            self._try_call(table, "Table", "GetRowAtIndex", "i", [index[0]]),
            self._try_call(table, "Table", "GetColumnAtIndex", "i", [index[0]]),
        )
        return (row[0], column[0]) if row and column and row[0] >= 0 <= column[0] else None

    async def _call(
        self, place: Reference, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
    ) -> list[Any]:
        name = interface if interface == _PROPERTIES else _PREFIX + interface
        async with self._slots:
            call = _send_call(self._bus, place, name, member, signature, body)
            answer = await asyncio.wait_for(call, _ANSWER_SECONDS)
        if answer.message_type is not MessageType.METHOD_RETURN:
            raise _CallRefused(member)
        return list(answer.body)

    async def _property(self, place: Reference, interface: str, name: str) -> list[Any]:
        (found,) = await self._call(place, _PROPERTIES, "Get", "ss", [_PREFIX + interface, name])
        return [found.value]

    async def _try_call(self, *arguments: Any) -> list[Any]:
        try:
            return await self._call(*arguments)
        except _CallRefused:
            return []

    async def _try_property(self, *arguments: Any) -> list[Any]:
        try:
            return await self._property(*arguments)
        except _CallRefused:
            return []


async def _send_call(
    bus: Any, place: Reference, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
) -> Any:
    return await bus.call(Message(*place, interface, member, signature=signature, body=list(body)))


def _creates_children_on_request(node: Node) -> bool:
    """Whether children are created on request, as in large tables, which cache none."""
    return node.has(State.SHOWING) and node.has(State.MANAGES_DESCENDANTS) and node.box is not None


def _exists(place: Reference) -> bool:
    return not place[1].endswith("/null")


async def _gather(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    return list(await asyncio.gather(*calls))


async def _resolved(answer: list[Any]) -> list[Any]:
    return answer
