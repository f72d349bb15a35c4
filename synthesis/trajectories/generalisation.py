"""An instance performed from trajectories of others: what two of them share, with its values filled in.

Turning the wheel, and clicking a field before typing in it, may occur in one of them only; if they differ
otherwise, nothing is concluded. Whether the result works is for replay to show.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from taskloom.environments.agents.recorded_agent import marks_a_place
from taskloom.resources.applications import ControlQuery
from taskloom.taskgraph.records.interaction import (
    ClickInput,
    Control,
    KeyboardInput,
    WaitInput,
    WheelMouseInput,
    escape_keys,
)
from taskloom.taskgraph.records.subtask import BoundSubtask, with_path_parts
from taskloom.taskgraph.records.trajectory import Trajectory, TrajectoryStep

_SHORTEST_CONSTANT = 3
"""Minimum length of a value taken for a parameter's although it is the same in both trajectories."""


def performed_with(trajectories: Sequence[Trajectory], instance: BoundSubtask) -> Trajectory | None:
    """The trajectory of `instance` that two of `trajectories` imply; None if no two agree."""
    for one, other in combinations(trajectories, 2):
        if one.parameters == other.parameters:
            continue
        steps = _generalise(one, other, instance.parameters)
        if steps is not None:
            return one.model_copy(
                update={
                    "trajectory_id": f"{one.trajectory_id}@{instance.instance_id}",
                    "instance_id": instance.instance_id,
                    "parameters": dict(instance.parameters),
                    "world": instance.world,
                    "instruction": instance.instruction,
                    "steps": steps,
                }
            )
    return None


def _generalise(
    one: Trajectory, other: Trajectory, parameters: Mapping[str, str]
) -> tuple[TrajectoryStep, ...] | None:
    filler = _Filler(one.parameters, other.parameters, parameters)
    other_filler = _Filler(other.parameters, one.parameters, parameters)
    first_steps, second_steps = carried_out(one), carried_out(other)
    steps: list[TrajectoryStep] = []
    while first_steps or second_steps:
        step = filler.step(first_steps[0], second_steps[0]) if first_steps and second_steps else None
        if step is not None:
            del first_steps[0], second_steps[0]
        elif _prepares(first_steps) and not _prepares(second_steps):
            step = filler.alone(first_steps.pop(0))
        elif _prepares(second_steps) and not _prepares(first_steps):
            step = other_filler.alone(second_steps.pop(0))
        if step is None:
            return None
        steps.append(step.model_copy(update={"step": len(steps) + 1}))
    return tuple(steps)


def _prepares(steps: Sequence[TrajectoryStep]) -> bool:
    """Whether the first of `steps` only prepares the next: it turns the wheel, or clicks a field in which the
    next types. It is harmless if the field already has the focus, or the control is in view."""
    if len(steps) < 2:
        return False
    first, following = steps[0], steps[1].action
    if isinstance(first.action, WheelMouseInput):
        return True
    is_field = first.target is not None and first.target.control_type == "Edit"
    return is_field and isinstance(first.action, ClickInput) and isinstance(following, KeyboardInput)


def carried_out(trajectory: Trajectory) -> list[TrajectoryStep]:
    """The steps that were carried out; waiting is left out because it is repeated wherever needed."""
    return [step for step in trajectory.steps if not step.problem and not isinstance(step.action, WaitInput)]


_CLICKED_ANYWHERE = frozenset(
    {
        "Button",
        "CheckBox",
        "ComboBox",
        "DataItem",
        "Heading",
        "Hyperlink",
        "ListItem",
        "MenuItem",
        "RadioButton",
        "TabItem",
        "Text",
        "TreeItem",
    }
)
"""Types of controls that may be clicked anywhere, as by an actor who sees a picture."""


