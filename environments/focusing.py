"""A field that is typed into gets the focus by an action of its own, so that agents without labels can
follow."""

from __future__ import annotations

from taskloom.environments.agent import Decision
from taskloom.environments.aiming import aim
from taskloom.environments.errors import ActionInvalidError
from taskloom.taskgraph.records.grounding import describe_control, find_control
from taskloom.taskgraph.records.interaction import ClickInput, KeyboardInput, Observation

_FIELD = "Edit"


def focusing_decision(decision: Decision, seen: Observation) -> Decision | None:
    """The click that gives the focus to the field that `decision` types into; None if it has it, or types
    elsewhere."""
    action = decision.action
    if not isinstance(action, KeyboardInput):
        return None
    try:
        aimed = aim(action, seen.controls, seen.screen_size)
    except ActionInvalidError:
        return None
    field = aimed.target
    if field is None or field.focused or field.disabled or field.control_type != _FIELD:
        return None
    name = f"The field '{field.text}'" if field.text else "The field"
    return Decision(
        status="continue",
        description=decision.description,
        thought=f"{name} does not have the focus yet; I click it before I type.",
        action=ClickInput(control_label=field.label, position=action.position),
    )


def aimed_again(decision: Decision, before: Observation, after: Observation) -> Decision:
    """The same typing on the screen after the click: into the same field, or into what has the focus now."""
    action = decision.action
    assert isinstance(action, KeyboardInput)
    field = aim(action, before.controls, before.screen_size).target
    assert field is not None
    again = find_control(describe_control(field, before.controls), after.controls)
    label = again.label if again is not None else ""
    cleared = {"control_label": label, "control_text": "", "point": None, "position": None}
    return decision.model_copy(update={"action": action.model_copy(update=cleared)})
