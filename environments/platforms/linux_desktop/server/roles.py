"""Numbers of AT-SPI, and the control types that stand for its roles."""

import re
from enum import IntEnum


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
    """Roles that decide something."""

    ALERT = 2
    CHECK_BOX = 7
    CHECK_MENU_ITEM = 8
    COLUMN_HEADER = 10
    COMBO_BOX = 11
    DIALOG = 16
    FILE_CHOOSER = 19
    FRAME = 23
    ICON = 26
    LABEL = 29
    LAYERED_PANE = 30
    LIST = 31
    LIST_ITEM = 32
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


CONTROL_TYPES = {
    7: "CheckBox",
    8: "MenuItem",
    10: "Header",
    11: "ComboBox",
    6: "Canvas",
    18: "Canvas",
    26: "ListItem",
    27: "Image",
    29: "Text",
    32: "ListItem",
    33: "MenuItem",
    35: "MenuItem",
    37: "TabItem",
    40: "Edit",
    42: "ProgressBar",
    43: "Button",
    44: "RadioButton",
    45: "MenuItem",
    47: "Header",
    51: "Slider",
    52: "Spinner",
    56: "DataItem",
    57: "Header",
    58: "Header",
    59: "MenuItem",
    60: "Edit",
    61: "Edit",
    62: "Button",
    73: "Text",
    79: "Edit",
    83: "Heading",
    88: "Hyperlink",
    91: "TreeItem",
    94: "Edit",
    103: "ProgressBar",
    116: "Text",
}
"""What a control of a role is called; roles that are missing are only places for others."""

CONTAINERS = {
    2: "Dialog",
    9: "Dialog",
    16: "Dialog",
    19: "Dialog",
    22: "Dialog",
    23: "Window",
    30: "List",
    31: "List",
    33: "Menu",
    34: "MenuBar",
    38: "Tab",
    41: "Menu",
    54: "StatusBar",
    55: "Table",
    63: "ToolBar",
    65: "Tree",
    66: "Tree",
    69: "Window",
    86: "Group",
    98: "List",
    99: "Group",
    102: "Group",
}
"""What a container of a role is called, for the controls in it."""

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
