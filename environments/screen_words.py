"""Describes screens, controls and changes as a person would: for steps whose agent did not describe the
screen, and for the history that an agent is shown."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from taskloom.taskgraph.records.interaction import Control, Observation

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
_MOST_CHARACTERS = 60


def in_words(control_type: str, text: str) -> str:
    """A control as a person would name it.

    >>> in_words("Button", "Save"), in_words("Edit", ""), in_words("", "Save"), in_words("", "")
    ("the button 'Save'", 'the field', "'Save'", 'the control')
    """
    shown = _cut_line(text)
    if shown and not control_type:
        return f"'{shown}'"
    kind = _KINDS.get(control_type, control_type.lower() or "control")
    return f"the {kind} '{shown}'" if shown else f"the {kind}"


def describe_screen(window_title: str, controls: Sequence[Control], target: Control | None) -> str:
    """The window in front, and the control acted on or, without a target, the control that has the focus.

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
    holds = f"; it holds '{_cut_line(target.value)}'" if target.value else ""
    return f"{window}; {in_words(target.control_type, target.text)} is there{row}{focus}{holds}."


def _cut_line(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"


_MOST_NAMED = 3
_MOST_CHARACTERS_OF_NAME = 40
_Key = tuple[str, str, str, str, int]

NOTHING_CHANGED = "nothing changed on the screen"
"""Describes an action without effect."""
ONLY_THE_PICTURE = "only the picture changed"
"""Describes an action whose effect no control shows."""


def describe_change(before: Observation, after: Observation) -> str:
    """What differs between two observations, most important first.

    >>> from taskloom.taskgraph.records.interaction import Screenshot
    >>> one = Observation(screenshot=Screenshot(sha256="1"), controls=(), window_title="Home")
    >>> two = one.model_copy(update={"window_title": "Editor"})
    >>> describe_change(one, two), describe_change(one, one)
    ('the window is now "Editor"', 'nothing changed on the screen')
    """
    parts: list[str] = []
    if after.active_application != before.active_application:
        parts.append(f"{after.active_application} is in front")
    elif _path(after.url) != _path(before.url):
        parts.append(f"the address is now {_shorten(_path(after.url))}")
    if after.window_title != before.window_title:
        parts.append(f"the window is now {_quote(after.window_title)}")
    old, new = _by_key(before.controls), _by_key(after.controls)
    parts += [text for key in new if key in old for text in _differences(old[key], new[key])][:_MOST_NAMED]
    appeared = [control for key, control in new.items() if key not in old]
    disappeared = [control for key, control in old.items() if key not in new]
    if appeared:
        parts.append(f"new: {_list_names(appeared)}")
    if disappeared:
        parts.append(f"gone: {_list_names(disappeared)}")
    if parts:
        return "; ".join(parts)
    if before.screenshot.sha256 != after.screenshot.sha256:
        return ONLY_THE_PICTURE
    return NOTHING_CHANGED


def _differences(old: Control, new: Control) -> list[str]:
    name = f"{new.control_type} {_quote(new.text)}"
    found = []
    if old.value != new.value:
        found.append(f"{name} holds {_quote(new.value)}" if new.value else f"{name} is empty")
    if old.checked is not new.checked and new.checked is not None:
        found.append(f"{name} is {'on' if new.checked else 'off'}")
    if old.disabled is not new.disabled:
        found.append(f"{name} {'cannot' if new.disabled else 'can'} be used")
    return found


def _by_key(controls: Sequence[Control]) -> dict[_Key, Control]:
    """Controls by type, text, row and application; equal ones are numbered."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    found: dict[_Key, Control] = {}
    for control in controls:
        key = (control.control_type, control.text, control.row, control.application)
        found[(*key, counts[key])] = control
        counts[key] += 1
    return found


def _list_names(controls: Sequence[Control]) -> str:
    """Named controls first, and usable ones before plain texts."""
    ordered = sorted(controls, key=lambda control: (not control.text, control.control_type == "Text"))
    names = list(dict.fromkeys(_quote(control.text) or control.control_type for control in ordered))
    more = len(controls) - min(len(names), _MOST_NAMED)
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _path(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return parts.path + query + (f"#{parts.fragment}" if parts.fragment else "")


def _quote(text: str) -> str:
    return f'"{_shorten(text)}"' if text else ""


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_CHARACTERS_OF_NAME else line[: _MOST_CHARACTERS_OF_NAME - 1] + "…"
