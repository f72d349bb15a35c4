"""Turns a forest of control trees into a flat list of the visible controls, in reading order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from taskloom.environments.platforms.linux_desktop.server.display import Window
from taskloom.environments.platforms.linux_desktop.server.trees import (
    CONTAINERS,
    CONTROL_TYPES,
    Box,
    Forest,
    Node,
    Reference,
    Role,
    State,
)

Control = dict[str, object]
"""One control as sent to the host: `type`, `text`, `value`, `parent_text`, `parent_type`, `row`, `section`,
`box`, `point`, `checked`, `disabled`, `focused`, `process`."""

_LONGEST_NAME = 200
_PANEL, _VIEWPORT, _SCROLL_PANE, _GROUPING = 39, 68, 49, 99
_SELF_CONTAINED = frozenset(
    {
        "Button",
        "MenuItem",
        "CheckBox",
        "RadioButton",
        "ListItem",
        "TreeItem",
        "Header",
        "Heading",
        "Hyperlink",
        "Text",
    }
)
"""Types whose names contain all their text, so texts and pictures inside are not listed again."""
_NAMELESS = frozenset(
    {"Edit", "Button", "ComboBox", "CheckBox", "RadioButton", "Slider", "Spinner", "Canvas"}
)
"""Types of controls that are listed even without a name."""
_ICON_VIEWS = frozenset({Role.LAYERED_PANE, Role.LIST, Role.TABLE})
_CHECKABLE = frozenset(
    {Role.CHECK_BOX, Role.CHECK_MENU_ITEM, Role.RADIO_BUTTON, Role.RADIO_MENU_ITEM, Role.TOGGLE_BUTTON}
)
_POPUP_ROLES = frozenset({Role.MENU, Role.POPUP_MENU, Role.WINDOW, Role.TOOL_TIP})
_WINDOW_ROLES = frozenset({Role.FRAME, Role.DIALOG, Role.ALERT, Role.FILE_CHOOSER})
"""Roles of windows that a window manager manages."""
_TOP_LEVELS = _WINDOW_ROLES | {Role.WINDOW}


@dataclass(frozen=True, slots=True)
class _Place:
    screen: Box
    visible: Box
    top_level: Box | None = None
    in_popup: bool = False
    parent_text: str = ""
    parent_type: str = ""
    section: str = ""
    in_self_contained: bool = False


def open_windows(forest: Forest) -> dict[int, int]:
    """How many windows the control tree of a process reports as open, by process."""
    found: dict[int, int] = defaultdict(int)
    for node in forest.nodes.values():
        above = forest.nodes.get(node.parent)
        if node.role in _WINDOW_ROLES and node.has(State.SHOWING) and above is not None:
            found[node.process] += above.role == Role.APPLICATION
    return found


def flat_controls(forest: Forest, windows: Sequence[Window], size: tuple[int, int]) -> list[Control]:
    """The visible controls of all trees, clipped to their visible parts."""
    children: dict[Reference, list[Node]] = defaultdict(list)
    roots = []
    for node in forest.nodes.values():
        if node.role == Role.APPLICATION or node.parent == node.reference:
            roots.append(node)
        else:
            children[node.parent].append(node)
    for siblings in children.values():
        siblings.sort(key=_reading_order)
    rows = _row_names(forest.nodes.values())
    modal = {node.process for node in forest.nodes.values() if _is_modal(node, forest)}
    listing = _Listing(children, rows, forest.nodes, _Cover(windows), modal)
    everything = (0, 0, *size)
    return [control for root in roots for control in listing.below(root, _Place(everything, everything))]


@dataclass(frozen=True, slots=True)
class _Listing:
    children: dict[Reference, list[Node]]
    rows: dict[tuple[Reference, int], tuple[str, Reference]]
    nodes: dict[Reference, Node]
    cover: _Cover
    modal: set[int]

    def below(self, root: Node, place: _Place) -> Iterator[Control]:
        pending = [(node, place) for node in reversed(self.children[root.reference])]
        while pending:
            node, where = pending.pop()
            blocked = node.process in self.modal and node.role in _WINDOW_ROLES and not node.has(State.MODAL)
            if not node.has(State.SHOWING) or (blocked and node.parent == root.reference):
                continue
            where = _enter_window(node, where)
            control = self._control(node, where)
            if control is not None:
                yield control
            inside = _place_inside(node, where, control is not None)
            pending += [(child, inside) for child in reversed(self.children[node.reference])]

    def _control(self, node: Node, place: _Place) -> Control | None:
        kind = CONTROL_TYPES.get(node.role) or self._canvas_type(node)
        if kind is None or node.box is None:
            return None
        text, row = _text_of(node, kind, self.nodes), ""
        if node.row is not None:
            kind, text, row = self._describe_cell(node)
        elif node.role == Role.ICON and self.nodes[node.parent].role not in _ICON_VIEWS:
            kind = "Button" if self.nodes[node.parent].role in (Role.TEXT, Role.ENTRY) else "Image"
        if (place.in_self_contained and kind in ("Text", "Image")) or (not text and kind not in _NAMELESS):
            return None
        box = _clip(node.box, place.visible)
        point = box and self.cover.free_point(box, node.process, place, beside=kind == "Spinner")
        if point is None:
            return None
        parent_type = (
            place.parent_type if node.row is None else CONTAINERS.get(self.nodes[node.parent].role, "")
        )
        return {
            "type": kind,
            "text": text[:_LONGEST_NAME],
            "value": _value_of(node, kind, text),
            "parent_text": place.parent_text[:_LONGEST_NAME],
            "parent_type": parent_type,
            "row": row[:_LONGEST_NAME],
            "section": place.section[:_LONGEST_NAME],
            "box": box,
            "point": point,
            "checked": _checked(node),
            "disabled": not (node.has(State.SENSITIVE) or node.has(State.ENABLED)),
            "focused": node.has(State.FOCUSED),
            "process": node.process,
        }

    def _canvas_type(self, node: Node) -> str | None:
        """`Canvas` for a leaf of unknown role that is all a scrolled view shows; else None."""
        above = self.nodes.get(node.parent)
        scrolled = above is not None and above.role in (_VIEWPORT, _SCROLL_PANE)
        plain = node.role == Role.UNKNOWN and not self.children[node.reference]
        return "Canvas" if scrolled and plain else None

    def _describe_cell(self, node: Node) -> tuple[str, str, str]:
        """Type, text and row of a cell; the cell that names its row has no row of its own."""
        text = (node.name or node.text or "").strip()
        table = self.nodes[node.parent]
        name, naming = self.rows.get((node.parent, node.row or 0), ("", node.reference))
        if naming == node.reference:
            return ("TreeItem" if table.role == Role.TREE_TABLE else "DataItem"), text, ""
        return "DataItem", text, name


class _Cover:
    def __init__(self, windows: Sequence[Window]) -> None:
        self._windows = list(reversed(windows))
        self._normal: dict[int, int] = defaultdict(int)
        for window in windows:
            self._normal[window.process] += not window.popup

    def free_point(
        self, box: Box, process: int, place: _Place, beside: bool = False
    ) -> tuple[int, int] | None:
        """A point of a control that nothing covers: its centre, else others; with `beside`, those left and
        right of the centre first, as for a number field with buttons."""
        left, top, width, height = box
        centre, others = ((2, 2),), ((1, 2), (3, 2), (2, 1), (2, 3))
        for across, down in (*others, *centre) if beside else (*centre, *others):
            x, y = left + width * across // 4, top + height * down // 4
            if self._shows(x, y, process, place):
                return (x, y)
        return None

    def _shows(self, x: int, y: int, process: int, place: _Place) -> bool:
        window = next((window for window in self._windows if window.contains(x, y)), None)
        if window is None or window.process != process:
            return window is None
        if window.popup or place.in_popup:
            return place.in_popup
        return self._normal[process] < 2 or _is_same_window(window.box, place.top_level)


def _enter_window(node: Node, place: _Place) -> _Place:
    inner = node.role in (Role.DIALOG, Role.ALERT, Role.FILE_CHOOSER)
    outermost = node.role in _TOP_LEVELS and node.box is not None and place.top_level is None
    return replace(place, top_level=node.box or place.top_level) if inner or outermost else place


def _place_inside(node: Node, place: _Place, listed: bool) -> _Place:
    kind = CONTAINERS.get(node.role)
    if kind is not None:
        text = "" if kind == "Window" else node.name.strip()
        place = replace(place, parent_text=text, parent_type=kind)
    if node.role in _POPUP_ROLES:
        # Menus open outside of the window to which they belong.
        place = replace(place, in_popup=True, visible=place.screen, in_self_contained=False)
    elif node.role in (_VIEWPORT, _SCROLL_PANE, Role.TABLE, Role.TREE_TABLE) and node.box is not None:
        place = replace(place, visible=_clip(node.box, place.visible) or (0, 0, 0, 0))
    if node.role in (_PANEL, _GROUPING, Role.PAGE_TAB) and node.name.strip():
        place = replace(place, section=node.name.strip())
    if listed and CONTROL_TYPES.get(node.role) in _SELF_CONTAINED and node.role != Role.MENU:
        place = replace(place, in_self_contained=True)
    return place


def _reading_order(node: Node) -> tuple[int, int, int]:
    """Top to bottom, left to right; nodes without a box come last, in the tree's order."""
    left, top, _, _ = node.box or (1 << 20, 1 << 20, 0, 0)
    return (top, left, node.index)


