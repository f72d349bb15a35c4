"""Controls of a screen as models are shown them."""

from __future__ import annotations

from collections.abc import Iterable

from taskloom.prompts.inputs import ControlInView
from taskloom.taskgraph.records.interaction import Control


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
