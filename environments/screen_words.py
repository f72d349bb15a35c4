"""Screens and controls in the words of a person, for steps whose agent did not say what it saw."""

from collections.abc import Sequence

from taskloom.taskgraph.records.interaction import Control

_KINDS = {
    "Edit": "field",
    "Hyperlink": "link",
    "ComboBox": "list",
    "ListItem": "entry",
    "MenuItem": "menu entry",
    "DataItem": "menu entry",
    "TabItem": "tab",
    "CheckBox": "check box",
    "RadioButton": "choice",
    "TreeItem": "entry",
    "TaskBarButton": "task bar button",
}
_LONGEST = 60


def in_words(control_type: str, text: str) -> str:
    """A control as a person would name it.

    >>> in_words("Button", "Save"), in_words("Edit", ""), in_words("", "Save"), in_words("", "")
    ("the button 'Save'", 'the field', "'Save'", 'the control')
    """
    shown = _short(text)
    if shown and not control_type:
        return f"'{shown}'"
    kind = _KINDS.get(control_type, control_type.lower() or "control")
    return f"the {kind} '{shown}'" if shown else f"the {kind}"


def describe_screen(window_title: str, controls: Sequence[Control], target: Control | None) -> str:
    """The window in front, and what stands there of the control acted on, or else of what has the focus.

    >>> describe_screen("Home", (), None)
    "The window 'Home' is in front."
    """
    window = f"The window '{window_title}' is in front" if window_title else "The application is in front"
    if target is None:
        focused = next((control for control in controls if control.focused), None)
        where = f"; {in_words(focused.control_type, focused.text)} has the focus" if focused else ""
        return f"{window}{where}."
    row = f" in the row '{target.row}'" if target.row else ""
    focus = ", with the focus" if target.focused else ""
    holds = f"; it holds '{_short(target.value)}'" if target.value else ""
    return f"{window}; {in_words(target.control_type, target.text)} is there{row}{focus}{holds}."


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