class _Filler:
    def __init__(self, one: Mapping[str, str], other: Mapping[str, str], new: Mapping[str, str]) -> None:
        ours, theirs, new_values = (with_path_parts(values) for values in (one, other, new))
        self._to_other = _replacements(ours, theirs)
        self._to_new = _replacements(ours, new_values)
        self._constants = {
            value: new_values[name]
            for name, value in ours.items()
            if name in new_values and theirs.get(name) == value and len(value) >= _SHORTEST_CONSTANT
        }

    def text(self, first: str, second: str, *, keys: bool = False) -> str | None:
        """`first` with the new values; None if the second example contradicts that."""
        if first == second:
            return _replace_values(first, self._constants, keys=keys)
        if _replace_values(first, self._to_other, keys=keys) != second:
            return None
        return _replace_values(first, self._to_new, keys=keys)

    def step(self, first: TrajectoryStep, second: TrajectoryStep) -> TrajectoryStep | None:
        ours, theirs = first.action.model_dump(), second.action.model_dump()
        if ours["operation"] != theirs["operation"]:
            return None
        keys = self.text(str(ours.get("keys", "")), str(theirs.get("keys", "")), keys=True)
        ignored = {"keys", "control_label", "control_text", "point", "points", "end_label"}
        if first.target is not None and first.target.control_type in _CLICKED_ANYWHERE:
            ignored.add("position")
        if keys is None or any(ours[name] != theirs[name] for name in ours if name not in ignored):
            return None
        update: dict[str, object] = {
            "thought": _replace_values(first.thought, self._to_new, keys=False),
            "observation_controls": tuple(map(self._place_of_keys, first.observation_controls)),
        }
        for name in ("target", "end_target"):
            query, other = getattr(first, name), getattr(second, name)
            if (query is None) != (other is None):
                return None
            if query is not None:
                update[name] = self._query(query, other)
                if update[name] is None:
                    return None
        if "keys" in ours:
            update["action"] = first.action.model_copy(update={"keys": keys})
        return first.model_copy(update=update)

    def alone(self, step: TrajectoryStep) -> TrajectoryStep | None:
        """A step that the second example lacks; None if its control is named by a value."""
        query = step.target
        names = (query.text, query.parent_text, query.row or "", query.section or "") if query else ()
        if any(_replace_values(text, self._to_other, keys=False) != text for text in names):
            return None
        return self.step(step, step)

    def _query(self, first: ControlQuery, second: ControlQuery) -> ControlQuery | None:
        """The control to look for; a place that differs beyond the values is not part of its description.

        If its text is a value and its row is not, two records had the same row: the row's name, such as the
        number of the next record, says nothing about a third.
        """
        text = self.text(first.text, second.text)
        row = self._place(first.row, second.row)
        if first.text != second.text and first.row == second.row == row:
            row = None
        if text is None or first.control_type != second.control_type or first.ordinal != second.ordinal:
            return None
        return first.model_copy(
            update={
                "text": text,
                "parent_text": self.text(first.parent_text, second.parent_text) or "",
                "row": row,
                "section": self._place(first.section, second.section),
                "equals": first.equals if first.equals == second.equals else 0,
            }
        )

    def _place_of_keys(self, control: Control) -> Control:
        if not marks_a_place(control):
            return control
        return control.model_copy(update={"text": _replace_values(control.text, self._to_new, keys=False)})

    def _place(self, first: str | None, second: str | None) -> str | None:
        return None if first is None or second is None else self.text(first, second)


def _replacements(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The new value for each old one; whole values take precedence over parts of others."""
    return {value: after[name] for name, value in before.items() if value and name in after}


def _replace_values(text: str, pairs: Mapping[str, str], *, keys: bool) -> str:
    if not text or not pairs:
        return text
    replacements = {escape_keys(old): escape_keys(new) for old, new in pairs.items()} if keys else pairs
    pattern = "|".join(re.escape(old) for old in sorted(replacements, key=len, reverse=True))
    before, after = (r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])") if not keys else ("", "")
    return re.sub(f"{before}(?:{pattern}){after}", lambda match: replacements[match.group()], text)
