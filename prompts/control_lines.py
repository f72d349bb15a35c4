"""Controls as models read them: one line each, with nothing that is empty, and with what tells equal ones
apart."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from taskloom.taskgraph.records.interaction import Control

_LONGEST_TEXT = 120
_LONGEST_VALUE = 400
_PLAIN = frozenset({"Text", "DataItem"})
_READ_ONLY = frozenset({"Text", "DataItem", "Header", "Heading", "Image"})
_NAMELESS = frozenset({"Text", "DataItem", "Header", "Heading", "Image", "List", "Table", "Group", "Region"})
_TASK_BAR = "TaskBarButton"


def control_lines(values: Iterable[Mapping[str, JsonValue] | Control]) -> str:
    r"""The controls in reading order, the task bar in one line at the end.

    Plain texts stand without their type. A row is named where a control can be used in it, a section or
    parent only where it tells equal controls apart. Containers that say nothing are left out.

    >>> place = {"left": 0, "top": 0, "right": 9, "bottom": 9}
    >>> edit = {"label": "5", "text": "Edit", "control_type": "Hyperlink", "row": "Hours", "rectangle": place}
    >>> saved = {"label": "6", "text": "Saved", "control_type": "Text", "rectangle": place}
    >>> print(control_lines([edit, saved]))
    [5] Hyperlink "Edit" in row "Hours"
    [6] "Saved"
    """
    controls = [Control.model_validate(value) for value in values]
    page = [control for control in controls if control.control_type != _TASK_BAR and not _is_mute(control)]
    alike = Counter(_looks(control) for control in page)
    lines = [_line(control, ambiguous=alike[_looks(control)] > 1) for control in page]
    bar = [control for control in controls if control.control_type == _TASK_BAR]
    return "\n".join([*lines, *([_bar(bar)] if bar else [])])


def _line(control: Control, *, ambiguous: bool) -> str:
    parts = [f"[{control.label}]"]
    if control.control_type not in _PLAIN:
        parts.append(control.control_type)
    if control.text:
        parts.append(_quoted(control.text, _LONGEST_TEXT))
    if control.value and control.value != control.text:
        parts.append(f"= {_quoted(control.value, _LONGEST_VALUE)}")
    if control.checked is not None:
        parts.append("on" if control.checked else "off")
    parts += [word for word, told in (("disabled", control.disabled), ("focused", control.focused)) if told]
    if control.row and control.control_type not in _READ_ONLY:
        parts.append(f"in row {_quoted(control.row, _LONGEST_TEXT)}")
    elif ambiguous and control.parent_text and control.control_type not in _READ_ONLY:
        parts.append(f"in {control.parent_type} {_quoted(control.parent_text, _LONGEST_TEXT)}".strip())
    if ambiguous and control.section and control.control_type not in _READ_ONLY:
        parts.append(f"under {_quoted(control.section, _LONGEST_TEXT)}")
    return " ".join(parts)


def _bar(buttons: Sequence[Control]) -> str:
    told = [
        f"[{button.label}] {_quoted(button.text, _LONGEST_TEXT)}{' in front' if button.checked else ''}"
        for button in buttons
    ]
    return f"{_TASK_BAR}: {', '.join(told)}"


def _looks(control: Control) -> tuple[str, str, str]:
    return (control.control_type, control.text, control.row)


def _is_mute(control: Control) -> bool:
    return control.control_type in _NAMELESS and not control.text and not control.value


def _quoted(text: str, longest: int) -> str:
    line = " ".join(text.split()) if longest == _LONGEST_TEXT else text
    if len(line) > longest:
        return json.dumps(line[:longest] + "…", ensure_ascii=False) + f" ({len(text)} characters)"
    return json.dumps(line, ensure_ascii=False)