def _is_modal(node: Node, forest: Forest) -> bool:
    """Whether `node` is a window that blocks others of its process; a dialog inside a window, such as a
    web page's, is not."""
    above = forest.nodes.get(node.parent)
    is_root = above is None or above.role == Role.APPLICATION
    return is_root and node.role in _WINDOW_ROLES and node.has(State.MODAL) and node.has(State.SHOWING)


def _row_names(nodes: Iterable[Node]) -> dict[tuple[Reference, int], tuple[str, Reference]]:
    """The first text of each row of a table, and the cell that holds it."""
    found: dict[tuple[Reference, int], tuple[str, Reference]] = {}
    for cell in sorted(nodes, key=lambda node: (node.row or 0, node.column or 0)):
        text = (cell.name or cell.text or "").strip()
        if cell.row is not None and text:
            found.setdefault((cell.parent, cell.row), (text, cell.reference))
    return found


def _text_of(node: Node, kind: str, nodes: dict[Reference, Node]) -> str:
    label = nodes[node.label].name.strip().removesuffix(":") if node.label in nodes else ""
    shown = (node.text or "").strip() if kind in ("Text", "Heading") else ""
    text = node.name.strip() or label or node.description.strip() or shown
    return " ".join(text.split())


def _value_of(node: Node, kind: str, text: str) -> str:
    if kind in ("Edit", "Spinner", "ComboBox", "DataItem", "TreeItem") and node.text is not None:
        return node.text if node.text != text else ("" if node.row is not None else node.text)
    if kind in ("Slider", "ProgressBar", "Spinner") and node.value is not None:
        return f"{node.value:g}"
    return ""


def _checked(node: Node) -> bool | None:
    if node.role in _CHECKABLE:
        return node.has(State.CHECKED) or node.has(State.PRESSED)
    if node.row is not None and node.has(State.CHECKABLE):
        return node.has(State.CHECKED)
    return None


def _clip(box: Box, visible: Box) -> Box | None:
    left, top = max(box[0], visible[0]), max(box[1], visible[1])
    right = min(box[0] + box[2], visible[0] + visible[2])
    bottom = min(box[1] + box[3], visible[1] + visible[3])
    return (left, top, right - left, bottom - top) if right > left + 1 and bottom > top + 1 else None


def _is_same_window(one: Box, other: Box | None) -> bool:
    """Whether two boxes belong to one window, with and without decorations."""
    if other is None:
        return True
    middle = (other[0] + other[2] // 2, other[1] + other[3] // 2)
    near = abs(one[0] + one[2] // 2 - middle[0]) < 40 and abs(one[1] + one[3] // 2 - middle[1]) < 40
    return near and abs(one[2] - other[2]) < 120 and abs(one[3] - other[3]) < 120
