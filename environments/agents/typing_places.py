"""Where recorded keys went, and whether the same place has the focus now. A page still at work gives the
focus later: keys that come before it is there go into a field, or a document, that was used before."""

from collections.abc import Sequence

from taskloom.taskgraph.records.evidence import Evidence
from taskloom.taskgraph.records.interaction import Control, KeyboardInput, Observation
from taskloom.taskgraph.records.keys import read_keys
from taskloom.taskgraph.records.trajectory import TrajectoryStep
from taskloom.taskgraph.text_folding import same_label

_FIELD = "Edit"
_TAB = "TabItem"
_ANYWHERE = frozenset({"escape", "f5", "f11"})
"""Keys that do the same wherever the focus is."""


def marks_a_place(control: Control) -> bool:
    """Whether the control says where keys go: it has the focus, or it is the tab of the document in front."""
    return control.focused or (control.control_type == _TAB and bool(control.checked))


def what_is_missing(steps: Sequence[TrajectoryStep], position: int, now: Observation, start: Evidence) -> str:
    """What is not there yet that was there when the keys of the step at `position` of `steps`, recorded from
    `start` on, were pressed; empty if all is.

    Looked at are the window that the step before had closed; the control that had the focus, by type, text
    and kind of parent; whether a field which held something does so again; tabs that came to the front.
    """
    step = steps[position]
    if not isinstance(step.action, KeyboardInput):
        return ""
    presses = [press for press in read_keys(step.action.keys) if press.key not in _ANYWHERE]
    if not presses:
        return ""
    if left := window_left(steps, position, now, start):
        return f"the window {left!r} is still in front"
    then = [control for control in step.observation_controls if control.focused]
    types = any(len(press.key) == 1 and not press.modifiers for press in presses)
    if not types and not any(control.control_type == _FIELD for control in then):
        return ""
    return _missing_focus(then, now) or _missing_tab(steps, position, now)


def window_left(steps: Sequence[TrajectoryStep], position: int, now: Observation, start: Evidence) -> str:
    """The title of the window in front, if the step before `position` left it when recorded; else empty."""
    titles = [start.window_title, *(step.evidence.window_title for step in steps)]
    left = titles[position - 1] if position else ""
    return left if left != titles[position] and left == now.window_title else ""


def brought_a_window(steps: Sequence[TrajectoryStep], position: int, start: Evidence) -> bool:
    """Whether the step at `position` only pressed shortcuts, and another window was in front after it."""
    action = steps[position].action
    if not isinstance(action, KeyboardInput) or not all(press.modifiers for press in read_keys(action.keys)):
        return False
    before = steps[position - 1].evidence if position else start
    return before.window_title != steps[position].evidence.window_title


def _missing_focus(then: Sequence[Control], now: Observation) -> str:
    focused = [control for control in now.controls if control.focused]
    if then and not focused:
        return "nothing has the focus yet"
    for control in then:
        like = [other for other in focused if _same(control, other)]
        if like:
            empty = control.value.strip() and not any(other.value.strip() for other in like)
            return "the field is still empty" if empty else ""
    return "the focus is still elsewhere" if then else ""


def _missing_tab(steps: Sequence[TrajectoryStep], position: int, now: Observation) -> str:
    earlier = {text for other in steps[: max(position, 1)] for text in _tabs(other.observation_controls)}
    selected = _tabs(now.controls)
    missing = sorted(
        text
        for text in _tabs(steps[position].observation_controls) - earlier
        if not any(same_label(text, other) for other in selected)
    )
    return f"the tab {missing[0]!r} is not in front yet" if missing else ""


def _same(one: Control, other: Control) -> bool:
    """Whether keys went to a control like the other one; what it holds may differ."""
    return (
        one.control_type == other.control_type
        and one.parent_type == other.parent_type
        and (one.text == other.text or same_label(one.text, other.text))
    )


def _tabs(controls: Sequence[Control]) -> set[str]:
    return {control.text for control in controls if marks_a_place(control) and control.control_type == _TAB}
