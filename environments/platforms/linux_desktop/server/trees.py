"""Control trees as AT-SPI describes them: its constants, and the control types for its roles."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

Reference = tuple[str, str]
"""Bus name and object path."""
Box = tuple[int, int, int, int]
"""Left, top, width and height, in pixels."""


class State(IntEnum):
    """Positions in the set of states."""

    ACTIVE = 1
    CHECKED = 4
    EDITABLE = 7
    ENABLED = 8
    FOCUSED = 12
    MODAL = 16
    PRESSED = 20
    SELECTABLE = 22
    SELECTED = 23
    SENSITIVE = 24
    SHOWING = 25
    VISIBLE = 30
    MANAGES_DESCENDANTS = 31
    CHECKABLE = 41


class Role(IntEnum):
    """Roles that the server distinguishes."""

    ALERT = 2
    CHECK_BOX = 7
    CHECK_MENU_ITEM = 8
    COMBO_BOX = 11
    DIALOG = 16
    FILE_CHOOSER = 19
    FRAME = 23
    ICON = 26
    LABEL = 29
    LAYERED_PANE = 30
    LIST = 31
    MENU = 33
    MENU_BAR = 34
    MENU_ITEM = 35
    PAGE_TAB = 37
    POPUP_MENU = 41
    RADIO_BUTTON = 44
    RADIO_MENU_ITEM = 45
    SLIDER = 51
    SPIN_BUTTON = 52
    TABLE = 55
    TABLE_CELL = 56
    TEXT = 61
    TOGGLE_BUTTON = 62
    TOOL_TIP = 64
    TREE_TABLE = 66
    UNKNOWN = 67
    WINDOW = 69
    APPLICATION = 75
    ENTRY = 79


ROLE_TAGS = re.findall(
    r"\S+",
    """
    invalid accelerator-label alert animation arrow calendar canvas check-box check-menu-item
    color-chooser column-header combo-box date-editor desktop-icon desktop-frame dial dialog
    directory-pane drawing-area file-chooser filler focus-traversable font-chooser frame glass-pane
    html-container icon image internal-frame label layered-pane list list-item menu menu-bar menu-item
    option-pane page-tab page-tab-list panel password-text popup-menu progress-bar push-button
    radio-button radio-menu-item root-pane row-header scroll-bar scroll-pane separator slider
    spin-button split-pane status-bar table table-cell table-column-header table-row-header
    tearoff-menu-item terminal text toggle-button tool-bar tool-tip tree tree-table unknown viewport
    window extended header footer paragraph ruler application autocomplete editbar embedded entry
    chart caption document-frame heading page section redundant-object form link input-method-window
    table-row tree-item document-spreadsheet document-presentation document-text document-web
    document-email comment list-box grouping image-map notification info-bar level-bar title-bar
    """,
)
"""Names of all roles, by their numbers."""


def _numbered(roles: Mapping[str, str]) -> dict[int, str]:
    return {ROLE_TAGS.index(role): kind for kind, names in roles.items() for role in names.split()}


CONTROL_TYPES = {
    116: "Text",  # static text, one of the roles without a name here
    **_numbered(
        {
            "CheckBox": "check-box",
            "MenuItem": "check-menu-item menu menu-item radio-menu-item tearoff-menu-item",
            "Header": "column-header row-header table-column-header table-row-header",
            "ComboBox": "combo-box",
            "Canvas": "canvas drawing-area",
            "ListItem": "icon list-item",
            "Image": "image",
            "Text": "label paragraph",
            "TabItem": "page-tab",
            "Edit": "password-text terminal text entry document-text",
            "ProgressBar": "progress-bar level-bar",
            "Button": "push-button toggle-button",
            "RadioButton": "radio-button",
            "Slider": "slider",
            "Spinner": "spin-button",
            "DataItem": "table-cell",
            "Heading": "heading",
            "Hyperlink": "link",
            "TreeItem": "tree-item",
        }
    ),
}
"""Control types by role; nodes of other roles are only containers."""
CONTAINERS = _numbered(
    {
        "Dialog": "alert color-chooser dialog file-chooser font-chooser",
        "Window": "frame window",
        "List": "layered-pane list list-box",
        "Menu": "menu popup-menu",
        "MenuBar": "menu-bar",
        "Tab": "page-tab-list",
        "StatusBar": "status-bar",
        "Table": "table",
        "ToolBar": "tool-bar",
        "Tree": "tree tree-table",
        "Group": "redundant-object grouping info-bar",
    }
)
"""Types of containers by role, for the controls in them."""


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
    """Number of children it reports; only for cached nodes."""
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


def cached_node(item: Sequence[Any]) -> Node:
    """A node from either layout of the cache, with the number of children or with their references."""
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
