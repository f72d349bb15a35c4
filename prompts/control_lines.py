"""Controls as models read them: one line each, with nothing that is empty, and with what tells equal ones
apart."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from taskloom.resources.record import Record
from taskloom.taskgraph.records.interaction import Control

_LONGEST_TEXT = 120
_LONGEST_VALUE = 400
_PLAIN = frozenset({"Text", "DataItem"})
_READ_ONLY = frozenset({"Text", "DataItem", "Header", "Heading", "Image"})
_NAMELESS = frozenset({"Text", "DataItem", "Header", "Heading", "Image", "List", "Table", "Group", "Region"})
_TASK_BAR = "TaskBarButton"


class ControlInView(Record):
    """A control in the words of the paper's prompt (E.1)."""

    label: str
    """Number on the annotated screenshot."""
    control_text: str
    """Its text."""
    control_type: str
    """Its type."""
    parent_control_text: str = ""
    """Text of its parent."""
    parent_control_type: str = ""
    """Type of its parent."""
    row: str = ""
    """Name of the row, list item or card it stands in."""
    section: str = ""
    """Heading it stands under."""
    value: str = ""
    """Content of an input control."""
    checked: bool | None = None
    """State of a check box."""
    disabled: bool = False
    """Whether it cannot be used."""
    focused: bool = False
    """Whether keys go to it."""
    application: str = ""
    """Application it belongs to."""


def control_lines(values: Iterable[Mapping[str, JsonValue] | ControlInView]) -> str:
    r"""The controls in reading order, the task bar in one line at the end.

    Plain texts stand without their type. A row is named where a control can be used in it, a section or
    parent only where it tells equal controls apart. Containers that say nothing are left out.

    >>> edit = {"label": "56", "control_text": "Edit", "control_type": "Hyperlink", "row": "Library hours"}
    >>> print(control_lines([edit, {"label": "57", "control_text": "Saved", "control_type": "Text"}]))
    [56] Hyperlink "Edit" in row "Library hours"
    [57] "Saved"
    """
    controls = [
        value if isinstance(value, ControlInView) else ControlInView.model_validate(value) for value in values
    ]
    page = [control for control in controls if control.control_type != _TASK_BAR and not _is_mute(control)]
    alike = Counter(_looks(control) for control in page)
    lines = [_line(control, ambiguous=alike[_looks(control)] > 1) for control in page]
    bar = [control for control in controls if control.control_type == _TASK_BAR]
    return "\n".join([*lines, *([_bar(bar)] if bar else [])])


def _line(control: ControlInView, *, ambiguous: bool) -> str:
    parts = [f"[{control.label}]"]
    if control.control_type not in _PLAIN:
        parts.append(control.control_type)
    if control.control_text:
        parts.append(_quoted(control.control_text, _LONGEST_TEXT))
    if control.value and control.value != control.control_text:
        parts.append(f"= {_quoted(control.value, _LONGEST_VALUE)}")
    if control.checked is not None:
        parts.append("on" if control.checked else "off")
    parts += [word for word, told in (("disabled", control.disabled), ("focused", control.focused)) if told]
    if control.row and control.control_type not in _READ_ONLY:
        parts.append(f"in row {_quoted(control.row, _LONGEST_TEXT)}")
    elif ambiguous and control.parent_control_text and control.control_type not in _READ_ONLY:
        parts.append(
            f"in {control.parent_control_type} {_quoted(control.parent_control_text, _LONGEST_TEXT)}".strip()
        )
    if ambiguous and control.section and control.control_type not in _READ_ONLY:
        parts.append(f"under {_quoted(control.section, _LONGEST_TEXT)}")
    return " ".join(parts)


def _bar(buttons: Sequence[ControlInView]) -> str:
    told = [
        f"[{button.label}]"
        f" {_quoted(button.control_text, _LONGEST_TEXT)}{' in front' if button.checked else ''}"
        for button in buttons
    ]
    return f"{_TASK_BAR}: {', '.join(told)}"


def _looks(control: ControlInView) -> tuple[str, str, str]:
    return (control.control_type, control.control_text, control.row)


def _is_mute(control: ControlInView) -> bool:
    return control.control_type in _NAMELESS and not control.control_text and not control.value


def _quoted(text: str, longest: int) -> str:
    line = " ".join(text.split()) if longest == _LONGEST_TEXT else text
    if len(line) > longest:
        return json.dumps(line[:longest] + "…", ensure_ascii=False) + f" ({len(text)} characters)"
    return json.dumps(line, ensure_ascii=False)


def controls_in_view(controls: Iterable[Control]) -> tuple[ControlInView, ...]:
    """The controls in the words of the prompts."""
    return tuple(
        ControlInView(
            label=control.label,
            control_text=control.text,
            control_type=control.control_type,
            parent_control_text=control.parent_text,
            parent_control_type=control.parent_type,
            row=control.row,
            section=control.section,
            value=control.value,
            checked=control.checked,
            disabled=control.disabled,
            focused=control.focused,
            application=control.application,
        )
        for control in controls
    )
