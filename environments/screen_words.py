"""Screens and controls in the words of a person: what stands there, and what an action changed. For steps
whose agent did not say what it saw, and for the history that an agent is shown."""

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
_LONGEST = 60


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
    holds = f"; it holds '{_cut_line(target.value)}'" if target.value else ""
    return f"{window}; {in_words(target.control_type, target.text)} is there{row}{focus}{holds}."


def _cut_line(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


_MOST_NAMED = 3
_LONGEST_NAME = 40
_Key = tuple[str, str, str, str, int]

NOTHING_CHANGED = "nothing changed on the screen"
"""What is said of an action without effect."""
ONLY_THE_PICTURE = "only the picture changed"
"""What is said of one whose effect the controls do not tell."""


def describe_change(before: Observation, after: Observation) -> str:
    """What is different, most important first.

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
        parts.append(f"the address is now {_short(_path(after.url))}")
    if after.window_title != before.window_title:
        parts.append(f"the window is now {_quoted(after.window_title)}")
    old, new = _by_key(before.controls), _by_key(after.controls)
    parts += [text for key in new if key in old for text in _differences(old[key], new[key])][:_MOST_NAMED]
    came = [control for key, control in new.items() if key not in old]
    went = [control for key, control in old.items() if key not in new]
    if came:
        parts.append(f"new: {_listed(came)}")
    if went:
        parts.append(f"gone: {_listed(went)}")
    if parts:
        return "; ".join(parts)
    if before.screenshot.sha256 != after.screenshot.sha256:
        return ONLY_THE_PICTURE
    return NOTHING_CHANGED


def _differences(old: Control, new: Control) -> list[str]:
    name = f"{new.control_type} {_quoted(new.text)}"
    found = []
    if old.value != new.value:
        found.append(f"{name} holds {_quoted(new.value)}" if new.value else f"{name} is empty")
    if old.checked is not new.checked and new.checked is not None:
        found.append(f"{name} is {'on' if new.checked else 'off'}")
    if old.disabled is not new.disabled:
        found.append(f"{name} {'cannot' if new.disabled else 'can'} be used")
    return found


def _by_key(controls: Sequence[Control]) -> dict[_Key, Control]:
    """Controls by what they are, equal ones counted."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    found: dict[_Key, Control] = {}
    for control in controls:
        key = (control.control_type, control.text, control.row, control.application)
        found[(*key, seen[key])] = control
        seen[key] += 1
    return found


def _listed(controls: Sequence[Control]) -> str:
    """The named ones first, those that can be used before plain texts."""
    ordered = sorted(controls, key=lambda control: (not control.text, control.control_type == "Text"))
    names = list(dict.fromkeys(_quoted(control.text) or control.control_type for control in ordered))
    more = len(controls) - min(len(names), _MOST_NAMED)
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _path(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return parts.path + query + (f"#{parts.fragment}" if parts.fragment else "")


def _quoted(text: str) -> str:
    return f'"{_short(text)}"' if text else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"
